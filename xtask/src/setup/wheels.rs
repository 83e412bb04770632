//! Packages of the Python registry, in the versions and with the hashes of a file in the checkout, unpacked into the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::debian::Program;
use crate::child::{find_program, run};
use crate::lock::FolderLock;
use crate::places::Places;

const PYTHON: Program = Program {
    names: &["python3"],
    package: "python3",
    need: "this stage needs Python",
    otherwise: "install it",
};

const PIP: Program = Program {
    names: &["pip3", "pip"],
    package: "python3-pip",
    need: "fetching packages of Python needs pip",
    otherwise: "install it",
};

/// Python, and the folder in the cache with the packages of a file, a folder per version.
pub(crate) fn find_or_fetch(
    places: &Places,
    list: &str,
    folder: &str,
) -> anyhow::Result<(PathBuf, PathBuf)> {
    let python = PYTHON.find_or_install()?;
    let folder = places.cache.join(folder);
    let _lock = FolderLock::wait(&folder)?;
    for requirement in listed(places, list)? {
        fetch(&python, &folder, &requirement)?;
    }
    Ok((python, folder))
}

/// The packages of a file.
pub(crate) fn listed(places: &Places, list: &str) -> anyhow::Result<Vec<Requirement>> {
    let list = places.root.join(list);
    let text = fs::read_to_string(&list).with_context(|| list.display().to_string())?;
    Ok(requirements(&text))
}

/// A package with its hashes, in pip's form: lines that end in `\` continue.
pub(crate) struct Requirement {
    name: String,
    /// Also the name of the folder.
    pub(crate) version: String,
    text: String,
}

fn requirements(text: &str) -> Vec<Requirement> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let joined = lines.join("\n").replace("\\\n", " ");
    let of_line = |line: &str| {
        let (name, rest) = line.split_once("==")?;
        let (name, version) = (name.to_owned(), rest.split_whitespace().next()?.to_owned());
        Some(Requirement { name, version, text: format!("{line}\n") })
    };
    joined.lines().filter_map(of_line).collect()
}

/// Fetches and unpacks a package. The folder gets its name when it is whole.
fn fetch(python: &Path, folder: &Path, requirement: &Requirement) -> anyhow::Result<()> {
    let Requirement { name, version, text } = requirement;
    let done = folder.join(version);
    if done.is_dir() {
        return Ok(());
    }
    PIP.find_or_install()?;
    let part = folder.join(format!("{version}.part"));
    if part.exists() {
        fs::remove_dir_all(&part)?;
    }
    fs::create_dir_all(&part)?;
    let list = part.join("requirement.txt");
    fs::write(&list, text)?;
    println!("fetching {name} {version} into {}", done.display());
    let pip = find_program(PIP.names).context("pip was installed, but PATH has none")?;
    run(Command::new(pip)
        .args(["download", "--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes"])
        .arg("--dest")
        .arg(&part)
        .arg("--requirement")
        .arg(&list))?;
    let unpack = "import glob, sys, zipfile\n\
                  [zipfile.ZipFile(it).extractall(sys.argv[1]) for it in glob.glob(sys.argv[1] + '/*.whl')]";
    run(Command::new(python).args(["-c", unpack]).arg(&part))?;
    for entry in fs::read_dir(&part)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "whl") {
            fs::remove_file(path)?;
        }
    }
    fs::rename(&part, &done).with_context(|| done.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_package_has_a_version_and_hashes() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let lists = [("kernels/cuda/compilers.txt", 3), ("companion/tests/llama_cpp.txt", 3)];
        let of_list = |(list, count)| {
            let all = requirements(&fs::read_to_string(root.join(list)).unwrap());
            assert_eq!(all.len(), count, "{list}");
            all
        };
        for requirement in lists.into_iter().flat_map(of_list) {
            let Requirement { version, text, .. } = requirement;
            assert_eq!(version.split('.').count(), 3, "{version}");
            // A package without machine code is the same for all; others have hashes of both for each version of Python.
            let hashes = text.matches("--hash=sha256:").count();
            assert!(hashes == 1 || hashes % 2 == 0, "{text}");
        }
    }
}
