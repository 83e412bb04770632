//! The tables of jobs and events, and the statements on them. Every function that writes is one transaction. A row that cannot be
//! read is passed over, and spoils no other.
//!
//! This file is longer than 400 lines because it holds every statement on the database.

use protocol::hex::Hex;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, JobSummary, NumberedEvent, RequestId};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use super::message::LEFT_OUT;
use crate::clock::Millis;
use crate::reason::Reason;

/// The steps from each version of the tables to the next; `user_version` counts those that were taken. A step is never changed once
/// it was released, and adds what old rows lack.
pub(super) const STEPS: [&str; 1] = ["CREATE TABLE jobs (
         job INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
         spec TEXT NOT NULL, state TEXT NOT NULL, created_ms INTEGER NOT NULL, last_seq INTEGER NOT NULL);
     CREATE INDEX by_state ON jobs (state);
     CREATE TABLE events (
         job INTEGER NOT NULL REFERENCES jobs, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL,
         PRIMARY KEY (job, seq)) WITHOUT ROWID;"];

/// True for events that say how a point ended: results, and lines about points that were left out. An event that is not JSON is none.
const IS_POINT: &str = "CASE WHEN json_valid(event) THEN json_extract(event, '$.type') = 'result'
    OR json_extract(event, '$.type') = 'log' AND json_extract(event, '$.line') LIKE 'left out: %' ELSE 0 END";
const _: () = assert!(matches!(LEFT_OUT.as_bytes(), b"left out: "), "as in the text above");

type Result<T> = rusqlite::Result<T>;

/// A value, or the reason why its row cannot be read.
type Readable<T> = Result<T>;

/// The sizes at which something is done, in bytes of pages in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// The oldest ended jobs are dropped above it.
    pub(crate) keep: u64,
    /// Nothing but the end of a job is added above it.
    pub(crate) full: u64,
    /// The file never grows above it. What lies between is the reserve for the ends of jobs and for recovery.
    pub(crate) most: u64,
}

impl Room {
    /// The sizes of a store that is full at so many bytes.
    pub(crate) const fn of(full: u64) -> Self {
        Self { keep: full / 2, full, most: full + full / 8 }
    }
}

/// Version of the tables; 0 for an empty file.
pub(super) fn version(db: &Connection) -> Result<usize> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Creates the tables or takes the steps that they lack, and makes acknowledged commits survive a power failure.
pub(super) fn prepare(db: &mut Connection, room: Room) -> Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    let page: u64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    db.pragma_update(None, "max_page_count", signed(room.most / page.max(1)))?;
    migrate(db, &STEPS)
}

/// The settings of this connection that decide whether a commit survives a power failure.
pub(super) fn settings(db: &Connection) -> Result<String> {
    let synchronous: i64 = db.pragma_query_value(None, "synchronous", |row| row.get(0))?;
    let journal: String = db.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(format!("jobs: synchronous {synchronous}, journal {journal}"))
}

/// Takes the steps that the tables lack, each in a transaction with its number.
fn migrate(db: &mut Connection, steps: &[&str]) -> Result<()> {
    for (taken, step) in steps.iter().enumerate().skip(version(db)?) {
        let tx = begin(db)?;
        tx.execute_batch(step)?;
        tx.pragma_update(None, "user_version", signed(taken as u64 + 1))?;
        tx.commit()?;
    }
    Ok(())
}

/// Bytes of the pages in use. A file never shrinks; pages of dropped rows are used again.
pub(super) fn used(db: &Connection) -> Result<u64> {
    let of = |name| db.pragma_query_value(None, name, |row| row.get::<_, u64>(0));
    Ok((of("page_count")?.saturating_sub(of("freelist_count")?)) * of("page_size")?)
}

/// A new job, or the one that the request has started before.
pub(super) enum Made {
    Fresh(NumberedEvent),
    Known(JobId, Readable<String>),
    /// The queue, the key's share or the store is full.
    Full(Reason),
}

