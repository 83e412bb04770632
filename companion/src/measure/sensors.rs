//! State of the machine from Linux's sysfs and procfs. A missing reading has a reason; it is never zero.

mod board;
#[cfg(test)]
pub(crate) mod fixtures;
mod gpu;
mod meters;
mod patience;
mod power;
mod temperature;

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use crate::hooks::Hooks;

pub(crate) use board::{GPU_RAILS, RailPower};
pub(crate) use gpu::{
    COMPUTING, CardSample, EngineTimes, Gpu, GpuFiles, GpuQuantity, GpuReading, is_fault, is_memory,
};
pub(crate) use meters::{CHIPS, MeterOf, PowerMeter, RAILS, Shows};
pub(crate) use patience::{PatientSensors, seconds};
pub(crate) use power::Energy;
#[cfg(test)]
pub(crate) use power::Meter;
pub(crate) use temperature::{Temperature, Thermometer};

/// A reading, or the reason why there is none.
pub(crate) type Reading<T> = Result<T, String>;

/// The reason why a device that Linux has suspended is not read.
pub(super) const SLEEPS: &str = "it sleeps, and reading would wake it up";

/// Root folders of sysfs and procfs; tests use their own.
#[derive(Debug, Clone)]
pub(crate) struct Sensors {
    root: PathBuf,
}

/// CPU time since boot [ticks].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CoreTime {
    /// Total, including idle time.
    pub(crate) all: u64,
    /// Time in which any process ran.
    pub(crate) busy: u64,
    /// Time stolen by the host.
    pub(crate) steal: u64,
    /// Time of this process.
    pub(crate) own: u64,
}

impl Sensors {
    /// The sensors of this machine.
    pub(crate) fn here() -> Self {
        Self { root: Hooks::sensors() }
    }

    /// The sensors of the machine whose file systems lie under a folder.
    pub(crate) fn at(root: &std::path::Path) -> Self {
        Self { root: root.into() }
    }

    fn text(&self, path: &str) -> Reading<String> {
        let text =
            fs::read_to_string(self.root.join(path)).map_err(|error| match error.kind() {
                ErrorKind::NotFound => format!("/{path} does not exist"),
                ErrorKind::PermissionDenied => format!("/{path} may not be read by this user"),
                _ => format!("/{path}: {error}"),
            })?;
        Ok(text.trim().to_owned())
    }

