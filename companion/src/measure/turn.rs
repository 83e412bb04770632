//! The turn to measure: one ridgepoint at a time on a machine, whoever runs it, because two that measure at once disturb each other and
//! both results are wrong. The next one waits, because the first is done in seconds or minutes; a refusal would only be tried again, and
//! flags alone would cost both their results.
//! The turn is a lock that the system releases when its process ends in any way. A container or a namespace with its own `/tmp` has
//! turns of its own.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use crate::failure::Failure;
use crate::hooks::Hooks;

/// Longest wait for the turn, assumed: twice the longest calibration. A program that was stopped may hold it for ever.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// Interval in which a turn is tried.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Note of a job that waits.
pub(crate) const WAITS: &str = "waits until another ridgepoint has measured";

/// The turn of this process, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn {
    _lock: Option<File>,
}

impl Turn {
    /// Takes the turn; `None` while another ridgepoint has it.
    ///
    /// # Errors
    /// The lock cannot be opened, so nobody knows whose turn it is.
    pub(crate) fn take() -> io::Result<Option<Self>> {
        Self::take_at(Hooks::turn().as_deref())
    }

    fn take_at(path: Option<&Path>) -> io::Result<Option<Self>> {
        let Some(path) = path else { return Ok(Some(Self { _lock: None })) };
        let file = open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _lock: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Waits for the turn, and says so on stderr. `None` where nobody knows whose turn it is.
    ///
    /// # Errors
    /// Another ridgepoint has it for longer than [`LONGEST_WAIT`].
    pub(crate) fn wait() -> Result<Option<Self>, Failure> {
        Self::wait_at(Hooks::turn().as_deref(), LONGEST_WAIT)
    }

    fn wait_at(path: Option<&Path>, longest: Duration) -> Result<Option<Self>, Failure> {
        let start = Instant::now();
        let mut is_told = false;
        loop {
            match Self::take_at(path) {
                Ok(Some(turn)) => return Ok(Some(turn)),
                Ok(None) if start.elapsed() >= longest => {
                    return Err(Failure::Failed(still_taken(longest)));
                }
                Ok(None) => {
                    if !is_told {
                        eprintln!(
                            "another ridgepoint measures on this machine; this one waits until it has"
                        );
                    }
                    is_told = true;
                    thread::sleep(LOOK);
                }
                Err(error) => {
                    eprintln!("{}", unknown(&error));
                    return Ok(None);
                }
            }
        }
    }
}

/// Sentence about a lock that cannot be opened.
pub(crate) fn unknown(error: &io::Error) -> String {
    format!(
        "whether another ridgepoint measures on this machine is unknown: {}: {error}",
        Hooks::turn().unwrap_or_default().display()
    )
}

/// Sentence about a turn that does not end.
fn still_taken(waited: Duration) -> String {
    format!(
        "another ridgepoint has measured on this machine for {} s, or was stopped while it did; end it, then measure again",
        waited.as_secs()
    )
}

/// Opens the file of the lock for reading, which is enough to lock a file of another user. Opening a named pipe would block, and a link
/// could name any file, so neither is opened.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags);
    let file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut create = options.clone();
            match create.write(true).create_new(true).mode(0o644).open(path) {
                // Another process has created it meanwhile.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path)?,
                created => created?,
            }
        }
        opened => opened?,
    };
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_turn_and_the_next_waits_for_its_end() {
        let path = std::env::temp_dir().join(format!("ridgepoint-turn-{}", std::process::id()));
        let first = Turn::take_at(Some(&path)).expect("a file").expect("nobody else");
        assert!(
            Turn::take_at(Some(&path)).expect("a file").is_none(),
            "a second one sees the first"
        );
        let refused = Turn::wait_at(Some(&path), LOOK).expect_err("it goes on");
        assert!(refused.to_string().starts_with("another ridgepoint has measured"), "{refused}");
        let waiting = {
            let path = path.clone();
            thread::spawn(move || Turn::wait_at(Some(&path), LONGEST_WAIT))
        };
        thread::sleep(2 * LOOK);
        assert!(!waiting.is_finished());
        drop(first);
        assert!(waiting.join().expect("no panic").expect("its turn").is_some());
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn a_path_that_is_no_file_keeps_nobody_from_measuring() {
        let link = std::env::temp_dir().join(format!("ridgepoint-no-turn-{}", std::process::id()));
        std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
        for path in
            [&*std::env::temp_dir(), &*link, Path::new("/dev/null"), Path::new("/nowhere/a")]
        {
            assert!(Turn::take_at(Some(path)).is_err(), "{}", path.display());
            assert!(Turn::wait_at(Some(path), LOOK).expect("it measures").is_none());
        }
        std::fs::remove_file(&link).expect("removed");
    }
}
