//! Where things lie: the checkout, and the cache outside it. Nothing is created here.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf, absolute};

use anyhow::Context;

use crate::page::names::fingerprint;

pub(crate) struct Places {
    /// The checkout.
    pub(crate) root: PathBuf,
    /// Where the child cargos build; shared by all checkouts of this user.
    pub(crate) target: PathBuf,
    /// Downloads that all checkouts share.
    pub(crate) cache: PathBuf,
    /// Files built from this checkout that are used after the build lock is released.
    pub(crate) own: PathBuf,
}

impl Places {
    pub(crate) fn find() -> anyhow::Result<Self> {
        let manifest = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
        let root = Path::new(&manifest)
            .parent()
            .context("xtask lies in a folder of the checkout")?
            .to_owned();
        let cache = cache_folder(|name| env::var_os(name), env::home_dir()).context(
            "no home folder found: set RIDGEPOINT_CACHE to a folder for the build cache",
        )?;
        let cache = absolute(cache)?;
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => absolute(folder)?,
            None => cache.join("target"),
        };
        let own = cache.join("checkouts").join(fingerprint(root.as_os_str().as_encoded_bytes()));
        Ok(Self { root, target, cache, own })
    }

    /// The program that cargo builds under `profile`'s folder.
    pub(crate) fn built_program(&self, profile: &str, name: &str) -> PathBuf {
        self.target.join(profile).join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }
}

/// `RIDGEPOINT_CACHE`, else `ridgepoint` in the user's cache folder. A relative `XDG_CACHE_HOME` does not count, as its specification demands.
fn cache_folder(
    variable: impl Fn(&str) -> Option<OsString>,
    home: Option<PathBuf>,
) -> Option<PathBuf> {
    if let Some(folder) = variable("RIDGEPOINT_CACHE").filter(|folder| !folder.is_empty()) {
        return Some(folder.into());
    }
    let xdg = variable("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let base = xdg.or_else(|| home.map(|home| home.join(".cache")))?;
    Some(base.join("ridgepoint"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(variables: &[(&str, &str)], home: Option<&str>) -> Option<PathBuf> {
        let variable = |name: &str| {
            variables.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value))
        };
        cache_folder(variable, home.map(PathBuf::from))
    }

    #[test]
    fn the_most_specific_setting_wins() {
        let both = [("RIDGEPOINT_CACHE", "/r"), ("XDG_CACHE_HOME", "/x")];
        assert_eq!(folder(&both, Some("/h")), Some("/r".into()));
        assert_eq!(folder(&both[1..], Some("/h")), Some("/x/ridgepoint".into()));
        assert_eq!(folder(&[], Some("/h")), Some("/h/.cache/ridgepoint".into()));
    }

    #[test]
    fn empty_and_relative_settings_do_not_count() {
        assert_eq!(
            folder(&[("RIDGEPOINT_CACHE", ""), ("XDG_CACHE_HOME", "x")], Some("/h")),
            Some("/h/.cache/ridgepoint".into())
        );
        assert_eq!(folder(&[], None), None);
    }
}
