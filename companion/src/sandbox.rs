//! The sandbox of a worker: it opens no file but what it was given, no socket and no other program, where the kernel enforces that.
//! A lock that the kernel lacks is said, not assumed.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;

use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;

use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};

/// Most descriptors that a worker has open.
const DESCRIPTORS: u64 = 1024;

/// A file that a worker is given, as an open descriptor.
#[derive(Debug)]
pub(crate) struct GivenFile {
    pub(crate) label: Label,
    pub(crate) descriptor: OwnedFd,
}

/// The name of a given file, which is no path, and the right to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Label {
    pub(crate) name: String,
    pub(crate) right: Right,
}

/// The right of a worker to a given file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Right {
    /// Use the descriptor as it was opened.
    Hold,
    /// Open it, or what is below it, for reading: a folder of libraries.
    Read,
    /// Make, write, read and remove files below it: a folder for output.
    Fill,
    /// Open it for reading, writing and control: the node of a device.
    Drive,
}

/// The locks of the kernel on a process; an error is the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Locks {
    /// Files, by Landlock in this version of its interface.
    pub(crate) files: Result<u32, String>,
    /// Sockets, other programs and other system calls, by seccomp.
    pub(crate) calls: Result<(), String>,
}

/// Whether a worker drives a GPU: as it starts, CUDA's driver names its threads and opens a socket that nobody connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drives {
    Nothing,
    Gpu,
}

/// Locks to leave out, as if the kernel had none; tests ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LeftOut {
    pub(crate) landlock: bool,
    pub(crate) seccomp: bool,
}

impl Locks {
    pub(crate) const fn are_whole(&self) -> bool {
        self.files.is_ok() && self.calls.is_ok()
    }

    pub(crate) fn sentence(&self) -> String {
        let files = match &self.files {
            Ok(version) => format!("files locked by Landlock ABI {version}"),
            Err(why) => format!("files not locked: {why}"),
        };
        let calls = match &self.calls {
            Ok(()) => "sockets and programs locked by seccomp".into(),
            Err(why) => format!("sockets and programs not locked: {why}"),
        };
        format!("{files}; {calls}")
    }
}

/// Sets limits of this process: it ends with its parent, writes no core file, is not read by others of its user, and writes no
/// file if it was given none.
pub(crate) fn limit(given: &[GivenFile]) -> io::Result<()> {
    let at_most = |resource, most: u64| {
        let maximum =
            rustix::process::getrlimit(resource).maximum.map_or(most, |old| old.min(most));
        setrlimit(resource, Rlimit { current: Some(maximum), maximum: Some(maximum) })
    };
    at_most(Resource::Core, 0)?;
    at_most(Resource::Nofile, DESCRIPTORS)?;
    if given.is_empty() {
        at_most(Resource::Fsize, 0)?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, Signal};
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

/// Locks the calling thread and those that it starts, for ever, and tries both locks.
pub(crate) fn lock(given: &[GivenFile], drives: Drives, left_out: LeftOut) -> Locks {
    let files = if left_out.landlock {
        Err("left out by a test".into())
    } else {
        files_locked(given, drives)
            .and_then(|version| tried(File::open("/"), "open a folder", version))
    };
    let calls = if left_out.seccomp {
        Err("left out by a test".into())
    } else {
        calls_locked(drives).and_then(|()| tried(UnixDatagram::unbound(), "open a socket", ()))
    };
    Locks { files, calls }
}

/// The locks that a worker gets here: a thread of its own is locked.
pub(crate) fn probe(left_out: LeftOut) -> Locks {
    let why = || "no thread to try it".to_owned();
    let probed = std::thread::Builder::new().spawn(move || lock(&[], Drives::Nothing, left_out));
    let probed = probed.ok().and_then(|thread| thread.join().ok());
    probed.unwrap_or_else(|| Locks { files: Err(why()), calls: Err(why()) })
}

/// The lock that holds, if what it forbids was refused.
fn tried<T, L>(forbidden: io::Result<T>, what: &str, lock: L) -> Result<L, String> {
    match forbidden {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Ok(lock),
        Ok(_) | Err(_) => Err(format!("the kernel took the rules, but lets this process {what}")),
    }
}

#[cfg(all(target_os = "linux", debug_assertions))]
pub(crate) use calls::instructions;
#[cfg(target_os = "linux")]
use {calls::lock as calls_locked, files::lock as files_locked};

#[cfg(not(target_os = "linux"))]
fn files_locked(_: &[GivenFile], _: Drives) -> Result<u32, String> {
    Err(format!("{} has no Landlock", std::env::consts::OS))
}

#[cfg(not(target_os = "linux"))]
fn calls_locked(_: Drives) -> Result<(), String> {
    Err(format!("{} has no seccomp", std::env::consts::OS))
}
