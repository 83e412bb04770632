//! One point of a benchmark: choose how to run, check, time, check again.

use std::ops::ControlFlow;

use calc_core::units::{Bytes, Hertz};

use crate::backend::{Backend, Check, Cost, Fault, Task, Work};
use crate::measure::{
    Clock, HostSpan, Measurement, Plan, Stage, Stepper, Stopped, Timer, Took, drive,
};

/// A measured point.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Kernel, problem size and state of the caches.
    pub work: Work,
    /// Bytes and FLOP of one call.
    pub cost: Cost,
    /// Bytes of the buffers that calls rotate over.
    pub footprint: Bytes,
    /// The worse of the checks before and after timing.
    pub check: Check,
    /// Timing of a call.
    pub measurement: Measurement,
    /// Core clock before the first sample and after the last.
    pub core_clocks: Option<(Hertz, Hertz)>,
}

/// Allocates, chooses how to run, checks, times, and checks again.
///
/// # Errors
/// When the backend fails, when `watch` cancels, or when the clock stands still. A wrong result is not an error:
/// [`Outcome::check`] states it.
pub fn run(
    clock: &dyn Clock,
    backend: &mut dyn Backend,
    work: &Work,
    plan: &Plan,
    watch: &mut dyn FnMut(Stage) -> ControlFlow<()>,
) -> Result<Outcome, Stopped<Fault>> {
    let mut task = backend.allocate(work).map_err(Stopped::Failed)?;
    task.choose(&mut |tried| watch(Stage::Choosing(tried)))?;
    let before = task.check().map_err(Stopped::Failed)?;
    // An idle core's clock is meaningless, so it is read right after warm-up, between calls.
    // After the last sample it is read first: the clock changes soon after the load ends.
    let (mut first_speed, mut last_speed) = (None, None);
    let mut note_speed = |stage| {
        match stage {
            Stage::Begin => first_speed = backend.core_clock(clock),
            Stage::End => last_speed = backend.core_clock(clock),
            Stage::Choosing(_) | Stage::WarmUp(_) | Stage::Sampling { .. } => {}
        }
        watch(stage)
    };
    let timer = match task.ticks_per_second() {
        Some(rate) => Timer::of_device(rate),
        None => Timer::of_host(clock),
    };
    let multiple = task.multiple();
    let mut iteration = 0;
    let mut window = |calls| window(clock, &mut *task, &mut iteration, calls);
    let mut measurement =
        drive(Stepper::new(plan, timer?).in_multiples_of(multiple), &mut window, &mut note_speed)?;
    let core_clocks = first_speed.zip(last_speed);
    if let Some((before, after)) = core_clocks {
        measurement.flag_throttling(before.get(), after.get());
    }
    let after = task.check().map_err(Stopped::Failed)?;
    Ok(Outcome {
        work: *work,
        cost: task.cost(),
        footprint: task.footprint(),
        check: before.worse(after),
        measurement,
        core_clocks,
    })
}

