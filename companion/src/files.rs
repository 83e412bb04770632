//! Files that a request names: opened without blocking, read with a size limit, refused with a short reason. Also locks, which are
//! waited for a limited time.

use std::fs::{self, File, FileType, OpenOptions, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use report::input::model_file::with_quantization;
use rustix::fs::OFlags;

use crate::failure::Failure;

/// Largest file that is read, in bytes; descriptions of models and devices have kilobytes.
const MAX_BYTES: u64 = 64_000_000;
/// Time after which a wait for a lock is told.
const TELL: Duration = Duration::from_millis(800);
/// Interval in which a lock is tried.
const LOOK: Duration = Duration::from_millis(5);
/// Paths of file descriptors that the shell opened for this program, as `<(command)` does: pipes that have a writer.
const DESCRIPTORS: [&str; 3] = ["/dev/stdin", "/dev/fd/", "/proc/self/fd/"];

/// Reads a text file; for a folder, its config.json. A config.json has the formats of the file of `ModelOpt` beside it.
///
/// # Errors
/// The reason, as a clause that follows the file's name.
pub(crate) fn read(name: &str) -> Result<String, String> {
    let path = Path::new(name);
    if !path.is_dir() {
        let folder = path.parent().filter(|_| path.file_name() == Some("config.json".as_ref()));
        return folder.map_or_else(|| read_text(path), config);
    }
    config(path).map_err(|reason| format!("it is a folder, and for its config.json: {reason}"))
}

/// Reads the config.json of a folder, with the formats of an hf_quant_config.json beside it.
///
/// # Errors
/// See [`read`].
pub(crate) fn config(folder: &Path) -> Result<String, String> {
    let config = read_text(&folder.join("config.json"))?;
    Ok(match read_text(&folder.join("hf_quant_config.json")) {
        Ok(beside) => with_quantization(&config, &beside),
        Err(_) => config,
    })
}

/// Reads a text file, or standard input if the name is `-`.
///
/// # Errors
/// See [`read`].
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    if path == Path::new("-") {
        return text(io::stdin().lock());
    }
    if is_descriptor(path) {
        return text(File::open(path).map_err(|error| said(&error))?);
    }
    let file = open(path)?;
    let bytes = file.metadata().map_err(|error| said(&error))?.len();
    if bytes > MAX_BYTES {
        return Err(format!("it has {bytes} bytes; at most {MAX_BYTES} are read"));
    }
    text(file)
}

/// True for the path of a file descriptor that this program has open.
pub(crate) fn is_descriptor(path: &Path) -> bool {
    path.to_str().is_some_and(|path| DESCRIPTORS.iter().any(|start| path.starts_with(start)))
}

fn text(source: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| said(&error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("it has more than the {MAX_BYTES} bytes that are read"));
    }
    String::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 text: {}", error.utf8_error()))
}

/// Opens a regular file for reading. Opening a named pipe would block until a writer opens it, and a device may have no end, so
/// neither is opened.
///
/// # Errors
/// See [`read`].
pub(crate) fn open(path: &Path) -> Result<File, String> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let kind = |known: io::Result<fs::Metadata>| known.map(|known| known.file_type());
    let file = match opened {
        Ok(file) => file,
        // A socket cannot be opened at all, and the system's error does not name it as one.
        Err(error) => {
            let irregular = kind(fs::metadata(path)).ok().and_then(irregular);
            return Err(irregular.map_or_else(|| said(&error), str::to_owned));
        }
    };
    match irregular(kind(file.metadata()).map_err(|error| said(&error))?) {
        None => Ok(file),
        Some(why) => Err(why.into()),
    }
}

/// Opens a file that the programs of this user lock, and creates it if it is missing. Opening a named pipe would block, and a link
/// could name any file, so neither is opened.
///
/// # Errors
/// Errors of the system, and a path that is not a file.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW).bits().cast_signed();
    let mut open = OpenOptions::new();
    open.create(true).truncate(false).write(true).mode(0o600).custom_flags(flags);
    let no_file = || io::Error::other(format!("{} is not a file", path.display()));
    match open.open(path) {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(no_file()),
        Err(error) => match fs::symlink_metadata(path) {
            Ok(known) if !known.is_file() => Err(no_file()),
            _ => Err(error),
        },
    }
}

