//! The turn to measure: one ridgepoint at a time on a machine, whoever runs it, because two that measure at once disturb each other and
//! both results are wrong. The next one waits, because the first is done in seconds or minutes; a refusal would only be tried again, and
//! flags alone would cost both their results.
//! The turn is a lock that the system releases when its process ends in any way. A container or a namespace with its own `/tmp` has
//! turns of its own.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, major, minor};

use crate::failure::Failure;
use crate::hooks::Hooks;

/// Longest wait for the turn, assumed: twice the longest calibration. A program that was stopped may hold it for ever.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// Interval in which a turn is tried.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Note of a job that waits.
pub(crate) fn waits() -> String {
    format!("waits until another ridgepoint has measured, {} at most", minutes(LONGEST_WAIT))
}

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
                    return Err(Failure::Failed(still_taken(longest, path.and_then(holder))));
                }
                Ok(None) => {
                    if !is_told {
                        eprintln!("{}", waiting(longest, path.and_then(holder)));
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

/// Sentence about the wait of a verb.
fn waiting(longest: Duration, holder: Option<u32>) -> String {
    format!(
        "another ridgepoint measures on this machine; this one waits until {} has, {} at most",
        holder.map_or_else(|| "it".to_owned(), |pid| format!("process {pid}")),
        minutes(longest)
    )
}

/// Sentence about a turn that does not end.
fn still_taken(waited: Duration, holder: Option<u32>) -> String {
    format!(
        "another ridgepoint has measured on this machine for {} s, or was stopped while it did; end {}, then measure again",
        waited.as_secs(),
        holder.map_or_else(|| "it".to_owned(), |pid| format!("process {pid}"))
    )
}

fn minutes(time: Duration) -> String {
    format!("{} min", time.as_secs() / 60)
}

/// The process that holds the lock, where the system tells it: Linux lists the locks whose processes the reader may know.
fn holder(path: &Path) -> Option<u32> {
    let file = fs::metadata(path).ok()?;
    holder_in(&fs::read_to_string("/proc/locks").ok()?, file.dev(), file.ino())
}

/// The process in a list such as `4: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF`: process, device in hexadecimal digits, inode.
fn holder_in(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let file = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            // A line of one that waits has an arrow before its kind.
            [_, "FLOCK", _, "WRITE", pid, of, ..] if of == file => pid.parse().ok(),
            _ => None,
        }
    })
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
    fn the_holder_of_a_lock_is_its_process() {
        let path = std::env::temp_dir().join(format!("ridgepoint-held-{}", std::process::id()));
        let turn = Turn::take_at(Some(&path)).expect("a file").expect("nobody else");
        let file = fs::metadata(&path).expect("it was made");
        let place = format!("{:02x}:{:02x}:{}", major(file.dev()), minor(file.dev()), file.ino());
        let list = fs::read_to_string("/proc/locks").expect("Linux");
        // A file system in layers has another device than its files, and a lock there has no known holder.
        let is_listed = list.contains(&place);
        assert_eq!(holder(&path), is_listed.then(std::process::id), "{place}: {list}");
        drop(turn);
        assert_eq!(holder(&path), None);
        std::fs::remove_file(&path).expect("removed");
        let locks = "1: POSIX  ADVISORY  WRITE 11 fe:01:77 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 12 fe:01:78 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 13 fe:01:77 0 EOF\n\
                     3: -> FLOCK  ADVISORY  WRITE 14 fe:01:77 0 EOF\n";
        let device = rustix::fs::makedev(0xfe, 1);
        assert_eq!(holder_in(locks, device, 77), Some(13));
        assert_eq!(holder_in(locks, device, 79), None);
    }

    #[test]
    fn a_wait_is_told_with_its_limit_and_the_process_that_is_waited_for() {
        let known = "another ridgepoint measures on this machine; this one waits until process 7 has, 10 min at most";
        assert_eq!(waiting(LONGEST_WAIT, Some(7)), known);
        let unknown = "another ridgepoint measures on this machine; this one waits until it has, 10 min at most";
        assert_eq!(waiting(LONGEST_WAIT, None), unknown);
        assert!(
            still_taken(LONGEST_WAIT, Some(7)).ends_with("; end process 7, then measure again")
        );
        assert!(still_taken(LONGEST_WAIT, None).ends_with("; end it, then measure again"));
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
