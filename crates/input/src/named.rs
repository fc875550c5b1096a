//! Which files and objects are meant by the paths that were named: each a file, a folder, a glob, or the address
//! of an object or of many.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Component, Path, PathBuf};

use crate::address::{Address, Scheme, is_address, shown};
use crate::error::InputError;
use crate::logged::{self, Keeper};
#[cfg(feature = "object-store")]
use crate::objects::find;
use crate::parts::{Location, Part};

/// What Hive and Spark call the folder of rows that have no value.
const NO_VALUE: &str = "__HIVE_DEFAULT_PARTITION__";

/// What one path means.
struct Named {
    /// The kind and the name of the store that it leads to; none for a disk.
    store: Option<(Scheme, String)>,
    /// The deepest folder that all of it lies in, whatever is there.
    root: PathBuf,
    found: Vec<Location>,
}

/// The files that these paths mean, in the order of their paths: each a file, a
/// folder, a glob where there is no such file, or the address of an object or of
/// many. None if it is one path, and that of a file or a pipe.
pub fn parts(paths: &[PathBuf]) -> Result<Option<Vec<Part>>, InputError> {
    if let [only] = paths
        && !is_address(only)
        && (only.is_file() || !(only.is_dir() || is_glob(only)))
    {
        return Ok(None);
    }
    let named = paths.iter().map(|path| meant(path));
    let named: Vec<Named> = named.collect::<Result<_, _>>()?;
    let root = common_root(&named);
    let found = named.into_iter().flat_map(|named| named.found);
    let mut found: Vec<Part> = found.map(|at| part(at, root.as_deref())).collect();
    found.sort_by(|a, b| a.location.order().cmp(&b.location.order()));
    let found = each_once(found);
    if found.is_empty() {
        let names: Vec<String> = paths.iter().map(|p| shown(p)).collect();
        return Err(InputError::NoFiles(names.join(", ")));
    }
    Ok(Some(found))
}

fn meant(path: &Path) -> Result<Named, InputError> {
    if let Some(address) = Address::of(path) {
        return objects(&address);
    }
    let mut found = Vec::new();
    let root = if path.is_dir() {
        refuse_logged(logged::table_of(path))?;
        walk(path, &mut found)?;
        path.to_owned()
    } else if is_glob(path) {
        expand(path, &mut found)?
    } else {
        found.push(Location::File(path.to_owned()));
        path.parent().unwrap_or(path).to_owned()
    };
    Ok(Named {
        store: None,
        root,
        found,
    })
}

/// The deepest folder that all named paths lie in, as they are named; none if they do not lie in the same place. As
/// a shell expands a glob, so are they listed: the folders that tell them apart say what their rows have in common.
fn common_root(named: &[Named]) -> Option<PathBuf> {
    let (first, others) = named.split_first()?;
    let mut common = first.root.as_path();
    for other in others {
        if other.store != first.store {
            return None;
        }
        let mut shared = common.ancestors();
        common = shared.find(|shared| other.root.starts_with(shared))?;
    }
    Some(common.to_owned())
}

/// A part, named from a folder that it lies in. Without one, all of its path counts.
fn part(location: Location, root: Option<&Path>) -> Part {
    let path = location.path();
    let below = root.and_then(|root| path.strip_prefix(root).ok());
    let inside = below.unwrap_or(path);
    Part {
        name: match below {
            Some(inside) => inside.display().to_string(),
            // Keys of two stores may be the same.
            None => location.to_string(),
        },
        keys: keys_of(inside),
        times: 1,
        location,
    }
}

/// Parts without those that are the same file under another name.
fn each_once(found: Vec<Part>) -> Vec<Part> {
    let mut known: HashMap<(bool, PathBuf), usize> = HashMap::new();
    let mut parts: Vec<Part> = Vec::new();
    for part in found {
        match known.entry(part.location.itself()) {
            Entry::Occupied(at) => parts[*at.get()].times += 1,
            Entry::Vacant(free) => {
                free.insert(parts.len());
                parts.push(part);
            }
        }
    }
    parts
}

/// Whether a path that is no file can only be meant as a glob.
fn is_glob(path: &Path) -> bool {
    !path.exists() && path.to_string_lossy().contains(['*', '?', '['])
}

/// Whether a file, or one of the folders that it lies in, is what writers leave for themselves: `_SUCCESS`,
/// `_delta_log`, `.part-0000.parquet.crc`.
pub(crate) fn is_hidden(inside: &str) -> bool {
    let mut pieces = inside.split('/');
    pieces.any(|piece| piece.starts_with(['_', '.']))
}

/// The same of what a pattern has found. What a piece of the pattern itself begins with, it asks for.
pub(crate) fn is_hidden_from(pattern: &str, path: &str) -> bool {
    let asked = pattern.split('/').filter(|piece| is_hidden(piece));
    let asked: Vec<glob::Pattern> = asked.filter_map(|p| glob::Pattern::new(p).ok()).collect();
    let mut pieces = path.split('/').filter(|piece| is_hidden(piece));
    pieces.any(|piece| !asked.iter().any(|asked| asked.matches(piece)))
}

/// The objects that an address means.
#[cfg(feature = "object-store")]
fn objects(address: &Address) -> Result<Named, InputError> {
    let found = find(address)?;
    Ok(Named {
        store: Some((address.scheme, address.host.clone())),
        root: PathBuf::from(found.root),
        found: found.objects.into_iter().map(Location::Object).collect(),
    })
}

