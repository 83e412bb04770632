//! Files that a request names: read with a limit, refused in a few words.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest file that is read; descriptions of models and devices have kilobytes.
const MAX_BYTES: u64 = 64_000_000;

/// The text of a file; of a folder, that of its config.json.
///
/// # Errors
/// Why not, in a few words that follow the name.
pub(super) fn read(name: &str) -> Result<String, String> {
    let path = Path::new(name);
    if !path.is_dir() {
        return read_text(path);
    }
    let inside: PathBuf = path.join("config.json");
    read_text(&inside)
        .map_err(|reason| format!("it is a folder, and for its config.json: {reason}"))
}

/// The text of a file.
///
/// # Errors
/// As [`read`].
pub(super) fn read_text(path: &Path) -> Result<String, String> {
    let known = fs::metadata(path).map_err(|error| said(&error))?;
    if known.is_dir() {
        return Err("it is a folder".into());
    }
    if known.len() > MAX_BYTES {
        return Err(format!("it has {} bytes; at most {MAX_BYTES} are read", known.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| said(&error))?;
    // A pipe or a device has no size to know beforehand.
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| said(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than the {MAX_BYTES} bytes that are read"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 text: {}", error.utf8_error()))
}

/// A failure of the file system in a few words.
pub(super) fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}