/// A job to store.
pub(super) struct New<'a> {
    pub(super) request: RequestId,
    pub(super) owner: &'a str,
    pub(super) spec: &'a str,
    /// The ended job whose results are copied.
    pub(super) continues: Option<JobId>,
    pub(super) now: Millis,
    pub(super) queued: u32,
    pub(super) per_owner: u32,
    pub(super) room: Room,
}

/// Stores a job if `logged` returns true right before the commit.
pub(super) fn create(
    db: &mut Connection,
    new: &New<'_>,
    logged: impl FnOnce() -> bool,
) -> Result<Made> {
    let tx = begin(db)?;
    let known = tx
        .query_row(
            "SELECT job, spec FROM jobs WHERE request = ?1",
            [new.request.to_string()],
            |row| Ok((row.get(0)?, row.get(1))),
        )
        .optional()?;
    if let Some((job, spec)) = known {
        return Ok(Made::Known(JobId(job), spec));
    }
    let waiting: u32 =
        tx.query_row("SELECT count(*) FROM jobs WHERE state = 'queued'", [], |row| row.get(0))?;
    if waiting >= new.queued {
        return Ok(Made::Full(Reason::QueueFull));
    }
    let own: u32 = tx.query_row(
        "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running') AND owner = ?1",
        [new.owner],
        |row| row.get(0),
    )?;
    if own >= new.per_owner {
        return Ok(Made::Full(Reason::ShareFull));
    }
    tx.execute(
        "INSERT INTO jobs (request, owner, spec, state, created_ms, last_seq) VALUES (?1, ?2, ?3, 'queued', ?4, 0)",
        params![new.request.to_string(), new.owner, new.spec, signed(new.now)],
    )?;
    let job = JobId(tx.last_insert_rowid().unsigned_abs());
    if let Some(ended) = new.continues {
        copy_results(&tx, ended, job)?;
    }
    let event = add(&tx, job, new.now, JobEvent::Queued)?;
    if !has_room(&tx, new.room)? {
        return Ok(Made::Full(Reason::StoreFull));
    }
    if !logged() {
        return Ok(Made::Full(Reason::Unlogged));
    }
    tx.commit()?;
    Ok(Made::Fresh(event))
}

/// Copies the results of a job and the lines about points that it left out, with their times, as the first events of another.
fn copy_results(tx: &Transaction<'_>, from: JobId, to: JobId) -> Result<usize> {
    let sql = format!(
        "INSERT INTO events (job, seq, at_ms, event)
         SELECT ?2, row_number() OVER (ORDER BY seq), at_ms, event FROM events
         WHERE job = ?1 AND {IS_POINT}"
    );
    let copied = tx.execute(&sql, [signed(from.0), signed(to.0)])?;
    tx.execute("UPDATE jobs SET last_seq = ?2 WHERE job = ?1", params![signed(to.0), copied])
}

/// Takes the oldest waiting job and marks it as running; also returns its order and the number of points that it starts with. A job
/// whose order cannot be read stays as it is.
pub(super) fn claim(db: &mut Connection) -> Result<Option<(JobId, Readable<JobSpec>, u32)>> {
    let tx = begin(db)?;
    let sql = format!(
        "SELECT job, spec, (SELECT count(*) FROM events WHERE events.job = jobs.job AND {IS_POINT})
         FROM jobs WHERE state = 'queued' ORDER BY job LIMIT 1"
    );
    let read = |row: &Row<'_>| Ok((JobId(row.get(0)?), from_json(row, 1), row.get(2)?));
    let next = tx.query_row(&sql, [], read).optional()?;
    if let Some((job, Ok(_), _)) = &next {
        set_state(&tx, *job, JobState::Running)?;
        tx.commit()?;
    }
    Ok(next)
}

/// An event that was to be appended.
pub(super) enum Appended {
    Kept(NumberedEvent),
    /// The job is in another state.
    Elsewhere,
    /// The store is full.
    Full,
}

/// An event to append to a job in one of the states.
pub(super) struct Append<'a> {
    pub(super) job: JobId,
    pub(super) now: Millis,
    pub(super) event: JobEvent,
    pub(super) only_if: &'a [JobState],
    pub(super) room: Room,
}

