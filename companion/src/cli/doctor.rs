//! `doctor`: checks the prerequisites of the daemon and of measuring, with a fix for each that is missing.

use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::Path;
use std::thread;

use calc_core::units::Bytes;
use clap::{ArgMatches, Command};
use kernels::cuda::facts::{Absent, Facts};
use kernels::cuda::libraries::{self, Library};
use kernels::cuda::prebuilt::PREBUILT;
use report::number_text;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::json;

use super::{link, state};
use crate::audit::{self, Chain};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::failure::TROUBLESHOOTING;
use crate::hooks::Hooks;
use crate::jobs::{self, Inspected};
use crate::measure::gpus;
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::sandbox;
use crate::server::embedded::PAGE;
use crate::telemetry::{Owner, Quantity, SPAN, Sensor, SensorReader};
use crate::verbs::cuda_libs;

pub(super) fn command() -> Command {
    Command::new("doctor")
        .about("Check this machine for the daemon and for measuring, with a fix for each problem")
        .arg(state::argument())
        .arg(cuda_libs())
        .arg(output::argument())
        .after_help("Exit code 4 if something is missing that the daemon needs.\n\nExample:\n  ridgepoint doctor")
}

/// The result of one check.
struct Finding {
    what: &'static str,
    state: State,
    found: String,
    fix: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Works with restrictions.
    Less,
    Missing,
}

impl State {
    const fn key(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Less => "less",
            Self::Missing => "missing",
        }
    }
}

fn good(what: &'static str, found: impl Into<String>) -> Finding {
    Finding { what, state: State::Good, found: found.into(), fix: "" }
}

fn less(what: &'static str, found: impl Into<String>, fix: &'static str) -> Finding {
    Finding { what, state: State::Less, found: found.into(), fix }
}

fn missing(what: &'static str, found: impl Into<String>, fix: &'static str) -> Finding {
    Finding { what, state: State::Missing, found: found.into(), fix }
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let folder = state::folder(matches)?;
    let findings = [
        user(&folder),
        page(),
        keys(&folder),
        log(&folder),
        results(&folder),
        disk(&folder),
        daemon(&folder),
        six(),
        workers()?,
        gpus(),
        cuda_compiler(),
        cuda_products(),
        governor(),
        power(),
        gpu_power(),
        temperature(),
    ];
    let mut table = Table::new(&[
        ("state", Align::Left),
        ("what", Align::Left),
        ("found", Align::Left),
        ("fix", Align::Left),
    ]);
    for Finding { what, state, found, fix } in &findings {
        table.push(vec![state.key().into(), (*what).into(), found.clone(), (*fix).into()]);
    }
    let mut document = Document::default();
    document.heading("This machine");
    document.table(table);
    document.line(format!("Every message of the daemon has its entry in {TROUBLESHOOTING}."));
    let row = |finding: &Finding| {
        json!({
            "what": finding.what, "state": finding.state.key(), "found": finding.found,
            "fix": Some(finding.fix).filter(|fix| !fix.is_empty()),
        })
    };
    let value = findings.iter().map(row).collect();
    Answer { document, value, rows: Rows::List }.print(Form::of(matches))?;
    let lacks = findings.iter().filter(|finding| finding.state == State::Missing).count();
    if lacks == 0 {
        Ok(())
    } else {
        let are = if lacks == 1 { "is" } else { "are" };
        Err(Failure::NotMet(format!("{lacks} of the daemon's requirements {are} not met")))
    }
}

fn user(folder: &Path) -> Finding {
    if rustix::process::geteuid().is_root() {
        // Whoever started it has allowed it.
        if state::is_running(folder) {
            let fix = "a defect of a daemon that root runs exposes the whole machine; another user is safer";
            return less("user", "root, and the daemon of this folder runs", fix);
        }
        let fix = "run `ridgepoint serve` as another user, or add --allow-root";
        return missing("user", "root", fix);
    }
    good("user", "not root")
}

/// The GPUs with CUDA, or the reason why there is none.
fn gpus() -> Finding {
    let found = match kernels::devices::gpus() {
        Ok(found) => found,
        Err(Absent::NotBuilt) => return good("GPUs", gpus::absent(&Absent::NotBuilt)),
        Err(why @ (Absent::NoDriver | Absent::NoDevice)) => {
            let fix = "only for a machine with an NVIDIA GPU: install its driver, or name the folder of libcuda.so.1 by --cuda-libs";
            return less("GPUs", gpus::absent(&why), fix);
        }
        Err(why) => return less("GPUs", gpus::absent(&why), "follow the message"),
    };
    let said = |gpu: &Facts| {
        let (major, minor) = gpu.capability;
        format!("cuda:{} {}, architecture {major}.{minor}", gpu.index, gpu.name)
    };
    let all: Vec<String> = found.iter().map(said).collect();
    good("GPUs", format!("{}, by {}", all.join("; "), library(Library::Driver).unwrap_or_default()))
}

