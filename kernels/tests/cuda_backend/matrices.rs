//! Products of matrices by a library cuBLASLt of tests (`kernels/cuda/cpu/libcublaslt.cpp`).

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{env, fs};

use kernels::backend::{Backend, Cache, Element, Fault, GemmShape, Kernel};
use kernels::cpu::clock::SystemClock;
use kernels::job;
use kernels::measure::{Stage, Stopped};

use super::{SHORT, gpu, in_a_process, lacking, libraries, timed, work};

pub(super) const CASES: [(&str, fn()); 10] = [
    ("versions", versions),
    ("every element", every_element),
    ("chosen", chosen),
    ("refused", refused),
    ("refused while timed", refused_while_timed),
    ("impossible sizes", impossible_sizes),
    ("old tensor cores", old_tensor_cores),
    ("no library", no_library),
    ("wrong products", wrong_products),
    ("broken", broken),
];

/// The variable with what a case expects.
const EXPECTED: &str = "EXPECTED";

fn product(element: Element, m: u64, n: u64, k: u64) -> Kernel {
    Kernel::Gemm(GemmShape { element, m, n, k })
}

fn every_element() {
    let mut gpu = gpu();
    for element in Element::ALL {
        // Fewer and more tokens and rows than distinct ones, and tokens of which only some are compared.
        for (m, n, k) in [(1, 16, 16), (7, 80, 144), (300, 32, 16), (1300, 16, 16)] {
            let kernel = product(element, m, n, k);
            assert!(gpu.support().has(kernel), "{kernel:?}");
            let work = work(kernel, Cache::Cold);
            let mut task = gpu.allocate(&work).unwrap();
            task.choose(&mut |_| ControlFlow::Continue(())).unwrap();
            let check = task.check().unwrap();
            assert!(check.passed(), "{kernel:?}: {check:?}");
            assert!(gpu.needed(&work) as f64 >= task.footprint().get(), "{kernel:?}");
        }
        if !matches!(element, Element::Fp8E4m3 | Element::Int8) {
            let mut odd = gpu.allocate(&work(product(element, 3, 5, 7), Cache::Cold)).unwrap();
            assert!(odd.check().unwrap().passed(), "{element:?}");
        }
    }
    let outcome = timed(&mut gpu, product(Element::Bf16, 32, 64, 64)).unwrap();
    assert!(outcome.check.passed());
    assert!(outcome.measurement.calls_per_window.is_multiple_of(8));
    assert!(outcome.measurement.summary.median > 1e-7 && outcome.measurement.summary.median < 1.0);
}