/// Locks a file within a time limit: a program that was stopped may hold its lock for ever. A wait is told on stderr within a second.
///
/// # Errors
/// See [`open_lock`]; a lock that another program holds all the time.
pub(crate) fn lock_within(path: &Path, limit: Duration) -> io::Result<File> {
    let (file, start) = (open_lock(path)?, Instant::now());
    let mut is_told = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() < limit => {
                if !is_told && start.elapsed() >= TELL {
                    is_told = true;
                    eprintln!(
                        "waiting, for {} s at most, for another program that holds {}; if it was stopped, let it go on or end it",
                        limit.as_secs(),
                        path.display()
                    );
                }
                thread::sleep(LOOK);
            }
            Err(TryLockError::WouldBlock) => {
                let line = format!("another program holds {} and does not go on", path.display());
                return Err(io::Error::new(io::ErrorKind::TimedOut, line));
            }
        }
    }
}

/// The reason for not reading a file of this type.
fn irregular(kind: FileType) -> Option<&'static str> {
    if kind.is_file() {
        None
    } else if kind.is_dir() {
        Some("it is a folder")
    } else if kind.is_fifo() {
        Some("it is a named pipe, not a file")
    } else if kind.is_socket() {
        Some("it is a socket, not a file")
    } else {
        Some("it is a device, not a file")
    }
}

/// The destination of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    /// A regular file, or one that does not exist yet.
    File,
    /// A device such as /dev/null, which is written and never read.
    Device,
}

/// Classifies an output file; a folder, a pipe or a socket is an error.
///
/// # Errors
/// See [`read`].
pub(crate) fn output(path: &Path) -> Result<Output, String> {
    match fs::metadata(path).map(|known| known.file_type()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Output::File),
        Err(error) => Err(said(&error)),
        Ok(kind) if kind.is_char_device() => Ok(Output::Device),
        Ok(kind) => irregular(kind).map_or(Ok(Output::File), |why| Err(why.into())),
    }
}

/// Writes a whole file.
///
/// # Errors
/// Bad input if the name cannot be a file, a failure if writing fails.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    output(path).map_err(|why| Failure::bad(format!("{}: {why}", path.display())))?;
    fs::write(path, content).map_err(|error| unwritten(path, &error))
}

/// The failure of writing to a file.
pub(crate) fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::Failed(format!("cannot write {}: {}", path.display(), said(error)))
}

/// A short text for an error of the file system.
pub(crate) fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType as Kind, Mode, mknodat};
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_config_takes_the_formats_beside_it_by_its_own_name_too() {
        let folder = std::env::temp_dir().join(format!("ridgepoint-beside-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let formats = r#"{"quantization": {"quant_algo": "NVFP4"}}"#;
        fs::write(folder.join("hf_quant_config.json"), formats).expect("written");
        let text = r#"{"model_type": "llama", "time_step_limit": [0.0, Infinity]}"#;
        for (name, takes) in [("config.json", true), ("copy.json", false)] {
            let path = folder.join(name);
            fs::write(&path, text).expect("written");
            let read = read(path.to_str().expect("a path")).expect("a text");
            assert_eq!(read.contains("NVFP4"), takes, "{name}");
        }
        assert!(read(folder.to_str().expect("a path")).expect("a text").contains("NVFP4"));
        fs::remove_dir_all(&folder).expect("removed");
    }

    #[test]
    fn irregular_files_are_refused_without_blocking() {
        let folder = std::env::temp_dir().join(format!("ridgepoint-files-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let (pipe, socket) = (folder.join("pipe.json"), folder.join("socket.json"));
        mknodat(CWD, &pipe, Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a pipe");
        let _listens = UnixListener::bind(&socket).expect("a socket");
        for (path, expected) in [
            (&*pipe, "it is a named pipe, not a file"),
            (&*socket, "it is a socket, not a file"),
            (&*folder, "it is a folder"),
            (Path::new("/dev/zero"), "it is a device, not a file"),
        ] {
            assert_eq!(read_text(path), Err(expected.to_owned()), "{}", path.display());
        }
        assert_eq!(output(&pipe), Err("it is a named pipe, not a file".to_owned()));
        assert_eq!(output(Path::new("/dev/full")), Ok(Output::Device));
        assert!(matches!(write(&pipe, b"x"), Err(Failure::BadInput(_))));
        assert!(matches!(write(Path::new("/dev/full"), b"x"), Err(Failure::Failed(_))));
        fs::remove_dir_all(&folder).expect("removed");
    }
}