    /// The first bytes of a file that is no text.
    fn bytes(&self, path: &str, most: u64) -> Reading<Vec<u8>> {
        let failed = |error: std::io::Error| format!("/{path}: {error}");
        let file = fs::File::open(self.root.join(path)).map_err(failed)?;
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes).map_err(failed)?;
        Ok(bytes)
    }

    /// Name of the file or folder that a link leads to.
    fn target(&self, path: &str) -> Option<String> {
        let whole = fs::canonicalize(self.root.join(path)).ok()?;
        Some(whole.file_name()?.to_string_lossy().into())
    }

    fn number(&self, path: &str) -> Reading<f64> {
        let text = self.text(path)?;
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        number.ok_or_else(|| format!("/{path} holds `{text}`, which is not a number"))
    }

    /// File names in a folder, sorted.
    fn folder(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.root.join(path)).into_iter().flatten();
        let mut names: Vec<String> =
            entries.flatten().map(|entry| entry.file_name().to_string_lossy().into()).collect();
        names.sort();
        names
    }

    /// Whether Linux has suspended the device in a folder, which many reads of its files would end.
    fn sleeps(&self, device: &str) -> bool {
        self.text(&format!("{device}/power/runtime_status")).is_ok_and(|it| it == "suspended")
    }

    /// Frequency governor of the first core.
    pub(crate) fn governor(&self) -> Reading<String> {
        self.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    }

    /// Driver that sets the clocks of the cores.
    pub(crate) fn clock_driver(&self) -> Reading<String> {
        self.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver")
    }

    /// Mode of power of a Jetson, else the one that the firmware has for the whole machine, else the preference of the first core.
    pub(crate) fn power_mode(&self) -> Reading<String> {
        let preference = "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference";
        self.board_mode().or_else(|_| self.platform_profile()).or_else(|_| self.text(preference))
    }

    /// Mode of power that the firmware has for the whole machine.
    pub(crate) fn platform_profile(&self) -> Reading<String> {
        self.text("sys/firmware/acpi/platform_profile")
    }

    /// Load average over one minute.
    pub(crate) fn load(&self) -> Reading<f64> {
        let text = self.text("proc/loadavg")?;
        let first = text.split_whitespace().next().and_then(|word| word.parse().ok());
        first.ok_or_else(|| format!("/proc/loadavg holds `{text}`"))
    }

    /// CPU time since boot.
    pub(crate) fn core_time(&self) -> Reading<CoreTime> {
        let stat = self.text("proc/stat")?;
        let own = self.text("proc/self/stat")?;
        parse_core_time(&stat, &own).ok_or_else(|| "/proc/stat has an unknown form".into())
    }

    /// CPU time of ended processes that this one waited for, and of those that they waited for [ticks].
    pub(crate) fn waited_time(&self) -> Reading<u64> {
        let own = self.text("proc/self/stat")?;
        parse_waited_time(&own).ok_or_else(|| "/proc/self/stat has an unknown form".into())
    }

    /// Mean clock of the cores that have a cpufreq driver [Hz].
    pub(crate) fn core_clock(&self) -> Reading<f64> {
        let cores = self.cores().into_iter();
        let clocks: Vec<f64> = cores
            .filter_map(|core| {
                self.number(&format!("{CORES}/{core}/cpufreq/scaling_cur_freq")).ok()
            })
            .collect();
        if clocks.is_empty() {
            return Err("there is no cpufreq driver".into());
        }
        // Linux tells kHz.
        Ok(clocks.iter().sum::<f64>() / clocks.len() as f64 * 1e3)
    }

    /// Number of times that cores or packages were slowed down by heat since boot.
    pub(crate) fn throttle_count(&self) -> Reading<f64> {
        let files = ["core_throttle_count", "package_throttle_count"];
        let cores = self.cores();
        let counts: Vec<f64> = cores
            .iter()
            .flat_map(|core| files.map(|file| format!("{CORES}/{core}/thermal_throttle/{file}")))
            .filter_map(|path| self.number(&path).ok())
            .collect();
        if counts.is_empty() {
            return Err("this processor's driver counts no throttling".into());
        }
        Ok(counts.iter().sum())
    }

    fn cores(&self) -> Vec<String> {
        let cores = self.folder(CORES).into_iter();
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        cores.filter(|name| name.strip_prefix("cpu").is_some_and(is_number)).collect()
    }

    /// Memory that programs can still get [B].
    pub(crate) fn memory_available(&self) -> Reading<f64> {
        self.memory("MemAvailable:")
    }

    /// Installed memory as the system sees it [B].
    pub(crate) fn memory_total(&self) -> Reading<f64> {
        self.memory("MemTotal:")
    }

    fn memory(&self, key: &str) -> Reading<f64> {
        let text = self.text("proc/meminfo")?;
        let line = text.lines().find_map(|line| line.strip_prefix(key));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
        kib.map(|kib| kib * 1024.0).ok_or_else(|| format!("/proc/meminfo lacks {key}"))
    }

    /// Installed memory [GiB]. `None` if unknown.
    pub(crate) fn memory_gib(&self) -> Option<f64> {
        let bytes = self.memory_total().ok()?;
        Some((bytes / 1024.0 / 1024.0 / 1024.0 * 100.0).round() / 100.0)
    }

    /// Name of this machine in a network.
    pub(crate) fn host_name(&self) -> Reading<String> {
        self.text("proc/sys/kernel/hostname")
    }

    /// Name and version of the operating system.
    pub(crate) fn system(&self) -> String {
        let version = self.text("proc/sys/kernel/osrelease").unwrap_or_default();
        format!("{} {} {version}", std::env::consts::OS, std::env::consts::ARCH).trim_end().into()
    }
}

/// Folder of the cores.
const CORES: &str = "sys/devices/system/cpu";

fn parse_waited_time(own: &str) -> Option<u64> {
    let (_, rest) = own.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}

