//! Loading a kernel: a cubin of the build for this architecture, PTX of the build that the driver compiles, or the embedded source that
//! NVRTC compiles on this machine.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaModule};
use libloading::os::unix::Library;

use super::call::Call;
use super::gpu::Gpu;
use super::libraries;
use super::prebuilt::{PREBUILT, candidates};
use super::sources::{HEADERS, PROGRAMS, Source};
use crate::backend::Fault;

/// A program that was loaded, with its route, or the reason why there is none.
type Loaded = Result<(Arc<CudaModule>, String), Fault>;

/// The programs of a GPU by name, each loaded once.
#[derive(Default)]
pub(super) struct Programs {
    loaded: RefCell<HashMap<&'static str, Loaded>>,
}

impl Programs {
    /// The kernel of a call, and the route by which it was made.
    ///
    /// # Errors
    /// When no route leads to a kernel for this GPU, with the reason of each.
    pub(super) fn function(&self, gpu: &Gpu, call: &Call) -> Result<(CudaFunction, String), Fault> {
        let mut loaded = self.loaded.borrow_mut();
        let program = loaded.entry(call.program).or_insert_with(|| load(gpu, call.program));
        let (module, route) = program.as_ref().map_err(Clone::clone)?;
        Ok((gpu.function(module, &call.kernel)?, route.clone()))
    }
}

fn load(gpu: &Gpu, program: &str) -> Loaded {
    let capability @ (major, minor) = gpu.facts.capability;
    let mut reasons = Vec::new();
    for it in candidates(PREBUILT, program, capability) {
        let route = if it.is_ptx {
            format!(
                "PTX compute_{} of NVRTC {}, compiled by the driver",
                it.architecture, it.compiler
            )
        } else {
            format!("cubin sm_{} of NVRTC {}", it.architecture, it.compiler)
        };
        match gpu.load(it.bytes) {
            Ok(module) => return Ok((module, route)),
            Err(fault) => reasons.push(format!("{route}: {}", words(&fault))),
        }
    }
    if PREBUILT.is_empty() {
        reasons
            .push("this build has no kernels for GPUs (`cargo xtask kernels` makes them)".into());
    } else if reasons.is_empty() {
        reasons.push(format!("this build has no kernel for architecture {major}.{minor}"));
    }
    let compilers = Compiler::all();
    if compilers.is_empty() {
        let why = "the compiler NVRTC was not found (`--cuda-libs DIR` names its folder)";
        reasons.push(why.to_owned());
    }
    let known = gpu.driver_version()? / 1000;
    for compiler in compilers {
        let name = &compiler.name;
        if compiler.major > known {
            reasons.push(format!(
                "{name} needs a driver of CUDA {}, and this one has {known}",
                compiler.major
            ));
            continue;
        }
        match compiler.compile(source(program)?, capability) {
            Ok((image, route)) => match gpu.load(&image) {
                Ok(module) => return Ok((module, route)),
                Err(fault) => reasons.push(format!("{route}: {}", words(&fault))),
            },
            Err(why) => reasons.push(why),
        }
    }
    Err(Fault::Device(format!("no kernel could be loaded: {}", reasons.join("; "))))
}

/// The reason of a fault.
pub(super) fn words(fault: &Fault) -> String {
    match fault {
        Fault::Device(why) | Fault::Refused(why) => why.clone(),
        other => format!("{other:?}"),
    }
}

fn source(program: &str) -> Result<&'static Source, Fault> {
    let found = PROGRAMS.iter().find(|source| source.name == program);
    found.ok_or_else(|| Fault::Device(format!("there is no program {program}")))
}

type Program = *mut c_void;

/// A version of NVRTC, by its functions. The bindings of `cudarc` would take the one that is first in the loader's path.
struct Compiler {
    library: &'static Library,
    /// Name and version.
    name: String,
    major: u32,
}

impl Compiler {
    /// The versions of this machine, the newest first.
    fn all() -> Vec<Self> {
        let of_nvrtc =
            libraries::found().iter().filter(|it| it.library == libraries::Library::Nvrtc);
        of_nvrtc.filter_map(|it| Self::of(it.opened)).collect()
    }

    #[expect(unsafe_code, reason = "the compiler is a library in C")]
    fn of(library: &'static Library) -> Option<Self> {
        let (mut major, mut minor) = (0_i32, 0_i32);
        // SAFETY: NVRTC's function of this name writes two numbers.
        let done = unsafe {
            let version =
                library.get::<unsafe extern "C" fn(*mut i32, *mut i32) -> i32>(b"nvrtcVersion\0");
            version.ok()?(&raw mut major, &raw mut minor)
        };
        let name = format!("NVRTC {major}.{minor}");
        (done == 0).then_some(Self { library, name, major: major.unsigned_abs() })
    }

