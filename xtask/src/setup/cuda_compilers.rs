//! The compilers of the CUDA kernels: NVIDIA's NVRTC in the versions of `kernels/cuda/compilers.txt`, and the C++ compiler that builds the
//! kernels for the processor.

use std::path::PathBuf;
use std::process::Command;

use super::debian::Program;
use super::wheels;
use crate::child::run;
use crate::lock::FolderLock;
use crate::places::Places;

/// The C++ compiler; `CXX` names another one to the test that uses it.
pub(crate) const CXX: Program = Program {
    names: &["g++"],
    package: "g++",
    need: "the test that runs CUDA kernels on the processor needs g++",
    otherwise: "install it",
};

/// Python, and the folder with the libraries, a folder per version.
pub(crate) fn find_or_fetch(places: &Places) -> anyhow::Result<(PathBuf, PathBuf)> {
    wheels::find_or_fetch(places, "kernels/cuda/compilers.txt", "nvrtc")
}

/// `cargo xtask kernels`, and a stage of the tests: fails where a program does not compile as its header says, or spills.
pub(crate) fn compile(places: &Places) -> anyhow::Result<PathBuf> {
    let (python, libraries) = find_or_fetch(places)?;
    let out = places.cache.join("cuda-kernels");
    let _lock = FolderLock::wait(&out)?;
    let script = places.root.join("kernels/cuda/compile.py");
    run(Command::new(python).arg(script).arg(libraries).arg(&out))?;
    Ok(out)
}
