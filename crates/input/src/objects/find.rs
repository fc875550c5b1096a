//! Which objects an address means: one, all under a prefix, or all that a
//! pattern fits.

use std::sync::Arc;

use futures_util::TryStreamExt;
use glob::{MatchOptions, Pattern};
use object_store::path::Path as Key;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::store::store;
use super::{Object, Unfetched, persistent, waited};
use crate::address::{Address, Scheme};
use crate::error::InputError;
use crate::parts::{is_hidden, is_hidden_from};

/// As patterns for files have it: a star stays within a folder.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

/// An object, and its path from the folder that was named.
pub(crate) struct Found {
    pub(crate) object: Object,
    pub(crate) inside: String,
}

/// The objects that an address means, in no order.
pub(crate) fn find(address: &Address) -> Result<Vec<Found>, InputError> {
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
                let name = address.key.rsplit('/').next().unwrap_or_default();
                return Ok(vec![Found {
                    inside: name.to_owned(),
                    object: Object::new(address.to_string(), store, meta),
                }]);
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
    let found: Vec<Found> = (all.into_iter())
        .filter_map(|meta| {
            let inside = under(root, meta.location.as_ref())?.to_owned();
            let is_read = !is_hidden(&inside) && !is_folder(&meta);
            is_read.then(|| found(address, &store, meta, inside))
        })
        .collect();
    match found.is_empty() {
        true => Err(refused(none)),
        false => Ok(found),
    }
}

/// All objects that a pattern fits, or that lie in a folder that it fits.
fn matching(address: &Address, store: &Arc<dyn ObjectStore>) -> Result<Vec<Found>, InputError> {
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
    let found: Vec<Found> = (all.into_iter())
        .filter(|meta| !is_folder(meta) && is_wanted(meta.location.as_ref()))
        .filter_map(|meta| {
            let inside = under(root, meta.location.as_ref())?.to_owned();
            Some(found(address, store, meta, inside))
        })
        .collect();
    match found.is_empty() {
        true => Err(InputError::NoObjects(address.to_string())),
        false => Ok(found),
    }
}

fn found(
    address: &Address,
    store: &Arc<dyn ObjectStore>,
    meta: ObjectMeta,
    inside: String,
) -> Found {
    let name = address.beside(meta.location.as_ref()).to_string();
    Found {
        object: Object::new(name, Arc::clone(store), meta),
        inside,
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
