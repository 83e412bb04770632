//! The job store: one thread owns the database and executes requests in order; what it acknowledges is on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;

use protocol::fault::Fault;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, JobSummary, NumberedEvent, RequestId};
use protocol::limits::LIMITS;
use rusqlite::{Connection, OpenFlags};
use tokio::sync::oneshot;

use super::journal::Journal;
use super::tables::{self, Made, New};
use crate::clock::{Clock, Millis};
use crate::hooks::Hooks;
use crate::reason::Reason;

/// Number of ended jobs that keep all their events.
const KEEP_JOBS: u32 = 500;

type Task = Box<dyn FnOnce(&mut Keeper) + Send>;

/// A handle to the store's thread.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    tasks: mpsc::Sender<Task>,
    /// True after a failed write: the content of the disk is unknown, so nothing more is written.
    broken: Arc<AtomicBool>,
}

/// The state of the store's thread.
struct Keeper {
    db: Connection,
    journal: Arc<Journal>,
    clock: Clock,
    hooks: Hooks,
    writes: u64,
    broken: Arc<AtomicBool>,
}

impl Store {
    /// Opens the database of a state folder; a damaged one is renamed. Unfinished jobs of the last daemon become interrupted.
    pub(crate) fn open(
        state: &Path,
        journal: Arc<Journal>,
        clock: Clock,
        hooks: Hooks,
    ) -> Result<Self, String> {
        let path = state.join("jobs.db");
        let db = open(&path).or_else(|error| {
            // Only a damaged database is renamed: a full disk or a missing permission must not make the jobs disappear.
            if !is_damaged(&error) {
                return Err(format!("the jobs cannot be opened: {error}"));
            }
            let aside = put_aside(&path, clock.now())
                .map_err(|error| format!("the damaged jobs cannot be put aside: {error}"))?;
            eprintln!(
                "the file of jobs was damaged ({error}); it is now {}, and an empty one is used",
                aside.display()
            );
            open(&path).map_err(|error| format!("the jobs cannot be opened: {error}"))
        })?;
        let broken = Arc::new(AtomicBool::new(false));
        let mut keeper =
            Keeper { db, journal, clock, hooks, writes: 0, broken: Arc::clone(&broken) };
        keeper.recover().map_err(|error| format!("the jobs cannot be read: {error}"))?;
        let (tasks, inbox) = mpsc::channel::<Task>();
        thread::Builder::new()
            .name("store".into())
            .spawn(move || inbox.into_iter().for_each(|task| task(&mut keeper)))
            .map_err(|error| format!("no thread for the jobs: {error}"))?;
        Ok(Self { tasks, broken })
    }

    /// True after a failed write.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
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
        self.ask(|keeper| keeper.write(|keeper| tables::claim(&mut keeper.db))).await
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

    pub(crate) async fn get(&self, job: JobId) -> Result<Option<JobSummary>, Fault> {
        self.ask(move |keeper| tables::get(&keeper.db, job).map_err(|error| unreadable(&error)))
            .await
    }

    /// Jobs before one, the latest first, and whether more were asked for than fit into a message.
    pub(crate) async fn list(
        &self,
        limit: u32,
        before: Option<JobId>,
    ) -> Result<(Vec<JobSummary>, bool), Fault> {
        self.ask(move |keeper| {
            let bytes = LIMITS.message_bytes as usize;
            tables::list(&keeper.db, limit, before, bytes).map_err(|error| unreadable(&error))
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
            tables::events(&keeper.db, job, after, limit).map_err(|error| unreadable(&error))
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

impl Keeper {
    /// Unfinished jobs of the last daemon are not run again: a measurement belongs to its time.
    fn recover(&mut self) -> rusqlite::Result<()> {
        for job in tables::unfinished(&self.db)? {
            let fault = Reason::EndedBefore.fault();
            let event = JobEvent::Ended { state: JobState::Interrupted, fault: Some(fault) };
            tables::append(&mut self.db, job, self.clock.now(), event, &OPEN, &|| {})?;
        }
        tables::prune(&self.db, self.hooks.keep_jobs(KEEP_JOBS))?;
        Ok(())
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
            let new = New { request, owner, spec, continues, now, queued, per_owner };
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
            Made::Known(job, before) if before == spec => Ok((job, false)),
            Made::Known(..) => Err(Reason::RequestTaken.fault()),
            Made::Full(reason) => Err(reason.fault()),
        }
    }

    fn append(&mut self, job: JobId, event: JobEvent, only_if: &[JobState]) -> Result<bool, Fault> {
        let place = match &event {
            JobEvent::Ended { .. } => "before_end",
            JobEvent::Result { .. } => "before_result",
            _ => "before_event",
        };
        let ends = matches!(event, JobEvent::Ended { .. });
        let kept = self.write(|keeper| {
            let (now, hooks) = (keeper.clock.now(), &keeper.hooks);
            tables::append(&mut keeper.db, job, now, event, only_if, &|| hooks.pass(place))
        })?;
        let Some(event) = kept else { return Ok(false) };
        self.hooks.pass(&format!("after_event_{}", event.seq));
        self.journal.add(&event);
        if ends {
            self.write(|keeper| tables::prune(&keeper.db, keeper.hooks.keep_jobs(KEEP_JOBS)))?;
        }
        Ok(true)
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
        let spoiled = self.hooks.fails_write(self.writes);
        let done = if spoiled { Err(rusqlite::Error::ExecuteReturnedResults) } else { write(self) };
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

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let db = Connection::open_with_flags(path, flags)?;
    let sound: String = db.pragma_query_value(None, "quick_check", |row| row.get(0))?;
    if sound != "ok" {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT),
            Some(sound),
        ));
    }
    tables::prepare(&db)?;
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
