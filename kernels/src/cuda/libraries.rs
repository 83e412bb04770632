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

/// Architecture at which the libraries of a version of CUDA begin: CUDA 13 left out all before 7.5.
const BEGINS: [(u32, (u32, u32)); 1] = [(13, (7, 5))];

/// Whether a library's version has kernels for an architecture and a driver of a version of CUDA knows it, by the version in its name.
///
/// # Errors
/// The reason why not.
pub fn serves(found: &Found, capability: (u32, u32), cuda: u32) -> Result<(), String> {
    let name = found.file.file_name().unwrap_or_default().to_string_lossy();
    let version =
        name.split_once(".so.").and_then(|(_, rest)| rest.split('.').next()?.parse().ok());
    if version > Some(cuda) {
        return Err(format!("{name} needs a later driver, and this one has CUDA {cuda}"));
    }
    let begin = BEGINS.into_iter().filter(|(since, _)| version >= Some(*since));
    match begin.map(|(_, begin)| begin).max().filter(|begin| capability < *begin) {
        Some((major, minor)) => Err(format!(
            "{name} has no kernels for architecture {}.{}, only from {major}.{minor} on",
            capability.0, capability.1
        )),
        None => Ok(()),
    }
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
    let (opened, by_loader) = path_of(opened);
    let file = if file.is_absolute() {
        file.to_owned()
    } else {
        by_loader.unwrap_or_else(|| file.to_owned())
    };
    Some(Found { library, file, opened: Box::leak(Box::new(opened)) })
}

/// As elsewhere: there are no kernels for GPUs.
#[cfg(not(target_os = "linux"))]
const fn open_file(_: Library, _: &Path) -> Option<Found> {
    None
}

/// A library with the path by which the loader opened it. A name says less: another version of it may be open, too.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "a question to the loader")]
fn path_of(
    opened: libloading::os::unix::Library,
) -> (libloading::os::unix::Library, Option<PathBuf>) {
    use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
    use std::os::unix::ffi::OsStrExt;

    /// The beginning of what the loader knows of a library, as `link.h` has it.
    #[repr(C)]
    struct LinkMap {
        _base: usize,
        name: *const c_char,
    }
    const LINK_MAP: c_int = 2;
    // SAFETY: the function is the C library's, of this type.
    unsafe extern "C" {
        fn dlinfo(handle: *mut c_void, question: c_int, answer: *mut c_void) -> c_int;
    }
    let handle = opened.into_raw();
    let mut map: *const LinkMap = core::ptr::null();
    // SAFETY: the library is open; the loader writes the address of a structure that lives as long, whose name ends with zero.
    let path = unsafe {
        let told = dlinfo(handle, LINK_MAP, (&raw mut map).cast());
        let name =
            (told == 0 && !map.is_null()).then(|| (*map).name).filter(|name| !name.is_null());
        name.map(|name| PathBuf::from(OsStr::from_bytes(CStr::from_ptr(name).to_bytes())))
    };
    // SAFETY: the handle is the one of above.
    let opened = unsafe { libloading::os::unix::Library::from_raw(handle) };
    (opened, path.filter(|path| path.is_absolute()))
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
    #[cfg(target_os = "linux")]
    fn a_version_serves_the_architectures_that_it_has_kernels_for() {
        let found = |name: &str| Found { file: PathBuf::from("/a").join(name), ..any() };
        for (name, capability, expected) in [
            ("libcublasLt.so.13", (7, 0), false),
            ("libcublasLt.so.13", (6, 1), false),
            ("libcublasLt.so.13", (7, 5), true),
            ("libcublasLt.so.14", (7, 0), false),
            ("libcublasLt.so.12", (7, 0), true),
            ("libcublasLt.so.11", (6, 1), true),
            ("libcublasLt.so", (7, 0), true),
        ] {
            let serves = serves(&found(name), capability, 14);
            assert_eq!(serves.is_ok(), expected, "{name} {capability:?}: {serves:?}");
        }
        let why = serves(&found("libcublasLt.so.13"), (9, 0), 12).unwrap_err();
        assert_eq!(why, "libcublasLt.so.13 needs a later driver, and this one has CUDA 12");
    }

    /// A library that every machine has, by the loader's path.
    #[cfg(target_os = "linux")]
    fn any() -> Found {
        open_file(Library::CublasLt, Path::new("libc.so.6")).expect("the C library")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_loader_tells_the_path_of_a_library_that_it_found_by_name() {
        let found = any();
        assert!(found.file.is_absolute() && found.file.is_file(), "{found:?}");
        assert!(found.file.ends_with("libc.so.6"), "{found:?}");
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
