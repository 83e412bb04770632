//! The stepper: the numbers of the loops before it, and devices with clocks of their own.

use super::*;

/// Results of the loops before the stepper: samples, median, end of the interval, calls per window.
const BEFORE: [(u64, Before, Before); 6] = [
    (
        0,
        (210, 0.000_999_722, 0.001_002_77, 1),
        (452, 0.000_100_302_181_818, 0.000_100_405_727_273, 11),
    ),
    (
        1,
        (69, 0.000_995_748, 0.001_001_248, 1),
        (451, 0.000_100_405_545_455, 0.000_100_498_272_727, 11),
    ),
    (2, (172, 0.001_001_241_5, 0.001_004_446, 1), (451, 0.000_100_397, 0.000_100_540_636_364, 11)),
    (
        3,
        (156, 0.001_001_556_5, 0.001_003_526, 1),
        (452, 0.000_100_327_227_273, 0.000_100_400_818_182, 11),
    ),
    (
        4,
        (255, 0.001_000_928, 0.001_005_343, 1),
        (452, 0.000_100_318_772_727, 0.000_100_425_545_455, 11),
    ),
    (
        5,
        (141, 0.001_002_343, 0.001_005_123, 1),
        (452, 0.000_100_369_681_818, 0.000_100_534_818_182, 11),
    ),
];
type Before = (usize, f64, f64, u64);

#[test]
fn the_stepper_gives_what_the_loops_before_it_gave() {
    for (seed, quick, standard) in BEFORE {
        for (plan, seconds, (n, median, high, calls)) in
            [(QUICK, 1e-3, quick), (Plan::STANDARD, 1e-4, standard)]
        {
            let measured = timed(&plan, seed, |_| seconds);
            let summary = measured.summary;
            assert_eq!((summary.n, measured.calls_per_window), (n, calls), "seed {seed}");
            for (got, before) in [(summary.median, median), (summary.interval.high, high)] {
                assert!((got / before - 1.0).abs() < 1e-8, "seed {seed}: {got}, not {before}");
            }
        }
    }
}

/// A device with a clock of its own: 1 µs per call, 5 µs for each run, whatever the host's clock shows. Its cores have a clock that falls
/// by 1 Hz in each nanosecond.
fn on_device(plan: &Plan, empty_ticks: u64) -> Result<Measurement, Stopped<Infallible>> {
    with_clock(plan, empty_ticks, &|now_ns| Some(FIRST_HZ - now_ns as f64))
}

/// Clock of the cores before the warm-up.
const FIRST_HZ: f64 = 2e9;

fn with_clock(
    plan: &Plan,
    empty_ticks: u64,
    cores_hz: &dyn Fn(u64) -> Option<f64>,
) -> Result<Measurement, Stopped<Infallible>> {
    let ticks_per_second = 25e6;
    let stepper = Stepper::new(plan, Timer::of_device(ticks_per_second)?);
    let mut now_ns = 0;
    drive(
        stepper,
        &mut |calls| {
            let began_ns = now_ns;
            now_ns += 40_000 + 1_000 * calls;
            let host = HostSpan { began_ns, ended_ns: now_ns };
            let span = DeviceSpan {
                ticks: 125 + 25 * calls,
                empty_ticks,
                ticks_per_second,
                cores_hz: cores_hz(began_ns),
            };
            Ok(Took { host, device: Some(span) })
        },
        &mut watch,
    )
}

#[test]
fn a_device_with_a_clock_of_its_own_is_timed_by_it_without_the_empty_run() {
    let exact = on_device(&Plan::STANDARD, 125).unwrap();
    assert!((exact.summary.median / 1e-6 - 1.0).abs() < 1e-9, "{}", exact.summary.median);
    // The host's clock decides how long it takes: 0.5 s at least.
    assert!(exact.samples.len() >= 400, "{}", exact.samples.len());
    let calls = exact.calls_per_window as f64;
    let raw = on_device(&Plan::STANDARD, 0).unwrap().summary.median;
    assert!((raw - (1e-6 + 5e-6 / calls)).abs() < 1e-9, "{raw}");
    // Runs that never take longer than an empty one have no time.
    assert_eq!(on_device(&QUICK, u64::MAX).unwrap_err(), Stopped::NoTime);
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(Timer::of_device(rate), Err(NoTime), "{rate}");
    }
}

#[test]
fn every_window_has_its_host_time_and_the_clock_of_the_cores() {
    let measured = on_device(&QUICK, 125).unwrap();
    let windows = measured.device.unwrap();
    assert!((windows.empty - 5e-6).abs() < 1e-12, "{}", windows.empty);
    let host = 40e-6 + 1e-6 * measured.calls_per_window as f64;
    assert_eq!(windows.host.len(), measured.samples.len());
    assert!(windows.host.iter().all(|time| (time / host - 1.0).abs() < 1e-9), "{host}");
    // The warm-up has windows, too, which do not count.
    assert_eq!(windows.cores_hz.len(), measured.samples.len());
    assert!(windows.cores_hz[0] < FIRST_HZ - 1e6, "{}", windows.cores_hz[0]);
    let falls =
        windows.cores_hz.windows(2).all(|pair| (pair[0] - pair[1] - host * 1e9).abs() < 1.0);
    assert!(falls, "{:?}", &windows.cores_hz[..3]);
    // One window without a clock leaves none: a list with gaps does not say which window a clock is of.
    let asked = Cell::new(0);
    let one_lacks = |lacking: u64| {
        asked.set(0);
        let measured = with_clock(&QUICK, 125, &|_| {
            asked.set(asked.get() + 1);
            (asked.get() != lacking).then_some(1e9)
        });
        measured.unwrap().device.unwrap()
    };
    let whole = one_lacks(0);
    assert_eq!(whole.cores_hz.len(), whole.host.len());
    let gap = one_lacks(asked.get());
    assert_eq!((gap.cores_hz.len(), gap.host.len()), (0, whole.host.len()));
    // The host's clock alone has no windows of a device.
    assert_eq!(timed(&QUICK, 1, |_| 1e-3).device, None);
}

#[test]
fn a_stepper_that_is_asked_again_says_the_same_until_it_is_told() {
    let mut stepper = Stepper::new(&QUICK, Timer { step_ns: 1.0 });
    assert_eq!(stepper.step(), Step::Tell(Stage::WarmUp(0)));
    assert_eq!(stepper.step(), Step::Run { calls: 1 });
    assert_eq!(stepper.step(), Step::Run { calls: 1 });
    assert_eq!(stepper.measurement(), Err(NoTime));
}