#[cfg(not(feature = "object-store"))]
fn objects(address: &Address) -> Result<Named, InputError> {
    address.check()?;
    Err(InputError::FilesOnly(address.to_string()))
}

/// All files under a folder, except those that writers leave for themselves.
fn walk(folder: &Path, found: &mut Vec<Location>) -> Result<(), InputError> {
    refuse_logged(folder)?;
    let unread = |e| InputError::io(&folder.display().to_string(), e);
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        let path = entry.map_err(unread)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_hidden(&name) {
            continue;
        }
        if path.is_dir() {
            if !leads_back(&path, folder) {
                walk(&path, found)?;
            }
        } else {
            found.push(Location::File(path));
        }
    }
    Ok(())
}

/// Refuses a folder of which a log says which of its files count.
fn refuse_logged(folder: &Path) -> Result<(), InputError> {
    // Nothing is in front of `year=2018` but the folder that one is in.
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    Keeper::at(folder).map_or(Ok(()), |keeper| {
        Err(InputError::Logged {
            folder: folder.display().to_string(),
            keeper,
        })
    })
}

/// Whether a folder is a link to one that it lies in.
fn leads_back(path: &Path, folder: &Path) -> bool {
    path.is_symlink()
        && match (path.canonicalize(), folder.canonicalize()) {
            (Ok(target), Ok(folder)) => folder.starts_with(target),
            _ => false,
        }
}

/// All files that a pattern fits, or that lie in a folder that it fits. Gives the folder in front of the first
/// wildcard.
fn expand(pattern: &Path, found: &mut Vec<Location>) -> Result<PathBuf, InputError> {
    let text = pattern.to_string_lossy();
    let bad = |why: String| InputError::BadGlob {
        pattern: shown(pattern),
        why,
    };
    for path in glob::glob(&text).map_err(|e| bad(e.to_string()))? {
        let path = path.map_err(|e| InputError::io(&e.path().display().to_string(), e.into()))?;
        if is_hidden_from(&text, &path.to_string_lossy()) {
            continue;
        }
        if path.is_dir() {
            walk(&path, found)?;
        } else {
            found.push(Location::File(path));
        }
    }
    let plain =
        |part: &Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    Ok(pattern.components().take_while(plain).collect())
}

/// The columns that the folders of a path give.
fn keys_of(inside: &Path) -> Vec<(String, Option<String>)> {
    let folders = inside.parent().into_iter().flat_map(Path::components);
    let keys = folders.filter_map(|folder| {
        let folder = folder.as_os_str().to_str()?;
        let (key, value) = folder.split_once('=')?;
        let value = (value != NO_VALUE).then(|| unescaped(value));
        (!key.is_empty()).then(|| (unescaped(key), value))
    });
    keys.collect()
}

/// A text in which `%3A` stands for a colon, and so on.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let code = after
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_say_what_their_files_do_not() {
        let path =
            "root=1/lake/year=2024/place=New%20York/empty=__HIVE_DEFAULT_PARTITION__/a=b.csv";
        let found = part(Location::File(path.into()), Some(Path::new("root=1/lake")));
        let key = |key: &str, value: Option<&str>| (key.to_owned(), value.map(str::to_owned));
        assert_eq!(
            found.keys,
            [
                key("year", Some("2024")),
                key("place", Some("New York")),
                key("empty", None)
            ]
        );
    }

    #[test]
    fn a_pattern_finds_what_is_hidden_if_it_asks_for_it() {
        assert!(!is_hidden_from("sp/*", "sp/part-0.csv"));
        assert!(is_hidden_from("sp/*", "sp/._SUCCESS.crc"));
        assert!(is_hidden_from("sp/**/*", "sp/_temporary/part-0.csv"));
        assert!(!is_hidden_from("sp/_*", "sp/_kept.csv"));
        assert!(is_hidden_from("sp/_*", "sp/.part-0.csv"));
        assert!(!is_hidden_from("/data/.lake/*", "/data/.lake/a.csv"));
        assert!(!is_hidden_from("../x/*.csv", "../x/a.csv"));
    }

    #[test]
    fn paths_lie_in_a_common_folder() {
        let named = |(store, root): &(&str, &str)| Named {
            store: (!store.is_empty()).then(|| (Scheme::S3, (*store).to_owned())),
            root: root.into(),
            found: Vec::new(),
        };
        let common = |roots: &[(&str, &str)]| {
            let named: Vec<Named> = roots.iter().map(named).collect();
            let root = common_root(&named)?;
            Some(root.display().to_string())
        };
        for (roots, expected) in [
            (&[("", "a")][..], Some("a")),
            (&[("", "a/x=1"), ("", "a/x=2")], Some("a")),
            (&[("", "a/x=1"), ("", "a/x=1")], Some("a/x=1")),
            (&[("", "a/x=1"), ("", "a")], Some("a")),
            (&[("", "a"), ("", "b")], Some("")),
            (&[("", ""), ("", "/b")], Some("")),
            (&[("", "/b"), ("", "")], None),
            (&[("lake", "a/x=1"), ("lake", "a/x=2")], Some("a")),
            (&[("lake", "a/x=1"), ("sea", "a/x=2")], None),
            (&[("lake", "a"), ("", "a")], None),
        ] {
            assert_eq!(common(roots).as_deref(), expected, "{roots:?}");
        }
    }

    #[test]
    fn percent_signs_that_are_no_codes_stay() {
        assert_eq!(unescaped("100%"), "100%");
        assert_eq!(unescaped("%zz%41"), "%zzA");
        assert_eq!(unescaped("%ff"), "%ff");
    }
}
