//! With the feature `page`, the files of the folder that `RIDGEPOINT_PAGE` names become a part of the program; without it there
//! are none. What is written is one expression, which `server::embedded` includes.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

const VARIABLE: &str = "RIDGEPOINT_PAGE";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let out: PathBuf = env::var_os("OUT_DIR").ok_or_else(|| missing("OUT_DIR"))?.into();
    let expression = if env::var_os("CARGO_FEATURE_PAGE").is_some() {
        let folder: PathBuf = env::var_os(VARIABLE).ok_or_else(|| missing(VARIABLE))?.into();
        format!("Some(&[\n{}])", files(&folder.canonicalize()?)?)
    } else {
        "None".to_owned()
    };
    fs::write(out.join("page.rs"), expression)
}

fn missing(variable: &str) -> io::Error {
    io::Error::other(format!(
        "{variable} is not set; for the feature `page`, {VARIABLE} names the folder that `cargo xtask site` wrote"
    ))
}

/// The rows of the table: a built page has no folders, and hidden files are not served.
fn files(folder: &Path) -> io::Result<String> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A name that is not UTF-8 is in no address of a page.
        let name = entry.file_name().into_string().unwrap_or_default();
        if !name.is_empty() && !name.starts_with('.') && entry.file_type()?.is_file() {
            names.push(name);
        }
    }
    names.sort();
    if !names.iter().any(|name| name == "index.html") {
        return Err(io::Error::other(format!("{} holds no page", folder.display())));
    }
    let row = |name: &String| {
        let path = folder.join(name).to_string_lossy().into_owned();
        format!("({name:?}, include_bytes!({path:?})),\n")
    };
    Ok(names.iter().map(row).collect())
}
