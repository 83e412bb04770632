//! A card while it is measured: a thread reads its counter of energy, power, clock and reasons for low clocks between the begin and the end
//! of the samples. Before and after them the card rests, and readings of then are not of the load.

mod comparison;
mod run;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::sensors::{Gpu, PatientSensors, Reading, SLEEPS};
pub(super) use comparison::Difference;
use comparison::MeterComparison;
pub(super) use run::CardRun;

/// Time between two readings of the counter, which says when it advanced.
const SPACING: Duration = Duration::from_millis(10);
/// Time between two readings of everything else, and of the first one after the begin: the load has started by then.
const ALL_SPACING: Duration = Duration::from_millis(100);
const FIRST: Duration = Duration::from_millis(10);

/// The cards that this process follows, by name, so that short measurements that follow each other share a comparison of meters.
static FOLLOWED: Mutex<BTreeMap<String, Arc<Follower>>> = Mutex::new(BTreeMap::new());

/// A card with the thread that reads it.
#[derive(Debug, Default)]
pub(super) struct Follower {
    state: Mutex<State>,
    /// Tells the thread that samples begin.
    begins: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// The samples that are being taken; the card is not asked where there are none.
    run: Option<CardRun>,
    comparison: MeterComparison,
}

/// Follows a card, if this process does not yet.
///
/// # Errors
/// A card whose driver has no such readings, that does not answer, or that sleeps: a question would wake it up.
pub(super) fn follow(sensors: &PatientSensors, gpu: &Gpu) -> Reading<Arc<Follower>> {
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
        locked(&self.state).run = Some(CardRun::new(Instant::now()));
        self.begins.notify_one();
    }

    /// The samples have ended: what was read while they were taken.
    pub(super) fn end(&self) -> Option<CardRun> {
        let mut state = locked(&self.state);
        let mut run = state.run.take()?;
        run.end(Instant::now());
        state.comparison.add(&run);
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
            drop(state);
            let asked = Instant::now();
            // Another run has its own first reading.
            let due = match next {
                Some((of, due)) if of == began => due,
                _ => began + FIRST,
            };
            if asked >= due {
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
            drop(state);
            thread::sleep(SPACING);
        }
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
