//! What is done to files, step by step. In the tests of this crate a step can fail or be the last one.

use std::io::{self, Write};

/// Whether the next step can be done. It always can, but for faults that tests put there.
#[cfg(not(test))]
#[inline]
pub(crate) fn step(_: &'static str) -> io::Result<()> {
    Ok(())
}

/// Writes all bytes.
#[cfg(not(test))]
pub(crate) fn write_all(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)
}

#[cfg(test)]
pub(crate) use self::faults::{step, write_all};

#[cfg(test)]
pub(crate) mod faults {
    use super::*;
    use std::cell::RefCell;

    /// What becomes of a step.
    #[derive(Clone, Copy, Debug)]
    pub(crate) enum Fault {
        /// It fails.
        Error(io::ErrorKind),
        /// The program ends in it, without another word.
        Abort,
    }

    /// At which step, and the steps so far.
    type Plan = (Option<(usize, Fault)>, Vec<&'static str>);

    thread_local! {
        static PLAN: RefCell<Plan> = const { RefCell::new((None, Vec::new())) };
    }

    /// Does something with a fault at a step, counted from 0; also the steps that were taken.
    pub(crate) fn with<T>(
        fault: Option<(usize, Fault)>,
        work: impl FnOnce() -> T,
    ) -> (T, Vec<&'static str>) {
        PLAN.set((fault, Vec::new()));
        let done = work();
        let (_, steps) = PLAN.take();
        (done, steps)
    }

    /// The fault of this step.
    fn fault(name: &'static str) -> Option<Fault> {
        PLAN.with_borrow_mut(|(fault, steps)| {
            steps.push(name);
            fault
                .filter(|(at, _)| at + 1 == steps.len())
                .map(|(_, fault)| fault)
        })
    }

    pub(crate) fn step(name: &'static str) -> io::Result<()> {
        match fault(name) {
            None => Ok(()),
            Some(Fault::Error(kind)) => Err(kind.into()),
            Some(Fault::Abort) => std::process::abort(),
        }
    }

    /// Writes half of the bytes before a fault.
    pub(crate) fn write_all(file: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        let Some(fault) = fault("write") else {
            return file.write_all(bytes);
        };
        file.write_all(&bytes[..bytes.len() / 2])?;
        match fault {
            Fault::Error(kind) => Err(kind.into()),
            Fault::Abort => std::process::abort(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::Path;
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use super::faults::{Fault, with};
    use super::*;
    use crate::failure::{Failure, FailureKind};
    use crate::files::Files;
    use crate::listener::Silent;

    const OLD: [(&str, &str); 3] = [
        ("a.txt", "old a"),
        ("b.txt", "old b"),
        ("kept.txt", "of others"),
    ];
    const NEW: [(&str, &str); 3] = [("a.txt", "new a"), ("b.txt", "new b"), ("c.txt", "new c")];

    fn old(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        for (name, text) in OLD {
            std::fs::write(folder.join(name), text).unwrap();
        }
    }

    fn publish(folder: &Path) -> Result<(), Failure> {
        let mut files = Files::of_folder(folder, &Silent)?;
        for (name, text) in NEW {
            files.add(folder.join(name), text.as_bytes())?;
        }
        files.publish(&Silent).map(drop)
    }

    /// What lies in a folder; folders end in `/`.
    fn there(folder: &Path) -> BTreeMap<String, String> {
        let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
        let read = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => (format!("{name}/"), String::new()),
                false => (name, std::fs::read_to_string(entry.path()).unwrap()),
            }
        };
        entries.map(read).collect()
    }

    fn texts(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        let own = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
        files.iter().map(own).collect()
    }

    fn all_new() -> BTreeMap<String, String> {
        let mut all = texts(&OLD);
        all.extend(texts(&NEW));
        all
    }

    /// Disk full, read-only, or an error of the device, at every step: the old results are there whole or
    /// the new ones are, nothing else lies about, and who is told of an error finds the old ones.
    #[test]
    fn an_error_at_any_step_leaves_all_or_nothing() {
        let kinds = [
            io::ErrorKind::StorageFull,
            io::ErrorKind::ReadOnlyFilesystem,
            io::ErrorKind::Other,
        ];
        let (mut failed, mut mended) = (0, 0);
        for kind in kinds {
            for at in 0.. {
                let outer = tempfile::tempdir().unwrap();
                let folder = outer.path().join("out");
                old(&folder);
                let (done, steps) = with(Some((at, Fault::Error(kind))), || publish(&folder));
                match done {
                    Ok(()) => {
                        assert_eq!(there(&folder), all_new(), "{at} of {steps:?}");
                        mended += 1;
                    }
                    Err(failure) => {
                        assert_eq!(failure.kind, FailureKind::Output, "{failure}");
                        assert_eq!(there(&folder), texts(&OLD), "{at} of {steps:?}");
                        failed += 1;
                    }
                }
                assert_eq!(
                    there(outer.path()).into_keys().collect::<Vec<_>>(),
                    ["out/"]
                );
                if at >= steps.len() {
                    break;
                }
            }
        }
        assert!(failed >= 3 * 9 && mended >= 3 * 2, "{failed} and {mended}");
    }

    /// The same for a folder that is not there yet: it is not there if nothing came of it.
    #[test]
    fn a_folder_that_was_to_be_made_is_gone_after_an_error() {
        for at in 0.. {
            let outer = tempfile::tempdir().unwrap();
            let folder = outer.path().join("out");
            let (done, steps) = with(Some((at, Fault::Error(io::ErrorKind::StorageFull))), || {
                publish(&folder)
            });
            match done {
                Ok(()) => assert_eq!(there(&folder), texts(&NEW)),
                Err(_) => assert!(there(outer.path()).is_empty(), "{at} of {steps:?}"),
            }
            if at >= steps.len() {
                break;
            }
        }
    }

    const KILLED: &str = "FACTS_TEST_KILLED";

    /// What the killed program does: run by the test below in a process of its own.
    #[test]
    fn killed() {
        if let Ok(plan) = std::env::var(KILLED) {
            let (at, folder) = plan.split_once(' ').unwrap();
            let fault = Some((at.parse().unwrap(), Fault::Abort));
            let (done, _) = with(fault, || publish(Path::new(folder)));
            done.unwrap();
        }
    }

    /// Killed at every step: the old results are there whole or the new ones are, and the next run puts its
    /// own in place and takes away what the killed one left.
    #[cfg(unix)]
    #[test]
    fn a_program_that_is_killed_at_any_step_leaves_all_or_nothing() {
        let (mut before, mut after) = (0, 0);
        for at in 0.. {
            let outer = tempfile::tempdir().unwrap();
            let folder = outer.path().join("out");
            old(&folder);
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "disk::tests::killed"])
                .env(KILLED, format!("{at} {}", folder.display()))
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null())
                .status()
                .unwrap();
            match there(&folder) {
                files if files == texts(&OLD) => before += 1,
                files => {
                    assert_eq!(files, all_new(), "killed at step {at}");
                    after += 1;
                }
            }
            publish(&folder).unwrap();
            assert_eq!(there(&folder), all_new());
            assert_eq!(
                there(outer.path()).into_keys().collect::<Vec<_>>(),
                ["out/"],
                "killed at step {at}"
            );
            if status.success() {
                break;
            }
        }
        assert!(before >= 9 && after >= 2, "{before} and {after}");
    }

    /// A clock that went back: what was written "in the future" is nothing that was left behind.
    #[test]
    fn a_clock_that_goes_back_takes_nothing_away() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("out");
        old(&folder);
        let later = SystemTime::now() + Duration::from_secs(1_000_000);
        for name in ["a.txt", "kept.txt"] {
            let file = std::fs::File::options()
                .write(true)
                .open(folder.join(name))
                .unwrap();
            file.set_modified(later).unwrap();
        }
        publish(&folder).unwrap();
        assert_eq!(there(&folder), all_new());
    }
}
