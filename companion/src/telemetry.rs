//! Readings of load, memory, clocks, temperature and power, of the machine and of each device, for the daemon, its jobs and the verb
//! `telemetry`. A missing sensor is null with a reason, and one that hangs is missing and holds up no other.
//!
//! This file is longer than 400 lines because the reader of all sensors is one type.

mod cards;
mod rate;
mod shared;
mod users;

use std::borrow::Cow;
use std::fmt;
use std::time::{Duration, Instant};

use kernels::backend::DeviceId;
use kernels::devices::Device;
use protocol::telemetry::{Reading, Telemetry};

use crate::clock::{Clock, Millis};
use crate::measure::sensors::{
    CHIPS, CoreTime, Energy, Gpu, GpuQuantity, PatientSensors, Reading as Found, Sensors,
    Thermometer,
};

pub(crate) use cards::CardReader;
use rate::Rate;
pub(crate) use shared::SharedSensors;

/// Shortest time over which load and power are averaged.
pub(crate) const SPAN: Duration = Duration::from_millis(200);
/// Longest wait for a sensor.
const LIMIT: Duration = Duration::from_millis(300);
/// Time after which devices are looked for again, because a card can be plugged in.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The source of both figures on memory.
const MEMORY: &str = "/proc/meminfo";

/// Reads the sensors.
#[derive(Debug)]
pub(crate) struct SensorReader {
    sensors: PatientSensors,
    clock: Clock,
    parts: Option<(Instant, Parts)>,
    busy: Rate<CoreTime>,
    energy: Rate<Energy>,
    cards: CardReader,
    /// Devices that run kernels, by their place on a bus.
    addresses: Vec<(String, DeviceId)>,
    /// Whether a reading waits for the libraries of drivers to open.
    waits: bool,
}

/// Parts of this machine, as they were found last.
#[derive(Debug, Clone, Default)]
struct Parts {
    gpus: Vec<Gpu>,
    /// Folders of chips that meter the rails of a board.
    rails: Vec<String>,
    thermometers: Vec<Thermometer>,
    host: Option<String>,
    /// Reason why a place was not looked into.
    unseen: Option<String>,
}

/// All sensors at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sensed {
    /// Wall clock, in ms since 1970.
    pub(crate) at_ms: Millis,
    pub(crate) sensors: Vec<Sensor>,
    /// The cards of this machine.
    pub(crate) gpus: Vec<Gpu>,
    /// Name of this machine in a network.
    pub(crate) host: Option<String>,
    /// Names of cards that run kernels, each with its device.
    pub(crate) kernels: Vec<(String, DeviceId)>,
}

/// A sensor with what it shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sensor {
    /// Name with its unit, such as `memory_available_byte`.
    pub(crate) name: &'static str,
    pub(crate) quantity: Quantity,
    pub(crate) of: Part,
    /// The file, driver or meter that is read.
    pub(crate) source: String,
    pub(crate) value: Found<f64>,
}

/// The part of the machine that a sensor shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// `None` for the whole machine, and where no device was found.
    pub(crate) device: Option<Owner>,
    /// Supply or place that a sensor covers.
    pub(crate) rail: Option<Cow<'static, str>>,
}

/// A device that has sensors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Owner {
    /// One that runs kernels.
    Kernels(DeviceId),
    /// A card by driver and address, which this build reads and does not measure.
    Card(String),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernels(id) => write!(f, "{id}"),
            Self::Card(name) => f.write_str(name),
        }
    }
}

impl Part {
    pub(crate) const MACHINE: Self = Self { device: None, rail: None };
    const CPU: Self = Self { device: Some(Owner::Kernels(DeviceId::CPU)), rail: None };
    const PACKAGES: Self =
        Self { device: Some(Owner::Kernels(DeviceId::CPU)), rail: Some(Cow::Borrowed("packages")) };
    const BATTERY: Self = Self { device: None, rail: Some(Cow::Borrowed("battery")) };

