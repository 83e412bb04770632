//! One build at a time in a folder. Cargo's own lock ends before the built files are copied; this one lasts until they are.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::places::Places;

/// The file in a target folder that names the checkout that it was built from last.
const BUILT_FROM: &str = "built-from";
/// Packages of this workspace; all others come from the registry and never change under one version.
pub(crate) const MEMBERS: [&str; 11] = [
    "calc-core",
    "report",
    "chart",
    "validation",
    "weights",
    "kernels",
    "companion",
    "protocol",
    "fuzz",
    "web",
    "xtask",
];

/// Held until dropped, and freed by the system if the process dies.
pub(crate) struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Waits for others that use `folder`, and says so when it has to.
    pub(crate) fn wait(folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join("xtask.lock");
        let file =
            File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                println!("waiting for another `cargo xtask` that uses {}", folder.display());
                file.lock()?;
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        Ok(Self { _file: file })
    }

    /// Waits for the folder where the child cargos build, which all checkouts share.
    ///
    /// Cargo tells what changed by the times of files, and knows our packages by their place in the checkout: what another
    /// checkout built last would look up to date here. So our own packages are built anew when the checkout changes.
    pub(crate) fn of_target(places: &Places) -> anyhow::Result<Self> {
        let lock = Self::wait(&places.target)?;
        let marker = places.target.join(BUILT_FROM);
        let root = places.root.as_os_str().as_encoded_bytes();
        if fs::read(&marker).is_ok_and(|last| last == root) {
            return Ok(lock);
        }
        forget_members(&places.target)?;
        fs::write(&marker, root).with_context(|| format!("cannot write {}", marker.display()))?;
        Ok(lock)
    }
}

/// Removes what cargo remembers of our own packages, in every profile and for every target.
fn forget_members(target: &Path) -> anyhow::Result<()> {
    let mut folders = vec![target.to_owned()];
    for folder in subfolders(target)? {
        folders.extend(subfolders(&folder)?);
        folders.push(folder);
    }
    for folder in folders {
        for entry in subfolders(&folder.join(".fingerprint"))? {
            let name = entry.file_name().unwrap_or_default().to_string_lossy();
            let package = name.rsplit_once('-').map_or("", |(package, _)| package);
            if MEMBERS.contains(&package) {
                fs::remove_dir_all(&entry)
                    .with_context(|| format!("cannot remove {}", entry.display()))?;
            }
        }
    }
    Ok(())
}

/// The folders in a folder; none where there is no such folder.
fn subfolders(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {}", folder.display()))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            found.push(entry.path());
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_checkout_builds_our_own_packages_anew() {
        let base = std::env::temp_dir().join(format!("xtask-checkouts-{}", std::process::id()));
        let target = base.join("target");
        let fingerprint = |path: &str| target.join(path);
        let (ours, theirs) =
            ("wasm32/page/.fingerprint/calc-core-1a", "debug/.fingerprint/libm-2b");
        let places = |root: &str| Places {
            root: base.join(root),
            target: target.clone(),
            cache: base.clone(),
            own: base.join(root),
        };
        for (checkout, stays) in [("a", false), ("a", true), ("b", false), ("a", false)] {
            for path in [ours, theirs] {
                fs::create_dir_all(fingerprint(path)).unwrap();
            }
            drop(FolderLock::of_target(&places(checkout)).unwrap());
            assert_eq!(fingerprint(ours).exists(), stays, "{checkout}");
            assert!(fingerprint(theirs).exists());
        }
        fs::remove_dir_all(&base).unwrap();
    }

    #[test]
    fn a_second_holder_has_to_wait() {
        let folder = std::env::temp_dir().join(format!("xtask-lock-{}", std::process::id()));
        let first = FolderLock::wait(&folder).unwrap();
        let rival = File::create(folder.join("xtask.lock")).unwrap();
        assert!(matches!(rival.try_lock(), Err(TryLockError::WouldBlock)));
        drop(first);
        rival.try_lock().unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