/// The route names the algorithm and how many ran.
fn chosen() {
    let mut gpu = gpu();
    let kernel = product(Element::Fp16, 8, 32, 32);
    assert_eq!(gpu.route(kernel), "cuBLASLt");
    timed(&mut gpu, kernel).unwrap();
    let (route, expected) = (gpu.route(kernel), env::var(EXPECTED).unwrap());
    assert!(route.starts_with("cuBLASLt 12.9.1, algorithm 6"), "{route}");
    assert!(expected.split(';').any(|part| route.contains(part)), "{route}");
    // Between algorithms a measurement can be canceled, and its worker tells that it lives.
    let mut stages = Vec::new();
    let canceled =
        job::run(&SystemClock::new(), &mut gpu, &work(kernel, Cache::Cold), &SHORT, &mut |stage| {
            stages.push(stage);
            if stage == Stage::Choosing(3) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
    assert_eq!(canceled.unwrap_err(), Stopped::Canceled);
    assert_eq!(stages, [0, 1, 2, 3].map(Stage::Choosing));
}

/// The sentence of a product that is refused.
fn refused() {
    let expected = env::var(EXPECTED).unwrap();
    let mut gpu = gpu();
    let stopped = timed(&mut gpu, product(Element::Fp16, 8, 32, 32)).unwrap_err();
    let Stopped::Failed(Fault::Refused(why)) = stopped else { panic!("{stopped:?}") };
    assert!(why.contains(&expected), "{why}");
    // Its kernels of its own run as before.
    assert!(timed(&mut gpu, super::product()).unwrap().check.passed());
}

/// A product that fails for the first time while it is timed is left out, and the ones around it are measured.
fn refused_while_timed() {
    let mut gpu = gpu();
    for (m, is_refused) in [(8, false), (9, true), (10, false)] {
        let found = timed(&mut gpu, product(Element::Fp16, m, 32, 32));
        match found {
            Ok(outcome) => assert!(!is_refused && outcome.check.passed(), "{m}"),
            Err(Stopped::Failed(Fault::Refused(why))) => {
                assert!(is_refused && why.contains("it failed inside (status 14)"), "{m}: {why}");
            }
            Err(other) => panic!("{m}: {other:?}"),
        }
    }
}

/// The version of the library that multiplies.
fn versions() {
    let mut gpu = gpu();
    let kernel = product(Element::Fp32, 8, 32, 32);
    timed(&mut gpu, kernel).unwrap();
    let expected = format!("cuBLASLt {}, ", env::var(EXPECTED).unwrap());
    assert!(gpu.route(kernel).starts_with(&expected), "{}", gpu.route(kernel));
}

fn impossible_sizes() {
    let mut gpu = gpu();
    let mut why = |element, m, n, k| {
        gpu.allocate(&work(product(element, m, n, k), Cache::Cold)).err().unwrap()
    };
    for element in [Element::Fp8E4m3, Element::Int8] {
        for (n, k, expected) in [
            (32, 24, "its kernel needs inputs (K) in multiples of 16"),
            (40, 32, "its kernel needs outputs (N) in multiples of 16"),
        ] {
            assert_eq!(why(element, 32, n, k), Fault::Refused(expected.to_owned()), "{element:?}");
        }
    }
    let long = why(Element::Int8, 1, 16, GemmShape::MOST_INT8_INPUTS + 16);
    assert!(matches!(&long, Fault::Refused(why) if why.contains("exceeds")), "{long:?}");
    for size in [1 << 20, u64::MAX] {
        let large = why(Element::Fp32, size, size, size);
        assert!(matches!(large, Fault::NoMemory { .. }), "{large:?}");
    }
    assert_eq!(why(Element::Fp32, 0, 1, 1), Fault::Unsupported);
}

fn old_tensor_cores() {
    let mut gpu = gpu();
    let expected = env::var(EXPECTED).unwrap();
    for element in Element::ALL {
        let kernel = product(element, 16, 32, 32);
        let is_expected = expected.split(',').any(|key| key == element.key());
        assert_eq!(gpu.support().has(kernel), is_expected, "{element:?}");
        match gpu.allocate(&work(kernel, Cache::Cold)) {
            Ok(mut task) => assert!(is_expected && task.check().unwrap().passed()),
            Err(fault) => assert!(!is_expected && fault == Fault::Unsupported, "{fault:?}"),
        }
    }
}

fn no_library() {
    let mut gpu = gpu();
    let kernel = product(Element::Fp32, 16, 32, 32);
    assert!(!gpu.support().has(kernel));
    assert_eq!(gpu.allocate(&work(kernel, Cache::Cold)).err(), Some(Fault::Unsupported));
}

fn wrong_products() {
    let mut gpu = gpu();
    let wrong = env::var(EXPECTED).unwrap();
    for element in Element::ALL {
        let outcome = timed(&mut gpu, product(element, 32, 64, 64)).unwrap();
        let is_wrong = wrong.split(',').any(|key| key == element.key());
        assert_eq!(outcome.check.passed(), !is_wrong, "{element:?}: {:?}", outcome.check);
    }
}

/// A kernel of the library that fails ends everything that this process asks afterwards.
fn broken() {
    let mut gpu = gpu();
    let failed = |stopped| match stopped {
        Err(Stopped::Failed(Fault::Device(why))) => why,
        other => panic!("{other:?}"),
    };
    let first = failed(timed(&mut gpu, product(Element::Fp16, 8, 32, 32)));
    assert!(first.contains("a kernel failed; this job ends"), "{first}");
    assert_eq!(failed(timed(&mut gpu, super::product())), first);
}

#[test]
fn products_of_matrices_are_right_in_every_element() {
    in_a_process("every element", "", Some(libraries()), &[]);
    for (capability, expected) in [
        (70, "fp32,fp16"),
        (75, "fp32,fp16,int8"),
        (87, "fp32,tf32,fp16,bf16,int8"),
        (120, "fp32,tf32,fp16,bf16,fp8_e4m3,int8"),
    ] {
        let driver = format!("capability={capability}");
        in_a_process("old tensor cores", &driver, Some(libraries()), &[(EXPECTED, expected)]);
    }
}

#[test]
fn the_fastest_algorithm_that_runs_is_chosen_and_named() {
    let chosen = |driver: &str, expected| {
        in_a_process("chosen", driver, Some(libraries()), &[(EXPECTED, expected)]);
    };
    chosen("", "split-K 1), the fastest of 5;split-K 2), the fastest of 5");
    chosen("lt_refuses=4", "algorithm 64 (tile 20, stages 4, split-K 2), the fastest of 1");
    // A GPU that rested is slow at first, and a disturbance is not a property of an algorithm: both hit the best one.
    chosen("lt_cold=12,lt_best=0", "algorithm 60 (");
    chosen("lt_best=4,lt_hiccup=4", "algorithm 64 (");
    // One that stops running in a later round is left out.
    chosen("lt_best=4,lt_gives_up=4", "the fastest of 4");
    chosen(
        "lt_refuses=4,lt_wide=8",
        "algorithm 64 (tile 20, stages 4, split-K 2), the fastest of 1",
    );
    chosen(
        "lt_refuses=4,lt_wide=2",
        "algorithm 64 (tile 20, stages 4, split-K 2), the fastest of 1",
    );
    // The search ends after a second, which these algorithms do not take.
    chosen("lt_slow=4", "algorithm 64 (tile 20, stages 4, split-K 2), the fastest of 5");
}

#[test]
fn what_the_library_lacks_is_said() {
    let refused = |driver: &str, folder: &Path, expected| {
        in_a_process("refused", driver, Some(folder), &[(EXPECTED, expected)]);
    };
    let own = libraries();
    refused("lt_none", own, "cuBLASLt 12.9.1: it has no algorithm for this product on this GPU");
    refused("lt_refuses=5", own, "cuBLASLt 12.9.1: it has no algorithm for this product");
    // All algorithms fail, and the GPU works: the product is left out.
    refused("lt_status=13", own, "cuBLASLt 12.9.1: its kernel failed (status 13)");
    refused("lt_status=14", own, "cuBLASLt 12.9.1: it failed inside (status 14)");
    in_a_process("refused while timed", "lt_no_graph=9", Some(own), &[]);
    refused("lt_fails", own, "cuBLASLt 12.9.1: it cannot start on this GPU (status 1)");
    refused("lt=130000", own, "cuBLASLt 13.0.0 needs a driver of CUDA 13, and this one has 12");
    let old = library_without("cublasLtMatmulAlgoGetHeuristic");
    refused(
        "",
        &old,
        "products of matrices need the library cuBLASLt: it lacks cublasLtMatmulAlgo",
    );
    // Version 13 starts on architecture 7.0 and has nothing for it; the one of 12 has.
    let both = folder_with_both_versions();
    let volta = [(EXPECTED, "fp32,fp16")];
    in_a_process("old tensor cores", "capability=70,cuda=13000", Some(&both), &volta);
    in_a_process("versions", "capability=70,cuda=13000", Some(&both), &[(EXPECTED, "12.9.1")]);
    in_a_process("versions", "capability=75,cuda=13000", Some(&both), &[(EXPECTED, "13.0.0")]);
    in_a_process("versions", "capability=90,cuda=12090", Some(&both), &[(EXPECTED, "12.9.1")]);
    in_a_process("impossible sizes", "", Some(own), &[]);
    in_a_process("no library", "", Some(&folder_without_library("fake-cuda-no-products")), &[]);
}

#[test]
fn wrong_products_do_not_pass_and_a_failure_stays() {
    let wrong = |driver: &str, elements| {
        in_a_process("wrong products", driver, Some(libraries()), &[(EXPECTED, elements)]);
    };
    wrong("lt_tf32", "fp32");
    wrong("lt_in_half", "fp32,tf32,fp16,bf16,fp8_e4m3,int8");
    for at in [22, 40, 90] {
        in_a_process("broken", &format!("fails_at={at}"), Some(libraries()), &[]);
    }
}

/// A folder with the library for products of matrices in version 12 and, as a copy of it, in version 13.
fn folder_with_both_versions() -> PathBuf {
    let folder = folder_without_library("fake-cuda-two-products");
    for version in ["12", "13"] {
        let copy = folder.join(format!("libcublasLt.so.{version}"));
        fs::copy(libraries().join("libcublasLt.so.12"), copy).unwrap();
    }
    folder
}

/// A folder of this name with the libraries of tests but the one for products of matrices.
fn folder_without_library(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    for name in ["libcuda.so.1", "libnvrtc.so.12"] {
        fs::copy(libraries().join(name), folder.join(name)).unwrap();
    }
    folder
}

/// A folder with the libraries of tests, of which the one for products of matrices lacks a function.
fn library_without(function: &str) -> PathBuf {
    let (folder, name) = (folder_without_library("fake-cuda-old-products"), "libcublasLt.so.12");
    let bytes = lacking(&libraries().join(name), function);
    fs::write(folder.join(name), bytes).unwrap();
    folder
}