/// NVRTC, which a build without kernels for a GPU needs.
fn cuda_compiler() -> Finding {
    let has_kernels = !PREBUILT.is_empty();
    let kernels = if has_kernels {
        "kernels for GPUs are inside this program"
    } else {
        "no kernels for GPUs are inside this program"
    };
    match library(Library::Nvrtc) {
        Some(file) => good("CUDA compiler", format!("{file}; {kernels}")),
        None if has_kernels => good("CUDA compiler", format!("not found; {kernels}")),
        None => less(
            "CUDA compiler",
            format!("NVRTC was not found; {kernels}"),
            "only for a machine with an NVIDIA GPU: `pip install nvidia-cuda-nvrtc-cu12`, or name the folder of libnvrtc by --cuda-libs",
        ),
    }
}

/// cuBLASLt, without which a GPU has no products of matrices.
fn cuda_products() -> Finding {
    match library(Library::CublasLt) {
        Some(file) => good("CUDA products", file),
        None => less(
            "CUDA products",
            "cuBLASLt was not found; a GPU measures no GEMM without it",
            "only for a machine with an NVIDIA GPU: `pip install nvidia-cublas-cu12`, or name the folder of libcublasLt by --cuda-libs",
        ),
    }
}

/// The file of a library that was opened; its name where the loader found it.
fn library(which: Library) -> Option<String> {
    let found = libraries::found().iter().find(|found| found.library == which)?;
    Some(found.file.display().to_string())
}

fn page() -> Finding {
    if PAGE.is_some() {
        return good("page", "inside this program");
    }
    match link::beside() {
        Some(folder) => good("page", folder.display().to_string()),
        None => less(
            "page",
            "none in this program or beside it",
            "build it with `cargo xtask site`, then `ridgepoint serve --site dist`",
        ),
    }
}

fn keys(folder: &Path) -> Finding {
    let fix = "follow the message, or choose another folder with --state";
    match state::keys(folder).and_then(|keys| Ok(keys.read()?)) {
        Ok(Some(book)) => good("keys", format!("{} in {}", book.keys.len(), folder.display())),
        Ok(None) => good("keys", format!("none yet in {}", folder.display())),
        Err(Failure::Permission(line) | Failure::Failed(line) | Failure::BadInput(line)) => {
            missing("keys", line, fix)
        }
        Err(_) => missing("keys", "the keys cannot be read", fix),
    }
}

fn log(folder: &Path) -> Finding {
    match audit::verify(folder) {
        Ok(Chain { lines: 0, .. }) => good("audit log", "none yet"),
        Ok(Chain { lines, first: 1 }) => {
            let lines = number_text::counted(lines, "line", "lines");
            good("audit log", format!("{lines}, none changed"))
        }
        Ok(Chain { lines, first }) => {
            let lines = number_text::counted(lines, "line", "lines");
            good("audit log", format!("{lines} from number {first} on, none changed"))
        }
        Err(why) => missing(
            "audit log",
            why,
            "somebody or a disk error changed it; find out who has access, revoke all keys, and move the files away",
        ),
    }
}

/// The file of jobs: its size and whether it can be used.
fn results(folder: &Path) -> Finding {
    let said = |bytes: u64| number_text::bytes(Bytes::new(bytes as f64));
    match jobs::inspect(folder) {
        Ok(None) => good("results", "none yet"),
        Ok(Some(Inspected { jobs, unreadable, bytes, room })) => {
            let size = format!(
                "{}, {} of at most {}",
                number_text::counted(jobs, "job", "jobs"),
                said(bytes),
                said(room.full)
            );
            if unreadable > 0 {
                let fix = "they are damaged or of a later version; the daemon passes them over";
                return less("results", format!("{size}; {unreadable} cannot be read"), fix);
            }
            if bytes > room.full {
                let fix = "`ridgepoint serve` drops the oldest when it starts or a job ends";
                return less("results", format!("{size}: full"), fix);
            }
            good("results", size)
        }
        Err(why) => {
            let fix = "a damaged file is put aside by `ridgepoint serve`; for one of a later version, update this program";
            missing("results", why, fix)
        }
    }
}

