//! CUDA's libraries on this machine: opened by the loader's path, from folders that the user names, or from those in which toolkits and
//! Python packages keep them.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Variable with folders of libraries between colons; `--cuda-libs` sets it for the workers of a daemon.
pub const VARIABLE: &str = "RIDGEPOINT_CUDA_LIBS";

/// A library of CUDA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Library {
    /// The driver's library.
    Driver,
    /// The compiler of kernels at run time.
    Nvrtc,
    /// Products of matrices.
    CublasLt,
    /// The management library: power, clocks, processes.
    Nvml,
}

impl Library {
    /// All libraries.
    pub const ALL: [Self; 4] = [Self::Driver, Self::Nvrtc, Self::CublasLt, Self::Nvml];

    /// File names, the preferred one first.
    pub const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Driver => &["libcuda.so.1"],
            Self::Nvrtc => &["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2"],
            Self::CublasLt => &["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"],
            Self::Nvml => &["libnvidia-ml.so.1"],
        }
    }

    /// Its purpose, for people.
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::Driver => "driver",
            Self::Nvrtc => "compiler NVRTC",
            Self::CublasLt => "products of matrices, cuBLASLt",
            Self::Nvml => "management library NVML",
        }
    }
}

/// A library that was opened.
#[derive(Debug, Clone)]
pub struct Found {
    /// The library that the file is.
    pub library: Library,
    /// Its file; only the name where the system does not tell the folder.
    pub file: PathBuf,
    #[cfg(target_os = "linux")]
    pub(super) opened: &'static libloading::os::unix::Library,
}

static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static FOUND: OnceLock<Vec<Found>> = OnceLock::new();

/// Looks in these folders first, before anything is opened.
pub fn look_in(folders: Vec<PathBuf>) {
    *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner) = folders;
}

/// The libraries of this machine, each version of those that a driver may be too old for; they are opened at the first call.
pub fn found() -> &'static [Found] {
    FOUND.get_or_init(|| {
        let all =
            |library: Library| library.names().iter().filter_map(move |name| open(library, name));
        // cuBLASLt asks for NVRTC by its name, which finds one that is open already.
        let versions = [Library::Nvrtc, Library::CublasLt].into_iter().flat_map(all);
        [Library::Driver, Library::Nvml].into_iter().filter_map(alone).chain(versions).collect()
    })
}

/// Opens one library and no other, for a process that needs nothing else of CUDA.
pub fn alone(library: Library) -> Option<Found> {
    library.names().iter().find_map(|name| open(library, name))
}

/// Whether a library is there.
pub fn has(library: Library) -> bool {
    found().iter().any(|found| found.library == library)
}

/// Folders outside the loader's path from which a library was opened, for the rights and the variable of a worker.
pub fn folders() -> Vec<PathBuf> {
    let files = found().iter().filter(|found| found.file.is_absolute());
    let folders: BTreeSet<PathBuf> =
        files.filter_map(|found| found.file.parent().map(Path::to_owned)).collect();
    folders.into_iter().collect()
}

/// Opens a library by the first folder that has it, else by the loader's path.
fn open(library: Library, name: &str) -> Option<Found> {
    let named = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let by_variable = env::var_os(VARIABLE).unwrap_or_default();
    let by_variable = env::split_paths(&by_variable).filter(|folder| folder.is_absolute());
    let first = named.into_iter().chain(by_variable).find_map(|it| open_in(library, name, &it));
    first
        .or_else(|| open_file(library, Path::new(name)))
        .or_else(|| usual().iter().find_map(|folder| open_in(library, name, folder)))
}

fn open_in(library: Library, name: &str, folder: &Path) -> Option<Found> {
    let file = folder.join(name);
    if !file.exists() {
        return None;
    }
    if library == Library::Nvrtc {
        open_builtins(folder);
    }
    open_file(library, &file)
}

/// NVRTC opens its other library by name alone, which finds one that is open already.
fn open_builtins(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with("libnvrtc-builtins.so.") {
            open_file(Library::Nvrtc, &entry.path());
        }
    }
}

/// Opens a library for as long as the process runs.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a library of CUDA is opened, whose start-up code runs")]
fn open_file(library: Library, file: &Path) -> Option<Found> {
    use libloading::os::unix::{Library as Opened, RTLD_GLOBAL, RTLD_NOW};
    // SAFETY: the names are those of CUDA's libraries, whose start-up code has no demands on the process.
    let opened = unsafe { Opened::open(Some(file), RTLD_NOW | RTLD_GLOBAL) }.ok()?;
    let file = if file.is_absolute() { file.to_owned() } else { mapped(file) };
    Some(Found { library, file, opened: Box::leak(Box::new(opened)) })
}

