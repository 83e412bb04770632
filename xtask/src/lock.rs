//! One build at a time in a folder. Cargo's own lock ends before we have copied what it built; this one lasts until we have.

use std::fs::{self, File, TryLockError};
use std::path::Path;

use anyhow::Context;

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
}

#[cfg(test)]
mod tests {
    use super::*;

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
