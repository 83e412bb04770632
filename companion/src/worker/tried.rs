//! Tries of a scripted worker: each line names a try, without a path, and says whether it was refused.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::Path;
use std::process::Command;

use rustix::fs::{Mode, OFlags, openat};
use rustix::process::{Resource, Signal, getpgid, getppid, getrlimit, kill_process, setpgid};

use crate::hooks::Hooks;
use crate::sandbox::{GivenFile, Right};

/// The means of the tries.
#[derive(Debug)]
pub(super) struct Tries<'a> {
    pub(super) hooks: &'a Hooks,
    pub(super) given: &'a [GivenFile],
}

impl Tries<'_> {
    /// A line for each try, for each variable of the environment, and for each given file.
    pub(super) fn results(&self) -> Vec<String> {
        let new = std::env::temp_dir().join(format!("ridgepoint-try-{}", std::process::id()));
        let mut lines = vec![
            said("read passwd", fs::read("/etc/passwd").map(|_| "done")),
            said("list root", fs::read_dir("/").map(|_| "done")),
            said("make a file", File::create_new(&new).map(|_| "done")),
            said("make a folder", fs::create_dir(new.with_extension("d")).map(|()| "done")),
            said("connect", TcpStream::connect((Ipv4Addr::LOCALHOST, 9)).map(|_| "done")),
            said("listen", TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(|_| "done")),
            said("udp", UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map(|_| "done")),
            said("unix socket", UnixListener::bind(new.with_extension("s")).map(|_| "done")),
            said("socket pair", UnixDatagram::pair().map(|_| "done")),
            said("run a program", Command::new("/bin/true").status()),
            said("leave the group", left_group().map(|()| "done")),
            // CONT does nothing to a process that runs.
            said("signal", kill_process(parent(), Signal::CONT).map(|()| "done")),
            said("start a thread", std::thread::Builder::new().spawn(|| ()).map(|_| "done")),
            said("read own state", fs::read("/proc/self/stat").map(|_| "done")),
        ];
        for (name, path) in self.hooks.tries() {
            lines.push(said(&format!("open {name}"), File::open(path).map(|_| "done")));
            let kept = fs::metadata(path).map_or(0o600, |known| known.permissions().mode());
            let changed = fs::set_permissions(path, fs::Permissions::from_mode(kept));
            lines.push(said(&format!("chmod {name}"), changed.map(|()| "done")));
        }
        lines.extend(self.given.iter().map(used));
        lines.extend(
            std::env::vars()
                .filter(|(name, _)| name.as_str() != "RIDGEPOINT_TEST_HOOKS")
                .map(|(name, value)| format!("variable {name}: {value}")),
        );
        lines.push(said("sockets", descriptors()));
        let most = getrlimit(Resource::Core).maximum.map_or("any".into(), |most| most.to_string());
        lines.push(format!("core file: {most}"));
        #[cfg(target_os = "linux")]
        lines.push(format!("memory: {:?}", rustix::process::dumpable_behavior()));
        #[cfg(target_os = "linux")]
        lines.extend(filters());
        for left in [new.with_extension("s"), new.clone()] {
            let _ = fs::remove_file(left);
        }
        let _ = fs::remove_dir(new.with_extension("d"));
        lines
    }
}

/// The filters of system calls, in parts that fit a line.
#[cfg(target_os = "linux")]
fn filters() -> Vec<String> {
    let programs =
        crate::sandbox::instructions(crate::sandbox::Drives::Nothing).unwrap_or_default();
    let mut lines = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        for (part, instructions) in program.chunks(20).enumerate() {
            let hex: String =
                instructions.concat().iter().map(|byte| format!("{byte:02x}")).collect();
            lines.push(format!("filter {at} {part:03}: {hex}"));
        }
    }
    lines
}

/// The daemon.
fn parent() -> rustix::process::Pid {
    getppid().expect("it has not ended")
}

/// Joins the process group of the daemon.
fn left_group() -> Result<(), rustix::io::Errno> {
    setpgid(None, Some(getpgid(Some(parent()))?))
}

/// The content of a given file; a new file is made in a folder that may be filled.
fn used(given: &GivenFile) -> String {
    let (name, file) = (&given.label.name, &given.descriptor);
    let text = |mut file: File| {
        let mut text = String::new();
        file.by_ref().take(64).read_to_string(&mut text).map(|_| text)
    };
    let result = match given.label.right {
        Right::Hold => file.try_clone().map(File::from).and_then(text),
        Right::Read | Right::Drive => Ok("to open".into()),
        Right::Fill => {
            let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
            let made = openat(file, "made", flags, Mode::from_raw_mode(0o600));
            made.map(|_| "made a file".to_owned()).map_err(io::Error::from)
        }
    };
    said(&format!("given {name}"), result)
}

/// The descriptors of this process that are sockets.
fn descriptors() -> io::Result<String> {
    let mut sockets = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")?.flatten() {
        let is_socket = |to: &Path| to.to_string_lossy().starts_with("socket:");
        if fs::read_link(entry.path()).is_ok_and(|to| is_socket(&to)) {
            sockets.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    sockets.sort();
    Ok(sockets.join(" "))
}

fn said<E: Display>(what: &str, result: Result<impl Display, E>) -> String {
    match result {
        Ok(result) => format!("{what}: {result}"),
        Err(error) => format!("{what}: refused, {error}"),
    }
}
