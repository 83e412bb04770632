//! Readings of load, memory, clocks, temperature and power, shared by all subscribers and by the verb `telemetry`. The sensors
//! are the same as during measurements; a missing sensor is null with a reason.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kernels::backend::DeviceId;
use protocol::telemetry::{Reading, Telemetry};

use crate::clock::{Clock, Millis};
use crate::measure::sensors::{CoreTime, Energy, Reading as Found, Sensors};

/// Shortest time between two readings, for any number of subscribers.
const FRESH: Duration = Duration::from_millis(45);
/// Shortest time over which load and power are averaged.
pub(crate) const SPAN: Duration = Duration::from_millis(200);

/// The source of both figures on memory.
const MEMORY: &str = "/proc/meminfo";

/// Reads the sensors on behalf of all subscribers.
#[derive(Debug)]
pub(crate) struct SensorReader {
    sensors: Sensors,
    clock: Clock,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    read: Option<(Instant, Sensed)>,
    busy: Rate<CoreTime>,
    energy: Rate<Energy>,
}

/// All sensors at one moment.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sensed {
    /// Wall clock, in ms since 1970.
    pub(crate) at_ms: Millis,
    pub(crate) sensors: Vec<Sensor>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    /// `None` for the whole machine, and where no device was found.
    pub(crate) device: Option<DeviceId>,
    /// Supply that a meter covers.
    pub(crate) rail: Option<&'static str>,
}

impl Part {
    pub(crate) const MACHINE: Self = Self { device: None, rail: None };
    const CPU: Self = Self { device: Some(DeviceId::CPU), rail: None };
    const PACKAGES: Self = Self { rail: Some("packages"), ..Self::CPU };
    const BATTERY: Self = Self { rail: Some("battery"), ..Self::MACHINE };
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
        }
    }
}

/// A counter that becomes a rate over at least [`SPAN`].
#[derive(Debug)]
struct Rate<C> {
    before: Option<(Instant, C)>,
    rate: Option<Found<f64>>,
}

impl<C> Default for Rate<C> {
    fn default() -> Self {
        Self { before: None, rate: None }
    }
}

impl<C> Rate<C> {
    fn next(&mut self, now: C, rate: impl Fn(&C, &C, f64) -> Found<f64>) -> Found<f64> {
        match &self.before {
            Some((at, _)) if at.elapsed() < SPAN => {}
            before => {
                if let Some((at, before)) = before {
                    self.rate = Some(rate(before, &now, at.elapsed().as_secs_f64()));
                }
                self.before = Some((Instant::now(), now));
            }
        }
        let first = || Err("the first reading has nothing to compare with".into());
        self.rate.clone().unwrap_or_else(first)
    }
}

impl SensorReader {
    pub(crate) fn new(clock: Clock) -> Self {
        Self { sensors: Sensors::here(), clock, last: Mutex::default() }
    }

    /// The latest readings, as the daemon sends them.
    pub(crate) fn read(&self) -> Telemetry {
        let sensed = self.sensed();
        let readings = sensed.sensors.into_iter().map(|sensor| Reading {
            name: sensor.name.into(),
            value: sensor.value.as_ref().ok().copied(),
            reason: sensor.value.err(),
            device: sensor.of.device.map(|id| id.to_string()),
            rail: sensor.of.rail.map(str::to_owned),
            source: Some(sensor.source),
        });
        Telemetry { at_ms: sensed.at_ms, readings: readings.collect() }
    }

    /// The latest readings with unit and source.
    pub(crate) fn sensed(&self) -> Sensed {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, sensed)) = &last.read
            && at.elapsed() < FRESH
        {
            return sensed.clone();
        }
        let sensed = Sensed { at_ms: self.clock.now(), sensors: self.sensors(&mut last) };
        last.read = Some((Instant::now(), sensed.clone()));
        sensed
    }

    fn sensors(&self, last: &mut Last) -> Vec<Sensor> {
        use Quantity::{Bytes, Celsius, Hertz, Processes, Ratio, Watts};
        let gpu = |name, quantity| {
            let why = "this build has no GPU backend".to_owned();
            sensor(name, quantity, Part::MACHINE, "none", Err(why))
        };
        let cpu = |name, quantity, source, found| sensor(name, quantity, Part::CPU, source, found);
        let machine =
            |name, quantity, source, found| sensor(name, quantity, Part::MACHINE, source, found);
        let temperature = self.sensors.temperature();
        let chip =
            temperature.as_ref().map_or("/sys/class/hwmon, /sys/class/thermal", |it| &it.sensor);
        let celsius = temperature.as_ref().map(|it| it.celsius).map_err(Clone::clone);
        let busy = self.utilization(&mut last.busy);
        let power = self.power(&mut last.energy);
        let (clock, battery) = (self.sensors.core_clock(), self.sensors.battery_power());
        vec![
            cpu("cpu_utilization_ratio", Ratio, "/proc/stat", busy),
            machine("load_1m", Processes, "/proc/loadavg", self.sensors.load()),
            machine("memory_total_byte", Bytes, MEMORY, self.sensors.memory_total()),
            machine("memory_available_byte", Bytes, MEMORY, self.sensors.memory_available()),
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
            gpu("gpu_utilization_ratio", Ratio),
            gpu("gpu_memory_used_byte", Bytes),
            gpu("gpu_power_watt", Watts),
        ]
    }

    fn utilization(&self, rate: &mut Rate<CoreTime>) -> Found<f64> {
        let now = self.sensors.core_time()?;
        rate.next(now, |before, now, _| {
            let all = now.all.saturating_sub(before.all).max(1);
            Ok(now.busy.saturating_sub(before.busy) as f64 / all as f64)
        })
    }

    fn power(&self, rate: &mut Rate<Energy>) -> Found<f64> {
        let now = self.sensors.package_energy()?;
        rate.next(now, |before, now, seconds| Ok(before.until(now)? / seconds))
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
        let reader = SensorReader::new(Clock::default());
        let (sensed, sent) = (reader.sensed(), reader.read());
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

    #[test]
    fn counters_become_rates_after_the_minimum_span() {
        let mut rate = Rate::default();
        let per_s = |before: &f64, now: &f64, seconds: f64| Ok((now - before) / seconds);
        assert!(rate.next(0.0, per_s).is_err());
        assert!(rate.next(1.0, per_s).is_err(), "too soon");
        std::thread::sleep(SPAN);
        let found = rate.next(2.0, per_s).unwrap();
        assert!(found > 0.0 && found < 10.1, "{found}");
        assert_eq!(rate.next(1e9, per_s), Ok(found), "the last one holds for a while");
    }
}
