//! Programs that use a graphics processor, as their open files tell it: the keys of the kernel's "DRM client usage stats" in
//! `/proc/*/fdinfo/*`, and for drivers without them who has the node open. Names of programs are not read.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process;

use super::super::{Reading, SLEEPS, Sensors};
use super::{Computing, Gpu, GpuDriver, nvml};

/// Open files of other processes that are nodes of graphics processors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GpuFiles {
    files: Vec<GpuFile>,
    /// Processes whose files this one may not list.
    pub(crate) unseen: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct GpuFile {
    process: u32,
    number: String,
    node: String,
}

/// The use of a graphics processor by other processes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GpuUse {
    pub(crate) processes: usize,
    /// Memory of all of them [B]: that of the card if it has its own.
    pub(crate) memory: Reading<f64>,
    pub(crate) engines: EngineTimes,
    /// Library that tells them, with their numbers; `None` where the open files do.
    pub(crate) source: Option<String>,
}

/// Counters of each engine, by client.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EngineTimes(BTreeMap<(u64, String), EngineTime>);

/// Counters of one engine for one client.
#[derive(Debug, Clone, Copy, PartialEq)]
struct EngineTime {
    /// Time [s], or cycles if `all` is there.
    busy: f64,
    /// Cycles of the engine.
    all: Option<f64>,
    /// Number of engines of this kind.
    capacity: f64,
}

/// The text of one open file.
#[derive(Debug, Default)]
struct Client {
    address: Option<String>,
    number: Option<u64>,
    /// Amount by region [B], each from the best key that the driver has.
    memory: Option<BTreeMap<String, f64>>,
    engines: BTreeMap<String, EngineTime>,
}

