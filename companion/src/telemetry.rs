//! Readings of load, memory, clocks, temperature and power, shared by all subscribers. The sensors
//! are the same as during measurements; a missing sensor is null with a reason.

use std::fs;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use protocol::telemetry::{Reading, Telemetry};

use crate::clock::Clock;
use crate::measure::sensors::{CoreTime, Energy, Reading as Found, Sensors};

/// Shortest time between two readings, for any number of subscribers.
const FRESH: Duration = Duration::from_millis(45);
/// Shortest time over which load and power are averaged.
const SPAN: Duration = Duration::from_millis(200);

/// Reads the sensors on behalf of all subscribers.
#[derive(Debug)]
pub(crate) struct SensorReader {
    sensors: Sensors,
    clock: Clock,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    read: Option<(Instant, Telemetry)>,
    busy: Rate<CoreTime>,
    energy: Rate<Energy>,
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

    /// The latest readings.
    pub(crate) fn read(&self) -> Telemetry {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, telemetry)) = &last.read
            && at.elapsed() < FRESH
        {
            return telemetry.clone();
        }
        let telemetry = Telemetry { at_ms: self.clock.now(), readings: self.readings(&mut last) };
        last.read = Some((Instant::now(), telemetry.clone()));
        telemetry
    }

    fn readings(&self, last: &mut Last) -> Vec<Reading> {
        let gpu = || Err("this build has no GPU backend".to_owned());
        let here = Path::new("/");
        let all: [(&str, Found<f64>); 10] = [
            ("cpu_utilization_ratio", self.utilization(&mut last.busy)),
            ("load_1m", self.sensors.load()),
            ("memory_total_byte", memory(here, "MemTotal:")),
            ("memory_available_byte", memory(here, "MemAvailable:")),
            ("cpu_clock_hz", clock_hz(here)),
            ("temperature_celsius", self.sensors.temperature().map(|found| found.celsius)),
            ("cpu_power_watt", self.power(&mut last.energy)),
            ("gpu_utilization_ratio", gpu()),
            ("gpu_memory_used_byte", gpu()),
            ("gpu_power_watt", gpu()),
        ];
        all.into_iter().map(|(name, found)| reading(name, found)).collect()
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

fn reading(name: &str, found: Found<f64>) -> Reading {
    let found = found.and_then(|value| {
        if value.is_finite() { Ok(value) } else { Err("the sensor gives no number".into()) }
    });
    Reading { name: name.into(), value: found.as_ref().ok().copied(), reason: found.err() }
}

fn memory(root: &Path, key: &str) -> Found<f64> {
    let text = fs::read_to_string(root.join("proc/meminfo"))
        .map_err(|error| format!("/proc/meminfo cannot be read: {error}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kib.map(|kib| kib * 1024.0).ok_or_else(|| format!("/proc/meminfo lacks {key}"))
}

fn clock_hz(root: &Path) -> Found<f64> {
    let path = root.join("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
    let khz = fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<f64>().ok());
    khz.map(|khz| khz * 1000.0).ok_or_else(|| "there is no cpufreq driver".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_sensors_are_null_with_a_reason_and_never_zero() {
        for found in [Err("gone".to_owned()), Ok(f64::NAN), Ok(f64::INFINITY)] {
            let reading = reading("power_watt", found);
            assert!(reading.value.is_none() && reading.reason.is_some(), "{reading:?}");
        }
        let there = reading("power_watt", Ok(0.0));
        assert!(there.value == Some(0.0) && there.reason.is_none());
        let nowhere = Path::new("/nonexistent");
        assert!(memory(nowhere, "MemTotal:").is_err() && clock_hz(nowhere).is_err());
    }

    #[test]
    fn readings_are_in_base_units() {
        let root = std::env::temp_dir().join(format!("ridgepoint-sensors-{}", std::process::id()));
        for (path, text) in [
            ("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    500 kB\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        assert_eq!(memory(&root, "MemAvailable:"), Ok(512_000.0));
        assert_eq!(clock_hz(&root), Ok(2.4e9));
        fs::remove_dir_all(root).unwrap();
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
