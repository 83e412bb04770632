//! The CUDA backend with a driver that runs its kernels on the processor (`kernels/cuda/cpu/libcuda.cpp`), and with drivers that fail. Each
//! case is a process of its own, because a driver is opened once and some failures stay with the process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test")]

#[path = "cuda_backend/matrices.rs"]
mod matrices;
#[path = "cuda_backend/symbols.rs"]
mod symbols;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;
use std::{env, fs};

use kernels::backend::{
    AttentionSizes, Backend, Cache, EmbeddingSizes, Fault, GemvShape, Kernel, RopeSizes, RowSizes,
    StoredFloat, TensorElement, Work,
};
use kernels::cpu::clock::SystemClock;
use kernels::cuda::backend::Cuda;
use kernels::cuda::call::products::{LAYOUTS, input_multiple};
use kernels::cuda::facts::Absent;
use kernels::devices::{self, Settings, gpus};
use kernels::job;
use kernels::measure::{Plan, StopRule, Stopped, WarmUp};
use kernels::pack::Layout;

/// Names the case in the process of a case.
const CASE: &str = "CUDA_BACKEND_CASE";

/// The folder of the libraries, which g++ builds once.
fn libraries() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-cuda");
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("cuda/cpu/build.sh");
        let status = Command::new(script).arg(&folder).status().expect("a shell");
        assert!(status.success(), "g++ is installed and compiles the driver of tests");
        folder
    })
}

/// The bytes of a library in which a symbol has another name of the same length.
fn lacking(library: &Path, symbol: &str) -> Vec<u8> {
    let mut bytes = fs::read(library).unwrap();
    let places: Vec<usize> = (0..bytes.len() - symbol.len())
        .filter(|at| &bytes[*at..*at + symbol.len()] == symbol.as_bytes())
        .collect();
    assert!(!places.is_empty(), "the library has {symbol}");
    for at in places {
        bytes[at] = b'_';
    }
    bytes
}