    fn of_card(gpu: &Gpu, rail: Option<String>) -> Self {
        Self { device: Some(Owner::Card(gpu.name.clone())), rail: rail.map(Cow::Owned) }
    }
}

/// The quantity that a sensor shows, in its base unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// A share of 1.
    Ratio,
    /// Processes that run or wait.
    Processes,
    Bytes,
    Hertz,
    Celsius,
    Watts,
    /// A counter.
    Joules,
    /// Reasons for which a device is slowed down.
    Reasons,
    /// Number of an error by the list of its maker.
    Error,
}

impl Quantity {
    /// The symbol of the base unit.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Self::Ratio => "1",
            Self::Processes => "processes",
            Self::Bytes => "B",
            Self::Hertz => "Hz",
            Self::Celsius => "°C",
            Self::Watts => "W",
            Self::Joules => "J",
            Self::Reasons => "reasons",
            Self::Error => "Xid",
        }
    }

    /// Name of a sensor of a card, and what it shows.
    const fn of_card(quantity: GpuQuantity) -> (&'static str, Self) {
        match quantity {
            GpuQuantity::Utilization => ("gpu_utilization_ratio", Self::Ratio),
            GpuQuantity::MemoryUsed => ("gpu_memory_used_byte", Self::Bytes),
            GpuQuantity::MemoryTotal => ("gpu_memory_total_byte", Self::Bytes),
            GpuQuantity::MemoryReserved => ("gpu_memory_reserved_byte", Self::Bytes),
            GpuQuantity::Power => ("gpu_power_watt", Self::Watts),
            GpuQuantity::PowerAverage => ("gpu_power_average_watt", Self::Watts),
            GpuQuantity::PowerCap => ("gpu_power_cap_watt", Self::Watts),
            GpuQuantity::Energy => ("gpu_energy_joule", Self::Joules),
            GpuQuantity::Temperature => ("gpu_temperature_celsius", Self::Celsius),
            GpuQuantity::Clock => ("gpu_clock_hz", Self::Hertz),
            GpuQuantity::ClockLimit => ("gpu_clock_limit_hz", Self::Hertz),
            GpuQuantity::MemoryClock => ("gpu_memory_clock_hz", Self::Hertz),
            GpuQuantity::ThrottleReasons => ("gpu_throttle_reasons", Self::Reasons),
            GpuQuantity::LastXid => ("gpu_last_xid", Self::Error),
        }
    }
}

impl Sensed {
    /// Name of the device of a part, as orders and results have it where it runs kernels.
    pub(crate) fn device(&self, part: &Part) -> Option<String> {
        let owner = part.device.as_ref()?;
        let is_it =
            |(name, _): &&(String, DeviceId)| matches!(owner, Owner::Card(card) if card == name);
        let id = self.kernels.iter().find(is_it).map(|(_, id)| id.to_string());
        Some(id.unwrap_or_else(|| owner.to_string()))
    }

    /// The readings as the daemon sends them.
    pub(crate) fn told(&self) -> Telemetry {
        let readings = self.sensors.iter().map(|sensor| Reading {
            name: sensor.name.into(),
            value: sensor.value.as_ref().ok().copied(),
            reason: sensor.value.as_ref().err().cloned(),
            device: self.device(&sensor.of),
            rail: sensor.of.rail.as_ref().map(ToString::to_string),
            source: Some(sensor.source.clone()),
        });
        Telemetry { at_ms: self.at_ms, readings: readings.collect() }
    }
}

impl SensorReader {
    pub(crate) fn new(clock: Clock) -> Self {
        Self::of(PatientSensors::here(LIMIT), clock)
    }

    pub(crate) fn of(sensors: PatientSensors, clock: Clock) -> Self {
        Self {
            sensors,
            clock,
            parts: None,
            busy: Rate::default(),
            energy: Rate::default(),
            cards: CardReader::default(),
            addresses: Vec::new(),
            waits: false,
        }
    }

