//! The jobs as the daemon told them and as its database showed them so far, and the rules that both must keep.

use std::collections::BTreeMap;

use protocol::job::{JobEvent, JobSpec, JobState, NumberedEvent, RequestId};
use protocol::limits::LIMITS;
use rusqlite::Connection;

/// Longest time in which a job that is next is not started, in ms.
const NEXT: u64 = 3_000;
/// Longest time of a job, in ms: its limit in a simulation, and the time to end its worker.
pub(super) const LONGEST: u64 = super::LONGEST_MS + 4_000;

/// Longest time from a cancellation to the end of a job, in ms: a second of grace, and the ends of worker and sensors.
const CANCEL: u64 = 3_000;

/// A job as it is known.
#[derive(Debug, Default)]
struct Known {
    state: String,
    last_seq: u64,
    /// Since when it is in its state, in ms of this life.
    since: u64,
    /// The events that clients heard, as JSON.
    heard: BTreeMap<u64, String>,
    /// Its cancellation was acknowledged before it had ended.
    is_canceled: bool,
    /// The time of that, in ms of this life.
    canceled_ms: u64,
    /// Its row was damaged, or these of its events.
    is_damaged: bool,
    damaged: Vec<u64>,
}

/// A request to start a job.
#[derive(Debug, Clone)]
pub(super) struct Request {
    pub(super) id: RequestId,
    pub(super) spec: JobSpec,
    /// The job that it continues.
    pub(super) continues: Option<u64>,
    /// The job that it started, once that is told.
    pub(super) job: Option<u64>,
    /// A client was told that this request started it.
    pub(super) is_fresh: bool,
}

/// A row of the table of jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JobRow {
    pub(super) job: u64,
    pub(super) state: String,
    last_seq: u64,
    owner: String,
}

impl JobRow {
    /// True for a row that no client asked for.
    pub(super) fn is_from_outside(&self) -> bool {
        self.owner == super::step::OUTSIDE
    }

    pub(super) fn is_open(&self) -> bool {
        rank(&self.state) < 2
    }
}

/// All that is known.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    jobs: BTreeMap<u64, Known>,
    pub(super) requests: Vec<Request>,
    /// The first rule that was broken.
    pub(super) wrong: Option<String>,
    /// The store is so small that ended jobs are dropped.
    pub(super) drops_ended: bool,
    /// The rows when a write had failed.
    frozen: Option<Vec<JobRow>>,
    /// Numbers of jobs by the state in which they ended.
    pub(super) ends: BTreeMap<String, u64>,
}

fn rank(state: &str) -> u8 {
    match state {
        "queued" => 0,
        "running" => 1,
        _ => 2,
    }
}

/// The rows of the table of jobs.
pub(super) fn rows(db: &Connection) -> Vec<JobRow> {
    let mut found = db
        .prepare_cached("SELECT job, CASE typeof(state) WHEN 'text' THEN state ELSE 'damaged' END, last_seq, owner FROM jobs ORDER BY job")
        .expect("the table is there");
    let row = |row: &rusqlite::Row<'_>| {
        let (job, state) = (row.get(0)?, row.get(1)?);
        Ok(JobRow { job, state, last_seq: row.get(2)?, owner: row.get(3)? })
    };
    let rows = found.query_map([], row).expect("a query").collect::<Result<_, _>>();
    rows.expect("rows of jobs")
}

impl Ledger {
    /// Nothing is known yet.
    pub(super) fn dropping(drops_ended: bool) -> Self {
        Self { drops_ended, ..Self::default() }
    }

    /// Keeps the first broken rule.
    pub(super) fn blame(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    fn rule(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.blame(what());
        }
    }

    pub(super) fn numbers(&self) -> Vec<u64> {
        self.jobs.keys().copied().collect()
    }

    /// The number of the last event that any client heard of a job.
    pub(super) fn last_heard(&self, job: u64) -> u64 {
        let heard = self.jobs.get(&job).and_then(|known| known.heard.keys().last());
        heard.copied().unwrap_or(0)
    }

    pub(super) fn can_continue(&self, job: u64) -> bool {
        self.jobs
            .get(&job)
            .is_some_and(|known| matches!(known.state.as_str(), "canceled" | "interrupted"))
    }

    /// A request was answered with a job.
    pub(super) fn accepted(&mut self, request: usize, job: u64, fresh: bool) {
        // A request whose job was dropped starts another.
        let before = self.requests[request].job.filter(|job| self.jobs.contains_key(job));
        self.rule(before.is_none_or(|before| before == job), || {
            format!("a request started two jobs: {before:?} and {job}")
        });
        let is_again = fresh && before.is_some() && self.requests[request].is_fresh;
        self.rule(!is_again, || format!("job {job} is fresh twice"));
        self.requests[request].is_fresh |= fresh;
        let others = self.requests.iter().enumerate();
        let other = others.filter(|(at, _)| *at != request).find(|(_, it)| it.job == Some(job));
        let other = other.map(|(at, _)| at);
        self.rule(other.is_none(), || format!("job {job} is of two requests"));
        self.requests[request].job = Some(job);
        self.told(job);
    }

