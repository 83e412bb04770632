//! The job store: one thread owns the database and executes requests in order; what it acknowledges is on the disk.
//!
//! This file is longer than 400 lines because it holds the only writer of the database with all that it does.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use protocol::fault::Fault;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, JobSummary, NumberedEvent, RequestId};
use protocol::limits::LIMITS;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::{mpsc, oneshot};

use super::journal::Journal;
use super::tables::{self, Append, Appended, Keep, Listed, Made, New, Room, Wanted};
use crate::clock::{Clock, Millis};
use crate::files;
use crate::hooks::{Hooks, Spoil};
use crate::reason::Reason;

/// Number of latest jobs that keep all their events, if there is room.
const KEEP_EVENTS: u32 = 500;
/// Number of latest jobs of which anything is kept, if there is room.
const KEEP_JOBS: u32 = 5000;
/// Size at which the store is full, in bytes.
pub(super) const FULL: u64 = 512 << 20;

/// Size of the events that are read at once, in bytes; the last of them may exceed it.
const PAGE_BYTES: usize = 1 << 20;
/// Most jobs about which it is said that they cannot be read.
const MOST_SAID: usize = 100;

type Task = Box<dyn FnOnce(&mut Keeper) + Send>;

/// A handle to the store's thread.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    tasks: mpsc::UnboundedSender<Task>,
    /// True after a failed write: the content of the disk is unknown, so nothing more is written.
    broken: Arc<AtomicBool>,
    /// Running jobs that are to end. Only the store's thread changes it, so that none of them is stored as done.
    canceled: Arc<Mutex<BTreeSet<JobId>>>,
}

/// The requests of a store, and what executes them.
#[must_use]
pub(crate) struct Desk {
    keeper: Keeper,
    tasks: mpsc::UnboundedReceiver<Task>,
}

/// The state of the store's thread.
struct Keeper {
    db: Connection,
    journal: Arc<Journal>,
    clock: Clock,
    hooks: Hooks,
    writes: u64,
    broken: Arc<AtomicBool>,
    canceled: Arc<Mutex<BTreeSet<JobId>>>,
    room: Room,
    /// Jobs about which it was said that they cannot be read.
    said: BTreeSet<i64>,
}

impl Store {
    /// Opens the database of a state folder; a damaged one is renamed. Unfinished jobs of the last daemon become interrupted. Requests
    /// wait until the desk executes them.
    pub(crate) fn open(
        state: &Path,
        journal: Arc<Journal>,
        clock: Clock,
        hooks: Hooks,
    ) -> Result<(Self, Desk), String> {
        let path = path(state);
        let room = Room::of(hooks.store_bytes(FULL));
        let open = |path: &Path| open(path, room);
        let db = open(&path).or_else(|error| {
            // Only a damaged database is renamed: a full disk, a missing permission or a later version must not make the jobs disappear.
            let error = match error {
                Unopened::Sql(error) if is_damaged(&error) => error,
                other => return Err(format!("the jobs cannot be opened: {other}")),
            };
            let aside = put_aside(&path, clock.now())
                .map_err(|error| format!("the damaged jobs cannot be put aside: {error}"))?;
            eprintln!(
                "the file of jobs was damaged ({error}); it is now {}, and an empty one is used",
                aside.display()
            );
            open(&path).map_err(|error| format!("the jobs cannot be opened: {error}"))
        })?;
        if hooks.tells_settings() {
            eprintln!("{}", tables::settings(&db).unwrap_or_default());
        }
        let broken = Arc::new(AtomicBool::new(false));
        let canceled = Arc::<Mutex<BTreeSet<JobId>>>::default();
        let (writes, said) = (0, BTreeSet::new());
        let mut keeper = Keeper {
            db,
            journal,
            clock,
            hooks,
            writes,
            broken: Arc::clone(&broken),
            canceled: Arc::clone(&canceled),
            room,
            said,
        };
        keeper.recover().map_err(|error| format!("the jobs cannot be read: {error}"))?;
        let (asked, tasks) = mpsc::unbounded_channel();
        Ok((Self { tasks: asked, broken, canceled }, Desk { keeper, tasks }))
    }

    /// True after a failed write.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// True for a running job that is to end.
    pub(super) fn is_canceled(&self, job: JobId) -> bool {
        lock(&self.canceled).contains(&job)
    }

    /// Merges the write-ahead log into the database, so that nothing is left to recover.
    pub(crate) async fn settle(&self) {
        // If it fails, the next start recovers.
        let _ = self
            .ask(|keeper| {
                let done = keeper.db.pragma_update(None, "wal_checkpoint", "TRUNCATE");
                done.map_err(|error| unreadable(&error))
            })
            .await;
    }

