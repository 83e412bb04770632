//! Files that a worker may open, enforced by Landlock: what describes the machine and this process, and what it was given.

use std::mem;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, LandlockStatus, PathBeneath, PathFd,
    RestrictionStatus, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError, RulesetStatus,
    Scope, make_bitflags,
};

use super::{Drives, GivenFile, Right};

/// Read by sensors, by the list of cores, and by the standard library to count them.
const READABLE: [&str; 13] = [
    "/sys",
    "/proc/devices",
    "/proc/driver/nvidia",
    "/proc/driver/nvidia-uvm",
    "/proc/filesystems",
    "/proc/sys/vm/mmap_min_addr",
    "/proc/sys/vm/overcommit_memory",
    "/proc/self",
    "/proc/cpuinfo",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel/osrelease",
];
/// Its own threads, whose names drivers write.
const THREADS: &str = "/proc/self/task";
/// The newest version whose rights are asked for; older kernels enforce what they have.
const NEWEST: ABI = ABI::V6;

/// Locks the calling thread; returns the version of Landlock's interface.
pub(super) fn lock(given: &[GivenFile], drives: Drives) -> Result<u32, String> {
    let status = restrict(given, drives).map_err(|error| error.to_string())?;
    match (status.landlock, status.ruleset) {
        (LandlockStatus::NotImplemented, _) => Err("this kernel has no Landlock".into()),
        (LandlockStatus::NotEnabled, _) => {
            Err("Landlock is in this kernel, but not enabled at its start".into())
        }
        (_, RulesetStatus::NotEnforced) => Err("the kernel refused the rules".into()),
        (LandlockStatus::Available { effective_abi, kernel_abi }, _) => {
            let known = effective_abi as u32;
            Ok(kernel_abi.and_then(|version| u32::try_from(version).ok()).unwrap_or(known))
        }
    }
}

fn restrict(given: &[GivenFile], drives: Drives) -> Result<RestrictionStatus, RulesetError> {
    let mut rules = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    // A file that this machine does not have needs no rule.
    let readable = READABLE.iter().filter_map(|path| Some((path, PathFd::new(path).ok()?)));
    for (path, opened) in readable {
        rules = rules.add_rule(PathBeneath::new(&opened, read(Path::new(path).is_dir())))?;
        // A rule holds for an inode. procfs makes a new one when it has forgotten the old one, which an open descriptor prevents.
        mem::forget(opened);
    }
    let threads = (drives == Drives::Gpu).then(|| PathFd::new(THREADS).ok());
    if let Some(threads) = threads.flatten() {
        let rights = make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | Truncate});
        rules = rules.add_rule(PathBeneath::new(&threads, rights))?;
        mem::forget(threads);
    }
    for GivenFile { label, descriptor } in given {
        if let Some(rights) = rights(label.right) {
            rules = rules.add_rule(PathBeneath::new(descriptor, rights))?;
        }
    }
    rules.restrict_self()
}

/// The rights to open a given file once more, or what is below it.
fn rights(right: Right) -> Option<BitFlags<AccessFs>> {
    match right {
        Right::Hold => None,
        Right::Read => Some(read(true)),
        Right::Fill => Some(make_bitflags!(AccessFs::{
            ReadFile | ReadDir | WriteFile | Truncate | MakeReg | MakeDir | RemoveFile | RemoveDir
        })),
        Right::Drive => Some(make_bitflags!(AccessFs::{ReadFile | ReadDir | WriteFile | IoctlDev})),
    }
}

fn read(is_folder: bool) -> BitFlags<AccessFs> {
    if is_folder {
        make_bitflags!(AccessFs::{ReadFile | ReadDir})
    } else {
        AccessFs::ReadFile.into()
    }
}
