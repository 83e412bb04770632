//! Passes signals on to the program that is monitored.

use std::fs;
use std::io;
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use tokio::signal::unix::{SignalKind, signal};

/// The signals with their kinds for tokio. SIGKILL and SIGSTOP cannot be passed on.
const PASSED: [(Signal, fn() -> SignalKind); 6] = [
    (Signal::INT, SignalKind::interrupt),
    (Signal::QUIT, SignalKind::quit),
    (Signal::TERM, SignalKind::terminate),
    (Signal::HUP, SignalKind::hangup),
    (Signal::USR1, SignalKind::user_defined1),
    (Signal::USR2, SignalKind::user_defined2),
];

/// The program that gets the signals, while it runs.
#[derive(Debug, Clone, Default)]
pub(super) struct Target(Arc<Mutex<Option<Pid>>>);

impl Target {
    /// Starts the program. A signal that arrives meanwhile waits, and is passed on once the program is there.
    ///
    /// # Errors
    /// Those of `start`.
    pub(super) fn start(&self, start: impl FnOnce() -> io::Result<Child>) -> io::Result<Child> {
        let mut target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let child = start()?;
        *target = Some(Pid::from_child(&child));
        Ok(child)
    }

    /// Sends nothing to the program any more.
    pub(super) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Holding the lock keeps the number from being given to another process meanwhile.
    fn send(&self, signal: Signal) {
        let target = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = *target {
            // It may have ended just now.
            let _ = kill_process(program, signal);
        }
    }
}

/// Catches the signals from now on and passes them on in threads.
///
/// # Errors
/// The system refuses to register them.
pub(super) fn listen(target: &Target) -> io::Result<()> {
    for (passed, kind) in PASSED {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let mut arrivals = {
            let _inside = runtime.enter();
            signal(kind())?
        };
        let target = target.clone();
        thread::spawn(move || {
            while runtime.block_on(arrivals.recv()).is_some() {
                let is_key = passed == Signal::INT || passed == Signal::QUIT;
                if !(is_key && terminal_tells_all()) {
                    target.send(passed);
                }
            }
        });
    }
    Ok(())
}

/// Whether this process is in the foreground of a terminal, which then sends Ctrl-C to the program, too. A second one would count
/// as impatience.
fn terminal_tells_all() -> bool {
    fs::read_to_string("/proc/self/stat").is_ok_and(|stat| is_foreground(&stat))
}

fn is_foreground(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    // state parent group session terminal group-in-the-foreground
    match fields.take(6).collect::<Vec<_>>()[..] {
        [_, _, group, _, terminal, foreground] => terminal != "0" && group == foreground,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_signal_that_arrives_during_the_start_reaches_the_program() {
        let target = Target::default();
        let mut child = target
            .start(|| {
                let child = Command::new("sleep").arg("30").spawn()?;
                let target = target.clone();
                thread::spawn(move || target.send(Signal::TERM));
                thread::sleep(Duration::from_millis(50));
                Ok(child)
            })
            .expect("sleep");
        assert_eq!(child.wait().expect("it ends").signal(), Some(15));
    }

    #[test]
    fn the_foreground_of_a_terminal_is_recognized() {
        for (stat, expected) in [
            ("7 (a ) b) S 1 7 7 34816 7 0", true),
            ("7 (a) S 1 7 7 34816 9 0", false),
            ("7 (a) S 1 7 7 0 -1 0", false),
            ("7 (a) S", false),
            ("", false),
        ] {
            assert_eq!(is_foreground(stat), expected, "{stat}");
        }
    }
}
