//! Hashes the kernels' sources, so that every record names the code that was timed, and embeds binaries of CUDA kernels where
//! RIDGEPOINT_CUDA_KERNELS names the folder that `cargo xtask kernels` filled.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Folder of binaries that are embedded.
const BINARIES: &str = "RIDGEPOINT_CUDA_KERNELS";

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for folder in ["src", "cuda"] {
        println!("cargo::rerun-if-changed={folder}");
        collect(&root.join(folder), &mut files)?;
    }
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
    println!("cargo::rerun-if-env-changed={BINARIES}");
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("prebuilt.rs"), prebuilt()?)
}

/// The list of binaries, each named `PROGRAM.COMPILER.sm_ARCHITECTURE.cubin` or `….compute_ARCHITECTURE.ptx`.
fn prebuilt() -> io::Result<String> {
    let Some(folder) = env::var_os(BINARIES) else { return Ok("&[]".to_owned()) };
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(Path::new(&folder), &mut files)?;
    files.sort();
    let mut list = "&[\n".to_owned();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (is_ptx, name) = match (name.strip_suffix(".cubin"), name.strip_suffix(".ptx")) {
            (Some(name), _) => (false, name),
            (_, Some(name)) => (true, name),
            (None, None) => continue,
        };
        let parts = name.rsplit_once('.').and_then(|(rest, kind)| {
            let (program, compiler) = rest.split_once('.')?;
            Some((program, compiler, kind.split_once('_')?.1))
        });
        let Some((program, compiler, architecture)) = parts else {
            return Err(io::Error::other(format!("{} is no binary of a kernel", file.display())));
        };
        list += &format!(
            "    Prebuilt {{ program: \"{program}.cu\", compiler: {compiler:?}, architecture: {architecture:?}, is_ptx: {is_ptx}, \
             bytes: include_bytes!(r#\"{}\"#) }},\n",
            file.display()
        );
    }
    Ok(list + "]")
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
