//! The choice of an algorithm for a product of matrices: those that the library proposes are timed, and the fastest one stays.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::{CudaTask, LEAD, Multiplication, Runner};
use crate::backend::{Fault, Task};
use crate::measure::Stopped;

/// Time after which no further algorithm is tried: the library proposes those first that it holds for fast.
const LIMIT: Duration = Duration::from_secs(1);
/// Calls of the first trial of an algorithm.
const FIRST_CALLS: u64 = 2;
/// Time of a trial [ns], and its most calls.
const TRIAL: u64 = 500_000;
const MOST_CALLS: u64 = 64;
/// Time that the host takes to start a call [ns], assumed: the GPU waits as long, so that no call waits for the host.
const START: u64 = 10_000;

impl CudaTask {
    /// Tries the algorithms of a product; there is nothing to choose for a kernel of our own.
    ///
    /// # Errors
    /// When the GPU fails, when no algorithm runs, and when `go_on` cancels.
    pub(super) fn search(
        &mut self,
        go_on: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Result<(), Stopped<Fault>> {
        let Runner::Product(product) = &self.runner else { return Ok(()) };
        let count = product.candidates.len();
        let began = Instant::now();
        let (mut best, mut tried, mut refusal) = (None, 0, Fault::Unsupported);
        for candidate in 0..count {
            if best.is_some() && began.elapsed() > LIMIT {
                break;
            }
            if go_on(candidate).is_break() {
                return Err(Stopped::Canceled);
            }
            self.multiplication().in_use = candidate;
            match self.trial() {
                Ok(time) => {
                    tried += 1;
                    if best.is_none_or(|(least, _)| time < least) {
                        best = Some((time, candidate));
                    }
                }
                Err(why) => {
                    // A GPU that failed says so again; else it was the library that refused, and another algorithm may run.
                    Task::synchronize(self).map_err(Stopped::Failed)?;
                    self.span = None;
                    refusal = why;
                }
            }
        }
        let (_, in_use) = best.ok_or(Stopped::Failed(refusal))?;
        let chosen = self.multiplication();
        chosen.in_use = in_use;
        (chosen.told)(chosen.product.route(&chosen.candidates[in_use], tried));
        Ok(())
    }

    fn multiplication(&mut self) -> &mut Multiplication {
        match &mut self.runner {
            Runner::Product(product) => product,
            Runner::Kernel(..) => unreachable!("a search is of a product"),
        }
    }

    /// Time of a call by the algorithm in use [ns]. A first call loads its kernel.
    fn trial(&mut self) -> Result<u64, Fault> {
        self.timed(1)?;
        let first = self.timed(FIRST_CALLS)?;
        let calls = (TRIAL / first.max(1)).min(MOST_CALLS);
        if calls <= FIRST_CALLS { Ok(first) } else { self.timed(calls) }
    }

    /// Time per call of so many calls, which rotate over the sets [ns].
    fn timed(&mut self, calls: u64) -> Result<u64, Fault> {
        self.wait = (START * calls).clamp(LEAD.0, LEAD.1);
        self.begin()?;
        (0..calls).try_for_each(|call| self.start(call))?;
        Task::synchronize(self)?;
        let span = self.span.take();
        Ok(span.map_or(u64::MAX, |span| span.ticks / calls))
    }
}
