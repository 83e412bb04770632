//! Faults and limits that tests set in the real binary: scripted jobs, shorter limits, a shifted clock, a crash at a named point.
//! Debug builds read them from an environment variable; in a release build every hook is a constant and the scripts are not compiled.

#[cfg(debug_assertions)]
mod from_environment;
#[cfg(not(debug_assertions))]
mod off;
#[cfg(all(test, debug_assertions))]
mod watcher;

#[cfg(debug_assertions)]
pub(crate) use from_environment::Hooks;
#[cfg(not(debug_assertions))]
pub(crate) use off::NoHooks as Hooks;
#[cfg(all(test, debug_assertions))]
pub(crate) use watcher::{Watch, Watcher};

use std::time::Duration;

/// The fate of a write to the job store in a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spoil {
    Nothing,
    /// It fails before anything is on the disk.
    #[cfg_attr(
        not(debug_assertions),
        expect(dead_code, reason = "a release build spoils no write")
    )]
    Before,
    /// It is on the disk, and is said to have failed, as where a sync fails.
    #[cfg(all(test, debug_assertions))]
    After,
}

/// File of the lock of those that measure: in a folder that all users of a machine share.
const TURN: &str = "/tmp/ridgepoint-measures.lock";
/// Longest time without a message from a worker before its job counts as hung.
const SILENCE: Duration = Duration::from_secs(10);
/// Time that a job may take beyond three times its prediction.
const SLACK: Duration = Duration::from_secs(30);
/// Interval in which refusals of one kind become one line of the audit log.
const TALLY: Duration = Duration::from_mins(1);
/// Time after the last question after which the library of a driver is closed: longer than the minute between two requests of Prometheus
/// by its default, so that a server whose library takes seconds to open is not opened anew at each; short for the battery of a laptop,
/// whose card does not go to sleep before.
const METER_IDLE: Duration = Duration::from_secs(90);
