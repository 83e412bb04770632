//! The browser that the page is tested in.

use std::env;
use std::path::PathBuf;

use super::debian::Program;

const CHROMIUM: Program = Program {
    names: &["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
    package: "chromium",
    need: "the browser tests need Chromium",
    otherwise: "install it, or set CHROMIUM to the path of Chromium or Chrome",
};

/// The Chromium that `CHROMIUM` names or `PATH` has, or a freshly installed one.
pub(crate) fn find_or_install() -> anyhow::Result<PathBuf> {
    match env::var_os("CHROMIUM") {
        Some(path) => Ok(path.into()),
        None => CHROMIUM.find_or_install(),
    }
}
