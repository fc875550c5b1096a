//! Which objects an address means: one, all under a prefix, or all that a
//! pattern fits.

use std::path::Path;
use std::sync::Arc;

use futures_util::TryStreamExt;
use glob::{MatchOptions, Pattern};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::store::store;
use super::{Object, Unfetched, persistent, waited};
use crate::address::{Address, Scheme};
use crate::error::InputError;
use crate::logged::{FOLDERS, Keeper, table_of};
use crate::named::{is_hidden, is_hidden_from};

/// As patterns for files have it: a star stays within a folder.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// The objects that an address means, in no order, and the deepest folder that is sure to hold them all.
pub(crate) struct Found {
    pub(crate) root: String,
    pub(crate) objects: Vec<Object>,
}

/// The objects that an address means.
pub(crate) fn find(address: &Address) -> Result<Found, InputError> {
    address.check()?;
    let refused = |why| InputError::Unfetched {
        object: address.to_string(),
        why,
    };
    let store = store(address).map_err(refused)?;
    if address.is_glob() {
        return matching(address, &store);
    }
    let mut none = Unfetched::NotFound;
    if !address.key.is_empty() && !address.key.ends_with('/') {
        match waited(persistent(|| one(address, &store))).and_then(|done| done) {
            Ok(meta) => {
                let root = parent(meta.location.as_ref()).to_owned();
                let objects = vec![Object::new(address.to_string(), store, meta)];
                return Ok(Found { root, objects });
            }
            // Stores differ in what they say of a folder that is asked for as an object.
            Err(why @ (Unfetched::NotFound | Unfetched::Answer(_)))
                if address.scheme != Scheme::Http =>
            {
                none = why;
            }
            Err(why) => return Err(refused(why)),
        }
    }
    let root = address.key.trim_end_matches('/');
    let all = listed(&store, root).map_err(refused)?;
    let of_parts = logs_beside(&store, root).map_err(refused)?;
    refuse_logged(address, of_parts.iter().chain(&all))?;
    let is_read = |meta: &ObjectMeta| {
        let inside = under(root, meta.location.as_ref());
        inside.is_some_and(|inside| !is_hidden(inside)) && !is_folder(meta)
    };
    let found = found(address, &store, root, all.into_iter().filter(is_read));
    match found.objects.is_empty() {
        true => Err(refused(none)),
        false => Ok(found),
    }
}

/// All objects that a pattern fits, or that lie in a folder that it fits.
fn matching(address: &Address, store: &Arc<dyn ObjectStore>) -> Result<Found, InputError> {
    let pattern = Pattern::new(&address.key).map_err(|e| InputError::BadGlob {
        pattern: address.to_string(),
        why: e.to_string(),
    })?;
    let root = plain_root(&address.key);
    let all = listed(store, root).map_err(|why| InputError::Unfetched {
        object: address.to_string(),
        why,
    })?;
    let fits =
        |key: &str| pattern.matches_with(key, MATCHING) && !is_hidden_from(&address.key, key);
    // Behind a folder that the pattern fits, what writers leave for themselves is skipped.
    let is_wanted = |key: &str| {
        let folders = key.match_indices('/').map(|(at, _)| at);
        fits(key)
            || folders
                .clone()
                .any(|at| fits(&key[..at]) && !is_hidden(&key[at + 1..]))
    };
    // A folder that the pattern fits is read as if it were named; files that it fits are asked for one by one.
    let in_folders = all.iter().filter(|meta| {
        let key: &str = meta.location.as_ref();
        Keeper::of(key).is_some_and(|(_, table)| {
            let mut folders = table.match_indices('/').map(|(at, _)| &key[..at]);
            fits(table) || folders.any(fits)
        })
    });
    refuse_logged(address, in_folders)?;
    let is_read = |meta: &ObjectMeta| !is_folder(meta) && is_wanted(meta.location.as_ref());
    let found = found(address, store, root, all.into_iter().filter(is_read));
    match found.objects.is_empty() {
        true => Err(InputError::NoObjects(address.to_string())),
        false => Ok(found),
    }
}

