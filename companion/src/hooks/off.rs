//! The hooks of a release build: constants. The methods are those of the debug build.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use kernels::backend::fake;
use protocol::job::JobSpec;

use crate::sandbox::{GivenFile, LeftOut};

/// No hook is on.
#[derive(Debug, Clone, Default)]
pub(crate) struct NoHooks;

#[expect(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "the signatures of a debug build"
)]
impl NoHooks {
    /// Reads nothing.
    ///
    /// # Errors
    /// None.
    pub(crate) const fn read() -> Result<Self, String> {
        Ok(Self)
    }

    /// A worker's process gets no variable.
    pub(crate) const fn variable() -> Option<(&'static str, std::ffi::OsString)> {
        None
    }

    /// Root folder of what sensors read.
    pub(crate) fn sensors() -> PathBuf {
        PathBuf::from("/")
    }

    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no such library is opened"))]
    pub(crate) const fn meter_idle() -> Duration {
        super::METER_IDLE
    }

    /// File of the lock of those that measure.
    pub(crate) fn turn() -> Option<PathBuf> {
        Some(PathBuf::from(super::TURN))
    }

    pub(crate) const fn silence(&self) -> Duration {
        super::SILENCE
    }

    pub(crate) const fn slack(&self) -> Duration {
        super::SLACK
    }

    pub(crate) const fn tally(&self) -> Duration {
        super::TALLY
    }

    pub(crate) const fn device(&self) -> Option<fake::Script> {
        None
    }

    pub(crate) const fn quick_plan(&self) -> Option<usize> {
        None
    }

    pub(crate) const fn clock(&self) -> Option<PathBuf> {
        None
    }

    pub(crate) const fn keep_jobs(&self, usual: u32) -> u32 {
        usual
    }

    pub(crate) const fn store_bytes(&self, usual: u64) -> u64 {
        usual
    }

    pub(crate) const fn longest(&self, usual: Duration) -> Duration {
        usual
    }

    pub(crate) const fn memory(&self) -> Option<u64> {
        None
    }

    pub(crate) const fn pause_after_keys(&self) {}

    pub(crate) const fn wait_before_order(&self) {}

    pub(crate) const fn tells_settings(&self) -> bool {
        false
    }

    pub(crate) const fn runner_panics(&self) -> bool {
        false
    }

    pub(crate) const fn panics(&self) -> bool {
        false
    }

    pub(crate) const fn spoils_write(&self, _number: u64) -> super::Spoil {
        super::Spoil::Nothing
    }

    pub(crate) const fn left_out(&self) -> LeftOut {
        LeftOut { landlock: false, seccomp: false }
    }

    /// A worker is given nothing.
    ///
    /// # Errors
    /// None.
    pub(crate) const fn given(&self) -> io::Result<Vec<GivenFile>> {
        Ok(Vec::new())
    }

    pub(crate) const fn pass(&self, _place: &str) {}

    pub(crate) const fn is_scripted(&self, _spec: &JobSpec) -> bool {
        false
    }
}
