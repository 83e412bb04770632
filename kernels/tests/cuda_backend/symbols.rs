//! Drivers that lack a symbol: the bindings panic about it, and the backend answers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use kernels::backend::Fault;
use kernels::cuda::backend::Cuda;
use kernels::cuda::facts::Absent;
use kernels::devices::gpus;
use kernels::measure::Stopped;

use super::{CASE, lacking, libraries, product, timed};

pub(super) const CASES: [(&str, fn()); 1] = [("missing symbol", missing_symbol)];

/// Symbols of listing, opening, memory and graphs.
const SYMBOLS: [&str; 6] = [
    "cuDriverGetVersion",
    "cuDeviceGetPCIBusId",
    "cuMemGetInfo_v2",
    "cuGraphInstantiateWithFlags",
    "cuEventElapsedTime",
    "cuStreamBeginCapture_v2",
];

fn missing_symbol() {
    let why = match gpus() {
        Err(Absent::Failed(why)) => why,
        Err(other) => panic!("{other:?}"),
        Ok(found) => match timed(&mut Cuda::new(found[0].clone()), product()) {
            Err(Stopped::Failed(Fault::Device(why))) => why,
            other => panic!("{other:?}"),
        },
    };
    assert!(why.contains("too old"), "{why}");
}

/// A folder with the libraries of tests, whose driver lacks a symbol.
fn libraries_without(symbol: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("fake-cuda-without-{symbol}"));
    fs::create_dir_all(&folder).unwrap();
    let files = fs::read_dir(libraries()).unwrap().map(|file| file.unwrap().path());
    for path in files.filter(|path| path.is_file()) {
        let name = path.file_name().unwrap();
        let is_driver = name.to_string_lossy().starts_with("libcuda.so");
        let bytes = if is_driver { lacking(&path, symbol) } else { fs::read(&path).unwrap() };
        fs::write(folder.join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn a_driver_without_a_symbol_is_too_old_and_no_panic_is_printed() {
    for symbol in SYMBOLS {
        let folder = libraries_without(symbol);
        let mut process = Command::new(env::current_exe().unwrap());
        process.args(["--exact", "a_case", "--nocapture"]).env("RUST_BACKTRACE", "1");
        process.env(CASE, "missing symbol").env("FAKE_CUDA", "");
        process.env("RIDGEPOINT_CUDA_LIBS", folder);
        let output = process.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && !said.contains("panicked"), "{symbol}: {said}");
    }
}