/// Runs calls from `iteration` on, waits for the last one, and says how long they took.
fn window(
    clock: &dyn Clock,
    task: &mut dyn Task,
    iteration: &mut u64,
    calls: u64,
) -> Result<Took, Stopped<Fault>> {
    let began_ns = clock.now_ns();
    task.run_window(*iteration, calls).map_err(Stopped::Failed)?;
    *iteration += calls;
    task.synchronize().map_err(Stopped::Failed)?;
    let ended_ns = clock.now_ns();
    Ok(Took { host: HostSpan { began_ns, ended_ns }, device: task.device_span() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::fake::{CLOCK_READING, Fake, Script};
    use crate::backend::{Cache, Kernel};
    use crate::measure::Flag;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;

    #[derive(Clone)]
    struct Scripted(Rc<Cell<u64>>);

    impl Clock for Scripted {
        fn now_ns(&self) -> u64 {
            self.0.set(self.0.get() + 20);
            self.0.get()
        }
    }

    /// Events in order: elapsed times, and stages other than samples.
    type Log = Rc<RefCell<Vec<String>>>;

    fn outcome(script: &str) -> Result<Outcome, Stopped<Fault>> {
        logged(script, &Log::default())
    }

    fn logged(script: &str, log: &Log) -> Result<Outcome, Stopped<Fault>> {
        let clock = Scripted(Rc::new(Cell::new(0)));
        let (time, events) = (Rc::clone(&clock.0), Rc::clone(log));
        let wait = Rc::new(RefCell::new(move |passed: std::time::Duration| {
            time.set(time.get() + u64::try_from(passed.as_nanos()).unwrap());
            events.borrow_mut().push(format!("{passed:?}"));
        }));
        let mut fake = Fake::new(Script::parse(script).unwrap(), wait);
        fake.probe().map_err(Stopped::Failed)?;
        let work = Work { kernel: Kernel::Read { bytes: 1 }, cache: Cache::Cold, seed: 1 };
        run(&clock, &mut fake, &work, &Plan::STANDARD, &mut |stage| {
            if matches!(stage, Stage::Begin | Stage::End) {
                log.borrow_mut().push(format!("{stage:?}"));
            }
            ControlFlow::Continue(())
        })
    }

    #[test]
    fn a_good_device_is_timed_and_found_right() {
        let outcome = outcome("noise=0.01").unwrap();
        assert!(outcome.check.passed());
        assert!((outcome.measurement.summary.median - 1e-3).abs() < 1e-5);
        assert_eq!(outcome.measurement.flags, []);
    }

    #[test]
    fn a_device_with_a_clock_of_its_own_is_timed_by_it() {
        // The scripted clock advances by 20 ns per reading, which the device's clock does not see.
        let by = |script| outcome(script).unwrap().measurement.summary.median;
        let (device, host) = (by("time_us=100,empty_us=20"), by("time_us=100"));
        assert!((device / 100e-6 - 1.0).abs() < 1e-6, "{device}");
        assert!(host > 100e-6 && host < 100.1e-6, "{host}");
    }

    #[test]
    fn what_goes_wrong_is_told() {
        for (script, expected) in [
            ("absent", Fault::NoDevice),
            ("full", Fault::NoMemory { bytes: 1_000_000, most: Some(0) }),
            ("fails_at=400", Fault::Device("scripted failure".into())),
        ] {
            assert_eq!(outcome(script).unwrap_err(), Stopped::Failed(expected), "{script}");
        }
        // A kernel whose results become wrong during timing is detected by the check after it.
        assert!(!outcome("lies_from=400").unwrap().check.passed());
        let slowed = outcome("noise=0.01,slow_from=600").unwrap();
        assert!(
            slowed.measurement.flags.contains(&Flag::Drift),
            "{:?}",
            slowed.measurement.samples
        );
    }

    #[test]
    fn a_clock_that_fell_while_sampling_is_flagged_and_no_other() {
        // Warm-up ends before call 400, sampling after call 600.
        for (script, expected) in [
            ("noise=0.01", false),
            ("noise=0.01,throttles_from=0", false),
            ("noise=0.01,throttles_from=600", true),
            ("noise=0.01,throttles_from=600,no_clock", false),
        ] {
            let outcome = outcome(script).unwrap();
            let flags = &outcome.measurement.flags;
            assert_eq!(flags.contains(&Flag::Throttled), expected, "{script}: {flags:?}");
            assert_eq!(outcome.core_clocks.is_none(), script.ends_with("no_clock"), "{script}");
        }
    }

    #[test]
    fn the_clock_is_found_between_the_work_and_anything_else() {
        let log = Log::default();
        logged("", &log).unwrap();
        let log = log.borrow();
        let (work, reading) = ("1ms".to_owned(), format!("{CLOCK_READING:?}"));
        let begin = log.iter().position(|event| event == "Begin").unwrap();
        assert_eq!(log[begin - 2..=begin + 1], [&*work, &*reading, "Begin", &*work]);
        assert_eq!(log[log.len() - 3..], [&*work, &*reading, "End"]);
    }
}
