//! `cargo xtask release`: the archive that a user unpacks. The page is inside the binary, and the guides that its messages name lie
//! beside it. `tar` and `sha256sum` do the packing, which every Linux and macOS has under one name or another.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use crate::child::{cargo, find_program, printed_by, run};
use crate::lock::FolderLock;
use crate::page;
use crate::places::Places;
use crate::setup::{cuda_compilers, toolchain};

/// Files that the archive has beside the binary.
const BESIDE: [&str; 7] = [
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "CHANGELOG.md",
    "docs/guides/connecting.md",
    "docs/guides/security.md",
    "docs/guides/measuring.md",
    "docs/guides/troubleshooting.md",
];

/// Builds and packs into `out`.
pub(crate) fn pack(places: &Places, out: &Path) -> anyhow::Result<()> {
    toolchain::ensure_target(toolchain::BROWSER)?;
    let name = format!("ridgepoint-{}", machine());
    let folder = places.own.join("release").join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    build(places, &folder)?;
    fill(&places.root, &folder)?;
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let archive = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.current_dir(places.own.join("release")).arg("-czf").arg(out.join(&archive)).arg(&name);
    run(&mut tar)?;
    let sums = sums(out)?;
    fs::write(out.join("SHA256SUMS"), &sums).context("cannot write SHA256SUMS")?;
    print!("{sums}");
    println!("the archive is {}", out.join(archive).display());
    Ok(())
}

fn build(places: &Places, folder: &Path) -> anyhow::Result<()> {
    let _lock = FolderLock::of_target(places)?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let site = places.own.join("site");
    page::build(places, &site)?;
    let mut command = cargo(places);
    command.args(["build", "--profile", "native", "--package", "companion", "--features", "page"]);
    // Only Linux has the backend.
    if cfg!(target_os = "linux") {
        command.env("RIDGEPOINT_CUDA_KERNELS", cuda_compilers::compile(places)?);
    }
    run(command.env("RIDGEPOINT_PAGE", &site))?;
    let program = folder.join(format!("ridgepoint{}", std::env::consts::EXE_SUFFIX));
    let built = places.built_program("native", "ridgepoint");
    let bytes = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
    anyhow::ensure!(!has_test_hooks(&bytes), "{} contains test hooks", built.display());
    fs::copy(&built, program).with_context(|| format!("cannot copy {}", built.display()))?;
    Ok(())
}

/// True if a program reads the environment variable of the daemon's test hooks, which only debug builds do.
fn has_test_hooks(program: &[u8]) -> bool {
    const VARIABLE: &[u8] = b"RIDGEPOINT_TEST_HOOKS";
    program.windows(VARIABLE.len()).any(|window| window == VARIABLE)
}

/// The text of the archive's README: how it starts, and the start of the book's.
fn readme(whole: &str) -> anyhow::Result<String> {
    let (about, _) = whole.split_once("\n## ").context("README.md has no sections")?;
    Ok(format!(
        "{about}\n## Start\n\n```sh\n./ridgepoint serve\n```\n\nprints a link that opens the page, which is inside the program.\n\
         `./ridgepoint --help` lists the verbs, `./ridgepoint doctor` says what is missing.\n\
         The guides are in `docs/guides`: connecting, security, measuring, troubleshooting.\n\n\
         ## License\n\nMIT or Apache-2.0, as you like.\n"
    ))
}

fn fill(root: &Path, folder: &Path) -> anyhow::Result<()> {
    for path in BESIDE {
        let to = folder.join(path);
        let parent = to.parent().context("it lies in the folder")?;
        fs::create_dir_all(parent)?;
        fs::copy(root.join(path), to).with_context(|| format!("cannot copy {path}"))?;
    }
    let whole = fs::read_to_string(root.join("README.md")).context("README.md")?;
    Ok(fs::write(folder.join("README.md"), readme(&whole)?)?)
}

/// The checksums of all archives in a folder, as `sha256sum --check` reads them.
fn sums(out: &Path) -> anyhow::Result<String> {
    let mut archives = Vec::new();
    for entry in fs::read_dir(out)? {
        let name = entry?.file_name();
        if name.to_string_lossy().ends_with(".tar.gz") {
            archives.push(name);
        }
    }
    archives.sort();
    let mut command = if find_program(&["sha256sum"]).is_some() {
        Command::new("sha256sum")
    } else {
        let mut command = Command::new("shasum");
        command.args(["-a", "256"]);
        command
    };
    printed_by(command.args(archives).current_dir(out))
}

/// The kind of this machine, as `uname -sm` names it but in small letters: the page tells users to fetch an archive by that.
/// There is no version in it, so that the address of the newest one stays the same; the program tells its own.
fn machine() -> String {
    use std::env::consts::{ARCH, OS};
    match (OS, ARCH) {
        ("macos", "aarch64") => "darwin-arm64".to_owned(),
        ("macos", arch) => format!("darwin-{arch}"),
        (os, arch) => format!("{os}-{arch}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_lies_beside_the_binary_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let folder = std::env::temp_dir().join(format!("xtask-release-{}", std::process::id()));
        fill(root, &folder).unwrap();
        let text = fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(
            text.starts_with("# Ridgepoint\n") && text.contains("./ridgepoint serve"),
            "{text}"
        );
        assert!(!text.contains("cargo xtask"), "{text}");
        for path in BESIDE {
            assert!(folder.join(path).is_file(), "{path}");
        }
        fs::remove_dir_all(folder).unwrap();
        assert!(readme("no sections").is_err());
    }

    #[test]
    fn a_program_with_test_hooks_is_recognized() {
        assert!(has_test_hooks(b"..RIDGEPOINT_TEST_HOOKS.."));
        assert!(!has_test_hooks(b"RIDGEPOINT_CACHE"));
    }

    #[test]
    fn a_checksum_belongs_to_its_archive() {
        let folder = std::env::temp_dir().join(format!("xtask-sums-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("b.tar.gz"), "abc").unwrap();
        fs::write(folder.join("SHA256SUMS"), "old").unwrap();
        let expected =
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  b.tar.gz\n";
        assert_eq!(sums(&folder).unwrap(), expected);
        fs::remove_dir_all(folder).unwrap();
    }
}