/// As elsewhere: there are no kernels for GPUs.
#[cfg(not(target_os = "linux"))]
const fn open_file(_: Library, _: &Path) -> Option<Found> {
    None
}

/// The file of a library that the loader found by its name, beside which the one of that name lies.
#[cfg(target_os = "linux")]
fn mapped(name: &Path) -> PathBuf {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let stem = name.to_string_lossy().split(".so").next().unwrap_or_default().to_owned() + ".so";
    let paths = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_it = |path: &&Path| {
        path.file_name().is_some_and(|file| file.to_string_lossy().starts_with(&stem))
    };
    let folder = paths.filter(is_it).find_map(Path::parent);
    folder.map_or_else(|| name.to_owned(), |folder| folder.join(name))
}

/// Why the driver that was found is not the one that the bindings would take: they ask for `libcuda.so` first, which may be the stub of a
/// toolkit. `None` if they are the same.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "addresses of functions are compared")]
pub(super) fn other_driver() -> Option<String> {
    type Function = unsafe extern "C" fn(u32) -> u32;
    let first = open_file(Library::Driver, Path::new("libcuda.so"))?;
    let own = found().iter().find(|found| found.library == Library::Driver)?;
    // SAFETY: every driver has this function; it is not called.
    let address = |of: &Found| unsafe {
        of.opened.get::<Function>(b"cuInit\0").ok().map(|found| *found as usize)
    };
    (address(&first) != address(own)).then(|| {
        format!(
            "two of its libraries are in the loader's path, {} and {}; leave out the folder of the wrong one, a toolkit's `stubs` as a rule",
            first.file.display(),
            own.file.display()
        )
    })
}

/// Folders of toolkits and of Python packages that exist.
fn usual() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = [
        "/usr/local/cuda/lib64",
        "/usr/local/cuda/targets/sbsa-linux/lib",
        "/usr/local/cuda/targets/aarch64-linux/lib",
        "/usr/lib/aarch64-linux-gnu/nvidia",
        "/usr/lib/aarch64-linux-gnu/tegra",
        "/usr/lib/wsl/lib",
        "/opt/cuda/lib64",
    ]
    .map(PathBuf::from)
    .into();
    let prefixes = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os);
    let mut prefixes: Vec<PathBuf> = prefixes.map(PathBuf::from).collect();
    prefixes.extend(env::home_dir().map(|home| home.join(".local")));
    prefixes.extend(["/usr/local", "/usr", "/opt/conda"].map(PathBuf::from));
    for prefix in prefixes {
        folders.extend(of_packages(&prefix));
    }
    folders.retain(|folder| folder.is_dir());
    folders
}

/// Folders of NVIDIA's packages below the prefix of a Python.
fn of_packages(prefix: &Path) -> Vec<PathBuf> {
    let below = |folder: &Path| -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        // The latest first.
        paths.sort();
        paths.reverse();
        paths
    };
    let is_python = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3"))
    };
    let pythons = below(&prefix.join("lib")).into_iter().filter(is_python);
    let packages = pythons.flat_map(|python| {
        ["site-packages", "dist-packages"].map(|packages| python.join(packages).join("nvidia"))
    });
    packages.flat_map(|nvidia| below(&nvidia)).map(|package| package.join("lib")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_packages_are_looked_through() {
        let root = env::temp_dir().join(format!("ridgepoint-packages-{}", std::process::id()));
        let packages = root.join("lib/python3.12/site-packages/nvidia");
        for package in ["cuda_nvrtc", "cu13"] {
            fs::create_dir_all(packages.join(package).join("lib")).unwrap();
        }
        fs::create_dir_all(root.join("lib/tclsh/site-packages/nvidia/no")).unwrap();
        let found = of_packages(&root);
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(found, [packages.join("cuda_nvrtc/lib"), packages.join("cu13/lib")]);
    }

    #[test]
    fn what_is_no_library_is_not_found() {
        let folder = env::temp_dir().join(format!("ridgepoint-no-library-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("libnvrtc.so.12"), "no library").unwrap();
        assert!(open_in(Library::Nvrtc, "libnvrtc.so.12", &folder).is_none());
        assert!(open_in(Library::Driver, "libcuda.so.1", &folder).is_none());
        fs::remove_dir_all(&folder).unwrap();
    }
}