    /// Names cards by the devices that they are, as orders do.
    pub(crate) fn naming(mut self, devices: &[Device]) -> Self {
        let placed = |device: &Device| Some((device.address.clone()?, device.id));
        self.addresses = devices.iter().filter_map(placed).collect();
        self
    }

    /// Opens the libraries of drivers before each reading, for a program that reads once or at long intervals.
    pub(crate) fn prepared(clock: Clock) -> Self {
        Self { waits: true, ..Self::new(clock) }
    }

    /// Reads all sensors.
    pub(crate) fn sensed(&mut self) -> Sensed {
        if self.waits {
            self.sensors.open_libraries();
        }
        let parts = self.parts();
        let mut sensors = self.of_machine(&parts);
        sensors.extend(parts.rails.iter().flat_map(|chip| self.of_rails(chip)));
        sensors.extend(self.cards.read(&self.sensors, &parts.gpus));
        if parts.gpus.is_empty() {
            let why = parts.unseen.clone();
            let why = why.unwrap_or_else(|| {
                "no GPU is found under /sys/class/drm and /sys/class/devfreq".into()
            });
            let source = "/sys/class/drm, /sys/class/devfreq, /proc/driver/nvidia";
            let (name, quantity) = Quantity::of_card(GpuQuantity::Utilization);
            sensors.push(sensor(name, quantity, Part::MACHINE, source, Err(why)));
        }
        let named = |(address, id): &(String, DeviceId)| {
            Gpu::at(&parts.gpus, address).ok().map(|gpu| (gpu.name.clone(), *id))
        };
        let kernels = self.addresses.iter().filter_map(named).collect();
        let Parts { gpus, host, .. } = parts;
        Sensed { at_ms: self.clock.now(), sensors, gpus, host, kernels }
    }

    /// Reason why cards were not looked for or listed, where none was found.
    pub(crate) fn unseen(&self) -> Option<&str> {
        let (_, parts) = self.parts.as_ref()?;
        parts.unseen.as_deref().filter(|_| parts.gpus.is_empty())
    }

    /// Cards and chips that were found at most [`LOOK_AGAIN`] ago.
    fn parts(&mut self) -> Parts {
        if let Some((at, parts)) = &self.parts
            && at.elapsed() < LOOK_AGAIN
        {
            return parts.clone();
        }
        let gpus = self.sensors.ask("the drivers of GPUs", |sensors| Ok(sensors.gpus()));
        let unlisted = if gpus.as_ref().is_ok_and(Vec::is_empty) {
            self.sensors.ask("the drivers of GPUs", |sensors| Ok(sensors.unlisted_cards()))
        } else {
            Ok(None)
        };
        let rails = self.sensors.ask(&format!("/{CHIPS}"), |sensors| Ok(sensors.rail_chips()));
        let thermometers = self.sensors.thermometers();
        let host = self.sensors.ask("/proc", Sensors::host_name).ok();
        let known = self.parts.take().map(|(_, parts)| parts).unwrap_or_default();
        // A place that does not answer now has what it had before.
        let parts = Parts {
            unseen: gpus.as_ref().err().cloned().or_else(|| unlisted.unwrap_or_else(Some)),
            gpus: gpus.unwrap_or(known.gpus),
            rails: rails.unwrap_or(known.rails),
            thermometers: thermometers.unwrap_or(known.thermometers),
            host,
        };
        self.parts = Some((Instant::now(), parts.clone()));
        parts
    }

