//! An object from start to end. The next piece is fetched while this one is
//! read, and the bytes are hashed as they pass.

use std::io::{self, Read};

use bytes::{Buf, Bytes};
use sha2::{Digest, Sha256};
use tokio::task::JoinHandle;

use super::{HEAD, Object, Unfetched, runtime, waited};

/// The largest piece: large enough that a request costs little beside it.
const PIECE: u64 = 4 << 20;

/// An object from start to end.
pub(crate) struct ObjectReader {
    object: Object,
    now: Bytes,
    /// Where the piece after this one begins.
    next: u64,
    coming: Option<JoinHandle<Result<Bytes, Unfetched>>>,
    hash: Option<Sha256>,
}

impl ObjectReader {
    pub(crate) fn new(object: &Object) -> Self {
        Self {
            object: object.clone(),
            now: Bytes::new(),
            next: 0,
            coming: None,
            hash: object.sha256().is_none().then(Sha256::new),
        }
    }

    /// The next piece; empty at the end.
    fn piece(&mut self) -> Result<Bytes, Unfetched> {
        let piece = match self.coming.take() {
            Some(coming) => waited(coming)?.map_err(|_| Unfetched::Broken(1))??,
            None if self.next == 0 => self.object.head()?,
            None => return Ok(Bytes::new()),
        };
        self.next += piece.len() as u64;
        let (start, size) = (self.next, self.object.size());
        if !piece.is_empty() && start < size {
            // Small at first: whoever looks at the beginning only wants no more.
            let length = (start * 16).clamp(HEAD, PIECE);
            let end = start.saturating_add(length).min(size);
            let object = self.object.clone();
            let fetch = async move { object.fetched(start..end).await };
            self.coming = Some(runtime()?.spawn(fetch));
        }
        Ok(piece)
    }

    fn hashed(&mut self, piece: &Bytes) {
        let is_last = self.next == self.object.size();
        if let Some(hash) = &mut self.hash {
            hash.update(piece);
            if is_last && let Some(hash) = self.hash.take() {
                // Whoever was first has hashed the same bytes.
                let _ = self.object.0.sha256.set(hash.finalize().into());
            }
        }
    }
}

impl Read for ObjectReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.now.is_empty() {
            self.now = self.piece().map_err(io::Error::other)?;
            let piece = self.now.clone();
            self.hashed(&piece);
        }
        let length = buffer.len().min(self.now.len());
        buffer[..length].copy_from_slice(&self.now[..length]);
        self.now.advance(length);
        Ok(length)
    }
}

impl Drop for ObjectReader {
    fn drop(&mut self) {
        if let Some(coming) = &self.coming {
            coming.abort();
        }
    }
}
