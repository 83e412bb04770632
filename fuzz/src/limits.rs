//! The limits of a case: time, which another thread watches, and memory, where the system tells it.

use std::process;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// Longest time of a case, on a busy machine and in a debug build; a real one takes milliseconds.
const LONGEST: Duration = Duration::from_mins(1);

/// Most memory that a case may add to the largest that the process has had [kB]. Inputs have some kilobytes, so a length that is
/// trusted needs more; other tests of the same process need less.
const MOST_MEMORY: u64 = 400_000;

/// Ends the process when a case does not end: nothing else stops a loop.
pub(crate) struct Watch {
    cases: Sender<String>,
}

impl Watch {
    pub(crate) fn start(target: &str) -> Self {
        let (cases, begun) = mpsc::channel::<String>();
        let target = target.to_owned();
        thread::spawn(move || {
            let mut case = String::new();
            loop {
                match begun.recv_timeout(LONGEST) {
                    Ok(next) => case = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("fuzz target {target}: no end after {LONGEST:?} of {case}");
                        process::exit(1);
                    }
                }
            }
        });
        Self { cases }
    }

    /// Says that a case begins.
    pub(crate) fn begin(&self, case: String) {
        let _the_watch_lives_as_long = self.cases.send(case);
    }
}

/// Fails if the case needs too much memory.
pub(crate) fn within_memory<T>(case: impl FnOnce() -> T) -> T {
    let before = peak();
    let done = case();
    if let (Some(before), Some(after)) = (before, peak()) {
        let more = after.saturating_sub(before);
        assert!(more < MOST_MEMORY, "the case needed {more} kB of memory");
    }
    done
}

/// Most memory that this process has had [kB]; `None` where the system does not tell.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    #[should_panic(expected = "kB of memory")]
    fn a_large_allocation_is_noticed() {
        within_memory(|| drop(std::hint::black_box(vec![1_u8; 500_000_000])));
    }
}
