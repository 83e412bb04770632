//! GPUs of this machine as the daemon and its workers know them. A driver that crashes or hangs ends a process of its own, which lists
//! them, and not the daemon.

use std::env;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use kernels::cuda::facts::{Absent, Facts};
use kernels::cuda::libraries::{self, VARIABLE};
use kernels::devices;
use serde::{Deserialize, Serialize};

use crate::sandbox::{GivenFile, Label, Right};

/// Name of the hidden verb that lists.
pub(crate) const VERB: &str = "list-gpus";
/// Longest time that drivers may take to list their GPUs: those of a large server take seconds at first.
const PATIENCE: Duration = Duration::from_secs(20);
/// Most bytes of a list.
const LONGEST: u64 = 1 << 20;
/// Folders of the system's libraries, which a worker with a GPU reads beside those that were found.
const SYSTEM: [&str; 6] =
    ["/usr/lib", "/usr/lib64", "/usr/local/cuda", "/lib", "/lib64", "/etc/ld.so.cache"];
/// Names of nodes in `/dev` that CUDA's driver opens, by their beginning; folders stand for all below them.
const NODES: [&str; 8] =
    ["nvidia", "nvhost", "nvmap", "nvgpu", "nvsciipc", "host1x-fence", "dri", "dxg"];

/// Most files that a worker is given for a GPU.
const MOST_FILES: usize = 60;

/// Folders of libraries that this process was told by `--cuda-libs`.
static TOLD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
/// Folders from which the list's process opened libraries.
static FOUND: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Looks in these folders first, in this process and in workers.
pub(crate) fn look_in(folders: Vec<PathBuf>) {
    libraries::look_in(folders.clone());
    *TOLD.lock().unwrap_or_else(PoisonError::into_inner) = folders;
}

/// The folders of libraries that a worker looks in.
pub(crate) fn folders() -> Vec<PathBuf> {
    let of = |folders: &Mutex<Vec<PathBuf>>| {
        folders.lock().unwrap_or_else(PoisonError::into_inner).clone()
    };
    let mut all = of(&TOLD);
    let variable = env::var_os(VARIABLE).unwrap_or_default();
    all.extend(env::split_paths(&variable).filter(|folder| folder.is_absolute()));
    all.extend(of(&FOUND));
    all.dedup();
    all
}

/// The sentence about GPUs that are not there.
pub(crate) fn absent(why: &Absent) -> String {
    match why {
        Absent::NotBuilt => "this program was built without CUDA".to_owned(),
        Absent::NoDriver => {
            "CUDA's driver (libcuda.so.1) was not found; --cuda-libs DIR names its folder"
                .to_owned()
        }
        Absent::NoDevice => "CUDA's driver finds no GPU".to_owned(),
        Absent::Failed(why) => format!("CUDA's driver does not work: {why}"),
        _ => "CUDA's driver does not say why".to_owned(),
    }
}

/// The answer of the process that lists.
#[derive(Debug, Default, Serialize, Deserialize)]
struct List {
    gpus: Vec<Listed>,
    folders: Vec<PathBuf>,
}