    fn of_machine(&mut self, parts: &Parts) -> Vec<Sensor> {
        use Quantity::{Bytes, Celsius, Hertz, Processes, Ratio, Watts};
        let cpu = |name, quantity, source, found| sensor(name, quantity, Part::CPU, source, found);
        let machine =
            |name, quantity, source, found| sensor(name, quantity, Part::MACHINE, source, found);
        let (busy, load, total, available) = self.of_system();
        let temperature = self.sensors.temperature_of(&parts.thermometers);
        let chip = temperature
            .as_ref()
            .map_or("/sys/class/hwmon, /sys/class/thermal", |it| &it.thermometer.sensor);
        let celsius = temperature.as_ref().map(|it| it.celsius).map_err(Clone::clone);
        let power = self.power();
        let clock = self.sensors.ask("cpufreq", Sensors::core_clock);
        let battery = self.sensors.ask("/sys/class/power_supply", Sensors::battery_power);
        vec![
            cpu("cpu_utilization_ratio", Ratio, "/proc/stat", busy),
            machine("load_1m", Processes, "/proc/loadavg", load),
            machine("memory_total_byte", Bytes, MEMORY, total),
            machine("memory_available_byte", Bytes, MEMORY, available),
            cpu("cpu_clock_hz", Hertz, "cpufreq, mean over the cores", clock),
            machine("temperature_celsius", Celsius, chip, celsius),
            sensor("cpu_power_watt", Watts, Part::PACKAGES, "RAPL, all packages", power),
            sensor(
                "battery_power_watt",
                Watts,
                Part::BATTERY,
                "/sys/class/power_supply, the whole machine",
                battery,
            ),
        ]
    }

    /// Utilization, load, and memory: installed and available.
    fn of_system(&mut self) -> (Found<f64>, Found<f64>, Found<f64>, Found<f64>) {
        let found = self.sensors.ask("/proc", |sensors| {
            let memory = (sensors.memory_total(), sensors.memory_available());
            Ok((sensors.core_time(), sensors.load(), memory))
        });
        let (time, load, (total, available)) = match found {
            Ok(found) => found,
            Err(why) => {
                let none = || Err(why.clone());
                return (none(), none(), none(), none());
            }
        };
        let busy = time.and_then(|now| {
            self.busy.next(Instant::now(), now, |before, now, _| {
                let all = now.all.saturating_sub(before.all).max(1);
                Ok(now.busy.saturating_sub(before.busy) as f64 / all as f64)
            })
        });
        (busy, load, total, available)
    }

    fn power(&mut self) -> Found<f64> {
        let now = self.sensors.ask("RAPL", Sensors::package_energy)?;
        self.energy
            .next(Instant::now(), now, |before, now, seconds| Ok(before.until(now)? / seconds))
    }
}

fn sensor(
    name: &'static str,
    quantity: Quantity,
    of: Part,
    source: &str,
    found: Found<f64>,
) -> Sensor {
    let value = found.and_then(|value| {
        if value.is_finite() { Ok(value) } else { Err("the sensor gives no number".into()) }
    });
    Sensor { name, quantity, of, source: source.into(), value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sensors_are_null_with_a_reason_and_never_zero() {
        for found in [Err("gone".to_owned()), Ok(f64::NAN), Ok(f64::INFINITY)] {
            let sensor = sensor("power_watt", Quantity::Watts, Part::MACHINE, "a meter", found);
            assert!(sensor.value.is_err(), "{sensor:?}");
        }
        assert_eq!(
            sensor("power_watt", Quantity::Watts, Part::MACHINE, "a meter", Ok(0.0)).value,
            Ok(0.0)
        );
    }

    #[test]
    fn the_daemon_sends_what_the_verb_prints() {
        let sensed = SensorReader::new(Clock::default()).sensed();
        let sent = sensed.told();
        assert_eq!(sensed.sensors.len(), sent.readings.len());
        for (sensor, reading) in sensed.sensors.iter().zip(&sent.readings) {
            assert_eq!((sensor.name, &sensor.value.clone().ok()), (&*reading.name, &reading.value));
            assert_eq!(sensor.value.clone().err(), reading.reason);
            assert_eq!(Some(&sensor.source), reading.source.as_ref());
        }
        let of = |name: &str| {
            let reading = sent.readings.iter().find(|reading| reading.name == name).unwrap();
            (reading.device.as_deref(), reading.rail.as_deref())
        };
        assert_eq!(of("cpu_power_watt"), (Some("cpu:0"), Some("packages")));
        assert_eq!(of("cpu_clock_hz"), (Some("cpu:0"), None));
        assert_eq!(of("load_1m"), (None, None));
    }
}