/// Runs a case in a process of its own, with these words for the driver and these folders of libraries.
fn in_a_process(case: &str, driver: &str, folders: Option<&Path>, more: &[(&str, &str)]) {
    let mut process = Command::new(env::current_exe().unwrap());
    process.args(["--exact", "a_case", "--nocapture"]);
    process.env(CASE, case).env("FAKE_CUDA", driver).envs(more.iter().copied());
    process.env_remove("RIDGEPOINT_CUDA_LIBS");
    if let Some(folder) = folders {
        process.env("RIDGEPOINT_CUDA_LIBS", folder);
    }
    let output = process.output().unwrap();
    assert!(
        output.status.success(),
        "{case} with `{driver}`:\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

const CASES: [(&str, fn()); 13] = [
    ("every kernel", every_kernel),
    ("old architecture", old_architecture),
    ("later architecture", later_architecture),
    ("timing", timing),
    ("no driver", no_driver),
    ("no device", no_device),
    ("driver failed", driver_failed),
    ("exclusive", exclusive),
    ("full", full),
    ("no kernel", no_kernel),
    ("sticky", sticky),
    ("lost", lost),
    ("wrong results", wrong_results),
];

/// A case that another test starts; without its name there is nothing to do.
#[test]
fn a_case() {
    let Ok(name) = env::var(CASE) else { return };
    let mut all = CASES.iter().chain(&matrices::CASES).chain(&symbols::CASES);
    all.find(|(case, _)| *case == name).expect("a case").1();
}

fn gpu() -> Cuda {
    let found = gpus().unwrap();
    let mut gpu = Cuda::new(found[0].clone());
    gpu.probe().unwrap();
    gpu
}

fn work(kernel: Kernel, cache: Cache) -> Work {
    Work { kernel, cache, seed: 3 }
}

/// A small problem of every kernel in every format.
fn kernels() -> Vec<Kernel> {
    let bytes = 300_000;
    let mut kernels = vec![
        Kernel::Read { bytes },
        Kernel::Copy { bytes },
        Kernel::Triad { bytes },
        Kernel::Fma,
        Kernel::Dot,
    ];
    kernels.extend(TensorElement::ALL.map(Kernel::TensorCores));
    for layout in LAYOUTS {
        // More rows than distinct ones, so that a copy repeats them.
        let shape = |m, n, k| Kernel::Gemv(GemvShape { layout, m, n, k });
        kernels.extend([shape(1, 70, 128.max(input_multiple(layout))), shape(5, 12, 256)]);
    }
    for stored in StoredFloat::ALL {
        let sizes = AttentionSizes {
            cache: stored,
            batch: 2,
            heads: 4,
            kv_heads: 2,
            head_dim: 64,
            new: 1,
            context: 40,
        };
        kernels.push(Kernel::Attention(sizes));
        kernels.push(Kernel::Attention(AttentionSizes { new: 3, ..sizes }));
        kernels.push(prefill(stored));
        let sizes = EmbeddingSizes { table: stored, tokens: 8, width: 128, vocab: 1000 };
        kernels.push(Kernel::Embedding(sizes));
    }
    for carrier in StoredFloat::CARRIERS {
        let rows = RowSizes { carrier, tokens: 9, width: 100 };
        kernels.extend([Kernel::Norm(rows), Kernel::Gate(rows)]);
        kernels.push(Kernel::Rope(RopeSizes { carrier, tokens: 9, heads: 3, head_dim: 32 }));
    }
    kernels
}

fn every_kernel() {
    let mut gpu = gpu();
    let support = gpu.support();
    for kernel in kernels() {
        if kernel == Kernel::TensorCores(TensorElement::Fp8) {
            continue;
        }
        assert!(support.has(kernel), "{kernel:?}");
        for cache in [Cache::Cold, Cache::Hot] {
            let is_stream =
                matches!(kernel, Kernel::Read { .. } | Kernel::Copy { .. } | Kernel::Triad { .. });
            let small = matches!(kernel, Kernel::Norm(_) | Kernel::Gate(_));
            if cache == Cache::Hot && !small {
                continue;
            }
            let work = work(kernel, cache);
            let task = gpu.allocate(&work);
            let mut task =
                task.map_err(|fault| format!("{kernel:?} {cache:?}: {fault:?}")).unwrap();
            let check = task.check().unwrap();
            assert!(check.passed(), "{kernel:?}: {check:?}");
            assert!(gpu.needed(&work) as f64 >= task.footprint().get(), "{kernel:?}");
            // Four times the emulated cache of 16 KiB, but for the scale of a tensor.
            let is_peak = Kernel::PEAKS.contains(&kernel);
            let covers = task.footprint().get() >= 65_000.0 || is_stream;
            assert!(is_peak || cache == Cache::Hot || covers, "{kernel:?}");
            let route = gpu.route(kernel);
            assert!(route.contains("NVRTC 12.9 for sm_90, compiled here"), "{route}");
        }
    }
    assert_eq!(gpu.describe().id.to_string(), "cuda:0");
    let clock = gpu.core_clock(&SystemClock::new()).unwrap().get();
    assert!((clock / 1e9 - 1.0).abs() < 0.5, "the emulated clock has 1 GHz: {clock}");
}

/// Several new tokens whose queries fill a block of tensor cores.
fn prefill(cache: StoredFloat) -> Kernel {
    Kernel::Attention(AttentionSizes {
        cache,
        batch: 2,
        heads: 4,
        kv_heads: 2,
        head_dim: 64,
        new: 33,
        context: 40,
    })
}

/// Without tensor cores the kernels of 7.0 run.
fn old_architecture() {
    let mut gpu = gpu();
    let support = gpu.support();
    assert!(!support.has(Kernel::TensorCores(TensorElement::Fp16)));
    let product = GemvShape { layout: Layout::Int4G128, m: 3, n: 70, k: 256 };
    let mut task = gpu.allocate(&work(Kernel::Gemv(product), Cache::Cold)).unwrap();
    assert!(task.check().unwrap().passed());
    assert!(gpu.route(Kernel::Gemv(product)).starts_with("v2, "));
    let mut task = gpu.allocate(&work(prefill(StoredFloat::Fp16), Cache::Cold)).unwrap();
    assert!(task.check().unwrap().passed());
    assert!(gpu.route(prefill(StoredFloat::Fp16)).starts_with("v2, "));
}

/// NVRTC that does not know an architecture makes PTX, which the driver compiles.
fn later_architecture() {
    let mut gpu = gpu();
    let mut task = gpu.allocate(&work(product(), Cache::Cold)).unwrap();
    assert!(task.check().unwrap().passed());
    let route = gpu.route(product());
    assert!(route.contains("for compute_90, compiled here and by the driver"), "{route}");
    let mut task = gpu.allocate(&work(prefill(StoredFloat::Fp16), Cache::Cold)).unwrap();
    assert!(task.check().unwrap().passed());
    let route = gpu.route(prefill(StoredFloat::Fp16));
    assert!(route.starts_with("v3 on tensor cores, "), "{route}");
    assert!(gpu.route(prefill(StoredFloat::Fp8E4m3)).starts_with("v2"));
    // FP8 is not native in `mma` there.
    assert!(!gpu.support().has(Kernel::TensorCores(TensorElement::Fp8)));
}

const SHORT: Plan = Plan {
    warm_up: WarmUp {
        least: Duration::ZERO,
        most: Duration::from_millis(30),
        slice: Duration::from_millis(1),
        spread: 0.5,
    },
    window: Duration::from_micros(1),
    rule: StopRule::Iterations(5),
};

fn timed(gpu: &mut dyn Backend, kernel: Kernel) -> Result<job::Outcome, Stopped<Fault>> {
    let clock = SystemClock::new();
    job::run(&clock, gpu, &work(kernel, Cache::Cold), &SHORT, &mut |_| ControlFlow::Continue(()))
}

fn product() -> Kernel {
    Kernel::Gemv(GemvShape { layout: Layout::Int8, m: 1, n: 70, k: 128 })
}

fn timing() {
    let devices = devices::with_gpus(None);
    let ids: Vec<String> = devices.iter().map(|device| device.id.to_string()).collect();
    assert_eq!(ids, ["cpu:0", "cuda:0", "cuda:1"]);
    let found = devices::find(&devices, "cuda:1").unwrap();
    assert_eq!(found.name, "Emulated GPU 1");
    assert_eq!(found.address.as_deref(), Some("0000:0b:00.0"));
    let mut gpu = found.open(&Settings::default()).unwrap();
    let outcome = timed(&mut *gpu, product()).unwrap();
    assert!(outcome.check.passed());
    let measured = outcome.measurement;
    // 64 KiB of sets of 70 · 128 weights and their scales: 8 sets, and windows are whole turns through them.
    assert!(measured.calls_per_window.is_multiple_of(8), "{}", measured.calls_per_window);
    assert!(measured.summary.median > 1e-7 && measured.summary.median < 1.0);
    assert!(outcome.core_clocks.is_some());
    // The emulated multiprocessors count a cycle in each nanosecond; a busy machine may interrupt them between cycles and time.
    let windows = measured.device.unwrap();
    assert!(windows.empty > 0.0);
    let counts = [windows.cores_hz.len(), windows.host.len()];
    assert_eq!(counts, [measured.samples.len(); 2]);
    let least = windows.cores_hz.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((0.99e9..1.2e9).contains(&least), "{least}");
    for (host, sample) in windows.host.iter().zip(&measured.samples) {
        assert!(*host > sample * measured.calls_per_window as f64 * 0.9, "{host} {sample}");
    }
}

fn no_driver() {
    assert_eq!(gpus(), Err(Absent::NoDriver));
    let ids: Vec<String> = devices::with_gpus(None).iter().map(|it| it.id.to_string()).collect();
    assert_eq!(ids, ["cpu:0"]);
}

fn no_device() {
    assert_eq!(gpus(), Err(Absent::NoDevice));
}

fn driver_failed() {
    let expected = env::var("EXPECTED").unwrap();
    let Err(Absent::Failed(why)) = gpus() else { panic!("{:?}", gpus()) };
    assert!(why.contains(&expected), "{why}");
}

fn exclusive() {
    let mut gpu = Cuda::new(gpus().unwrap()[0].clone());
    let fault = gpu.probe().unwrap_err();
    let Fault::Device(why) = fault else { panic!("{fault:?}") };
    assert!(why.contains("another process has it for itself"), "{why}");
}

fn full() {
    let refused = gpu().allocate(&work(product(), Cache::Cold)).err().unwrap();
    assert!(
        matches!(refused, Fault::NoMemory { bytes, most: Some(most) } if bytes > 70 * 128 * 8 && bytes > most),
        "{refused:?}"
    );
}

/// Without a compiler not even the kernel that measures the clock can be loaded, so the GPU is refused as it is opened.
fn no_kernel() {
    let expected = env::var("EXPECTED").unwrap();
    let refused = Cuda::new(gpus().unwrap()[0].clone()).probe().unwrap_err();
    let Fault::Device(why) = refused else { panic!("{refused:?}") };
    assert!(why.contains(&expected), "{why}");
}

/// A failed kernel ends everything that this process asks afterwards, with the first reason.
fn sticky() {
    let mut gpu = gpu();
    let failed = |stopped| match stopped {
        Err(Stopped::Failed(Fault::Device(why))) => why,
        other => panic!("{other:?}"),
    };
    let first = failed(timed(&mut gpu, product()));
    assert!(first.contains("a kernel failed; this job ends"), "{first}");
    assert_eq!(failed(timed(&mut gpu, product())), first);
}

fn lost() {
    let mut gpu = gpu();
    let stopped = timed(&mut gpu, product());
    let Err(Stopped::Failed(Fault::Device(why))) = stopped else { panic!("{stopped:?}") };
    assert!(why.contains("fell off the bus"), "{why}");
}

fn wrong_results() {
    let outcome = timed(&mut gpu(), product()).unwrap();
    assert!(!outcome.check.passed());
}

#[test]
fn kernels_are_right_and_timed_by_the_clock_of_the_device() {
    in_a_process("every kernel", "", Some(libraries()), &[]);
    in_a_process("old architecture", "capability=72", Some(libraries()), &[]);
    in_a_process("later architecture", "capability=103", Some(libraries()), &[]);
    in_a_process("timing", "devices=2", Some(libraries()), &[]);
}

#[test]
fn what_is_missing_is_said() {
    in_a_process("no driver", "", None, &[]);
    let nowhere = Path::new("/nonexistent");
    in_a_process("no driver", "", Some(nowhere), &[]);
    in_a_process("no device", "none", Some(libraries()), &[]);
    in_a_process("no device", "devices=0", Some(libraries()), &[]);
    for (driver, expected) in [
        ("stub", "the stub of a toolkit"),
        ("mismatch", "differ in version; reboot"),
        ("denied", "the group of the device"),
    ] {
        in_a_process("driver failed", driver, Some(libraries()), &[("EXPECTED", expected)]);
    }
    in_a_process("exclusive", "exclusive", Some(libraries()), &[]);
    in_a_process("full", "full", Some(libraries()), &[]);
    let no_kernel = |driver, nvrtc, expected| {
        let more = [("EXPECTED", expected), ("FAKE_NVRTC", nvrtc)];
        in_a_process("no kernel", driver, Some(libraries()), &more);
    };
    no_kernel("no_cubin", "", "there is no kernel for its architecture");
    no_kernel("", "refuses", "NVRTC 12.9 does not compile clock.cu for sm_90");
    no_kernel("", "refuses", "scripted refusal");
    no_kernel("cuda=11040", "", "NVRTC 12.9 needs a driver of CUDA 12, and this one has 11");
    no_kernel("capability=61", "", "NVRTC 12.9 does not know architecture 6.1");
    // A library of another folder that the bindings would take.
    let stubs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-cuda-stubs");
    fs::create_dir_all(&stubs).unwrap();
    fs::copy(libraries().join("libcuda.so.1"), stubs.join("libcuda.so")).unwrap();
    let expected = "two of its libraries are in the loader's path";
    let path = stubs.to_str().unwrap();
    let more = [("EXPECTED", expected), ("LD_LIBRARY_PATH", path)];
    in_a_process("driver failed", "", Some(libraries()), &more);
    let driver_alone = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-cuda-driver");
    fs::create_dir_all(&driver_alone).unwrap();
    fs::copy(libraries().join("libcuda.so.1"), driver_alone.join("libcuda.so.1")).unwrap();
    let expected = [("EXPECTED", "NVRTC was not found (`--cuda-libs DIR`")];
    in_a_process("no kernel", "", Some(&driver_alone), &expected);
}

#[test]
fn a_failure_ends_its_process_only() {
    for at in [1, 9, 30] {
        in_a_process("sticky", &format!("fails_at={at}"), Some(libraries()), &[]);
        in_a_process("lost", &format!("lost_at={at}"), Some(libraries()), &[]);
    }
    in_a_process("wrong results", "wrong_from=20", Some(libraries()), &[]);
    // The next process works.
    in_a_process("timing", "devices=2", Some(libraries()), &[]);
}
