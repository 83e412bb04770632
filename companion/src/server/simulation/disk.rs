//! The disk under the job store: where a write fails, where the daemon is killed, and what a kill or a loss of power leaves.
//!
//! A kill leaves the files as the system has them. A loss of power leaves of the write that was not acknowledged any of its sectors;
//! what came before it was synced, if the connection's `synchronous` setting has SQLite sync every commit. That SQLite and the
//! system then do so is taken from their documents: the calls themselves are not watched.

use std::collections::BTreeMap;
use std::fs;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::dice::Dice;
use crate::hooks::{Spoil, Watch};

/// Bytes that a disk writes as a whole.
const SECTOR: usize = 512;
/// The setting with which SQLite syncs every commit.
const FULL: i64 = 2;

/// The fault of the disk in one life of the daemon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Calm,
    /// From this write on, counted from 1, every write fails.
    Fails(u64, Spoil),
    /// The daemon is killed at this write.
    Killed(u64, Moment),
    /// The power is lost at this write.
    PowerLost(u64, Moment),
    /// The daemon is killed while it ends the jobs of the life before.
    KilledInRecovery,
}

/// The moment of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    Before,
    /// Before its commit.
    Within,
    /// After its commit, before it is acknowledged.
    After,
}

/// The panic that stands for a kill.
pub(super) struct Kill;

/// The database and its write-ahead log.
type Files = BTreeMap<&'static str, Vec<u8>>;

/// The disk of one life.
pub(super) struct Disk {
    folder: PathBuf,
    fate: Fate,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    writes: u64,
    /// The files when the last sync was certain.
    synced: Files,
    is_synced_always: bool,
    left: Option<Files>,
    has_failed: bool,
    /// Writes that were tried after one had failed.
    tried_after: u64,
}

impl Disk {
    pub(super) fn new(folder: &Path, fate: Fate) -> Self {
        let state = State { synced: files(folder), is_synced_always: true, ..State::default() };
        Self { folder: folder.into(), fate, state: Mutex::new(state) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Learns the `synchronous` setting of the connection that writes.
    pub(super) fn learn(&self, synchronous: i64) {
        let mut state = self.lock();
        state.is_synced_always = synchronous >= FULL;
        if state.is_synced_always {
            state.synced.clear();
        }
    }

    pub(super) const fn fate(&self) -> Fate {
        self.fate
    }

    pub(super) fn is_killed(&self) -> bool {
        self.lock().left.is_some()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.lock().has_failed
    }

    pub(super) fn writes(&self) -> u64 {
        self.lock().writes
    }

    pub(super) fn tried_after(&self) -> u64 {
        self.lock().tried_after
    }

    /// Kills the daemon from outside, between two writes.
    pub(super) fn kill(&self) {
        let mut state = self.lock();
        if state.left.is_none() {
            let left = files(&self.folder);
            if state.is_synced_always {
                state.synced.clone_from(&left);
            }
            state.left = Some(left);
        }
    }

    /// Writes what the kill left into the folder of the next life.
    pub(super) fn leave(&self, to: &Path, dice: &mut Dice) {
        let state = self.lock();
        let mut left = state.left.clone().unwrap_or_else(|| files(&self.folder));
        if matches!(self.fate, Fate::PowerLost(..)) {
            left = torn(&state.synced, &left, dice);
        }
        for (end, bytes) in left {
            fs::write(to.join(format!("jobs.db{end}")), bytes).expect("the simulation has room");
        }
    }

    fn die(&self, state: &mut State) -> ! {
        state.left = Some(files(&self.folder));
        // Unlike `panic!`, this prints nothing.
        resume_unwind(Box::new(Kill));
    }
}

impl Watch for Disk {
    fn passes(&self, place: &str) {
        let mut state = self.lock();
        if state.left.is_some() {
            resume_unwind(Box::new(Kill));
        }
        let moment = match place {
            "before_recovery" if self.fate == Fate::KilledInRecovery => self.die(&mut state),
            "before_create" | "before_event" | "before_result" | "before_end" => Moment::Within,
            "after_write" => Moment::After,
            _ => return,
        };
        let (Fate::Killed(at, when) | Fate::PowerLost(at, when)) = self.fate else { return };
        // Some writes have no moment within.
        let is_now = when == moment || (when == Moment::Within && moment == Moment::After);
        if at == state.writes && is_now {
            self.die(&mut state);
        }
    }

    fn spoils(&self) -> Spoil {
        let mut state = self.lock();
        if state.left.is_some() {
            resume_unwind(Box::new(Kill));
        }
        state.writes += 1;
        if state.has_failed {
            state.tried_after += 1;
        }
        match self.fate {
            Fate::Killed(at, Moment::Before) if at == state.writes => self.die(&mut state),
            Fate::PowerLost(at, when) if at == state.writes => {
                if state.is_synced_always {
                    state.synced = files(&self.folder);
                }
                if when == Moment::Before {
                    self.die(&mut state);
                }
                Spoil::Nothing
            }
            Fate::Fails(at, how) if state.writes >= at => {
                state.has_failed = true;
                how
            }
            _ => Spoil::Nothing,
        }
    }
}

fn files(folder: &Path) -> Files {
    let read = |end| Some((end, fs::read(folder.join(format!("jobs.db{end}"))).ok()?));
    ["", "-wal"].into_iter().filter_map(read).collect()
}

/// The files that a loss of power leaves between two states of the files: the log is written and synced before the database is changed.
fn torn(synced: &Files, now: &Files, dice: &mut Dice) -> Files {
    let (mut left, which) = (now.clone(), dice.below(3));
    let mut tear = |end: &'static str, dice: &mut Dice| {
        let (old, new) = (synced.get(end).cloned().unwrap_or_default(), &now[end]);
        left.insert(end, if which == 0 { cut(&old, new, dice) } else { mixed(&old, new, dice) });
    };
    let is_moved = synced.get("") != now.get("") && now.contains_key("-wal");
    if is_moved && dice.chance(50) {
        tear("", dice);
        return left;
    }
    if now.contains_key("-wal") {
        tear("-wal", dice);
    }
    // The database is as it was before the log was moved into it.
    if let Some(database) = synced.get("") {
        left.insert("", database.clone());
    }
    left
}

/// The new bytes up to some place after which nothing equals the old ones; then the old ones, or nothing.
fn cut(old: &[u8], new: &[u8], dice: &mut Dice) -> Vec<u8> {
    let same = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let place = same + dice.index(new.len() - same + 1);
    let mut left = new[..place].to_vec();
    left.extend_from_slice(old.get(place..).unwrap_or_default());
    left
}

/// Each sector old or new. A file that grew has zeros where a sector was not written.
fn mixed(old: &[u8], new: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut left = old.to_vec();
    left.resize(old.len().max(new.len()), 0);
    for (place, sector) in new.chunks(SECTOR).enumerate() {
        if dice.chance(50) {
            left[place * SECTOR..][..sector.len()].copy_from_slice(sector);
        }
    }
    left
}