/// Appends an event, and calls `before` right before the commit. The end of a job has room also in a full store.
pub(super) fn append(
    db: &mut Connection,
    append: Append<'_>,
    before: &dyn Fn(),
) -> Result<Appended> {
    let Append { job, now, event, only_if, room } = append;
    let tx = begin(db)?;
    // A state that cannot be read is none of them.
    let state: Option<Readable<String>> = tx
        .query_row("SELECT state FROM jobs WHERE job = ?1", [signed(job.0)], |row| Ok(row.get(0)))
        .optional()?;
    if !state
        .and_then(Result::ok)
        .is_some_and(|state| only_if.iter().any(|allowed| allowed.key() == state))
    {
        return Ok(Appended::Elsewhere);
    }
    if let JobEvent::Ended { state, .. } = &event {
        set_state(&tx, job, *state)?;
    } else if !has_room(&tx, room)? {
        return Ok(Appended::Full);
    }
    let event = add(&tx, job, now, event)?;
    before();
    tx.commit()?;
    Ok(Appended::Kept(event))
}

/// The jobs that waited or ran when the last daemon ended, and whether they ran.
pub(super) fn unfinished(db: &Connection) -> Result<Vec<(JobId, bool)>> {
    let mut found = db.prepare(
        "SELECT job, state = 'running' FROM jobs WHERE state IN ('queued', 'running') ORDER BY job",
    )?;
    found.query_map([], |row| Ok((JobId(row.get(0)?), row.get(1)?)))?.collect()
}

/// The part of the ended jobs that is kept, whatever its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keep {
    /// The latest jobs that keep all their events; earlier ones keep the last.
    pub(super) events: u32,
    /// The latest jobs of which anything is kept.
    pub(super) jobs: u32,
}

const ENDED: &str = "state NOT IN ('queued', 'running')";

/// Drops events of jobs that ended long ago, then the jobs that are too many, then the oldest until the rest has room.
pub(super) fn prune(db: &mut Connection, keep: Keep, room: Room) -> Result<()> {
    let tx = begin(db)?;
    tx.execute(
        "DELETE FROM events WHERE job IN (SELECT job FROM jobs ORDER BY job DESC LIMIT -1 OFFSET ?1)
         AND seq < (SELECT last_seq FROM jobs WHERE jobs.job = events.job)
         AND (SELECT state FROM jobs WHERE jobs.job = events.job) NOT IN ('queued', 'running')",
        [keep.events],
    )?;
    let surplus = format!(
        "SELECT job FROM jobs WHERE {ENDED}
         AND job IN (SELECT job FROM jobs ORDER BY job DESC LIMIT -1 OFFSET ?1)"
    );
    let surplus: Vec<i64> =
        tx.prepare(&surplus)?.query_map([keep.jobs], |row| row.get(0))?.collect::<Result<_>>()?;
    surplus.into_iter().try_for_each(|job| drop_job(&tx, job))?;
    drop_oldest(&tx, room.keep)?;
    tx.commit()
}

/// Whether there is room for more, once ended jobs gave way where that is needed. The transaction of those that find none is not kept.
fn has_room(tx: &Transaction<'_>, room: Room) -> Result<bool> {
    if used(tx)? > room.full {
        drop_oldest(tx, room.keep)?;
    }
    Ok(used(tx)? <= room.full)
}

/// Drops the oldest ended jobs until the rest is as small as that.
fn drop_oldest(tx: &Transaction<'_>, keep: u64) -> Result<()> {
    // The latest job stays: somebody waits for its end.
    let oldest =
        format!("SELECT min(job) FROM jobs WHERE {ENDED} AND job < (SELECT max(job) FROM jobs)");
    while used(tx)? > keep {
        let Some(job) = tx.query_row(&oldest, [], |row| row.get(0))? else { break };
        drop_job(tx, job)?;
    }
    Ok(())
}

fn drop_job(tx: &Transaction<'_>, job: i64) -> Result<()> {
    tx.execute("DELETE FROM events WHERE job = ?1", [job])?;
    tx.execute("DELETE FROM jobs WHERE job = ?1", [job]).map(|_rows| ())
}

