//! Conditions of a measurement, read before it, when sampling begins, and when it ends.

use std::time::Duration;

use kernels::backend::Description;
use kernels::measure::Stage;
use report::output::json::bench::ConditionsJson;
use serde_json::{Map, Value};

use super::sensors::{CoreTime, Energy, PatientSensors, Reading, Sensors, Temperature};

/// Share of the machine's CPU time used by others above which a result is flagged as contended.
const CONTENTION: f64 = 0.05;
/// The thermometers in sentences.
const THERMOMETERS: &str = "the thermometers";
/// Longest wait for a sensor, so that one that hangs does not end a measurement.
pub(super) const SENSOR_WAIT: Duration = Duration::from_secs(1);

/// Sensor readings of a measurement in progress.
#[derive(Debug)]
pub(crate) struct Watch {
    sensors: PatientSensors,
    load: Reading<f64>,
    temperature: Reading<Temperature>,
    begin: Option<Moment>,
    end: Option<Moment>,
}

/// Counters at one moment.
#[derive(Debug)]
struct Moment {
    energy: Reading<Energy>,
    battery: Reading<f64>,
    cores: Reading<CoreTime>,
    /// Times that heat slowed the processor down since boot.
    throttled: Reading<f64>,
    seconds: f64,
}

/// Energy of the timed calls.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Power {
    /// Mean power while sampling [W].
    pub(crate) watts: f64,
    /// The meter that was read.
    pub(crate) source: &'static str,
}

/// CPU time used by others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Others {
    /// Share of CPU time that other processes used.
    pub(crate) programs: f64,
    /// Share of CPU time that the host stole.
    pub(crate) host: f64,
}

impl Watch {
    /// Reads the sensors that must be read before the work begins.
    pub(crate) fn new(sensors: PatientSensors) -> Self {
        let load = sensors.ask("/proc/loadavg", Sensors::load);
        let temperature = sensors.ask(THERMOMETERS, Sensors::temperature);
        Self { sensors, load, temperature, begin: None, end: None }
    }

    /// Reads the counters at a stage, `seconds` after an arbitrary start.
    pub(crate) fn note(&mut self, stage: Stage, seconds: f64) {
        match stage {
            Stage::Begin => self.begin = Some(self.moment(seconds)),
            Stage::End => self.end = Some(self.moment(seconds)),
            Stage::WarmUp(_) | Stage::Sampling { .. } => {}
        }
    }

    fn moment(&self, seconds: f64) -> Moment {
        Moment {
            energy: self.sensors.ask("RAPL", Sensors::package_energy),
            battery: self.sensors.ask("/sys/class/power_supply", Sensors::battery_power),
            cores: self.sensors.ask("/proc/stat", Sensors::core_time),
            throttled: self.sensors.ask("the cores' counters", Sensors::throttle_count),
            seconds,
        }
    }

    fn moments(&self) -> Reading<(&Moment, &Moment)> {
        self.begin.as_ref().zip(self.end.as_ref()).ok_or_else(|| "it was not sampled".into())
    }

    /// Mean power while sampling: of the processor packages, else of the battery.
    pub(crate) fn power(&self) -> Reading<Power> {
        let (begin, end) = self.moments()?;
        let seconds = end.seconds - begin.seconds;
        let rapl = || begin.energy.clone()?.until(&end.energy.clone()?);
        let missing = match rapl() {
            Ok(joules) if seconds > 0.0 => {
                return Ok(Power { watts: joules / seconds, source: "RAPL, all packages" });
            }
            Ok(_) => "no time passed".into(),
            Err(why) => why,
        };
        match (&begin.battery, &end.battery) {
            (Ok(before), Ok(after)) => Ok(Power {
                watts: f64::midpoint(*before, *after),
                source: "battery discharge, the whole machine, last resort",
            }),
            (Err(why), _) | (_, Err(why)) => Err(format!("{missing}; {why}")),
        }
    }

    /// CPU time that others used while sampling.
    pub(crate) fn others(&self) -> Reading<Others> {
        let (begin, end) = self.moments()?;
        let (before, after) = (begin.cores.clone()?, end.cores.clone()?);
        let all = after.all.saturating_sub(before.all) as f64;
        if all < 20.0 {
            return Err("sampling was too short for the system's ticks".into());
        }
        let own = after.own.saturating_sub(before.own);
        let programs = after.busy.saturating_sub(before.busy).saturating_sub(own) as f64 / all;
        Ok(Others { programs, host: after.steal.saturating_sub(before.steal) as f64 / all })
    }

