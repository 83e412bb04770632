//! The turn to measure: one ridgepoint at a time on a machine, whoever runs it, because two that measure at once disturb each other and
//! both results are wrong. The next one waits; a refusal would only be tried again, and flags alone would cost both their results.
//! It waits as long as the first one runs, and gives up where that is stopped, or nobody knows who it is.
//! The turn is a lock that the system releases when its process ends in any way. A container or a namespace with its own `/tmp` has
//! turns of its own.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::mem;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, major, minor};

use crate::failure::Failure;
use crate::hooks::Hooks;

/// Longest wait for a program that holds the turn and does not run, or that the system does not name: twice the longest calibration.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_mins(10);
/// Interval in which a turn is tried.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
/// Note of a job that waits.
pub(crate) const WAITS: &str = "waits until another ridgepoint has measured";

/// The wait for a turn.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    /// Time in which the holder did not run, or was unknown, without a break.
    still: Duration,
    looked: Instant,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, still: Duration::ZERO, looked: Instant::now() }
    }

    /// Whether the one that has the turn was still for too long.
    pub(crate) fn is_over(&mut self) -> bool {
        self.is_over_with(Hooks::turn().as_deref().and_then(holder))
    }

    fn is_over_with(&mut self, holder: Option<u32>) -> bool {
        let passed = mem::replace(&mut self.looked, Instant::now()).elapsed();
        self.is_over_after(passed, holder)
    }

    fn is_over_after(&mut self, passed: Duration, holder: Option<u32>) -> bool {
        self.still = if holder.is_some_and(runs) { Duration::ZERO } else { self.still + passed };
        self.still >= self.limit
    }
}

/// Whether a process exists and is not stopped.
fn runs(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| runs_by(&stat))
}

/// The state follows the name in parentheses, which may have any letters: T is stopped, t traced, Z and X dead.
fn runs_by(stat: &str) -> bool {
    let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
    state.is_some_and(|state| !"TtZX".contains(state))
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
    /// Another ridgepoint has it and was still for [`LONGEST_WAIT`].
    pub(crate) fn wait() -> Result<Option<Self>, Failure> {
        Self::wait_at(Hooks::turn().as_deref(), Patience::new(LONGEST_WAIT), holder)
    }

    fn wait_at(
        path: Option<&Path>,
        mut patience: Patience,
        holder: impl Fn(&Path) -> Option<u32>,
    ) -> Result<Option<Self>, Failure> {
        let mut is_told = false;
        loop {
            match Self::take_at(path) {
                Ok(Some(turn)) => return Ok(Some(turn)),
                Ok(None) => {
                    let holder = path.and_then(&holder);
                    if patience.is_over_with(holder) {
                        return Err(Failure::Failed(still_taken(patience.limit, holder)));
                    }
                    if !is_told {
                        eprintln!("{}", waiting(holder));
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
fn waiting(holder: Option<u32>) -> String {
    format!(
        "another ridgepoint measures on this machine; this one waits until {} has",
        holder.map_or_else(|| "it".to_owned(), |pid| format!("process {pid}")),
    )
}

/// Sentence about a turn that does not end.
fn still_taken(waited: Duration, holder: Option<u32>) -> String {
    format!(
        "another ridgepoint has its turn to measure on this machine, and as far as the system tells it did not run for {} s; end {}, then measure again",
        waited.as_secs(),
        holder.map_or_else(|| "it".to_owned(), |pid| format!("process {pid}"))
    )
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
        let refused = Turn::wait_at(Some(&path), Patience::new(LOOK), |_| None);
        let refused = refused.expect_err("nobody knows who it is");
        assert!(refused.to_string().contains("did not run for 0 s; end it"), "{refused}");
        let waiting = {
            let path = path.clone();
            // One that runs has no limit.
            let this = |_: &Path| Some(std::process::id());
            thread::spawn(move || {
                Turn::wait_at(Some(&path), Patience::new(Duration::from_nanos(1)), this)
            })
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
    fn a_wait_is_told_with_the_process_that_is_waited_for() {
        let known =
            "another ridgepoint measures on this machine; this one waits until process 7 has";
        assert_eq!(waiting(Some(7)), known);
        assert!(waiting(None).ends_with("waits until it has"));
        let gone = still_taken(LONGEST_WAIT, Some(7));
        assert!(
            gone.ends_with("did not run for 600 s; end process 7, then measure again"),
            "{gone}"
        );
    }

    #[test]
    fn patience_ends_with_one_that_is_stopped_and_not_with_one_that_runs() {
        for (stat, expected) in [
            ("7 (ridge) point) S 1 7", true),
            ("7 (a) R 1", true),
            ("7 (a) D 1", true),
            ("7 (S) T 1", false),
            ("7 (a) t 1", false),
            ("7 (a) Z 1", false),
            ("", false),
        ] {
            assert_eq!(runs_by(stat), expected, "{stat}");
        }
        assert!(runs(std::process::id()));
        let mut patience = Patience::new(LONGEST_WAIT);
        let most = LONGEST_WAIT.mul_f64(0.9);
        assert!(!patience.is_over_after(most, None));
        assert!(!patience.is_over_after(most, Some(std::process::id())), "it runs again");
        assert!(!patience.is_over_after(most, None));
        assert!(patience.is_over_after(most, None));
    }

    #[test]
    fn a_path_that_is_no_file_keeps_nobody_from_measuring() {
        let link = std::env::temp_dir().join(format!("ridgepoint-no-turn-{}", std::process::id()));
        std::os::unix::fs::symlink("/etc/passwd", &link).expect("a link");
        for path in
            [&*std::env::temp_dir(), &*link, Path::new("/dev/null"), Path::new("/nowhere/a")]
        {
            assert!(Turn::take_at(Some(path)).is_err(), "{}", path.display());
            let waited = Turn::wait_at(Some(path), Patience::new(LOOK), holder);
            assert!(waited.expect("it measures").is_none());
        }
        std::fs::remove_file(&link).expect("removed");
    }
}
