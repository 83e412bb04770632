//! Conditions of a measurement, read before it, when sampling begins, and when it ends.

mod card;
mod meters;
mod missing;

use std::time::Duration;

use calc_core::units::Hertz;
use kernels::backend::{BackendKind, Description};
use kernels::measure::{Flag, Stage};
use report::output::json::bench::ConditionsJson;

use card::{NOT_ITS_OWN, WatchedCard};
pub(crate) use meters::{Follower, follow};
use missing::Missing;

use super::sensors::{CoreTime, Energy, PatientSensors, Reading, Sensors, Temperature};

/// The reason where nothing was read, because the samples have no begin or no end.
const NOT_SAMPLED: &str = "it was not sampled";
/// Share of the machine's CPU time used by others above which a result is flagged as contended.
const CONTENTION: f64 = 0.05;
/// Longest wait for a sensor, so that one that hangs does not end a measurement.
pub(super) const SENSOR_WAIT: Duration = Duration::from_secs(1);

/// The device whose conditions are read, by the place where the system's sensors know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeterPlace<'a> {
    Processor,
    /// A card with this address on its bus.
    Bus(&'a str),
    /// The GPU of a board, which is on no bus and shares the memory of the processor.
    Board,
}

impl<'a> MeterPlace<'a> {
    /// The place of an opened device.
    pub(crate) fn of(description: &'a Description) -> Self {
        match (&description.address, description.id.backend) {
            (Some(address), _) => Self::Bus(address),
            (None, BackendKind::Cpu) => Self::Processor,
            (None, _) => Self::Board,
        }
    }
}

/// Sensor readings of a measurement in progress.
#[derive(Debug)]
pub(crate) struct Watch {
    sensors: PatientSensors,
    load: Reading<f64>,
    temperature: Reading<Temperature>,
    begin: Option<Moment>,
    end: Option<Moment>,
    /// The card or the GPU of a board that computes; `None` if it is the processor.
    card: Option<WatchedCard>,
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
    /// Largest error by the steps of the meter, as a share of the power; `None` where they are not known.
    pub(crate) error: Option<f64>,
    /// The meter that was read.
    pub(crate) source: String,
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
    pub(crate) fn new(sensors: PatientSensors, place: MeterPlace<'_>) -> Self {
        let card = WatchedCard::at(&sensors, place);
        let load = sensors.ask("/proc/loadavg", Sensors::load);
        let temperature = sensors.temperature();
        Self { sensors, load, temperature, begin: None, end: None, card }
    }