    /// A client was told that there is a job.
    pub(super) fn told(&mut self, job: u64) {
        let is_known = self.drops_ended || self.jobs.contains_key(&job);
        self.rule(is_known, || format!("job {job} was told and is not in the database"));
    }

    /// A cancellation was acknowledged.
    pub(super) fn canceled(&mut self, job: u64, now: u64) {
        if let Some(known) = self.jobs.get_mut(&job).filter(|known| rank(&known.state) < 2) {
            if !known.is_canceled {
                known.canceled_ms = now;
            }
            known.is_canceled = true;
        }
    }

    /// A client heard an event.
    pub(super) fn heard(&mut self, event: &NumberedEvent) {
        let (job, seq) = (event.job.0, event.seq);
        let text = serde_json::to_string(&event.event).expect("events have text keys");
        let Some(known) = self.jobs.get_mut(&job) else {
            return self.told(job);
        };
        let is_damaged = known.is_damaged || known.damaged.contains(&seq);
        let (stored, last) = (known.last_seq, known.state.clone());
        let before = known.heard.entry(seq).or_insert_with(|| text.clone()).clone();
        self.rule(before == text || is_damaged, || {
            format!("event {job}.{seq} is `{before}`, then `{text}`")
        });
        self.rule(seq <= stored, || format!("event {job}.{seq} was told before it was stored"));
        if let JobEvent::Ended { state, .. } = &event.event {
            self.rule(state.key() == last || is_damaged, || {
                format!("job {job} is {last}, and its end says {}", state.key())
            });
        }
    }

    /// Looks at the database after a step, at a time of this life in ms.
    pub(super) fn look(&mut self, rows: &[JobRow], now: u64, is_broken: bool) {
        let running = rows.iter().filter(|row| row.state == "running").count();
        self.rule(running <= 1, || format!("{running} jobs run at once"));
        let queued = rows.iter().filter(|row| row.state == "queued").count();
        self.rule(queued <= LIMITS.queued_jobs as usize, || format!("{queued} jobs wait"));
        let mut shares = BTreeMap::<&str, u32>::new();
        for row in rows.iter().filter(|row| rank(&row.state) < 2) {
            *shares.entry(&row.owner).or_default() += 1;
        }
        let largest = shares.into_values().max().unwrap_or(0);
        self.rule(largest <= LIMITS.jobs_per_key, || format!("a key has {largest} open jobs"));
        for row in rows {
            self.look_at(row, now);
        }
        self.look_for_missing(rows);
        if is_broken {
            let frozen = self.frozen.get_or_insert_with(|| rows.to_vec()).clone();
            self.rule(frozen == rows, || "the jobs changed after a write had failed".into());
        } else {
            self.look_for_stuck(rows, now, running > 0);
        }
    }

    fn look_at(&mut self, row: &JobRow, now: u64) {
        let job = row.job;
        let known = self.jobs.entry(job).or_default();
        let is_new = known.state.is_empty();
        let (before, seq) = (known.state.clone(), known.last_seq);
        if before != row.state {
            known.since = now;
            known.state.clone_from(&row.state);
            if rank(&row.state) == 2 {
                *self.ends.entry(row.state.clone()).or_default() += 1;
            }
        }
        known.last_seq = row.last_seq;
        let (is_damaged, is_canceled) = (known.is_damaged, known.is_canceled);
        if is_damaged || is_new {
            return;
        }
        let state = &row.state;
        self.rule(rank(state) >= rank(&before), || format!("job {job} was {before}, is {state}"));
        self.rule(rank(&before) < 2 || *state == before, || {
            format!("job {job} had ended as {before}, is {state}")
        });
        self.rule(row.last_seq >= seq, || format!("job {job} had {seq} events"));
        self.rule(!(is_canceled && state == "done"), || {
            format!("job {job} was canceled before its end, and is done")
        });
    }

    fn look_for_missing(&mut self, rows: &[JobRow]) {
        let mut missing = Vec::new();
        let is_there = |job: u64| rows.binary_search_by_key(&job, |row| row.job).is_ok();
        self.jobs.retain(|job, _| {
            if is_there(*job) {
                return true;
            }
            // A small store drops ended jobs, but never the latest; one may have ended since the last look.
            if !self.drops_ended || rows.last().is_none_or(|last| *job > last.job) {
                missing.push(*job);
            }
            false
        });
        if let Some(job) = missing.first() {
            self.blame(format!("job {job} was on the disk and is gone"));
        }
    }

