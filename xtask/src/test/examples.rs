//! Every example of calc-core is compiled and run, in a folder that is thrown away.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};

use super::wasm_bits::PROGRAM;
use super::{Outcome, Run};
use crate::child::{cargo, run};
use crate::lock::FolderLock;

pub(super) fn run_all(job: &Run) -> anyhow::Result<Outcome> {
    let _lock = FolderLock::of_target(job.places)?;
    let names = names_in(&job.places.root.join("calc-core/examples"))?;
    let scratch = job.places.own.join("examples");
    fs::create_dir_all(&scratch)?;
    for name in names {
        let mut command = cargo(job.places);
        command.args(["run", "--package", "calc-core", "--all-features", "--example", &name]);
        command
            .arg("--manifest-path")
            .arg(job.places.root.join("Cargo.toml"))
            .current_dir(&scratch);
        run(&mut command)?;
    }
    fs::remove_dir_all(&scratch)?;
    Ok(Outcome::Passed)
}

/// The examples by name, sorted, without the one that has a stage of its own. None at all is an error: the tests would pass without testing.
fn names_in(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if path.extension().is_some_and(|extension| extension == "rs") && name != PROGRAM {
            names.push(name);
        }
    }
    if names.is_empty() {
        bail!("{} holds no example", folder.display());
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_examples_is_refused() {
        let folder = std::env::temp_dir().join(format!("xtask-examples-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert!(names_in(&folder).is_err());
        for name in ["plot.rs", "analyze.rs", "bits.rs", "README.md"] {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(names_in(&folder).unwrap(), ["analyze", "plot"]);
        fs::remove_dir_all(&folder).unwrap();
    }
}