    /// Reads the counters at a stage, `seconds` after an arbitrary start.
    pub(crate) fn note(&mut self, stage: Stage, seconds: f64) {
        if stage == Stage::Begin {
            self.begin = Some(self.moment(seconds));
        }
        // A card is read next to the samples.
        if let Some(card) = &mut self.card {
            card.note(stage, &self.sensors);
        }
        if stage == Stage::End {
            self.end = Some(self.moment(seconds));
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
        ends(self.begin.as_ref(), self.end.as_ref())
    }

    /// Mean power while sampling: of the card that computed, else of the processor packages, else of the battery.
    pub(crate) fn power(&self) -> Reading<Power> {
        if let Some(card) = &self.card {
            return card.power();
        }
        let (begin, end) = self.moments()?;
        let seconds = end.seconds - begin.seconds;
        let rapl = || begin.energy.clone()?.until(&end.energy.clone()?);
        let missing = match rapl() {
            Ok(joules) if seconds > 0.0 => {
                return Ok(Power {
                    watts: joules / seconds,
                    error: None,
                    source: "RAPL, all packages".into(),
                });
            }
            Ok(_) => "no time passed".into(),
            Err(why) => why,
        };
        match (&begin.battery, &end.battery) {
            (Ok(before), Ok(after)) => Ok(Power {
                watts: f64::midpoint(*before, *after),
                error: None,
                source: "battery discharge, the whole machine, last resort".into(),
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

    /// Flags of the result: others used much CPU time, or the card was disturbed. The processor's load does not disturb a card, but the GPU of
    /// a board, whose memory they share.
    pub(crate) fn flags(&self) -> Vec<Flag> {
        let mut flags = self.card.as_ref().map(WatchedCard::flags).unwrap_or_default();
        let is_alone = self.card.as_ref().is_some_and(|card| !card.is_of_board());
        if !is_alone && self.others().is_ok_and(|others| others.programs + others.host > CONTENTION)
        {
            flags.push(Flag::Contended);
        }
        flags
    }

    /// Times that heat slowed the processor down while sampling.
    fn throttled(&self) -> Reading<f64> {
        if self.card.is_some() {
            return Err(NOT_ITS_OWN.into());
        }
        let (begin, end) = self.moments()?;
        Ok(end.throttled.clone()? - begin.throttled.clone()?)
    }

    /// Settings of the device that computed.
    fn settings(&self) -> Settings {
        if let Some(card) = &self.card {
            return card.settings(&self.sensors);
        }
        let found = self.sensors.ask("the settings of the processor", |sensors| {
            Ok(Settings {
                governor: sensors.governor(),
                clock_driver: sensors.clock_driver(),
                power_mode: sensors.power_mode(),
                power_cap: sensors.power_cap(),
            })
        });
        found.unwrap_or_else(|why| {
            let none = || Err(why.clone());
            let (governor, clock_driver, power_mode) = (none(), none(), none());
            Settings { governor, clock_driver, power_mode, power_cap: Err(why.clone()) }
        })
    }

    /// Name and readings of one thermometer, before and after.
    fn temperatures(&self) -> (Reading<String>, Reading<f64>, Reading<f64>) {
        if let Some(card) = &self.card {
            return match card.temperature() {
                Ok((sensor, before, after)) => (Ok(sensor), Ok(before), after),
                Err(why) => (Err(why.clone()), Err(why.clone()), Err(why)),
            };
        }
        // Another sensor of the same kind may be warmer by now, and does not stand for the first one.
        let after = match &self.temperature {
            Ok(first) => self.sensors.temperature_again(&first.thermometer),
            Err(_) => self.sensors.temperature(),
        };
        let sensor = self.temperature.clone().map(|found| found.thermometer.sensor);
        (sensor, celsius(&self.temperature), celsius(&after))
    }

    /// Clocks before and after: measured, else as the driver of a card tells them.
    fn clocks(&self, measured: Option<(Hertz, Hertz)>) -> Reading<(f64, f64)> {
        match (measured, &self.card) {
            (Some((before, after)), _) => Ok((before.get(), after.get())),
            (None, Some(card)) => card.clocks(),
            (None, None) => Err("there is no way to measure the clock of this device".into()),
        }
    }

    /// All conditions of the record; the clocks are those that the device measured.
    pub(crate) fn conditions(
        &self,
        description: &Description,
        clocks: Option<(Hertz, Hertz)>,
    ) -> ConditionsJson {
        let mut missing = Missing::default();
        let others = self.others();
        let power = self.power();
        let host = others.clone().map(|others| others.host);
        let Settings { governor, clock_driver, power_mode, power_cap } = self.settings();
        let clocks = self.clocks(clocks);
        let system = self.sensors.ask("/proc", |sensors| Ok(sensors.system()));
        let (thermometer, before, after) = self.temperatures();
        let throttle_reasons = self.card.as_ref().map(WatchedCard::throttle_reasons);
        let difference = self.card.as_ref().map(WatchedCard::difference);
        let driver = self.card.as_ref().map(|card| card.driver(&self.sensors));
        let driver = driver.and_then(|found| missing.or_why("driver_version", found));
        let range = self.card.as_ref().and_then(WatchedCard::range_of_clocks);
        let range = range.and_then(|found| missing.or_why("device_clock_low_hz", found));
        ConditionsJson {
            version: env!("CARGO_PKG_VERSION").into(),
            kernel_hash: kernels::SOURCES.into(),
            build: kernels::BUILD.into(),
            system: system.unwrap_or_default(),
            driver_version: driver,
            cuda_version: description.driver.clone(),
            threads: description.workers,
            pinned: description.pinned,
            last_level_cache_bytes: missing.or_why(
                "last_level_cache_bytes",
                description.last_level_cache.map(calc_core::units::Bytes::get).ok_or_else(|| {
                    "the system does not describe its caches; four times 128 MiB count as cold"
                        .into()
                }),
            ),
            clock_before_hz: missing.or_why("clock_before_hz", clocks.clone().map(|both| both.0)),
            clock_after_hz: missing.or_why("clock_after_hz", clocks.map(|both| both.1)),
            governor: missing.or_why("governor", governor),
            clock_driver: missing.or_why("clock_driver", clock_driver),
            power_mode: missing.or_why("power_mode", power_mode),
            power_cap_w: missing.or_why("power_cap_w", power_cap),
            throttle_events: missing.or_why("throttle_events", self.throttled()),
            device_throttle_reasons: throttle_reasons
                .and_then(|found| missing.or_why("device_throttle_reasons", found)),
            device_readings: self.card.as_ref().and_then(WatchedCard::readings),
            device_clock_low_hz: range.map(|(low, _)| low),
            device_clock_high_hz: range.map(|(_, high)| high),
            load_before: missing.or_why("load_before", self.load.clone()),
            others_share: missing.or_why("others_share", others.map(|others| others.programs)),
            steal_share: missing.or_why("steal_share", host),
            temperature_before_c: missing.or_why("temperature_before_c", before),
            temperature_after_c: missing.or_why("temperature_after_c", after),
            temperature_source: missing.or_why("temperature_source", thermometer),
            power_w: missing.or_why("power_w", power.clone().map(|power| power.watts)),
            power_error: power.as_ref().ok().and_then(|power| power.error),
            power_source: power.ok().map(|power| power.source),
            meters_difference: difference
                .and_then(|found| missing.or_why("meters_difference", found)),
            missing: missing.into_reasons(),
            ..ConditionsJson::default()
        }
    }
}

/// Settings of a device.
#[derive(Debug)]
struct Settings {
    governor: Reading<String>,
    clock_driver: Reading<String>,
    power_mode: Reading<String>,
    /// Limit of the mean power [W].
    power_cap: Reading<f64>,
}

/// The readings of both ends of the samples.
fn ends<'a, T>(begin: Option<&'a T>, end: Option<&'a T>) -> Reading<(&'a T, &'a T)> {
    begin.zip(end).ok_or_else(|| NOT_SAMPLED.into())
}

fn celsius(found: &Reading<Temperature>) -> Reading<f64> {
    found.as_ref().map(|found| found.celsius).map_err(Clone::clone)
}

#[cfg(test)]
mod tests;
