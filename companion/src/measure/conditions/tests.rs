//! Conditions of the processor.

use super::super::sensors::Meter;
use super::super::sensors::tests::Machine;
use super::*;
use std::path::Path;

fn moment(joules: Reading<f64>, battery: Reading<f64>, seconds: f64) -> Moment {
    Moment {
        energy: joules.map(|joules| {
            Energy(vec![Meter { zone: "intel-rapl:0".into(), joules, range: 100.0 }])
        }),
        battery,
        cores: Ok(CoreTime { all: 0, busy: 0, steal: 0, own: 0 }),
        throttled: Ok(7.0),
        seconds,
    }
}

fn watched(begin: Moment, end: Moment) -> Watch {
    let mut watch =
        Watch::new(PatientSensors::of(Sensors::at(Path::new("/nowhere"))), MeterPlace::Processor);
    (watch.begin, watch.end) = (Some(begin), Some(end));
    watch
}

#[test]
fn power_is_read_from_packages_then_battery_else_unknown() {
    let none = || Err("none".to_owned());
    let both = watched(moment(Ok(1.0), Ok(9.0), 0.0), moment(Ok(7.0), Ok(11.0), 2.0));
    assert!((both.power().unwrap().watts - 3.0).abs() < 1e-12);
    let battery = watched(moment(none(), Ok(9.0), 0.0), moment(none(), Ok(11.0), 2.0));
    let power = battery.power().unwrap();
    assert!((power.watts - 10.0).abs() < 1e-12 && power.source.contains("last resort"));
    let stuck = watched(moment(Ok(5.0), none(), 0.0), moment(Ok(5.0), none(), 2.0));
    let why = stuck.power().unwrap_err();
    assert!(why.contains("does not advance") && why.contains("none"), "{why}");
    let neither = watched(moment(none(), none(), 0.0), moment(none(), none(), 2.0));
    assert!(neither.power().is_err());
}

#[test]
fn throttling_counts_while_sampling_alone() {
    let mut end = moment(Ok(0.0), Ok(0.0), 1.0);
    end.throttled = Ok(9.0);
    assert_eq!(watched(moment(Ok(0.0), Ok(0.0), 0.0), end).throttled(), Ok(2.0));
    let mut unknown = moment(Ok(0.0), Ok(0.0), 1.0);
    unknown.throttled = Err("no counter".into());
    let watch = watched(moment(Ok(0.0), Ok(0.0), 0.0), unknown);
    assert_eq!(watch.throttled(), Err("no counter".into()));
}

#[test]
fn cpu_time_of_others_excludes_this_process() {
    let mut end = moment(Ok(0.0), Ok(0.0), 1.0);
    end.cores = Ok(CoreTime { all: 200, busy: 150, steal: 10, own: 120 });
    let watch = watched(moment(Ok(0.0), Ok(0.0), 0.0), end);
    assert_eq!(watch.others(), Ok(Others { programs: 0.15, host: 0.05 }));
    assert_eq!(watch.flags(), [Flag::Contended]);
}

#[test]
fn temperatures_before_and_after_are_of_one_sensor() {
    let zone = |at: u32, file: &str| format!("sys/class/thermal/thermal_zone{at}/{file}");
    let machine = Machine::new("swap", &[])
        .with_bytes(&zone(0, "type"), b"cpu0-thermal\n")
        .with_bytes(&zone(0, "temp"), b"50000")
        .with_bytes(&zone(1, "type"), b"cpu1-thermal\n")
        .with_bytes(&zone(1, "temp"), b"49000");
    let watch = Watch::new(machine.patient(), MeterPlace::Processor);
    let machine =
        machine.with_bytes(&zone(0, "temp"), b"48000").with_bytes(&zone(1, "temp"), b"53000");
    let conditions = watch.conditions(&description(), None);
    assert_eq!(conditions.temperature_source.as_deref(), Some("cpu0-thermal"));
    let both = (conditions.temperature_before_c, conditions.temperature_after_c);
    assert_eq!(both, (Some(50.0), Some(48.0)));
    drop(machine);
}

pub(super) fn description() -> Description {
    Description {
        driver: None,
        id: kernels::backend::DeviceId::CPU,
        catalog_key: None,
        device: "d".into(),
        route: "r".into(),
        workers: 1,
        pinned: false,
        last_level_cache: None,
        address: None,
        memory: None,
    }
}

#[test]
fn every_null_has_a_reason() {
    let watch =
        Watch::new(PatientSensors::of(Sensors::at(Path::new("/nowhere"))), MeterPlace::Processor);
    let conditions = watch.conditions(&description(), None);
    for key in [
        "last_level_cache_bytes",
        "governor",
        "clock_driver",
        "power_mode",
        "power_cap_w",
        "throttle_events",
        "load_before",
        "others_share",
        "temperature_before_c",
        "temperature_source",
        "power_w",
    ] {
        assert!(conditions.missing.contains_key(key), "{key}");
    }
    assert_eq!((conditions.power_w, conditions.load_before), (None, None));
}
