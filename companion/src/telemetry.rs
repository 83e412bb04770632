//! What the machine says about itself: load, memory, clocks, temperature, power. A sensor that is missing is null with a
//! reason. Read from the files of Linux; other systems answer with reasons.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use protocol::telemetry::{Reading, Telemetry};

use crate::clock::Clock;

/// However many watch, the sensors are read at most this often.
const FRESH: Duration = Duration::from_millis(45);
/// Shortest time over which a share of busy time means something.
const SPAN: Duration = Duration::from_millis(200);

/// Reads sensors for everybody.
#[derive(Debug)]
pub(crate) struct Sensors {
    root: PathBuf,
    clock: Clock,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    read: Option<(Instant, Telemetry)>,
    busy: Option<(Instant, Ticks)>,
    share: Option<f64>,
    energy: Option<(Instant, f64)>,
}

#[derive(Debug, Clone, Copy)]
struct Ticks {
    busy: u64,
    all: u64,
}

type Found = Result<f64, &'static str>;

impl Sensors {
    /// Those below a root, which is `/` but in tests.
    pub(crate) fn new(root: &Path, clock: Clock) -> Self {
        Self { root: root.into(), clock, last: Mutex::default() }
    }

    /// The latest readings.
    pub(crate) fn read(&self) -> Telemetry {
        let mut last = self.last.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((at, telemetry)) = &last.read
            && at.elapsed() < FRESH
        {
            return telemetry.clone();
        }
        let readings = self.readings(&mut last);
        let telemetry = Telemetry { at_ms: self.clock.now(), readings };
        last.read = Some((Instant::now(), telemetry.clone()));
        telemetry
    }

    fn readings(&self, last: &mut Last) -> Vec<Reading> {
        let gpu = || Err("this build has no GPU backend");
        let all: [(&str, Found); 10] = [
            ("cpu_utilization_ratio", self.utilization(last)),
            ("load_1m", self.load()),
            ("memory_total_byte", self.memory("MemTotal:")),
            ("memory_available_byte", self.memory("MemAvailable:")),
            ("cpu_clock_hz", self.clock_hz()),
            ("temperature_celsius", self.temperature()),
            ("cpu_power_watt", self.power(last)),
            ("gpu_utilization_ratio", gpu()),
            ("gpu_memory_used_byte", gpu()),
            ("gpu_power_watt", gpu()),
        ];
        let reading = |(name, found): (&str, Found)| Reading {
            name: name.into(),
            value: found.ok().filter(|value| value.is_finite()),
            reason: found.err().map(Into::into),
        };
        all.into_iter().map(reading).collect()
    }

    fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root.join(path)).ok()
    }

    fn number(&self, path: &str) -> Option<f64> {
        self.text(path)?.trim().parse().ok()
    }

    fn utilization(&self, last: &mut Last) -> Found {
        let now = self.ticks().ok_or("no /proc/stat")?;
        if let Some((at, before)) = last.busy {
            if at.elapsed() < SPAN {
                return last.share.ok_or("the first reading has nothing to compare with");
            }
            let all = now.all.saturating_sub(before.all);
            let busy = now.busy.saturating_sub(before.busy);
            last.share = (all > 0).then(|| busy as f64 / all as f64);
        }
        last.busy = Some((Instant::now(), now));
        last.share.ok_or("the first reading has nothing to compare with")
    }

    fn ticks(&self) -> Option<Ticks> {
        let text = self.text("proc/stat")?;
        let line = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        let all = ticks.iter().take(8).sum();
        let idle: u64 = ticks.get(3)? + ticks.get(4)?;
        Some(Ticks { busy: u64::saturating_sub(all, idle), all })
    }

    fn load(&self) -> Found {
        let text = self.text("proc/loadavg").ok_or("no /proc/loadavg")?;
        let word = text.split_whitespace().next().unwrap_or_default();
        word.parse().map_err(|_unparsed| "/proc/loadavg has no number")
    }

    fn memory(&self, key: &str) -> Found {
        let text = self.text("proc/meminfo").ok_or("no /proc/meminfo")?;
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.map(|kib| kib * 1024.0).ok_or("/proc/meminfo lacks it")
    }

    fn clock_hz(&self) -> Found {
        let khz = self.number("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
        khz.map(|khz| khz * 1000.0).ok_or("no cpufreq driver")
    }

    /// The hottest zone.
    fn temperature(&self) -> Found {
        let zones = (0..16)
            .filter_map(|zone| self.number(&format!("sys/class/thermal/thermal_zone{zone}/temp")));
        zones.map(|milli| milli / 1000.0).reduce(f64::max).ok_or("no thermal zone")
    }

    fn power(&self, last: &mut Last) -> Found {
        let micro = self.number("sys/class/powercap/intel-rapl:0/energy_uj");
        let joule = micro.ok_or("no RAPL energy counter that this user may read")? * 1e-6;
        let before = last.energy.replace((Instant::now(), joule));
        let (at, before) = before.ok_or("the first reading has nothing to compare with")?;
        let (spent, time) = (joule - before, at.elapsed().as_secs_f64());
        if spent < 0.0 { Err("the energy counter wrapped") } else { Ok(spent / time) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(telemetry: &Telemetry, name: &str) -> (Option<f64>, bool) {
        let reading = telemetry.readings.iter().find(|reading| reading.name == name).unwrap();
        (reading.value, reading.reason.is_some())
    }

    #[test]
    fn a_machine_without_sensors_gives_reasons_and_no_zeros() {
        let nowhere = Path::new("/nonexistent");
        let telemetry = Sensors::new(nowhere, Clock::default()).read();
        for reading in &telemetry.readings {
            assert!(reading.value.is_none() && reading.reason.is_some(), "{reading:?}");
        }
    }

    #[test]
    fn sensors_are_read_in_base_units() {
        let root = std::env::temp_dir().join(format!("ridgepoint-sensors-{}", std::process::id()));
        for (path, text) in [
            ("proc/loadavg", "1.25 0 0 1/2 3\n"),
            ("proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    500 kB\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2400000\n"),
            ("sys/class/thermal/thermal_zone0/temp", "41500\n"),
            ("sys/class/thermal/thermal_zone1/temp", "52500\n"),
        ] {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let telemetry = Sensors::new(&root, Clock::default()).read();
        for (name, expected) in [
            ("load_1m", 1.25),
            ("memory_total_byte", 1_024_000.0),
            ("memory_available_byte", 512_000.0),
            ("cpu_clock_hz", 2.4e9),
            ("temperature_celsius", 52.5),
        ] {
            assert_eq!(value(&telemetry, name), (Some(expected), false), "{name}");
        }
        assert_eq!(value(&telemetry, "cpu_power_watt"), (None, true));
        fs::remove_dir_all(root).unwrap();
    }
}