    fn look_for_stuck(&mut self, rows: &[JobRow], now: u64, is_busy: bool) {
        let since = |row: &JobRow| now.saturating_sub(self.jobs[&row.job].since);
        let long = rows.iter().find(|row| row.state == "running" && since(row) > LONGEST);
        let long = long.map(|row| row.job);
        // A row that came from outside waits until the queue is told of another.
        let next = rows.iter().find(|row| row.state == "queued" && !row.is_from_outside());
        let freed = rows.iter().map(since).min().unwrap_or(0);
        let idle = next.filter(|row| !is_busy && since(row) > NEXT && freed > NEXT);
        let idle = idle.map(|row| row.job);
        let canceled = |row: &&JobRow| {
            let known = &self.jobs[&row.job];
            row.state == "running" && known.is_canceled && now > known.canceled_ms + CANCEL
        };
        let canceled = rows.iter().find(canceled).map(|row| row.job);
        self.rule(canceled.is_none(), || {
            format!("job {canceled:?} runs on after its cancellation")
        });
        self.rule(long.is_none(), || format!("job {long:?} runs for too long"));
        self.rule(idle.is_none(), || format!("job {idle:?} waits, and nothing runs"));
    }

    /// A life begins, and the times of jobs count from zero. All that was seen in the database had been committed.
    pub(super) fn begin(&mut self) {
        self.frozen = None;
        self.jobs.values_mut().for_each(|known| known.since = 0);
    }

    /// A job's row or an event of it was damaged from outside.
    pub(super) fn damaged(&mut self, job: u64, event: Option<u64>) {
        let known = self.jobs.entry(job).or_default();
        match event {
            Some(seq) => known.damaged.push(seq),
            None => known.is_damaged = true,
        }
    }

    /// Holds the whole database against what was told, when a daemon has opened it.
    pub(super) fn hold(&mut self, db: &Connection) {
        for row in rows(db) {
            let (job, state) = (row.job, &row.state);
            let events = events(db, job);
            let known = self.jobs.entry(job).or_default();
            let (is_damaged, damaged) = (known.is_damaged, known.damaged.clone());
            let heard = known.heard.clone();
            let first = events.first().map_or(1, |(seq, _)| *seq);
            let numbers = (first..).zip(&events).all(|(expected, (seq, _))| expected == *seq);
            let last = events.last().map_or(0, |(seq, _)| *seq);
            let drops = self.drops_ended;
            self.rule(numbers && last == row.last_seq && (first == 1 || drops), || {
                format!("the events of job {job} have a gap: {first} to {last} of {}", row.last_seq)
            });
            let ends: Vec<_> =
                events.iter().filter(|(_, text)| text.contains(r#""type":"ended""#)).collect();
            let is_end = |(seq, text): &&&(u64, String)| {
                *seq == last && text.contains(&format!(r#""state":"{state}""#))
            };
            let right = ends.len() == 1 && ends.iter().any(|end| is_end(&end));
            let is_open = rank(state) < 2;
            self.rule(
                is_damaged || damaged.contains(&last) || right || is_open && ends.is_empty(),
                || format!("job {job} is {state}, and its ends are {ends:?}"),
            );
            for (seq, text) in heard.iter().filter(|(seq, _)| **seq >= first) {
                let stored = events.iter().find(|(number, _)| number == seq).map(|(_, text)| text);
                self.rule(stored == Some(text) || is_damaged || damaged.contains(seq), || {
                    format!("event {job}.{seq} was told as `{text}` and is {stored:?}")
                });
            }
        }
    }

    /// After a start every job of the life before has ended.
    pub(super) fn all_ended(&mut self, rows: &[JobRow]) {
        let open = rows.iter().find(|row| rank(&row.state) < 2).cloned();
        self.rule(open.is_none(), || format!("{open:?} is open after a start"));
    }
}

fn events(db: &Connection, job: u64) -> Vec<(u64, String)> {
    let mut found = db
        .prepare_cached("SELECT seq, event FROM events WHERE job = ?1 ORDER BY seq")
        .expect("the table is there");
    let job = i64::try_from(job).expect("a small number");
    let rows = found.query_map([job], |row| Ok((row.get(0)?, row.get(1)?))).expect("a query");
    rows.collect::<Result<_, _>>().expect("rows of events")
}

/// The state that a list told, held against the database: what is told is not ahead of it.
pub(super) fn is_told_right(told: JobState, stored: &str) -> bool {
    told == JobState::Unknown || rank(told.key()) <= rank(stored)
}
