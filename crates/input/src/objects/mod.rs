//! Tables in object stores: fetched by ranges, and never more of them than is
//! needed.
//!
//! [`Object`] is what a file is on disk: a name, a size, and bytes at any place.
//! Around it are a reader from start to end ([`ObjectReader`]) and the windows
//! through which Parquet files are read ([`ObjectChunks`]). Stores speak
//! asynchronously; one small runtime is hidden here, and everybody else waits
//! as for a disk.

mod chunks;
mod error;
mod find;
mod reader;
mod store;

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use tokio::runtime::Runtime;

pub(crate) use chunks::ObjectChunks;
pub use error::Unfetched;
pub(crate) use find::find;
pub(crate) use reader::ObjectReader;

use crate::error::InputError;

/// How often a fetch is begun again whose connection breaks off, beside what the client does itself.
const ATTEMPTS: usize = 3;

/// The first bytes, which are fetched once and kept: they say what an object is.
const HEAD: u64 = 4 << 10;

/// An object in a store: a size, and bytes at any place. Cheap to clone.
#[derive(Clone)]
pub struct Object(Arc<Inner>);

struct Inner {
    name: String,
    store: Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    /// What the store calls this version of it: as listed, or as it came the first time.
    e_tag: OnceLock<String>,
    head: OnceLock<Bytes>,
    sha256: OnceLock<[u8; 32]>,
}

impl Object {
    fn new(name: String, store: Arc<dyn ObjectStore>, meta: ObjectMeta) -> Self {
        Self(Arc::new(Inner {
            name,
            store,
            e_tag: meta
                .e_tag
                .clone()
                .map_or_else(OnceLock::new, OnceLock::from),
            meta,
            head: OnceLock::new(),
            sha256: OnceLock::new(),
        }))
    }

    /// Its address, without secrets.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its path in its store.
    pub(crate) fn key(&self) -> &str {
        self.0.meta.location.as_ref()
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        self.0.meta.size
    }

    /// What its store calls this version of it.
    pub fn e_tag(&self) -> Option<&str> {
        self.0.e_tag.get().map(String::as_str)
    }

    /// The SHA-256 of its bytes, once all of them have been read in a row; none before, and none where only
    /// parts were read.
    pub fn sha256(&self) -> Option<[u8; 32]> {
        self.0.sha256.get().copied()
    }

    /// Its first bytes.
    fn head(&self) -> Result<Bytes, Unfetched> {
        if let Some(head) = self.0.head.get() {
            return Ok(head.clone());
        }
        let head = waited(self.fetched(0..self.size().min(HEAD)))??;
        Ok(self.0.head.get_or_init(|| head).clone())
    }

    /// Some of its bytes; all of them, or none.
    async fn fetched(&self, range: Range<u64>) -> Result<Bytes, Unfetched> {
        persistent(|| self.fetched_once(range.clone())).await
    }

    async fn fetched_once(&self, range: Range<u64>) -> Result<Bytes, Unfetched> {
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let meta = &self.0.meta;
        let options = GetOptions {
            range: Some(GetRange::Bounded(range.clone())),
            ..GetOptions::default()
        };
        let store = &self.0.store;
        let got = store.get_opts(&meta.location, options).await;
        let got = got.map_err(|e| Unfetched::of(&e))?;
        // Counts of two versions must not be mixed.
        let tag = got.meta.e_tag.clone();
        let is_same = tag.is_none_or(|tag| *self.0.e_tag.get_or_init(|| tag.clone()) == tag);
        if got.meta.size != meta.size || !is_same {
            return Err(Unfetched::Changed);
        }
        let bytes = got.bytes().await.map_err(|e| Unfetched::of(&e))?;
        match bytes.len() as u64 == range.end - range.start {
            true => Ok(bytes),
            false => Err(Unfetched::Broken(1)),
        }
    }

    /// An error about this object.
    fn refused(&self, why: Unfetched) -> InputError {
        InputError::Unfetched {
            object: self.name().to_owned(),
            why,
        }
    }
}

impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({})", self.name())
    }
}

impl PartialEq for Object {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Object {}

/// Begins again where a connection breaks off.
async fn persistent<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, Unfetched>
where
    F: Future<Output = Result<T, Unfetched>>,
{
    for _ in 0..ATTEMPTS {
        match attempt().await {
            Err(why) if why.is_passing() => {}
            done => return done,
        }
    }
    Err(Unfetched::Broken(ATTEMPTS))
}

/// The runtime on which stores are asked.
fn runtime() -> Result<&'static Runtime, Unfetched> {
    static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let builder = builder.worker_threads(1).thread_name("facts-fetch");
        builder.enable_all().build().ok()
    });
    let failed = Unfetched::SetUp("no thread could be started to fetch with");
    made.as_ref().ok_or(failed)
}

/// Waits for what a store answers.
fn waited<T>(answer: impl Future<Output = T>) -> Result<T, Unfetched> {
    Ok(runtime()?.block_on(answer))
}
