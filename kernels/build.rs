//! Hashes the kernels' sources, so that every record names the code that was timed.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=src");
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files)?;
    files.sort();
    // FNV-1a, 64 bits: enough to tell versions apart; not cryptographic.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for path in files {
        let name = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        for byte in name.bytes().chain(fs::read(&path)?) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    println!("cargo::rustc-env=KERNEL_SOURCES={hash:016x}");
    let of = |name: &str| env::var(name).unwrap_or_default();
    let (target, level) = (of("TARGET"), of("OPT_LEVEL"));
    println!("cargo::rustc-env=KERNEL_BUILD={target}, optimization {level}");
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