    async fn ask<T: Send + 'static>(
        &self,
        task: impl FnOnce(&mut Keeper) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let (answer, answered) = oneshot::channel();
        // A dropped receiver means that nobody waits for the answer.
        let task: Task = Box::new(move |keeper| drop(answer.send(task(keeper))));
        self.tasks.send(task).map_err(|_closed| lost())?;
        answered.await.map_err(|_closed| lost())?
    }

    /// Stores a job, with the results of the job that it continues; returns its number and whether it is new.
    pub(crate) async fn create(
        &self,
        request: RequestId,
        owner: String,
        spec: &JobSpec,
        continues: Option<JobId>,
        logged: impl FnOnce(&str) -> bool + Send + 'static,
    ) -> Result<(JobId, bool), Fault> {
        let text = serde_json::to_string(spec).map_err(|_unwritable| lost())?;
        self.ask(move |keeper| keeper.create(request, &owner, &text, continues, logged)).await
    }

    pub(super) async fn claim(&self) -> Result<Option<(JobId, JobSpec, u32)>, Fault> {
        self.ask(Keeper::claim).await
    }

    /// Stores an event if the job is in one of the states; otherwise returns false.
    pub(super) async fn append(
        &self,
        job: JobId,
        event: JobEvent,
        only_if: &'static [JobState],
    ) -> Result<bool, Fault> {
        self.ask(move |keeper| keeper.append(job, event, only_if)).await
    }

    /// Ends a waiting job, or notes that a running one is to end; false if it has ended already.
    pub(super) async fn cancel(&self, job: JobId) -> Result<bool, Fault> {
        self.ask(move |keeper| keeper.cancel(job)).await
    }

    pub(crate) async fn get(&self, job: JobId) -> Result<Option<JobSummary>, Fault> {
        self.ask(move |keeper| keeper.get(job)).await
    }

    /// Jobs before one, in an answer that is not longer than a message. About those that cannot be read the daemon's messages say
    /// it once, too.
    pub(crate) async fn list(&self, wanted: Wanted) -> Result<Listed, Fault> {
        self.ask(move |keeper| {
            let bytes = LIMITS.message_bytes as usize;
            let found = tables::list(&keeper.db, wanted, bytes);
            let listed = found.map_err(|error| unreadable(&error))?;
            for job in &listed.passed_over {
                keeper.say_unreadable(*job);
            }
            Ok(listed)
        })
        .await
    }

    pub(crate) async fn events(
        &self,
        job: JobId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<NumberedEvent>, Fault> {
        self.ask(move |keeper| {
            let found = tables::events(&keeper.db, job, after, limit, PAGE_BYTES);
            found.map_err(|error| unreadable(&error))
        })
        .await
    }

    pub(crate) async fn counts(&self) -> Result<Vec<(JobState, u64)>, Fault> {
        self.ask(|keeper| {
            let count = |state| Ok((state, tables::count(&keeper.db, state)?));
            let counts: rusqlite::Result<Vec<_>> = JobState::ALL.into_iter().map(count).collect();
            counts.map_err(|error| unreadable(&error))
        })
        .await
    }
}

impl Desk {
    /// Executes requests on a thread of its own, as long as the store exists.
    ///
    /// # Errors
    /// A sentence if the system has no thread.
    pub(crate) fn start(self) -> Result<(), String> {
        let Self { mut keeper, mut tasks } = self;
        let execute = move || {
            while let Some(task) = tasks.blocking_recv() {
                task(&mut keeper);
            }
        };
        let started = thread::Builder::new().name("store".into()).spawn(execute);
        started.map(drop).map_err(|error| format!("no thread for the jobs: {error}"))
    }

    /// Executes requests as a task of a simulation, each after a pause.
    #[cfg(all(test, debug_assertions))]
    pub(crate) async fn play<P: Future<Output = ()>>(mut self, mut pause: impl FnMut() -> P) {
        while let Some(task) = self.tasks.recv().await {
            pause().await;
            task(&mut self.keeper);
        }
    }

    /// The `synchronous` setting of the connection that writes.
    #[cfg(all(test, debug_assertions))]
    pub(crate) fn synchronous(&self) -> i64 {
        let found = self.keeper.db.pragma_query_value(None, "synchronous", |row| row.get(0));
        found.expect("SQLite tells it")
    }
}