impl EngineTimes {
    /// The share of time in which the busiest kind of engine worked for the clients that were there before, too.
    pub(crate) fn busiest(&self, later: &Self, seconds: f64) -> Reading<f64> {
        let mut by_engine: BTreeMap<&str, f64> = BTreeMap::new();
        for (key, now) in &later.0 {
            let Some(before) = self.0.get(key) else { continue };
            let passed = match (before.all, now.all) {
                (Some(before), Some(now)) => now - before,
                _ => seconds,
            };
            if passed > 0.0 && now.busy >= before.busy {
                *by_engine.entry(&key.1).or_default() +=
                    (now.busy - before.busy) / passed / now.capacity;
            }
        }
        // Engines are read one after the other, so that their sum may be somewhat larger than the time.
        let most = by_engine.into_values().reduce(f64::max);
        most.map(|share| share.min(1.0)).ok_or_else(|| "no program has an engine of it".into())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Sensors {
    /// The open nodes of some graphics processors in all other processes that this user may look into.
    pub(crate) fn gpu_files(&self, gpus: &[Gpu]) -> GpuFiles {
        let mut found = GpuFiles::default();
        for name in self.folder("proc") {
            let Ok(id) = name.parse::<u32>() else { continue };
            if id == process::id() || self.is_child(id) {
                continue;
            }
            let folder = format!("proc/{name}/fd");
            let Ok(entries) = fs::read_dir(self.root.join(&folder)) else {
                // Threads of the kernel have no memory.
                let pages = self.text(&format!("proc/{name}/statm"));
                found.unseen += usize::from(pages.is_ok_and(|pages| !pages.starts_with("0 ")));
                continue;
            };
            for entry in entries.flatten() {
                let Ok(node) = fs::read_link(entry.path()) else { continue };
                let Some(node) = node.to_str() else { continue };
                if gpus.iter().any(|gpu| gpu.nodes.iter().any(|known| known == node)) {
                    let number = entry.file_name().to_string_lossy().into_owned();
                    found.files.push(GpuFile { process: id, number, node: node.to_owned() });
                }
            }
        }
        found
    }

    /// Whether a process was started by this one: the worker of a job.
    fn is_child(&self, id: u32) -> bool {
        let stat = self.text(&format!("proc/{id}/stat")).unwrap_or_default();
        // The name of a process is in brackets, and may have brackets and blanks.
        let parent = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(1));
        parent.and_then(|parent| parent.parse().ok()) == Some(process::id())
    }

    fn is_open(&self, file: &GpuFile) -> bool {
        let link = format!("proc/{}/fd/{}", file.process, file.number);
        fs::read_link(self.root.join(link)).is_ok_and(|node| node.as_os_str() == &*file.node)
    }
}

impl Gpu {
    /// The use of it by other processes. A client that several processes share counts once.
    pub(crate) fn used(&self, sensors: &Sensors, all: &GpuFiles) -> Reading<GpuUse> {
        if self.sleeps(sensors) {
            return Err(SLEEPS.into());
        }
        let mut unread = None;
        if self.driver == GpuDriver::Nvidia {
            match nvml::used(self, |id| id == process::id() || sensors.is_child(id)) {
                Ok(Computing { processes, memory, source }) => {
                    let (engines, source) = (EngineTimes::default(), Some(source));
                    return Ok(GpuUse { processes, memory, engines, source });
                }
                Err(why) => unread = Some(why),
            }
        }
        let mut processes = BTreeSet::new();
        let mut memory: BTreeMap<u64, f64> = BTreeMap::new();
        let mut engines = BTreeMap::new();
        let mut is_told = true;
        for file in all.files.iter().filter(|file| self.nodes.contains(&file.node)) {
            // A process may have ended meanwhile.
            let Ok(text) = sensors.text(&format!("proc/{}/fdinfo/{}", file.process, file.number))
            else {
                continue;
            };
            // The number may be that of another file by now.
            if !sensors.is_open(file) {
                continue;
            }
            let client = Client::read(&text);
            if client.address.as_ref().is_some_and(|address| *address != self.address) {
                continue;
            }
            let bytes = client.memory.as_ref().map(own_memory);
            let is_idle = client.engines.values().all(|engine| engine.busy <= 0.0);
            // Some programs have the node open and use nothing.
            if bytes == Some(0.0) && is_idle {
                continue;
            }
            processes.insert(file.process);
            let beside = || u64::from(file.process) << 32 | file.number.parse::<u64>().unwrap_or(0);
            let number = client.number.unwrap_or_else(beside);
            match bytes {
                Some(bytes) => _ = memory.insert(number, bytes),
                None => is_told = false,
            }
            let of_client = client.engines.into_iter();
            engines.extend(of_client.map(|(engine, time)| ((number, engine), time)));
        }
        let in_files =
            || format!("driver {} tells no memory of it in /proc/*/fdinfo", self.driver.name());
        let memory = match unread {
            // The sum of nothing is negative zero.
            _ if is_told => Ok(memory.values().sum::<f64>() + 0.0),
            unread => Err(unread.unwrap_or_else(in_files)),
        };
        let engines = EngineTimes(engines);
        Ok(GpuUse { processes: processes.len(), memory, engines, source: None })
    }
}

/// Memory of the card, or all of it if the device has none of its own [B].
fn own_memory(regions: &BTreeMap<String, f64>) -> f64 {
    let is_own = |region: &str| region.starts_with("vram") || region.starts_with("local");
    let of = |own: bool| {
        let regions = regions.iter().filter(|(region, _)| !own || is_own(region));
        regions.map(|(_, bytes)| bytes).sum()
    };
    of(regions.keys().any(|region| is_own(region)))
}

impl Client {
    fn read(text: &str) -> Self {
        let mut found = Self::default();
        // Resident memory first, then its older name, then all that was asked for.
        let mut memory: [BTreeMap<String, f64>; 3] = Default::default();
        let (mut all, mut capacity) = (BTreeMap::new(), BTreeMap::new());
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            let Some(key) = key.strip_prefix("drm-") else { continue };
            match key {
                "pdev" => found.address = Some(value.to_owned()),
                "client-id" => found.number = value.parse().ok(),
                _ => {}
            }
            let Some(number) = number(value) else { continue };
            for (of, name) in ["resident-", "memory-", "total-"].into_iter().enumerate() {
                if let Some(region) = key.strip_prefix(name).filter(|it| !it.starts_with("cycles-"))
                {
                    memory[of].insert(region.to_owned(), number);
                }
            }
            let time = EngineTime { busy: number, all: None, capacity: 1.0 };
            if let Some(engine) = key.strip_prefix("engine-capacity-") {
                capacity.insert(engine, number);
            } else if let Some(engine) = key.strip_prefix("engine-") {
                let busy = number * 1e-9;
                found.engines.entry(engine.to_owned()).or_insert(EngineTime { busy, ..time });
            } else if let Some(engine) = key.strip_prefix("total-cycles-") {
                all.insert(engine, number);
            }
        }
        // Cycles count only with those of the engine, and time is better.
        for (key, value) in text.lines().filter_map(|line| line.split_once(':')) {
            let engine = key.strip_prefix("drm-cycles-");
            let told = engine.and_then(|engine| Some((engine, all.get(engine)?, number(value)?)));
            if let Some((engine, all, busy)) = told {
                let time = EngineTime { busy, all: Some(*all), capacity: 1.0 };
                found.engines.entry(engine.to_owned()).or_insert(time);
            }
        }
        for (engine, time) in &mut found.engines {
            time.capacity = capacity.get(&**engine).copied().unwrap_or(1.0).max(1.0);
        }
        found.memory = memory.into_iter().find(|regions| !regions.is_empty());
        found
    }
}

