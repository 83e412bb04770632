//! With the feature `page`, the files of the folder that `RIDGEPOINT_PAGE` names become a part of the program, compressed; without
//! it there are none. The output is one expression, which `server::embedded` includes.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[path = "src/server/coding.rs"]
#[expect(dead_code, reason = "the program also reads what this script compresses")]
mod coding;

use coding::{Coding, Effort, compressed, tag};

/// As small as possible: it takes seconds, once.
const EFFORT: Effort = Effort { brotli: 11, gzip: 9 };

const VARIABLE: &str = "RIDGEPOINT_PAGE";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/server/coding.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    let out: PathBuf = env::var_os("OUT_DIR").ok_or_else(|| missing("OUT_DIR"))?.into();
    let expression = if env::var_os("CARGO_FEATURE_PAGE").is_some() {
        let folder: PathBuf = env::var_os(VARIABLE).ok_or_else(|| missing(VARIABLE))?.into();
        table(&folder.canonicalize()?, &out.join("page"))?
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

/// The table of all files; their forms are written into `forms`.
fn table(folder: &Path, forms: &Path) -> io::Result<String> {
    if forms.exists() {
        fs::remove_dir_all(forms)?;
    }
    fs::create_dir_all(forms)?;
    let mut rows = String::new();
    for (number, name) in names(folder)?.iter().enumerate() {
        let content = fs::read(folder.join(name))?;
        let base = forms.join(number.to_string());
        rows += &row(name, &content, &base)?;
    }
    Ok(format!("Some(&[\n{rows}])"))
}

/// The addresses of the files below a folder, with `/` between folders; hidden files are not served.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    walk(folder, "", &mut names)?;
    names.sort();
    if !names.iter().any(|name| name == "index.html") {
        return Err(io::Error::other(format!("{} holds no page", folder.display())));
    }
    Ok(names)
}

/// Adds the files of a folder, which `before` leads to.
fn walk(folder: &Path, before: &str, names: &mut Vec<String>) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // A name that is not UTF-8 is in no address of a page.
        let name = entry.file_name().into_string().unwrap_or_default();
        if name.is_empty() || name.starts_with('.') {
            continue;
        }
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(&entry.path(), &format!("{before}{name}/"), names)?;
        } else if kind.is_file() {
            names.push(format!("{before}{name}"));
        }
    }
    Ok(())
}

/// The row of a file. The content without a coding is stored only where gzip is not smaller; the program makes it from gzip.
fn row(name: &str, content: &[u8], base: &Path) -> io::Result<String> {
    let mut forms = String::new();
    let mut has_gzip = false;
    for coding in [Coding::Brotli, Coding::Gzip] {
        let Some(bytes) = compressed(coding, content, EFFORT) else { continue };
        has_gzip |= coding == Coding::Gzip;
        forms += &form(coding, &bytes, base)?;
    }
    if !has_gzip {
        forms += &form(Coding::Identity, content, base)?;
    }
    Ok(format!("File {{ name: {name:?}, tag: {:?}, forms: &[{forms}] }},\n", tag(content)))
}

/// Writes a form beside `base` and returns its part of the row.
fn form(coding: Coding, bytes: &[u8], base: &Path) -> io::Result<String> {
    let path = base.with_extension(coding.token());
    fs::write(&path, bytes)?;
    let path = path.to_string_lossy();
    Ok(format!(
        "Stored {{ coding: Coding::{coding:?}, tag: {:?}, bytes: include_bytes!({path:?}) }}, ",
        tag(bytes)
    ))
}
