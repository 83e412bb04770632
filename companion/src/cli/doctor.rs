//! `doctor`: checks the prerequisites of the daemon and of measuring, with a fix for each that is missing.

mod devices;
mod shown;

use std::borrow::Cow;
use std::fs;
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};
use std::path::Path;

use calc_core::units::Bytes;
use clap::{ArgMatches, Command};
use report::number_text;
use report::output::summary::Document;
use serde_json::json;

use self::devices::{cuda_compiler, cuda_products, devices, gpu_driver, gpu_power, gpus};
use self::shown::table;
use super::{link, state};
use crate::audit::{self, Chain};
use crate::failure::Failure;
use crate::failure::TROUBLESHOOTING;
use crate::hooks::Hooks;
use crate::jobs::{self, Inspected};
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::sandbox;
use crate::server::embedded::PAGE;
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
    what: Cow<'static, str>,
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

fn good(what: impl Into<Cow<'static, str>>, found: impl Into<String>) -> Finding {
    Finding { what: what.into(), state: State::Good, found: found.into(), fix: "" }
}

fn less(
    what: impl Into<Cow<'static, str>>,
    found: impl Into<String>,
    fix: &'static str,
) -> Finding {
    Finding { what: what.into(), state: State::Less, found: found.into(), fix }
}

fn missing(
    what: impl Into<Cow<'static, str>>,
    found: impl Into<String>,
    fix: &'static str,
) -> Finding {
    Finding { what: what.into(), state: State::Missing, found: found.into(), fix }
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let folder = state::folder(matches)?;
    let hooks = Hooks::read().map_err(Failure::BadInput)?;
    let mut findings = vec![
        user(&folder),
        page(),
        keys(&folder),
        log(&folder),
        results(&folder),
        disk(&folder),
        daemon(&folder),
        six(),
        workers(&hooks),
    ];
    findings.extend(devices(&hooks));
    findings.push(gpus());
    findings.extend(gpu_driver());
    findings.extend([
        cuda_compiler(),
        cuda_products(),
        governor(),
        power(),
        gpu_power(),
        temperature(),
    ]);
    let mut document = Document::default();
    document.heading("This machine");
    document.table(table(&findings));
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

fn workers(hooks: &Hooks) -> Finding {
    let locks = sandbox::probe(hooks.left_out());
    let said = locks.sentence();
    if locks.are_whole() {
        return good("workers", said);
    }
    let fix = "a kernel with Landlock (Linux 5.13, enabled at its start) and seccomp locks them; without it a job has what this user may do";
    less("workers", said, fix)
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

fn temperature() -> Finding {
    match fs::read_to_string("/sys/class/thermal/thermal_zone0/temp") {
        Ok(_) => good("temperature", "thermal zones can be read"),
        Err(_) => less("temperature", "no thermal zone", "nothing to do: temperature is null here"),
    }
}