    /// A binary for a GPU, and its route: a cubin, or PTX where this version does not know the architecture yet.
    ///
    /// # Errors
    /// NVRTC does not compile the program for this architecture.
    fn compile(
        &self,
        source: &Source,
        (major, minor): (u32, u32),
    ) -> Result<(Vec<u8>, String), String> {
        let device = 10 * major + minor;
        let known = self.architectures();
        let is_known = known.is_empty() || known.contains(&device);
        let nearest = known.iter().copied().filter(|it| *it <= device).max();
        let (kind, architecture) = match (is_known, nearest) {
            (true, _) => ("sm", device),
            (false, Some(nearest)) => ("compute", nearest),
            (false, None) => {
                return Err(format!("{} does not know architecture {major}.{minor}", self.name));
            }
        };
        let option = format!("--gpu-architecture={kind}_{architecture}");
        let image = self.run(source, &option).map_err(|why| {
            format!(
                "{} does not compile {} for {kind}_{architecture}: {why}",
                self.name, source.name
            )
        })?;
        let by = if is_known { "compiled here" } else { "compiled here and by the driver" };
        Ok((image, format!("{} for {kind}_{architecture}, {by}", self.name)))
    }

    /// Architectures that it knows; none where it is too old to tell.
    #[expect(unsafe_code, reason = "the compiler is a library in C")]
    fn architectures(&self) -> Vec<u32> {
        type Ask = unsafe extern "C" fn(*mut i32) -> i32;
        let mut count = 0;
        // SAFETY: the first function writes a number, and the second one as many.
        let numbers = unsafe {
            let counted = self.library.get::<Ask>(b"nvrtcGetNumSupportedArchs\0");
            let listed = self.library.get::<Ask>(b"nvrtcGetSupportedArchs\0");
            let (Ok(counted), Ok(listed)) = (counted, listed) else { return Vec::new() };
            if counted(&raw mut count) != 0 {
                return Vec::new();
            }
            let mut numbers = vec![0; usize::try_from(count).unwrap_or(0)];
            if listed(numbers.as_mut_ptr()) != 0 {
                return Vec::new();
            }
            numbers
        };
        numbers.into_iter().map(i32::unsigned_abs).collect()
    }

    /// Compiles a program with the headers: a cubin for `sm`, PTX for `compute`.
    #[expect(unsafe_code, reason = "the compiler is a library in C")]
    fn run(&self, source: &Source, option: &str) -> Result<Vec<u8>, String> {
        type Create = unsafe extern "C" fn(
            *mut Program,
            *const c_char,
            *const c_char,
            i32,
            *const *const c_char,
            *const *const c_char,
        ) -> i32;
        type Compile = unsafe extern "C" fn(Program, i32, *const *const c_char) -> i32;
        type Destroy = unsafe extern "C" fn(*mut Program) -> i32;
        let text = |text: &str| CString::new(text).expect("sources have no zero byte");
        let (name, code) = (text(source.name), text(source.text));
        let headers: Vec<[CString; 2]> =
            HEADERS.iter().map(|header| [text(header.text), text(header.name)]).collect();
        let [texts, names] = [0, 1].map(|which| -> Vec<*const c_char> {
            headers.iter().map(|header| header[which].as_ptr()).collect()
        });
        let options = [text(option), text("-std=c++17")];
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let count = |list: &[*const c_char]| i32::try_from(list.len()).expect("few");
        let lacks = |_| "it lacks a function".to_owned();
        let mut program: Program = core::ptr::null_mut();
        // SAFETY: the functions have had these types since the first NVRTC; all texts end with a zero byte and outlive the program, which is
        // destroyed at the end.
        unsafe {
            let create = self.library.get::<Create>(b"nvrtcCreateProgram\0").map_err(lacks)?;
            let compile = self.library.get::<Compile>(b"nvrtcCompileProgram\0").map_err(lacks)?;
            let destroy = self.library.get::<Destroy>(b"nvrtcDestroyProgram\0").map_err(lacks)?;
            let made = create(
                &raw mut program,
                code.as_ptr(),
                name.as_ptr(),
                count(&texts),
                texts.as_ptr(),
                names.as_ptr(),
            );
            if made != 0 {
                return Err(format!("error {made}"));
            }
            let done = compile(program, count(&options), options.as_ptr());
            let answer = if done == 0 {
                let (size, get): (&[u8], &[u8]) = if option.contains("=sm_") {
                    (b"nvrtcGetCUBINSize\0", b"nvrtcGetCUBIN\0")
                } else {
                    (b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")
                };
                self.bytes(program, size, get)
            } else {
                let log = self.bytes(program, b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0");
                let log = String::from_utf8_lossy(&log.unwrap_or_default()).into_owned();
                let first = log.lines().find(|line| line.contains("error")).unwrap_or_default();
                Err(format!("error {done} {}", first.trim_end_matches('\0')))
            };
            destroy(&raw mut program);
            answer
        }
    }

    /// Bytes that a pair of functions tells of a program: first their number, then as many.
    #[expect(unsafe_code, reason = "the compiler is a library in C")]
    fn bytes(&self, program: Program, size: &[u8], get: &[u8]) -> Result<Vec<u8>, String> {
        type Size = unsafe extern "C" fn(Program, *mut usize) -> i32;
        type Get = unsafe extern "C" fn(Program, *mut c_char) -> i32;
        let lacks = |_| "it lacks a function".to_owned();
        let mut count = 0;
        // SAFETY: the program lives, and the second function writes as many bytes as the first one says.
        unsafe {
            let size = self.library.get::<Size>(size).map_err(lacks)?;
            let get = self.library.get::<Get>(get).map_err(lacks)?;
            let told = size(program, &raw mut count);
            let mut bytes = vec![0_u8; count];
            let got = get(program, bytes.as_mut_ptr().cast());
            if told == 0 && got == 0 { Ok(bytes) } else { Err(format!("error {told} {got}")) }
        }
    }
}