impl Keeper {
    /// Unfinished jobs of the last daemon are not run again: a measurement belongs to its time.
    fn recover(&mut self) -> rusqlite::Result<()> {
        // A full file gets room first.
        self.prune()?;
        for (job, has_begun) in tables::unfinished(&self.db)? {
            let why = if has_begun { Reason::EndedBefore } else { Reason::EndedWaiting };
            let fault = why.fault();
            let event = JobEvent::Ended { state: JobState::Interrupted, fault: Some(fault) };
            let (now, room) = (self.clock.now(), self.room);
            let append = Append { job, now, event, only_if: &OPEN, room };
            self.hooks.pass("before_recovery");
            tables::append(&mut self.db, append, &|| {})?;
        }
        self.prune()
    }

    fn prune(&mut self) -> rusqlite::Result<()> {
        let events = self.hooks.keep_jobs(KEEP_EVENTS);
        tables::prune(&mut self.db, Keep { events, jobs: KEEP_JOBS.max(events) }, self.room)
    }

    /// Takes the oldest waiting job. One whose order cannot be read ends instead, so that those behind it run.
    fn claim(&mut self) -> Result<Option<(JobId, JobSpec, u32)>, Fault> {
        loop {
            match self.write(|keeper| tables::claim(&mut keeper.db))? {
                None => return Ok(None),
                Some((job, Ok(spec), done)) => return Ok(Some((job, spec, done))),
                Some((job, Err(_), _)) => {
                    self.say_unreadable(tables::signed(job.0));
                    let fault = Some(Reason::OrderUnreadable.fault());
                    let event = JobEvent::Ended { state: JobState::Failed, fault };
                    self.append(job, event, &[JobState::Queued])?;
                }
            }
        }
    }

    fn say_unreadable(&mut self, job: i64) {
        if self.said.len() < MOST_SAID && self.said.insert(job) {
            eprintln!(
                "job {job} cannot be read and is passed over: it is damaged, or a later version wrote it"
            );
        }
    }

    fn create(
        &mut self,
        request: RequestId,
        owner: &str,
        spec: &str,
        continues: Option<JobId>,
        logged: impl FnOnce(&str) -> bool,
    ) -> Result<(JobId, bool), Fault> {
        let made = self.write(|keeper| {
            let now = keeper.clock.now();
            let (queued, per_owner) = (LIMITS.queued_jobs, LIMITS.jobs_per_key);
            let room = keeper.room;
            let new = New { request, owner, spec, continues, now, queued, per_owner, room };
            let hooks = &keeper.hooks;
            tables::create(&mut keeper.db, &new, || {
                hooks.pass("before_create");
                logged(spec)
            })
        })?;
        self.hooks.pass("after_create");
        match made {
            Made::Fresh(event) => {
                self.journal.add(&event);
                Ok((event.job, true))
            }
            Made::Known(job, Ok(before)) if before == spec => Ok((job, false)),
            Made::Known(_, Ok(_)) => Err(Reason::RequestTaken.fault()),
            Made::Known(job, Err(_)) => Err(Reason::JobUnreadable.with(&[&job.0])),
            Made::Full(reason) => Err(reason.fault()),
        }
    }

    fn get(&self, job: JobId) -> Result<Option<JobSummary>, Fault> {
        let found = tables::get(&self.db, job).map_err(|error| unreadable(&error))?;
        let unread = |_error| Reason::JobUnreadable.with(&[&job.0]);
        found.transpose().map_err(unread)
    }

    fn cancel(&mut self, job: JobId) -> Result<bool, Fault> {
        let ended = JobEvent::Ended { state: JobState::Canceled, fault: None };
        if self.append(job, ended, &[JobState::Queued])? {
            return Ok(true);
        }
        let known = self.get(job)?;
        let state = known.ok_or_else(|| Reason::NoJob.with(&[&job.0]))?.state;
        let runs = state == JobState::Running;
        if runs {
            lock(&self.canceled).insert(job);
        }
        Ok(runs)
    }

    fn append(&mut self, job: JobId, event: JobEvent, only_if: &[JobState]) -> Result<bool, Fault> {
        let event = self.unless_canceled(job, event);
        let place = match &event {
            JobEvent::Ended { .. } => "before_end",
            JobEvent::Result { .. } => "before_result",
            _ => "before_event",
        };
        let ends = matches!(event, JobEvent::Ended { .. });
        let kept = self.write(|keeper| {
            let (now, room, hooks) = (keeper.clock.now(), keeper.room, &keeper.hooks);
            let append = Append { job, now, event, only_if, room };
            tables::append(&mut keeper.db, append, &|| hooks.pass(place))
        })?;
        let event = match kept {
            Appended::Kept(event) => event,
            Appended::Elsewhere => return Ok(false),
            Appended::Full => return Err(Reason::StoreFull.fault()),
        };
        self.hooks.pass(&format!("after_event_{}", event.seq));
        self.journal.add(&event);
        if ends {
            lock(&self.canceled).remove(&job);
            self.write(Self::prune)?;
        }
        Ok(true)
    }

