//! The choice of an algorithm for a product of matrices: those that the library proposes are timed in turn, several times each, and the one
//! with the least median stays.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::{CudaTask, LEAD, Multiplication, Runner};
use crate::backend::{Fault, Task};
use crate::cuda::errors::of_this_work;
use crate::measure::Stopped;

/// Time after which no further algorithm is tried: the library proposes those first that it holds for fast.
const LIMIT: Duration = Duration::from_secs(1);
/// Trials of each algorithm, and the time after which no further ones begin.
const ROUNDS: usize = 5;
const ROUNDS_LIMIT: Duration = Duration::from_secs(2);
/// Calls of the first trial of an algorithm.
const FIRST_CALLS: u64 = 2;
/// Time of a trial [ns], and its most calls.
const TRIAL: u64 = 500_000;
const MOST_CALLS: u64 = 64;
/// Time that the host takes to start a call [ns], assumed: the GPU waits as long, so that no call waits for the host.
const START: u64 = 10_000;
/// Warm-up before the first trial, because a GPU that rested has a low clock: slices of this length [ns] until the last three differ by
/// 2 % at most, for so long at least and at most.
const SLICE: u64 = 10_000_000;
const SLICES: usize = 3;
const SPREAD: f64 = 0.02;
const WARM_UP: (Duration, Duration) = (Duration::from_millis(100), Duration::from_millis(500));

/// An algorithm that runs.
struct Tried {
    candidate: usize,
    /// Calls of a trial.
    calls: u64,
    /// Time per call of each trial [ns].
    times: Vec<u64>,
}

impl Tried {
    fn median(&self) -> u64 {
        let mut times = self.times.clone();
        times.sort_unstable();
        times[(times.len() - 1) / 2]
    }
}

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
        let mut trials = 0;
        let mut go_on = || {
            trials += 1;
            if go_on(trials - 1).is_break() { Err(Stopped::Canceled) } else { Ok(()) }
        };
        let (mut tried, mut refusal): (Vec<Tried>, _) = (Vec::new(), Fault::Unsupported);
        let mut began = Instant::now();
        for candidate in 0..count {
            if !tried.is_empty() && began.elapsed() > LIMIT {
                break;
            }
            go_on()?;
            self.multiplication().in_use = candidate;
            // The first one that runs warms the GPU up.
            let is_cold = tried.is_empty();
            match self.first_trial(is_cold) {
                Ok((calls, time)) => {
                    if is_cold {
                        began = Instant::now();
                    }
                    tried.push(Tried { candidate, calls, times: vec![time] });
                }
                Err(why) => refusal = self.without(why)?,
            }
        }
        for _ in 1..ROUNDS {
            let mut at = 0;
            while at < tried.len() && began.elapsed() <= ROUNDS_LIMIT {
                go_on()?;
                self.multiplication().in_use = tried[at].candidate;
                match self.timed(tried[at].calls) {
                    Ok(time) => {
                        tried[at].times.push(time);
                        at += 1;
                    }
                    Err(why) => {
                        tried.remove(at);
                        refusal = self.without(why)?;
                    }
                }
            }
        }
        let best = tried.iter().min_by_key(|it| it.median());
        let in_use = best.ok_or(Stopped::Failed(refusal))?.candidate;
        let chosen = self.multiplication();
        chosen.in_use = in_use;
        (chosen.told)(chosen.product.route(&chosen.candidates[in_use], tried.len()));
        Ok(())
    }

    /// The reason of an algorithm that does not run, for the product if no other one does. A GPU that failed says so again, and nothing
    /// runs on it any more; else it was this algorithm, whatever the library says.
    fn without(&mut self, why: Fault) -> Result<Fault, Stopped<Fault>> {
        Task::synchronize(self).map_err(Stopped::Failed)?;
        self.span = None;
        Ok(of_this_work(why))
    }

    fn multiplication(&mut self) -> &mut Multiplication {
        match &mut self.runner {
            Runner::Product(product) => product,
            Runner::Kernel(..) => unreachable!("a search is of a product"),
        }
    }

    /// Calls of a trial of the algorithm in use, and the time of a call [ns]. A first call loads its kernel.
    fn first_trial(&mut self, is_cold: bool) -> Result<(u64, u64), Fault> {
        self.timed(1)?;
        if is_cold {
            self.heat()?;
        }
        let first = self.timed(FIRST_CALLS)?;
        let calls = (TRIAL / first.max(1)).clamp(FIRST_CALLS, MOST_CALLS);
        Ok((calls, if calls == FIRST_CALLS { first } else { self.timed(calls)? }))
    }

    /// Runs the algorithm in use until the time of a call is steady.
    fn heat(&mut self) -> Result<(), Fault> {
        let began = Instant::now();
        let mut slices: Vec<u64> = Vec::new();
        let mut calls = FIRST_CALLS;
        while began.elapsed() < WARM_UP.1 {
            let time = self.timed(calls)?;
            slices.push(time);
            calls = (SLICE / time.max(1)).clamp(1, MOST_CALLS);
            let last = &slices[slices.len().saturating_sub(SLICES)..];
            let (least, most) =
                last.iter().fold((u64::MAX, 0), |(a, b), it| (a.min(*it), b.max(*it)));
            let is_steady = last.len() == SLICES && (most - least) as f64 <= SPREAD * least as f64;
            if is_steady && began.elapsed() >= WARM_UP.0 {
                break;
            }
        }
        Ok(())
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