/// A GPU in a list.
#[derive(Debug, Serialize, Deserialize)]
struct Listed(#[serde(with = "Fields")] Facts);

/// The fields of a GPU in a list.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Facts")]
struct Fields {
    index: u32,
    name: String,
    capability: (u32, u32),
    processors: u32,
    clock: u64,
    cache: u64,
    memory: u64,
    address: Option<String>,
    is_integrated: bool,
    cuda: u32,
    has_products: bool,
}

/// Prints the list of GPUs for the process that started this one.
pub(crate) fn print() -> String {
    let gpus = devices::gpus().unwrap_or_default().into_iter().map(Listed).collect();
    let list = List { gpus, folders: libraries::folders() };
    serde_json::to_string(&list).expect("a list has text keys")
}

/// The GPUs of this machine, listed by a process of its own; none where it fails, which `doctor` explains.
pub(crate) fn listed() -> Vec<devices::Device> {
    let list = ask().unwrap_or_default();
    *FOUND.lock().unwrap_or_else(PoisonError::into_inner) = list.folders;
    list.gpus.into_iter().map(|Listed(facts)| devices::gpu(facts)).collect()
}

fn ask() -> Option<List> {
    let mut command = Command::new(env::current_exe().ok()?);
    command.arg(VERB).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let told = env::join_paths(folders()).ok()?;
    let mut child = command.env(VARIABLE, told).spawn().ok()?;
    let out = child.stdout.take()?;
    // The reader ends with the process, at the latest when that is killed.
    let reader = thread::spawn(move || {
        let mut text = String::new();
        out.take(LONGEST).read_to_string(&mut text).ok().map(|_| text)
    });
    ended_in_time(&mut child).then_some(())?;
    serde_json::from_str(&reader.join().ok()??).ok()
}

/// Waits for a process; false if it failed or had to be killed.
fn ended_in_time(child: &mut Child) -> bool {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if start.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// The files that a worker needs for a GPU: the nodes of its driver, and the folders of its libraries.
pub(crate) fn files() -> Vec<GivenFile> {
    let system = SYSTEM.iter().map(PathBuf::from);
    let libraries = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let libraries = env::split_paths(&libraries).filter(|folder| folder.is_absolute());
    let readable = system.chain(libraries).chain(folders());
    let readable = readable.filter_map(|path| given(&path, Right::Read));
    nodes(Path::new("/dev")).into_iter().chain(readable).take(MOST_FILES).collect()
}

/// The nodes of NVIDIA's drivers below a folder.
fn nodes(dev: &Path) -> Vec<GivenFile> {
    let Ok(entries) = fs::read_dir(dev) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let is_node = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        NODES.iter().any(|node| name.starts_with(node))
    };
    paths.into_iter().filter(is_node).filter_map(|path| given(&path, Right::Drive)).collect()
}

/// A file to give; `None` where there is none.
#[cfg(target_os = "linux")]
fn given(path: &Path, right: Right) -> Option<GivenFile> {
    use rustix::fs::{Mode, OFlags, open};
    // The path alone: opening a node may wake its device.
    let descriptor = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    Some(GivenFile { label: Label { name, right }, descriptor })
}

/// As elsewhere: there is no GPU that a worker could use.
#[cfg(not(target_os = "linux"))]
const fn given(_: &Path, _: Right) -> Option<GivenFile> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_of_the_driver_are_given_and_no_others() {
        let dev = env::temp_dir().join(format!("ridgepoint-dev-{}", std::process::id()));
        fs::create_dir_all(dev.join("nvidia-caps")).unwrap();
        for node in ["nvidia0", "nvidiactl", "nvidia-uvm", "nvmap", "sda", "null", "kvm"] {
            fs::write(dev.join(node), "").unwrap();
        }
        let given = nodes(&dev);
        fs::remove_dir_all(&dev).unwrap();
        let names: Vec<&str> = given.iter().map(|it| &*it.label.name).collect();
        assert_eq!(names, ["nvidia-caps", "nvidia-uvm", "nvidia0", "nvidiactl", "nvmap"]);
        assert!(given.iter().all(|it| it.label.right == Right::Drive));
    }

    #[test]
    fn a_list_comes_back_as_it_was() {
        let facts = Facts {
            index: 1,
            name: "NVIDIA H200".to_owned(),
            capability: (9, 0),
            processors: 132,
            clock: 1_980_000_000,
            cache: 62_914_560,
            memory: 150_000_000_000,
            address: Some("0000:1b:00.0".to_owned()),
            is_integrated: false,
            cuda: 12_090,
            has_products: true,
        };
        let list = List { gpus: vec![Listed(facts.clone())], folders: vec![PathBuf::from("/a")] };
        let text = serde_json::to_string(&list).unwrap();
        let mut again: List = serde_json::from_str(&text).unwrap();
        assert_eq!(again.gpus.remove(0).0, facts);
        assert_eq!(again.folders, list.folders);
    }
}
