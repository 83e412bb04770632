//! A site replaces the one before as a whole, and no other folder.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::book;

/// Tells GitHub Pages to serve the files as they are. We also know our own folders by it.
pub(super) const MARK: &str = ".nojekyll";

/// Fills a folder beside `out` and swaps it in at the end, so that a server of `out` never sees half a site.
pub(super) fn replace_folder(
    out: &Path,
    fill: impl FnOnce(&Path) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    refuse_foreign(out)?;
    let staging = beside(out, "new")?;
    if let Err(error) = fill(&staging) {
        fs::remove_dir_all(&staging)?;
        return Err(error);
    }
    let old = beside(out, "old")?;
    if out.exists() {
        fs::rename(out, &old)?;
    }
    fs::rename(&staging, out)?;
    if old.exists() {
        fs::remove_dir_all(&old)?;
    }
    Ok(())
}

/// `--out` replaces a folder as a whole, so it must be empty or a site of ours, which is marked and has no folders but those
/// of the documents.
fn refuse_foreign(out: &Path) -> anyhow::Result<()> {
    if !out.exists() {
        return Ok(());
    }
    let entries = fs::read_dir(out)?.collect::<Result<Vec<_>, _>>()?;
    let is_foreign = |entry: &fs::DirEntry| {
        entry.path().is_dir() && !book::FOLDERS.iter().any(|ours| entry.file_name() == *ours)
    };
    if entries.iter().any(is_foreign) || (!entries.is_empty() && !out.join(MARK).exists()) {
        bail!("the folder holds something else than a site; name an empty or a new folder");
    }
    Ok(())
}

fn beside(out: &Path, suffix: &str) -> anyhow::Result<PathBuf> {
    let mut name = OsString::from(".");
    name.push(out.file_name().context("is not a folder that can be replaced")?);
    name.push(format!(".{suffix}.{}", std::process::id()));
    Ok(out.with_file_name(name))
}
