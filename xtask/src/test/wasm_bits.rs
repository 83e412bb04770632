//! calc-core gives the same bits natively and in WebAssembly: one program runs in both, and what it prints is compared.

use std::process::Command;

use anyhow::bail;

use super::{Outcome, Run};
use crate::child::{cargo, printed_by, run};
use crate::lock::FolderLock;
use crate::setup::toolchain::WASI;

/// The example of calc-core that prints its results as bits.
pub(super) const PROGRAM: &str = "bits";

/// How many results it promises.
const CASES: usize = 1000;

pub(super) fn compare(job: &Run) -> anyhow::Result<Outcome> {
    let _lock = FolderLock::of_target(job.places)?;
    let example = ["--quiet", "--package", "calc-core", "--example", PROGRAM];
    let native = printed_by(cargo(job.places).arg("run").args(example))?;
    run(cargo(job.places).arg("build").args(example).args(["--target", WASI]))?;
    let wasm = job.places.target.join(WASI).join(format!("debug/examples/{PROGRAM}.wasm"));
    let mut node = Command::new("node");
    node.arg("calc-core/tests/wasm/run.mjs").arg(wasm).current_dir(&job.places.root);
    judge(&native, &printed_by(&mut node)?)?;
    println!("{CASES} results are equal to the last bit");
    Ok(Outcome::Passed)
}

fn judge(native: &str, wasm: &str) -> anyhow::Result<()> {
    let pairs = native.lines().zip(wasm.lines()).zip(1..);
    for ((native, wasm), number) in pairs {
        if native != wasm {
            bail!("result {number} differs\n    native {native}\n    wasm   {wasm}");
        }
    }
    let counts = [native.lines().count(), wasm.lines().count()];
    if counts != [CASES; 2] {
        bail!("{CASES} results are expected, but {counts:?} were printed natively and in wasm");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_different_bit_or_a_missing_result_is_refused() {
        let good = "3ff0000000000000\n".repeat(CASES);
        assert!(judge(&good, &good).is_ok());
        assert!(judge(&good, &good.replacen("3ff0000000000000", "3ff0000000000001", 1)).is_err());
        assert!(judge(&good, &good[17..]).is_err());
        assert!(judge("", "").is_err());
    }
}