    /// Whoever canceled a running job was told so: its worker may be done meanwhile, and the job is canceled all the same.
    fn unless_canceled(&self, job: JobId, event: JobEvent) -> JobEvent {
        match event {
            JobEvent::Ended { state: JobState::Done, .. }
                if lock(&self.canceled).contains(&job) =>
            {
                JobEvent::Ended { state: JobState::Canceled, fault: None }
            }
            other => other,
        }
    }

    /// Executes a write. After the first failure no other write is tried: it is unknown which bytes are on the disk, and a retry
    /// could acknowledge lost data.
    fn write<T>(
        &mut self,
        write: impl FnOnce(&mut Self) -> rusqlite::Result<T>,
    ) -> Result<T, Fault> {
        if self.broken.load(Ordering::Relaxed) {
            return Err(unwritable());
        }
        self.writes += 1;
        let spoiled = || Err(rusqlite::Error::ExecuteReturnedResults);
        let done = match self.hooks.spoils_write(self.writes) {
            Spoil::Nothing => write(self),
            Spoil::Before => spoiled(),
            #[cfg(all(test, debug_assertions))]
            Spoil::After => write(self).and_then(|_written| spoiled()),
        };
        self.hooks.pass("after_write");
        done.map_err(|error| {
            eprintln!("the jobs can no longer be written: {error}");
            self.broken.store(true, Ordering::Relaxed);
            self.journal.notify();
            unwritable()
        })
    }
}

/// The states of an unfinished job.
pub(super) const OPEN: [JobState; 2] = [JobState::Queued, JobState::Running];

/// The file of jobs in a state folder.
pub(super) fn path(state: &Path) -> PathBuf {
    state.join("jobs.db")
}

/// The reason why the database cannot be opened.
pub(super) enum Unopened {
    Sql(rusqlite::Error),
    Io(std::io::Error),
    /// Its tables are of a later version. What they mean is unknown, so a write could spoil them.
    Later(usize),
}

impl std::fmt::Display for Unopened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sql(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::Later(version) => write!(
                f,
                "a later version of this program wrote them (tables {version}, and this one knows {}); \
                 update it, or choose another folder with --state",
                tables::STEPS.len()
            ),
        }
    }
}

impl From<rusqlite::Error> for Unopened {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Refuses tables of a later version.
pub(super) fn is_known(db: &Connection) -> Result<(), Unopened> {
    match tables::version(db)? {
        version if version > tables::STEPS.len() => Err(Unopened::Later(version)),
        _ => Ok(()),
    }
}

/// Other users may not read the file, nor those that SQLite makes beside it, which get its rights.
fn make_private(path: &Path) -> std::io::Result<()> {
    let mode = || fs::Permissions::from_mode(0o600);
    files::open_lock(path)?.set_permissions(mode())?;
    for end in ["-wal", "-shm"] {
        let beside = PathBuf::from(format!("{}{end}", path.display()));
        if fs::symlink_metadata(&beside).is_ok_and(|known| known.is_file()) {
            fs::set_permissions(beside, mode())?;
        }
    }
    Ok(())
}

fn open(path: &Path, room: Room) -> Result<Connection, Unopened> {
    make_private(path).map_err(Unopened::Io)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(path, flags)?;
    is_known(&db)?;
    let sound: String = db.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if sound != "ok" {
        return Err(Unopened::Sql(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
            Some(sound),
        )));
    }
    tables::prepare(&mut db, room)?;
    Ok(db)
}

fn is_damaged(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase))
}

fn put_aside(path: &Path, now: Millis) -> std::io::Result<PathBuf> {
    let aside = path.with_file_name(format!("jobs.damaged-{now}.db"));
    for end in ["", "-wal", "-shm"] {
        let name = |path: &Path| PathBuf::from(format!("{}{end}", path.display()));
        match fs::rename(name(path), name(&aside)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(aside)
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn unwritable() -> Fault {
    Reason::Unwritable.fault()
}

fn unreadable(error: &rusqlite::Error) -> Fault {
    eprintln!("the jobs cannot be read: {error}");
    Reason::Unreadable.fault()
}

fn lost() -> Fault {
    Reason::StoreLost.fault()
}