fn parse_core_time(stat: &str, own: &str) -> Option<CoreTime> {
    let line = stat.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal; guest time is part of user time.
    let &[user, nice, system, idle, wait, irq, soft, steal, ..] = ticks.as_slice() else {
        return None;
    };
    let busy = user + nice + system + irq + soft;
    // The program's name may hold blanks and brackets; the numbers follow the last bracket.
    let (_, rest) = own.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let own = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(CoreTime { all: busy + idle + wait + steal, busy, steal, own })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A sysfs and procfs of test files, removed when dropped.
    pub(crate) struct Machine(PathBuf);

    impl Machine {
        pub(crate) fn new(name: &str, files: &[(&str, &str)]) -> Self {
            let root = std::env::temp_dir().join(format!("sensors-{}-{name}", std::process::id()));
            for (path, text) in files {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, text).unwrap();
            }
            Self(root)
        }

        /// Adds links to other paths of it, as sysfs has them between its classes and its devices.
        pub(crate) fn linked(self, links: &[(&str, &str)]) -> Self {
            for (path, target) in links {
                let path = self.0.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::create_dir_all(self.0.join(target)).unwrap();
                std::os::unix::fs::symlink(self.0.join(target), path).unwrap();
            }
            self
        }

        /// Adds a file of bytes.
        pub(crate) fn with_bytes(self, path: &str, bytes: &[u8]) -> Self {
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
            self
        }

        /// Adds a process with its open files: number, path and what Linux tells of each.
        pub(crate) fn with_process(mut self, id: u32, files: &[(&str, &str, &str)]) -> Self {
            for (number, path, text) in files {
                self = self.with_bytes(&format!("proc/{id}/fdinfo/{number}"), text.as_bytes());
                let link = self.0.join(format!("proc/{id}/fd/{number}"));
                fs::create_dir_all(link.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(path, link).unwrap();
            }
            self
        }

        /// Adds a file whose readers wait for ever, as those of a driver that hangs.
        pub(crate) fn with_pipe(self, path: &str) -> Self {
            use rustix::fs::{CWD, FileType, Mode, mknodat};
            let path = self.0.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            mknodat(CWD, path, FileType::Fifo, Mode::RWXU, 0).unwrap();
            self
        }

        pub(crate) fn root(&self) -> &std::path::Path {
            &self.0
        }

        pub(crate) fn sensors(&self) -> Sensors {
            Sensors::at(&self.0)
        }

        pub(crate) fn patient(&self) -> PatientSensors {
            PatientSensors::of(self.sensors())
        }

        /// Sensors that are not waited for as long.
        pub(crate) fn impatient(&self) -> PatientSensors {
            PatientSensors::within(self.sensors(), std::time::Duration::from_millis(300))
        }
    }

    impl Drop for Machine {
        fn drop(&mut self) {
            // Files that stay behind are harmless.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn readings_by_hand() {
        let machine = Machine::new(
            "full",
            &[
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "amd-pstate-epp\n"),
                (
                    "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
                    "balance_power\n",
                ),
                ("proc/loadavg", "0.25 0.10 0.05 1/200 999\n"),
                ("proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable: 500 kB\n"),
                ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n"),
                ("sys/devices/system/cpu/cpu12/cpufreq/scaling_cur_freq", "3000000\n"),
                ("sys/devices/system/cpu/cpufreq/scaling_cur_freq", "9000000\n"),
                ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n"),
                ("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "4\n"),
            ],
        );
        let sensors = machine.sensors();
        assert_eq!(sensors.governor().as_deref(), Ok("performance"));
        assert_eq!(sensors.clock_driver().as_deref(), Ok("amd-pstate-epp"));
        assert_eq!(sensors.power_mode().as_deref(), Ok("balance_power"));
        assert_eq!(sensors.load(), Ok(0.25));
        assert_eq!(sensors.memory_gib(), Some(16.0));
        assert_eq!(sensors.memory_available(), Ok(512_000.0));
        assert_eq!(sensors.core_clock(), Ok(2.5e9));
        assert_eq!(sensors.throttle_count(), Ok(7.0));
    }

    #[test]
    fn missing_readings_have_a_reason_and_are_not_zero() {
        let machine = Machine::new("empty", &[("proc/loadavg", "much\n")]);
        let sensors = machine.sensors();
        for (reading, expected) in [
            (sensors.governor().map(|_| 0.0), "scaling_governor does not exist"),
            (sensors.clock_driver().map(|_| 0.0), "scaling_driver does not exist"),
            (sensors.power_mode().map(|_| 0.0), "energy_performance_preference does not exist"),
            (sensors.power_cap(), "no RAPL limit"),
            (sensors.load(), "`much`"),
            (machine.patient().temperature().map(|found| found.celsius), "no thermal zone"),
            (sensors.package_energy().map(|_| 0.0), "no RAPL meter"),
            (sensors.battery_power(), "no battery"),
            (sensors.core_time().map(|_| 0.0), "stat"),
            (sensors.waited_time().map(|_| 0.0), "stat"),
            (sensors.core_clock(), "no cpufreq driver"),
            (sensors.throttle_count(), "counts no throttling"),
            (sensors.memory_available(), "meminfo"),
        ] {
            let why = reading.expect_err(expected);
            assert!(why.contains(expected), "{why}");
        }
    }

    #[test]
    fn time_of_cores_by_hand() {
        let stat = "cpu  10 1 5 80 2 1 1 4 0 0\ncpu0 …\n";
        let own = "77 (odd) name) S 1 2 3 4 5 6 7 8 9 10 6 2 30 4 20\n";
        assert_eq!(parse_waited_time(own), Some(34));
        assert_eq!(parse_waited_time("77 (x) S 1"), None);
        assert_eq!(
            parse_core_time(stat, own),
            Some(CoreTime { all: 104, busy: 18, steal: 4, own: 8 })
        );
        assert_eq!(parse_core_time("cpu 1 2\n", own), None);
    }
}