const SUMMARY: &str = "SELECT job, request, spec, state, created_ms, last_seq FROM jobs";

pub(super) fn get(db: &Connection, job: JobId) -> Result<Option<Readable<JobSummary>>> {
    let sql = format!("{SUMMARY} WHERE job = ?1");
    db.query_row(&sql, [signed(job.0)], |row| Ok(summary(row))).optional()
}

/// Bytes of a summary in JSON without its order.
const SUMMARY_BYTES: usize = 256;

/// The part of the list of jobs that is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Largest number of jobs.
    pub(crate) limit: u32,
    /// Only jobs before this one.
    pub(crate) before: Option<JobId>,
    /// Jobs whose orders pages of the first version cannot read, too.
    pub(crate) later: bool,
}

/// A part of the list of jobs.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// The latest first.
    pub(crate) jobs: Vec<JobSummary>,
    /// True if some were left out because the list would have too many bytes.
    pub(crate) more: bool,
    /// Jobs that cannot be read.
    pub(crate) passed_over: Vec<i64>,
}

/// The latest jobs before one that can be read, in at most `bytes` bytes. One job is always in it.
pub(super) fn list(db: &Connection, wanted: Wanted, bytes: usize) -> Result<Listed> {
    let Wanted { limit, before, later } = wanted;
    let before = before.map_or(i64::MAX, |job| signed(job.0));
    let (mut listed, mut left) = (Listed::default(), bytes);
    let mut found = db.prepare(&format!("{SUMMARY} WHERE job < ?1 ORDER BY job DESC"))?;
    let mut rows = found.query([before])?;
    while listed.jobs.len() < limit as usize {
        let Some(row) = rows.next()? else { break };
        let Ok(job) = summary(row) else {
            listed.passed_over.push(row.get(0)?);
            continue;
        };
        if !later && !job.spec.is_first() {
            continue;
        }
        let needed = row.get_ref(2)?.as_bytes().map_or(0, <[u8]>::len) + SUMMARY_BYTES;
        if needed > left && !listed.jobs.is_empty() {
            listed.more = true;
            break;
        }
        left = left.saturating_sub(needed);
        listed.jobs.push(job);
    }
    Ok(listed)
}

/// The number of all jobs, and of those that cannot be read.
pub(super) fn counted(db: &Connection) -> Result<(u64, u64)> {
    let mut found = db.prepare(SUMMARY)?;
    let (mut rows, mut all, mut unreadable) = (found.query([])?, 0, 0);
    while let Some(row) = rows.next()? {
        all += 1;
        unreadable += u64::from(summary(row).is_err());
    }
    Ok((all, unreadable))
}

/// The events of a job after a number: at most `limit`, and no more once they have `bytes`. In place of one that cannot be read
/// stands a line of the log that says so, and in place of the last one an end with the job's state, so that the numbers have no gap.
pub(super) fn events(
    db: &Connection,
    job: JobId,
    after: u64,
    limit: u32,
    bytes: usize,
) -> Result<Vec<NumberedEvent>> {
    let sql =
        "SELECT seq, at_ms, event FROM events WHERE job = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut found = db.prepare_cached(sql)?;
    let mut rows = found.query(params![signed(job.0), signed(after), limit])?;
    let (mut events, mut size) = (Vec::new(), 0);
    while size < bytes {
        let Some(row) = rows.next()? else { break };
        let seq = row.get(0)?;
        size += row.get_ref(2)?.as_bytes().map_or(0, <[u8]>::len);
        let event = match from_json(row, 2) {
            Ok(event) => event,
            Err(_) => in_place_of(db, job, seq)?,
        };
        events.push(NumberedEvent { job, seq, at_ms: row.get(1).unwrap_or_default(), event });
    }
    Ok(events)
}

