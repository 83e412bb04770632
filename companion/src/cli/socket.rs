//! A socket of the file system for the daemon: who may open it is who may open the file, so no other user of this machine reaches
//! it, and `ssh -L 8000:PATH HOST` brings it to a browser elsewhere.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use rustix::fs::Mode;
use rustix::process::{geteuid, umask};

use crate::failure::Failure;
use crate::files;

/// Makes the socket and listens on it.
pub(super) fn bind(path: &Path) -> Result<UnixListener, Failure> {
    make_room(path)?;
    // From its first moment it is this user's only. Nothing else runs yet that could make a file meanwhile.
    let before = umask(Mode::from_raw_mode(0o177));
    let bound = UnixListener::bind(path);
    umask(before);
    bound.map_err(|error| unusable(path, &error))
}

/// Takes away what a daemon left that was killed, and nothing else.
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