/// A number with its unit: of memory in B, all others as they are.
fn number(value: &str) -> Option<f64> {
    let mut words = value.split_whitespace();
    let number: f64 = words.next()?.parse().ok().filter(|it: &f64| it.is_finite())?;
    Some(match words.next() {
        Some("KiB") => number * 1024.0,
        Some("MiB") => number * 1024.0 * 1024.0,
        _ => number,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::fixtures;
    use super::*;

    #[test]
    fn clients_count_once_and_idle_ones_not_at_all() {
        let machine = fixtures::amd_card_in_use("users");
        let sensors = machine.sensors();
        let gpus = sensors.gpus();
        let files = sensors.gpu_files(&gpus);
        // A process whose files are hidden, and no thread of the kernel.
        assert_eq!((files.files.len(), files.unseen), (5, 1), "{files:?}");
        let first = gpus[0].used(&sensors, &files).unwrap();
        // 6 GiB of one client in two files, 512 MiB of another; the third has the node open alone.
        let gib = 1024.0 * 1024.0 * 1024.0;
        assert_eq!((first.processes, &first.memory), (2, &Ok(6.5 * gib)));
        let own = format!("9000009 (a) worker) S {} 1 1\n", process::id());
        let machine = machine
            .with_process(9_000_009, &[("3", "/dev/dri/renderD128", "drm-client-id:\t99\n")])
            .with_bytes("proc/9000009/stat", own.as_bytes());
        assert_eq!(machine.sensors().gpu_files(&gpus), files, "a worker of ours is no other");
        let second = gpus[1].used(&sensors, &files).unwrap();
        assert_eq!((second.processes, second.memory), (0, Ok(0.0)));
        assert!(second.engines.is_empty());
        let status = "sys/devices/pci0000:00/0000:03:00.0/power/runtime_status";
        let machine = machine.with_bytes(status, b"suspended\n");
        assert_eq!(gpus[0].used(&machine.sensors(), &files), Err(SLEEPS.to_owned()));
    }

    #[test]
    fn the_busiest_engine_counts_by_time_or_by_cycles() {
        let of = |texts: &[&str]| {
            let all = texts.iter().zip(1..).flat_map(|(text, number)| {
                let engines = Client::read(text).engines.into_iter();
                engines.map(move |(engine, time)| ((number, engine), time))
            });
            EngineTimes(all.collect())
        };
        let times = |first: u64, second: u64, copy: u64| {
            let first = format!("drm-engine-gfx:\t{first} ns\ndrm-engine-dma:\t{copy} ns\n");
            of(&[&first, &format!("drm-engine-gfx:\t{second} ns\n")])
        };
        let (before, after) = (times(0, 5, 0), times(300_000_000, 100_000_005, 350_000_000));
        let share = before.busiest(&after, 1.0).unwrap();
        assert!((share - 0.4).abs() < 1e-9, "{share}");
        let capacity = "drm-engine-video: 1000000000 ns\ndrm-engine-capacity-video: 2\n";
        let share = of(&["drm-engine-video: 0 ns\n"]).busiest(&of(&[capacity]), 1.0).unwrap();
        assert!((share - 0.5).abs() < 1e-9, "{share}");
        let cycles = |busy: u64, all: u64| {
            of(&[&format!("drm-cycles-ccs:\t{busy}\ndrm-total-cycles-ccs:\t{all}\n")])
        };
        let share = cycles(10, 100).busiest(&cycles(85, 200), 9.0).unwrap();
        assert!((share - 0.75).abs() < 1e-9, "{share}");
        // A client that is new has no time before, and cycles without those of the engine mean nothing.
        assert!(of(&[]).busiest(&after, 1.0).is_err());
        assert!(of(&["drm-cycles-ccs: 7\n"]).is_empty());
    }

    #[test]
    fn the_best_key_of_each_driver_tells_memory() {
        let of = |text: &str| Client::read(text).memory.as_ref().map(own_memory);
        for (text, expected) in [
            ("drm-memory-vram: 2 KiB\ndrm-memory-gtt: 9 KiB\n", Some(2048.0)),
            (
                "drm-total-vram0: 9 MiB\ndrm-resident-vram0: 1 MiB\ndrm-resident-system: 7 MiB\n",
                Some(1_048_576.0),
            ),
            ("drm-resident-memory: 3 KiB\ndrm-total-memory: 4 KiB\n", Some(3072.0)),
            ("drm-total-system0: 5 KiB\ndrm-total-stolen: 1\n", Some(5121.0)),
            ("drm-total-cycles-ccs: 7\n", None),
            ("pos: 0\nflags: 02\n", None),
            ("drm-memory-vram: much\n", None),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn without_its_library_a_card_of_nvidia_tells_who_has_it_open() {
        let machine = fixtures::nvidia_card("nvidia-users").with_process(
            9_000_001,
            &[("3", "/dev/nvidia0", "pos:\t0\n"), ("4", "/dev/nvidiactl", "pos:\t0\n")],
        );
        let sensors = machine.sensors();
        let gpus = sensors.gpus();
        let used = gpus[0].used(&sensors, &sensors.gpu_files(&gpus)).unwrap();
        assert_eq!(used.processes, 1);
        assert!(used.memory.unwrap_err().starts_with("NVML is not opened"));
        assert_eq!(used.source, None, "all that have it open, and not those that compute alone");
    }

    #[test]
    fn a_number_that_another_file_has_by_now_is_no_user() {
        let machine = fixtures::amd_card_in_use("users-reused");
        let sensors = machine.sensors();
        let gpus = sensors.gpus();
        let files = sensors.gpu_files(&gpus);
        let before = gpus[0].used(&sensors, &files).unwrap();
        let link = sensors.root.join("proc/9000002/fd/5");
        fs::remove_file(&link).unwrap();
        let machine = machine.with_process(9_000_002, &[("5", "/dev/null", "pos:\t0\n")]);
        let after = gpus[0].used(&machine.sensors(), &files).unwrap();
        assert_eq!((before.processes, after.processes), (2, 1));
        let six = 6.0 * 1024.0 * 1024.0 * 1024.0;
        assert_eq!(after.memory, Ok(six), "no file without memory is left");
    }
}
