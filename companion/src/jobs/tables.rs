//! The tables of jobs and events, and the statements on them. Every function that writes is one transaction.

use protocol::hex::Hex;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, JobSummary, NumberedEvent, RequestId};
use rusqlite::{Connection, OptionalExtension, Row, Transaction, TransactionBehavior, params};

use crate::clock::Millis;
use crate::reason::Reason;

/// Version of the tables.
const TABLES: i64 = 1;

type Result<T> = rusqlite::Result<T>;

/// Creates the tables, and makes acknowledged commits survive a power failure.
pub(super) fn prepare(db: &Connection) -> Result<()> {
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "foreign_keys", true)?;
    // 512 MiB of pages of 4 KiB.
    db.pragma_update(None, "max_page_count", 131_072)?;
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == 0 {
        db.execute_batch(
            "BEGIN IMMEDIATE;
             CREATE TABLE jobs (
                 job INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
                 spec TEXT NOT NULL, state TEXT NOT NULL, created_ms INTEGER NOT NULL, last_seq INTEGER NOT NULL);
             CREATE INDEX by_state ON jobs (state);
             CREATE TABLE events (
                 job INTEGER NOT NULL REFERENCES jobs, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, event TEXT NOT NULL,
                 PRIMARY KEY (job, seq)) WITHOUT ROWID;
             PRAGMA user_version = 1;
             COMMIT;",
        )?;
    }
    let version: i64 = db.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if version == TABLES { Ok(()) } else { Err(rusqlite::Error::InvalidQuery) }
}

/// A new job, or the one that the request has started before.
pub(super) enum Made {
    Fresh(NumberedEvent),
    Known(JobId, String),
    /// The queue or the key's share is full.
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
            |row| Ok((row.get(0)?, row.get(1)?)),
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
    if !logged() {
        return Ok(Made::Full(Reason::Unlogged));
    }
    tx.commit()?;
    Ok(Made::Fresh(event))
}

/// Copies the results of a job, with their times, as the first events of another.
fn copy_results(tx: &Transaction<'_>, from: JobId, to: JobId) -> Result<usize> {
    let copied = tx.execute(
        "INSERT INTO events (job, seq, at_ms, event)
         SELECT ?2, row_number() OVER (ORDER BY seq), at_ms, event FROM events
         WHERE job = ?1 AND json_extract(event, '$.type') = 'result'",
        [signed(from.0), signed(to.0)],
    )?;
    tx.execute("UPDATE jobs SET last_seq = ?2 WHERE job = ?1", params![signed(to.0), copied])
}

/// Takes the oldest waiting job and marks it as running; also returns the number of results that it starts with.
pub(super) fn claim(db: &mut Connection) -> Result<Option<(JobId, JobSpec, u32)>> {
    let tx = begin(db)?;
    let next = tx
        .query_row(
            "SELECT job, spec, (SELECT count(*) FROM events WHERE events.job = jobs.job
             AND json_extract(event, '$.type') = 'result')
             FROM jobs WHERE state = 'queued' ORDER BY job LIMIT 1",
            [],
            |row| Ok((JobId(row.get(0)?), from_json(row, 1)?, row.get(2)?)),
        )
        .optional()?;
    if let Some((job, ..)) = &next {
        set_state(&tx, *job, JobState::Running)?;
        tx.commit()?;
    }
    Ok(next)
}

/// Appends an event to a job in one of the states; `None` if it is in another.
pub(super) fn append(
    db: &mut Connection,
    job: JobId,
    now: Millis,
    event: JobEvent,
    only_if: &[JobState],
    before: &dyn Fn(),
) -> Result<Option<NumberedEvent>> {
    let tx = begin(db)?;
    let state: Option<String> = tx
        .query_row("SELECT state FROM jobs WHERE job = ?1", [signed(job.0)], |row| row.get(0))
        .optional()?;
    if !state.is_some_and(|state| only_if.iter().any(|allowed| allowed.key() == state)) {
        return Ok(None);
    }
    if let JobEvent::Ended { state, .. } = &event {
        set_state(&tx, job, *state)?;
    }
    let event = add(&tx, job, now, event)?;
    before();
    tx.commit()?;
    Ok(Some(event))
}

/// The jobs that waited or ran when the last daemon ended.
pub(super) fn unfinished(db: &Connection) -> Result<Vec<JobId>> {
    let mut found =
        db.prepare("SELECT job FROM jobs WHERE state IN ('queued', 'running') ORDER BY job")?;
    found.query_map([], |row| Ok(JobId(row.get(0)?)))?.collect()
}

/// Drops all events but the last of jobs that ended long ago; their summaries stay.
pub(super) fn prune(db: &Connection, keep: u32) -> Result<usize> {
    db.execute(
        "DELETE FROM events WHERE job IN (SELECT job FROM jobs ORDER BY job DESC LIMIT -1 OFFSET ?1)
         AND seq < (SELECT last_seq FROM jobs WHERE jobs.job = events.job)
         AND (SELECT state FROM jobs WHERE jobs.job = events.job) NOT IN ('queued', 'running')",
        [keep],
    )
}

pub(super) fn get(db: &Connection, job: JobId) -> Result<Option<JobSummary>> {
    let sql = "SELECT job, request, spec, state, created_ms, last_seq FROM jobs WHERE job = ?1";
    db.query_row(sql, [signed(job.0)], summary).optional()
}

/// Bytes of a summary in JSON without its order.
const SUMMARY_BYTES: usize = 256;

/// The latest jobs before one, and whether some were left out because the list would have more than `bytes` bytes. One job is
/// always in it.
pub(super) fn list(
    db: &Connection,
    limit: u32,
    before: Option<JobId>,
    bytes: usize,
) -> Result<(Vec<JobSummary>, bool)> {
    let sql = "SELECT job, request, spec, state, created_ms, last_seq, length(CAST(spec AS BLOB)) FROM jobs
         WHERE job < ?1 ORDER BY job DESC LIMIT ?2";
    let before = before.map_or(i64::MAX, |job| signed(job.0));
    let (mut jobs, mut left) = (Vec::new(), bytes);
    let mut found = db.prepare(sql)?;
    let mut rows = found.query(params![before, limit])?;
    while let Some(row) = rows.next()? {
        let needed = row.get::<_, usize>(6)?.saturating_add(SUMMARY_BYTES);
        if needed > left && !jobs.is_empty() {
            return Ok((jobs, true));
        }
        left = left.saturating_sub(needed);
        jobs.push(summary(row)?);
    }
    Ok((jobs, false))
}

pub(super) fn events(
    db: &Connection,
    job: JobId,
    after: u64,
    limit: u32,
) -> Result<Vec<NumberedEvent>> {
    let sql =
        "SELECT seq, at_ms, event FROM events WHERE job = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let mut found = db.prepare_cached(sql)?;
    let rows = found.query_map(params![signed(job.0), signed(after), limit], |row| {
        Ok(NumberedEvent { job, seq: row.get(0)?, at_ms: row.get(1)?, event: from_json(row, 2)? })
    })?;
    rows.collect()
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
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
