//! A card while it is measured: a thread reads its counter of energy, power, clock and reasons for low clocks between the begin and the end
//! of the samples. Before and after them the card rests, and readings of then are not of the load.

mod comparison;
mod run;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::sensors::{Gpu, PatientSensors, Reading, SLEEPS};
use super::super::steps::SPACING;
pub(super) use comparison::Difference;
use comparison::MeterComparison;
pub(crate) use run::CardRun;

/// Time between two readings of everything else, and of the first one after the begin: the load has started by then.
const ALL_SPACING: Duration = Duration::from_millis(100);
/// Time between two readings of the counter, as a share of the time since the begin: the error by its steps is about as large.
const SHARE: u32 = 100;
const FIRST: Duration = Duration::from_millis(10);

/// The cards that this process follows, by name, so that short measurements that follow each other share a comparison of meters.
static FOLLOWED: Mutex<BTreeMap<String, Arc<Follower>>> = Mutex::new(BTreeMap::new());

/// A card with the thread that reads it.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    state: Mutex<State>,
    /// Tells the thread that samples begin.
    begins: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The samples that are being taken; the card is not asked where there are none.
    run: Option<CardRun>,
    /// Whether the counter alone is read.
    counts: bool,
    comparison: MeterComparison,
}

/// Follows a card, if this process does not yet.
///
/// # Errors
/// A card whose driver has no such readings, that does not answer, or that sleeps: a question would wake it up.
pub(crate) fn follow(sensors: &PatientSensors, gpu: &Gpu) -> Reading<Arc<Follower>> {
    let mut all = locked(&FOLLOWED);
    if let Some(known) = all.get(&gpu.name) {
        return Ok(Arc::clone(known));
    }
    let asked = gpu.clone();
    sensors.ask(&format!("the meters of {}", gpu.name), move |sensors| {
        if asked.sleeps(sensors) { Err(SLEEPS.into()) } else { asked.sample() }
    })?;
    let follower = Arc::new(Follower::default());
    let (reads, gpu_read) = (Arc::clone(&follower), gpu.clone());
    // It ends with the process, also where the driver hangs.
    let started = thread::Builder::new().name("meters".into()).spawn(move || reads.read(&gpu_read));
    started.map_err(|error| format!("no thread can be started to read the meters: {error}"))?;
    all.insert(gpu.name.clone(), Arc::clone(&follower));
    Ok(follower)
}

impl Follower {
    /// The samples begin now.
    pub(super) fn begin(&self) {
        self.begin_with(false);
    }

    /// A time begins of which the counter alone is read.
    pub(crate) fn begin_counting(&self) {
        self.begin_with(true);
    }

    fn begin_with(&self, counts: bool) {
        let mut state = locked(&self.state);
        state.counts = counts;
        state.run = Some(CardRun::new(Instant::now()));
        drop(state);
        self.begins.notify_one();
    }

    /// The samples have ended: what was read while they were taken.
    pub(crate) fn end(&self) -> Option<CardRun> {
        let mut state = locked(&self.state);
        let mut run = state.run.take()?;
        run.end(Instant::now());
        if !state.counts {
            state.comparison.add(&run);
        }
        Some(run)
    }

    /// The difference of the two meters over the measurements until now. One that was told ends.
    pub(super) fn difference(&self) -> Reading<Difference> {
        locked(&self.state).comparison.difference()
    }

    fn read(&self, gpu: &Gpu) -> ! {
        let mut next = None;
        loop {
            let mut state = locked(&self.state);
            let Some(began) = state.run.as_ref().map(CardRun::began) else {
                drop(self.begins.wait(state));
                continue;
            };
            let counts = state.counts;
            drop(state);
            let asked = Instant::now();
            // Another run has its own first reading.
            let due = match next {
                Some((of, due)) if of == began => due,
                _ => began + FIRST,
            };
            if asked >= due && !counts {
                next = Some((began, asked + ALL_SPACING));
                let found = gpu.sample();
                state = locked(&self.state);
                if let Some(run) = state.run.as_mut() {
                    run.take(asked, Instant::now(), found);
                }
            } else {
                next = Some((began, due));
                let found = gpu.counter();
                state = locked(&self.state);
                if let Some(run) = state.run.as_mut() {
                    run.count(asked, Instant::now(), &found);
                }
            }
            // The next samples may begin meanwhile.
            drop(self.begins.wait_timeout(state, spacing(began.elapsed())));
        }
    }
}

/// Time until the next reading of the counter, by the time since the begin.
fn spacing(passed: Duration) -> Duration {
    (passed / SHARE).clamp(SPACING, ALL_SPACING)
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Readings in so many seconds, and the largest time to the next one as a share of the time since the begin after 1 s.
    fn readings(seconds: u64) -> (u32, f64) {
        let (mut passed, mut number, mut most) = (Duration::ZERO, 0, 0.0_f64);
        while passed < Duration::from_secs(seconds) {
            let next = spacing(passed);
            if passed >= Duration::from_secs(1) {
                most = most.max(next.as_secs_f64() / passed.as_secs_f64());
            }
            (passed, number) = (passed + next, number + 1);
        }
        (number, most)
    }

    #[test]
    fn long_samples_are_read_seldom_and_their_error_stays_a_hundredth() {
        assert_eq!(readings(1), (100, 0.0));
        let (number, most) = readings(10);
        assert!(number < 350, "1000 at 100 Hz: {number}");
        assert!(most <= 0.0101, "{most}");
        assert!(readings(100).0 < 350 + 900, "10 Hz after 10 s");
    }
}
