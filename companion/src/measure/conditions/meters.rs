//! Two meters of one card held against each other: its counter of energy, and the integral of its instant power. Where both are right they
//! agree; a thread reads them while a process measures.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::super::sensors::{Gpu, PatientSensors, Reading};

/// Difference as a share of the counted energy above which a record is flagged.
pub(super) const MOST_APART: f64 = 0.03;
/// Shortest time over which the meters are compared: counters and powers are up to 0.1 s old.
const WINDOW: Duration = Duration::from_secs(5);
/// Time between two readings.
const SPACING: Duration = Duration::from_millis(100);
/// Longest time between two readings of a window: a later one leaves too much power unknown.
const LONGEST_GAP: Duration = Duration::from_secs(1);

/// The comparisons of this process, by card, so that short measurements that follow each other share a window.
static WINDOWS: Mutex<BTreeMap<String, Arc<Mutex<Window>>>> = Mutex::new(BTreeMap::new());

/// Both meters of a card since a window began.
#[derive(Debug, Default)]
pub(super) struct Window {
    begin: Option<Both>,
    last: Option<Both>,
    /// Energy by the power since the begin [J].
    integral: f64,
    /// Reason why the last reading failed.
    why: Option<String>,
}

/// Both meters at a moment.
#[derive(Debug, Clone, Copy)]
struct Both {
    at: Instant,
    joules: f64,
    watts: f64,
}

/// Begins to compare the meters of a card, if this process does not yet.
///
/// # Errors
/// A card that lacks one of the two.
pub(super) fn watch(sensors: &PatientSensors, gpu: &Gpu) -> Reading<Arc<Mutex<Window>>> {
    let mut windows = locked(&WINDOWS);
    if let Some(known) = windows.get(&gpu.name) {
        return Ok(Arc::clone(known));
    }
    let asked = gpu.clone();
    sensors.ask(&format!("both meters of {}", gpu.name), move |_| asked.both_meters())?;
    let window = Arc::new(Mutex::new(Window::default()));
    let (read, gpu_read) = (Arc::clone(&window), gpu.clone());
    let reads = move || loop {
        let found = gpu_read.both_meters();
        locked(&read).take(Instant::now(), found);
        thread::sleep(SPACING);
    };
    // It ends with the process, also where the driver hangs.
    let started = thread::Builder::new().name("meters".into()).spawn(reads);
    started.map_err(|error| format!("no thread can be started to read both meters: {error}"))?;
    windows.insert(gpu.name.clone(), Arc::clone(&window));
    Ok(window)
}

/// The difference over the window until now as a share of the counted energy, positive where power shows more. A long window ends.
pub(super) fn difference(window: &Mutex<Window>) -> Reading<f64> {
    locked(window).difference()
}

impl Window {
    fn take(&mut self, at: Instant, found: Reading<(f64, f64)>) {
        let (joules, watts) = match found {
            Ok(both) => both,
            Err(why) => {
                *self = Self { why: Some(why), ..Self::default() };
                return;
            }
        };
        let now = Both { at, joules, watts };
        match self.last.replace(now) {
            Some(last) if at.saturating_duration_since(last.at) <= LONGEST_GAP => {
                let seconds = at.saturating_duration_since(last.at).as_secs_f64();
                self.integral += f64::midpoint(last.watts, watts) * seconds;
            }
            _ => *self = Self { begin: Some(now), last: Some(now), ..Self::default() },
        }
    }

    fn difference(&mut self) -> Reading<f64> {
        let Some((begin, last)) = self.begin.zip(self.last) else {
            return Err(self.why.clone().unwrap_or_else(|| "the meters were not read yet".into()));
        };
        let passed = last.at.saturating_duration_since(begin.at);
        if passed < WINDOW {
            return Err(format!(
                "the meters were compared over {:.1} s so far, and {} s are needed",
                passed.as_secs_f64(),
                WINDOW.as_secs()
            ));
        }
        let (counted, integral) = (last.joules - begin.joules, self.integral);
        *self = Self { begin: Some(last), last: Some(last), ..Self::default() };
        if counted > 0.0 {
            Ok(integral / counted - 1.0)
        } else {
            Err("the counter of energy does not advance".into())
        }
    }
}

fn locked<T>(window: &Mutex<T>) -> MutexGuard<'_, T> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window with so many readings after the first, `step` s apart.
    fn window(steps: u32, step: f64, joules: impl Fn(f64) -> f64, watts: f64) -> Window {
        let (mut window, begin) = (Window::default(), Instant::now());
        for at in 0..=steps {
            let t = f64::from(at) * step;
            window.take(begin + Duration::from_secs_f64(t), Ok((joules(t), watts)));
        }
        window
    }

    #[test]
    fn meters_that_agree_differ_by_nothing_and_others_by_their_share() {
        for (percent, expected) in [(100.0, 0.0), (125.0, -0.2), (80.0, 0.25)] {
            let mut both = window(60, 0.1, |t| 5000.0 + 200.0 * t * percent / 100.0, 200.0);
            let found = both.difference().unwrap();
            assert!((found - expected).abs() < 1e-9, "{percent}: {found}");
            let why = both.difference().unwrap_err();
            assert!(why.starts_with("the meters were compared over 0.0 s so far"), "{why}");
        }
    }

    #[test]
    fn a_short_window_goes_on_and_a_gap_begins_a_new_one() {
        let mut short = window(49, 0.1, |t| 200.0 * t, 200.0);
        let why = short.difference().unwrap_err();
        assert_eq!(why, "the meters were compared over 4.9 s so far, and 5 s are needed");
        let last = short.last.unwrap();
        short.take(last.at + SPACING, Ok((1000.0, 200.0)));
        assert!(short.difference().unwrap().abs() < 1e-9);
        let mut gap = window(6, 1.5, |t| 200.0 * t, 200.0);
        assert!(gap.difference().unwrap_err().contains("over 0.0 s"), "{gap:?}");
    }

    #[test]
    fn a_failed_reading_and_a_counter_that_rests_have_reasons() {
        let mut window = window(60, 0.1, |_| 5000.0, 200.0);
        let rests = "the counter of energy does not advance";
        assert_eq!(window.difference().unwrap_err(), rests);
        window.take(Instant::now(), Err("lost".into()));
        assert_eq!(window.difference().unwrap_err(), "lost");
    }
}