/// The logs that lie beside a folder which is a part of a table by its name: `year=2018`.
fn logs_beside(store: &Arc<dyn ObjectStore>, root: &str) -> Result<Vec<ObjectMeta>, Unfetched> {
    let table = table_of(Path::new(root)).to_string_lossy().into_owned();
    if table == root {
        return Ok(Vec::new());
    }
    let mut logs = Vec::new();
    for (folder, _) in FOLDERS {
        let log = format!("{table}/{folder}");
        logs.extend(listed(store, log.trim_start_matches('/'))?);
    }
    Ok(logs)
}

/// Refuses folders of which a log says which of their files count.
fn refuse_logged<'m>(
    address: &Address,
    all: impl IntoIterator<Item = &'m ObjectMeta>,
) -> Result<(), InputError> {
    let mut logs = all.into_iter();
    let log = logs.find_map(|meta| Keeper::of(meta.location.as_ref()));
    log.map_or(Ok(()), |(keeper, folder)| {
        Err(InputError::Logged {
            folder: address.beside(folder).to_string(),
            keeper,
        })
    })
}

fn found(
    address: &Address,
    store: &Arc<dyn ObjectStore>,
    root: &str,
    all: impl Iterator<Item = ObjectMeta>,
) -> Found {
    let object = |meta: ObjectMeta| {
        let name = address.beside(meta.location.as_ref()).to_string();
        Object::new(name, Arc::clone(store), meta)
    };
    Found {
        root: root.to_owned(),
        objects: all.map(object).collect(),
    }
}

/// What is known about one object. A web server is asked for its first bytes: an address that is signed for
/// reading is not signed for asking.
async fn one(address: &Address, store: &Arc<dyn ObjectStore>) -> Result<ObjectMeta, Unfetched> {
    let bad = |_| Unfetched::NotFound;
    let asked = match address.scheme {
        Scheme::Http => {
            let key = Key::from_url_path(&address.key).map_err(bad)?;
            let options = GetOptions {
                range: Some(GetRange::Bounded(0..1)),
                ..GetOptions::default()
            };
            store.get_opts(&key, options).await.map(|got| got.meta)
        }
        _ => store.head(&Key::parse(&address.key).map_err(bad)?).await,
    };
    asked.map_err(|e| Unfetched::of(&e))
}

fn listed(store: &Arc<dyn ObjectStore>, root: &str) -> Result<Vec<ObjectMeta>, Unfetched> {
    let prefix = match root.is_empty() {
        true => None,
        false => Some(Key::parse(root).map_err(|_| Unfetched::NotFound)?),
    };
    let list = async || {
        let listed = store.list(prefix.as_ref()).try_collect::<Vec<_>>().await;
        listed.map_err(|e| Unfetched::of(&e))
    };
    waited(persistent(list))?
}

/// The folders in front of the first that has a wildcard.
fn plain_root(key: &str) -> &str {
    let wild = key.find(['*', '?', '[']).unwrap_or(key.len());
    key[..wild].rfind('/').map_or("", |end| &key[..end])
}

fn parent(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(folder, _)| folder)
}

fn under<'k>(root: &str, key: &'k str) -> Option<&'k str> {
    match root.is_empty() {
        true => Some(key),
        false => key.strip_prefix(root)?.strip_prefix('/'),
    }
}

/// An empty object that only stands for a folder, as consoles make them.
fn is_folder(meta: &ObjectMeta) -> bool {
    meta.size == 0 && meta.location.as_ref().ends_with("_$folder$")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_in_front_of_a_wildcard() {
        assert_eq!(plain_root("lake/people/part-*.csv"), "lake/people");
        assert_eq!(plain_root("lake/year=*/part-?.csv"), "lake");
        assert_eq!(plain_root("*.csv"), "");
        assert_eq!(under("lake", "lake/a.csv"), Some("a.csv"));
        assert_eq!(under("lake", "lakes/a.csv"), None);
    }
}