fn in_place_of(db: &Connection, job: JobId, seq: u64) -> Result<JobEvent> {
    let sql = "SELECT state FROM jobs WHERE job = ?1 AND last_seq = ?2";
    let last: Option<String> =
        db.query_row(sql, [signed(job.0), signed(seq)], |row| row.get(0)).optional()?;
    let state = JobState::ALL.into_iter().find(|state| last.as_deref() == Some(state.key()));
    let fault = Reason::EventUnreadable.fault();
    Ok(match state.filter(|state| state.is_final()) {
        Some(state) => JobEvent::Ended { state, fault: Some(fault) },
        None => JobEvent::Log { line: fault.message },
    })
}

pub(super) fn count(db: &Connection, state: JobState) -> Result<u64> {
    let sql = "SELECT count(*) FROM jobs WHERE state = ?1";
    db.query_row(sql, [state.key()], |row| row.get(0))
}

/// Begins a transaction with the write lock, so that none fails halfway for lack of it.
fn begin(db: &mut Connection) -> Result<Transaction<'_>> {
    db.transaction_with_behavior(TransactionBehavior::Immediate)
}

fn set_state(tx: &Transaction<'_>, job: JobId, state: JobState) -> Result<usize> {
    tx.execute("UPDATE jobs SET state = ?2 WHERE job = ?1", params![signed(job.0), state.key()])
}

fn add(tx: &Transaction<'_>, job: JobId, now: Millis, event: JobEvent) -> Result<NumberedEvent> {
    let seq: u64 = tx.query_row(
        "UPDATE jobs SET last_seq = last_seq + 1 WHERE job = ?1 RETURNING last_seq",
        [signed(job.0)],
        |row| row.get(0),
    )?;
    let text = serde_json::to_string(&event)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    tx.execute(
        "INSERT INTO events (job, seq, at_ms, event) VALUES (?1, ?2, ?3, ?4)",
        params![signed(job.0), signed(seq), signed(now), text],
    )?;
    Ok(NumberedEvent { job, seq, at_ms: now, event })
}

fn summary(row: &Row<'_>) -> Result<JobSummary> {
    let (request, state): (String, String) = (row.get(1)?, row.get(3)?);
    let known = JobState::ALL.into_iter().find(|known| known.key() == state);
    Ok(JobSummary {
        job: JobId(row.get(0)?),
        request: Hex::parse(&request).ok_or(rusqlite::Error::InvalidQuery)?,
        spec: from_json(row, 2)?,
        state: known.unwrap_or(JobState::Unknown),
        created_ms: row.get(4)?,
        last_seq: row.get(5)?,
    })
}

fn from_json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(
            column,
            rusqlite::types::Type::Text,
            Box::new(error),
        )
    })
}

/// SQLite's integers are signed; a number that does not fit into 63 bits matches no row.
pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_an_earlier_version_take_the_steps_that_they_lack() {
        let mut db = Connection::open_in_memory().unwrap();
        migrate(&mut db, &STEPS).unwrap();
        db.execute(
            "INSERT INTO jobs (request, owner, spec, state, created_ms, last_seq) VALUES ('a', 'b', '{}', 'done', 1, 0)",
            [],
        )
        .unwrap();
        let next = "ALTER TABLE jobs ADD COLUMN device TEXT NOT NULL DEFAULT 'cpu'";
        let steps = [STEPS[0], next];
        // A step that fails leaves the tables as they were.
        assert!(migrate(&mut db, &[STEPS[0], "CREATE TABLE half (a); nonsense"]).is_err());
        assert_eq!(version(&db).unwrap(), 1);
        assert!(db.prepare("SELECT * FROM half").is_err());
        for _ in 0..2 {
            migrate(&mut db, &steps).unwrap();
            assert_eq!(version(&db).unwrap(), 2);
        }
        let device: String = db.query_row("SELECT device FROM jobs", [], |row| row.get(0)).unwrap();
        assert_eq!(device, "cpu");
    }

    #[test]
    fn the_reserve_holds_the_ends_of_all_jobs() {
        let room = Room::of(512 << 20);
        assert!(room.keep < room.full && room.full < room.most);
        let ends = u64::from(protocol::limits::LIMITS.queued_jobs + 1) * 8192;
        assert!(room.most - room.full > 100 * ends);
    }
}