/// Largest disk use of a daemon: its results with the log of a large write, and the files of the audit log.
const DISK: u64 = 768 << 20;

fn disk(folder: &Path) -> Finding {
    let Ok(known) = rustix::fs::statvfs(folder) else {
        return less("disk", "its free space cannot be read", "nothing to do if there is space");
    };
    let free = known.f_frsize.saturating_mul(known.f_bavail);
    let shown = number_text::bytes(Bytes::new(free as f64));
    if free < DISK {
        let fix = "free disk space, or choose another folder with --state; it may fill 800 MB";
        return less("disk", format!("{shown} free"), fix);
    }
    good("disk", format!("{shown} free"))
}

fn daemon(folder: &Path) -> Finding {
    if state::is_running(folder) {
        return good("daemon", format!("runs at {}", state::address(folder).unwrap_or_default()));
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, 8000)) {
        Ok(_) => good("daemon", "does not run; port 8000 is free"),
        Err(_) => {
            less("daemon", "does not run; port 8000 is taken", "choose another port with --port")
        }
    }
}

fn six() -> Finding {
    match TcpListener::bind((Ipv6Addr::LOCALHOST, 0)) {
        Ok(_) => good("[::1]", "available"),
        Err(_) => less("[::1]", "not available", "nothing to do: 127.0.0.1 is enough"),
    }
}

fn workers() -> Result<Finding, Failure> {
    let hooks = Hooks::read().map_err(Failure::BadInput)?;
    let locks = sandbox::probe(hooks.left_out());
    let said = locks.sentence();
    if locks.are_whole() {
        return Ok(good("workers", said));
    }
    let fix = "a kernel with Landlock (Linux 5.13, enabled at its start) and seccomp locks them; without it a job has what this user may do";
    Ok(less("workers", said, fix))
}

fn governor() -> Finding {
    let path = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    match fs::read_to_string(path) {
        Err(_) => less(
            "clock governor",
            "no cpufreq driver",
            "a virtual machine hides its clock; measure on the host for stable results",
        ),
        Ok(name) if name.trim() == "performance" => good("clock governor", "performance"),
        Ok(name) => less(
            "clock governor",
            name.trim(),
            "`cpupower frequency-set -g performance` makes measurements more stable",
        ),
    }
}

fn power() -> Finding {
    let path = "/sys/class/powercap/intel-rapl:0/energy_uj";
    match fs::read_to_string(path) {
        Ok(_) => good("power", "RAPL can be read"),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => less(
            "power",
            "RAPL may not be read",
            "let your group read energy_uj with a udev rule; energy is null without it",
        ),
        Err(_) => less("power", "no RAPL counter", "nothing to do: energy is null here"),
    }
}

/// The meter of each graphics card, or the reason why it has none.
fn gpu_power() -> Finding {
    let mut reader = SensorReader::prepared(Clock::default());
    // Power that follows from energy is a difference of two readings.
    reader.sensed();
    thread::sleep(SPAN);
    let sensed = reader.sensed();
    let of_card = |name: &str| {
        let is_its =
            |it: &&Sensor| matches!(&it.of.device, Some(Owner::Card(card)) if card == name);
        let mut its = sensed.sensors.iter().filter(is_its);
        let power = its.clone().find(|it| it.quantity == Quantity::Watts && !it.is_power_cap());
        // A card that does not answer has another row alone.
        let row = power.or_else(|| its.next())?;
        Some(row.value.as_ref().map(|_| row.source.clone()).map_err(Clone::clone))
    };
    let none = || Err("it does not answer".to_owned());
    let all = sensed.gpus.iter().map(|gpu| (&gpu.name, of_card(&gpu.name).unwrap_or_else(none)));
    let all: Vec<_> = all.collect();
    let said = all.iter().map(|(name, found)| match found {
        Ok(source) => format!("{name}: {source}"),
        Err(why) => format!("{name}: {why}"),
    });
    let said = said.collect::<Vec<_>>().join("; ");
    match all.iter().all(|(_, found)| found.is_ok()) {
        true if said.is_empty() => good("GPU power", "no graphics card"),
        true => good("GPU power", said),
        false => {
            less("GPU power", said, "follow the message: energy on this card is null without it")
        }
    }
}

fn temperature() -> Finding {
    match fs::read_to_string("/sys/class/thermal/thermal_zone0/temp") {
        Ok(_) => good("temperature", "thermal zones can be read"),
        Err(_) => less("temperature", "no thermal zone", "nothing to do: temperature is null here"),
    }
}
