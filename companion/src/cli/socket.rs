//! A Unix domain socket for the daemon: file permissions keep other users of this machine out, and `ssh -L 8000:PATH HOST` forwards
//! it to a browser elsewhere.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::{geteuid, umask};

use crate::failure::Failure;
use crate::files;

/// Creates the socket and listens on it.
pub(super) fn bind(path: &Path) -> Result<UnixListener, Failure> {
    make_room(path)?;
    // Only this user may open it from its first moment. No other thread runs yet that could create a file meanwhile.
    let before = umask(Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    umask(before);
    bound.map_err(|error| unusable(path, &error))
}

/// Removes the socket that a killed daemon left behind; anything else is refused.
fn make_room(path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let known = match fs::symlink_metadata(path) {
        Ok(known) => known,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unusable(path, &error)),
    };
    if !known.file_type().is_socket() {
        return Err(Failure::Failed(format!("{shown} is not a socket; choose another path")));
    }
    if known.uid() != geteuid().as_raw() {
        return Err(Failure::Permission(format!(
            "{shown} belongs to another user; choose another path"
        )));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(Failure::Failed(format!(
            "a program listens on {shown}; end it, or choose another path"
        ))),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(|error| unusable(path, &error))
        }
        Err(error) => Err(unusable(path, &error)),
    }
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot listen on {}: {}", path.display(), files::said(error)))
}