    /// Whether other programs used so much CPU time that the result is flagged.
    pub(crate) fn is_contended(&self) -> bool {
        self.others().is_ok_and(|others| others.programs + others.host > CONTENTION)
    }

    /// Times that heat slowed the processor down while sampling.
    fn throttled(&self) -> Reading<f64> {
        let (begin, end) = self.moments()?;
        Ok(end.throttled.clone()? - begin.throttled.clone()?)
    }

    /// All conditions of the record.
    pub(crate) fn conditions(&self, description: &Description) -> ConditionsJson {
        let mut missing = Missing::default();
        let others = self.others();
        let power = self.power();
        let host = others.clone().map(|others| others.host);
        let settings = self.sensors.ask("the settings of the processor", |sensors| {
            let clock = (sensors.governor(), sensors.clock_driver());
            Ok((clock, sensors.power_mode(), sensors.power_cap()))
        });
        let ((governor, clock_driver), power_mode, power_cap) = settings.unwrap_or_else(|why| {
            let none = || Err(why.clone());
            ((none(), none()), none(), Err(why.clone()))
        });
        let system = self.sensors.ask("/proc", |sensors| Ok(sensors.system()));
        let temperature_after = self.sensors.ask(THERMOMETERS, Sensors::temperature);
        ConditionsJson {
            version: env!("CARGO_PKG_VERSION").into(),
            kernel_hash: kernels::SOURCES.into(),
            build: kernels::BUILD.into(),
            system: system.unwrap_or_default(),
            threads: description.workers,
            pinned: description.pinned,
            last_level_cache_bytes: missing.or_why(
                "last_level_cache_bytes",
                description.last_level_cache.map(calc_core::units::Bytes::get).ok_or_else(|| {
                    "the system does not describe its caches; four times 128 MiB count as cold"
                        .into()
                }),
            ),
            governor: missing.or_why("governor", governor),
            clock_driver: missing.or_why("clock_driver", clock_driver),
            power_mode: missing.or_why("power_mode", power_mode),
            power_cap_w: missing.or_why("power_cap_w", power_cap),
            throttle_events: missing.or_why("throttle_events", self.throttled()),
            load_before: missing.or_why("load_before", self.load.clone()),
            others_share: missing.or_why("others_share", others.map(|others| others.programs)),
            steal_share: missing.or_why("steal_share", host),
            temperature_before_c: missing
                .or_why("temperature_before_c", celsius(&self.temperature)),
            temperature_after_c: missing.or_why("temperature_after_c", celsius(&temperature_after)),
            temperature_source: missing
                .or_why("temperature_source", self.temperature.clone().map(|found| found.sensor)),
            power_w: missing.or_why("power_w", power.clone().map(|power| power.watts)),
            power_source: power.ok().map(|power| power.source.into()),
            missing: missing.0,
            ..ConditionsJson::default()
        }
    }
}

fn celsius(found: &Reading<Temperature>) -> Reading<f64> {
    found.as_ref().map(|found| found.celsius).map_err(Clone::clone)
}

/// Reasons for values that are null.
#[derive(Debug, Default)]
struct Missing(Map<String, Value>);

impl Missing {
    fn or_why<T>(&mut self, key: &str, reading: Reading<T>) -> Option<T> {
        match reading {
            Ok(value) => Some(value),
            Err(why) => {
                self.0.insert(key.into(), Value::String(why));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sensors::Meter;
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
        let mut watch = Watch::new(PatientSensors::of(Sensors::at(Path::new("/nowhere"))));
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
        assert!(watch.is_contended());
    }

    #[test]
    fn every_null_has_a_reason() {
        let watch = Watch::new(PatientSensors::of(Sensors::at(Path::new("/nowhere"))));
        let description = Description {
            id: kernels::backend::DeviceId::CPU,
            catalog_key: None,
            device: "d".into(),
            route: "r".into(),
            workers: 1,
            pinned: false,
            last_level_cache: None,
        };
        let conditions = watch.conditions(&description);
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
}
