//! The state of the file of jobs for `doctor`, which opens it for reading only.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::store::{self, FULL, Unopened};
use super::tables::{self, Room};

/// The state of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inspected {
    pub(crate) jobs: u64,
    /// Jobs that cannot be read.
    pub(crate) unreadable: u64,
    /// Bytes in use.
    pub(crate) bytes: u64,
    pub(crate) room: Room,
}

/// Looks at the jobs of a state folder; `None` if there are none yet.
///
/// # Errors
/// A sentence about tables of a later version, and about a file that is damaged or cannot be read.
pub(crate) fn inspect(state: &Path) -> Result<Option<Inspected>, String> {
    let path = store::path(state);
    if !path.exists() {
        return Ok(None);
    }
    looked(&path).map(Some).map_err(|error| format!("the jobs cannot be opened: {error}"))
}

fn looked(path: &Path) -> Result<Inspected, Unopened> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags)?;
    store::is_known(&db)?;
    let bytes = tables::used(&db)?;
    let (jobs, unreadable) = match tables::version(&db)? {
        0 => (0, 0),
        _ => tables::counted(&db)?,
    };
    Ok(Inspected { jobs, unreadable, bytes, room: Room::of(FULL) })
}
