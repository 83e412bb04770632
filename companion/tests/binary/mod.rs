//! Shared by the tests of the command line and of the daemon: the binary, temporary folders, and a user who may run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Environment variable of the binary with the file of the lock of those that measure.
pub(crate) const TURN: &str = "RIDGEPOINT_TEST_TURN";

/// The binary, started in a folder without files of ours. It does not wait for others that measure.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ridgepoint"));
    command.env(TURN, "");
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).stdin(Stdio::null());
    command
}

/// A command for a daemon: as an ordinary user, if this is root and the system has a user who can run it, else with
/// `--allow-root` and a printed note. Its state folder is new.
pub(crate) fn daemon(folder: &Folder) -> Command {
    let mut command = program();
    let state = folder.path("state");
    command.arg("serve").args(["--state", &state]);
    #[cfg(unix)]
    if fs::metadata(folder.path(""))
        .is_ok_and(|known| std::os::unix::fs::MetadataExt::uid(&known) == 0)
    {
        use std::os::unix::process::CommandExt;
        const NOBODY: u32 = 65534;
        let mut trial = program();
        let can = trial.arg("--version").uid(NOBODY).gid(NOBODY).output();
        if can.is_ok_and(|ended| ended.status.success()) {
            if fs::create_dir(&state).is_ok() {
                let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
                fs::set_permissions(&state, mode).expect("it is ours");
                std::os::unix::fs::chown(&state, Some(NOBODY), Some(NOBODY)).expect("root may");
            }
            command.uid(NOBODY).gid(NOBODY);
        } else {
            eprintln!(
                "no other user can run the binary here, so the daemon runs with --allow-root"
            );
            command.arg("--allow-root");
        }
    }
    command
}

/// Kills a child process that a failing test leaves behind.
#[derive(Debug)]
pub(crate) struct Ends(pub(crate) Child);

impl Drop for Ends {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A folder that is removed at the end.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder for files");
        Self(path)
    }

    /// The path of a file in it, as a word without blanks.
    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a plain name").to_owned()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::create_dir_all(Path::new(&path).parent().expect("it is in a folder"))
            .expect("a folder");
        fs::write(&path, content).expect("a file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A remaining folder in the target folder does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
