//! Faults and limits that tests set in the real binary: scripted jobs, shorter limits, a shifted clock, a crash at a named point.
//! Debug builds read them from an environment variable; in a release build every hook is a constant and the scripts are not compiled.

#[cfg(debug_assertions)]
mod from_environment;
#[cfg(not(debug_assertions))]
mod off;

#[cfg(debug_assertions)]
pub(crate) use from_environment::Hooks;
#[cfg(not(debug_assertions))]
pub(crate) use off::NoHooks as Hooks;

use std::time::Duration;

/// Longest time without a message from a worker before its job counts as hung.
const SILENCE: Duration = Duration::from_secs(10);
/// Time that a job may take beyond three times its prediction.
const SLACK: Duration = Duration::from_secs(30);
/// Interval in which refusals of one kind become one line of the audit log.
const TALLY: Duration = Duration::from_mins(1);
