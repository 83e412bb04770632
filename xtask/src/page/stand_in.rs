//! This program in the role of `wasm-bindgen`, for Trunk.
//!
//! Trunk runs a `wasm-bindgen` command of exactly the version in Cargo.lock, or downloads one. The library in us has that
//! version, so under the name `wasm-bindgen` we answer for it, and a machine without network can build with Trunk too.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use wasm_bindgen_cli_support::Bindgen;

use crate::places::Places;
use crate::tidy::locks::version_in_lock;

const NAME: &str = "wasm-bindgen";

/// The lock file that this program was built from, because the library does not tell its version.
const LOCK: &str = include_str!("../../../Cargo.lock");

/// Puts a copy of this program under its other name into a folder of the cache, and returns that folder.
pub(crate) fn install(places: &Places) -> anyhow::Result<PathBuf> {
    let folder = places.own.join("stand-in");
    fs::create_dir_all(&folder)?;
    let copy = folder.join(format!("{NAME}{}", env::consts::EXE_SUFFIX));
    fs::copy(env::current_exe()?, copy).context("a copy of xtask for Trunk")?;
    Ok(folder)
}

/// Does the other role's work if we were started under its name.
pub(crate) fn answer_if_called_as_wasm_bindgen() -> Option<ExitCode> {
    let own_name = env::args_os().next()?;
    if Path::new(&own_name).file_stem()? != NAME {
        return None;
    }
    let words: Vec<String> = env::args().skip(1).collect();
    Some(match answer(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    })
}

fn answer(words: &[String]) -> anyhow::Result<()> {
    if words.iter().any(|word| word == "--version") {
        println!(
            "{NAME} {}",
            version_in_lock(LOCK, "wasm-bindgen-cli-support")
                .context("Cargo.lock lacks our library")?
        );
        return Ok(());
    }
    let call = Call::read(words)?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(call.input).out_name(call.name).typescript(false);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.web(true)?.generate(call.folder)
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Call<'a> {
    input: &'a str,
    folder: &'a str,
    name: &'a str,
}

impl<'a> Call<'a> {
    /// Exactly what Trunk 0.21 says; anything else is refused rather than half understood.
    fn read(words: &'a [String]) -> anyhow::Result<Self> {
        let mut call = Self::default();
        for word in words {
            match word.split_once('=') {
                Some(("--target", "web")) => {}
                Some(("--out-dir", folder)) => call.folder = folder,
                Some(("--out-name", name)) => call.name = name,
                None if word == "--no-typescript" => {}
                None if !word.starts_with('-') => call.input = word,
                _ => bail!("xtask in the role of wasm-bindgen does not know `{word}`"),
            }
        }
        if call.input.is_empty() || call.folder.is_empty() || call.name.is_empty() {
            bail!("xtask in the role of wasm-bindgen needs a file, --out-dir and --out-name");
        }
        Ok(call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_call_of_trunk_is_understood() {
        let words = words("--target=web --out-dir=/a --out-name=web-1 /b/web.wasm --no-typescript");
        assert_eq!(
            Call::read(&words).unwrap(),
            Call { input: "/b/web.wasm", folder: "/a", name: "web-1" }
        );
    }

    #[test]
    fn other_calls_are_refused() {
        for line in [
            "--target=nodejs --out-dir=/a --out-name=n f",
            "--keep-debug --out-dir=/a --out-name=n f",
            "--out-dir=/a --out-name=n",
        ] {
            assert!(Call::read(&words(line)).is_err(), "{line}");
        }
    }
}
