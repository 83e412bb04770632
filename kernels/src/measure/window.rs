//! Windows: several calls between two readings of the host's clock, so that its resolution does not matter.

use super::timer::{HostSpan, Took};
use super::{Clock, Iteration, Stopped};

/// A function with the clock that times it, and the number of its next call.
pub(super) struct Windows<'a, E> {
    clock: &'a dyn Clock,
    call: &'a mut dyn FnMut(Iteration) -> Result<(), E>,
    iteration: u64,
}

impl<'a, E> Windows<'a, E> {
    pub(super) const fn new(
        clock: &'a dyn Clock,
        call: &'a mut dyn FnMut(Iteration) -> Result<(), E>,
    ) -> Self {
        Self { clock, call, iteration: 0 }
    }

    /// Time of `calls` calls.
    pub(super) fn time(&mut self, calls: u64) -> Result<Took, Stopped<E>> {
        let began_ns = self.clock.now_ns();
        for left in (0..calls).rev() {
            let iteration = Iteration { index: self.iteration, ends_window: left == 0 };
            (self.call)(iteration).map_err(Stopped::Failed)?;
            self.iteration += 1;
        }
        let ended_ns = self.clock.now_ns();
        Ok(Took { host: HostSpan { began_ns, ended_ns }, device: None })
    }
}
