//! The daemon's jobs as known to this page. Events have sequence numbers: duplicates are dropped, gaps are requested again.

use protocol::bench::{BenchKind, BenchRecord};
use protocol::device::asked_id;
use protocol::fault::Fault;
use protocol::job::{
    JobEvent, JobId, JobSpec, JobState, JobSummary, NumberedEvent, ProgressUnit, ToldSpec,
};
use report::output::words::progress::seconds_left;

use super::readings::{SensorReadings, join};

/// Handling of a job's result (measured roofs or a calibration).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultUse {
    /// It is only shown, because the job was not started here.
    Shown,
    /// It becomes a choice of device on arrival, and changes nothing else: the newest result of a device when the page connects.
    Offered,
    /// It is applied on arrival, because this page started the job, or because it has the roofs of a machine that was just
    /// connected.
    Awaited,
    /// It was applied, or a later job's result was.
    Applied,
}

/// Progress of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProgress {
    /// Finished points, bytes or tokens.
    pub done: u64,
    /// Those of the whole job; 0 while nobody knows them.
    pub total: u64,
    pub unit: ProgressUnit,
    /// The present one, or the reason of a wait.
    pub note: String,
}

/// A job with the events received so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub summary: JobSummary,
    /// Sequence number of the last event that was applied.
    pub seq: u64,
    /// Number of the form's order that it belongs to, which can have two jobs; 0 if this page did not order it.
    pub batch: u32,
    /// Older events are no longer stored by the daemon.
    pub is_cut: bool,
    /// The page has subscribed to its events.
    pub is_followed: bool,
    /// Whether its result is applied to the page's device.
    pub result_use: ResultUse,
    /// Name of the device that it ran on; empty while that is unknown, and with older daemons.
    pub ran_on: String,
    /// It ran on a device that the machine no longer has under this name, so its result is not used by itself.
    pub is_elsewhere: bool,
    pub progress: Option<JobProgress>,
    /// Predicted duration, in s.
    pub predicted_s: Option<f64>,
    /// Wall-clock time when its process started, in ms.
    pub started_ms: Option<u64>,
    /// Wall-clock time of its last event, in ms.
    pub last_ms: u64,
    /// Points that the job which it continues had measured.
    pub before: u64,
    /// Measurements received so far.
    pub records: Vec<BenchRecord>,
    /// Text of the calibration file, and text of the device file if there is one.
    pub calibration: Option<(String, Option<String>)>,
    /// Text of the device file of measured roofs.
    pub roofs: Option<String>,
    /// Readings of sensors while it ran.
    pub readings: Vec<SensorReadings>,
    /// Events that this page cannot read.
    pub later: u32,
    /// Reason why it failed.
    pub fault: Option<Fault>,
}

impl Job {
    fn new(summary: JobSummary) -> Self {
        Self {
            summary,
            seq: 0,
            batch: 0,
            is_cut: false,
            is_followed: false,
            result_use: ResultUse::Shown,
            ran_on: String::new(),
            is_elsewhere: false,
            progress: None,
            predicted_s: None,
            started_ms: None,
            last_ms: 0,
            before: 0,
            records: Vec::new(),
            calibration: None,
            roofs: None,
            readings: Vec::new(),
            later: 0,
            fault: None,
        }
    }

    /// The device that it asks for, such as `cpu:0`.
    pub fn device(&self) -> String {
        asked_id(self.summary.spec.known().and_then(JobSpec::device))
    }

    /// Whether it is queued or running.
    pub const fn is_open(&self) -> bool {
        !self.summary.state.is_final()
    }

    /// Whether it has ended, all of it is known, and it has no result.
    pub fn is_empty(&self) -> bool {
        let is_known = !self.is_open() && self.seq >= self.summary.last_seq;
        is_known && self.records.is_empty() && self.calibration.is_none() && self.roofs.is_none()
    }

    /// Whether a new job can measure what is left. Roofs and calibrations are measured in one run.
    pub fn can_continue(&self) -> bool {
        let is_cut = matches!(self.summary.state, JobState::Canceled | JobState::Interrupted);
        is_cut
            && matches!(&self.summary.spec, ToldSpec::Known(JobSpec::Bench(bench)) if bench.what != BenchKind::Roofs)
    }

    /// Whether it has measured roofs, whole and known to the page, without a device file: an older daemon made none.
    pub fn lacks_file(&self) -> bool {
        let measures_roofs = matches!(&self.summary.spec, ToldSpec::Known(JobSpec::Bench(bench)) if bench.what == BenchKind::Roofs);
        let is_whole = self.summary.state == JobState::Done && self.seq >= self.summary.last_seq;
        measures_roofs && is_whole && self.roofs.is_none() && !self.records.is_empty()
    }

    /// Remaining time, in s, from the share that is done, else from the predicted duration; `None` when neither is known.
    pub fn seconds_left(&self) -> Option<f64> {
        let passed = self.last_ms.saturating_sub(self.started_ms?) as f64 / 1000.0;
        match &self.progress {
            Some(JobProgress { done, total, .. }) if *done > self.before => {
                seconds_left(done - self.before, total.saturating_sub(self.before), passed)
            }
            _ => self.predicted_s.map(|predicted| (predicted - passed).max(0.0)),
        }
    }

    fn take(&mut self, event: JobEvent, at_ms: u64) {
        self.last_ms = at_ms;
        if self.summary.created_ms == 0 {
            // The daemon's answer to an order has no time.
            self.summary.created_ms = at_ms;
        }
        match event {
            JobEvent::Started { predicted_s, device } => {
                self.summary.state = JobState::Running;
                self.ran_on = device.map_or_else(String::new, |device| device.name);
                self.predicted_s = predicted_s;
                self.started_ms = Some(at_ms);
                self.before = self.records.len() as u64;
            }
            JobEvent::Progress { done, total, unit, note } => {
                self.progress = Some(JobProgress { done, total, unit, note });
            }
            JobEvent::Result { record } => self.records.push(*record),
            JobEvent::Calibration { calibration, device, whole, whole_device } => {
                self.calibration = Some((whole.unwrap_or(calibration), whole_device.or(device)));
            }
            JobEvent::Device { file, whole } => self.roofs = Some(whole.unwrap_or(file)),
            JobEvent::Readings { at_ms, sensors } => join(&mut self.readings, &at_ms, sensors),
            JobEvent::Ended { state, fault } => {
                self.summary.state = state;
                self.fault = fault;
            }
            JobEvent::Unknown => self.later = self.later.saturating_add(1),
            JobEvent::Queued | JobEvent::Log { .. } => {}
        }
    }
}

/// Result of receiving an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOutcome {
    /// It was the next one and was applied.
    Applied,
    /// It was received before, or its job is unknown; it was ignored.
    Ignored,
    /// Events before it are missing; subscribe again after this sequence number.
    Gap(u64),
}

/// All known jobs, newest first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobList {
    jobs: Vec<Job>,
}

impl JobList {
    /// The jobs, newest first.
    pub fn all(&self) -> &[Job] {
        &self.jobs
    }

    /// Looks up a job; `None` if it is unknown.
    pub fn job(&self, id: JobId) -> Option<&Job> {
        self.jobs.iter().find(|job| job.summary.job == id)
    }

    fn at(&mut self, id: JobId) -> Option<&mut Job> {
        self.jobs.iter_mut().find(|job| job.summary.job == id)
    }

    /// Inserts or updates a job. A final state is kept, because a list may be older than an event.
    fn known(&mut self, summary: JobSummary) -> &mut Job {
        let id = summary.job;
        let place = match self.jobs.iter().position(|job| job.summary.job <= id) {
            Some(place) if self.jobs[place].summary.job == id => place,
            place => {
                let place = place.unwrap_or(self.jobs.len());
                self.jobs.insert(place, Job::new(summary.clone()));
                place
            }
        };
        let job = &mut self.jobs[place];
        if job.is_open() {
            job.summary = summary;
        }
        job
    }

    /// Stores the daemon's job list.
    pub fn listed(&mut self, jobs: Vec<JobSummary>) {
        for summary in jobs {
            self.known(summary);
        }
    }

    /// Stores a job that this page started with others of a batch; its result is to be applied.
    pub fn accepted(&mut self, summary: JobSummary, batch: u32) {
        let job = self.known(summary);
        (job.result_use, job.batch) = (ResultUse::Awaited, batch);
    }

    /// A job and those that were ordered together with it, the oldest first; none if it is unknown.
    pub fn ordered_with(&self, id: JobId) -> impl Iterator<Item = &Job> {
        let batch = self.job(id).map_or(0, |job| job.batch);
        let is_of_it = move |job: &&Job| job.summary.job == id || (batch > 0 && job.batch == batch);
        self.jobs.iter().rev().filter(is_of_it)
    }

    /// Stores the summary that confirms a subscription; the events after number `after` follow.
    pub fn snapshot(&mut self, summary: JobSummary, after: u64) {
        let was_over = self.job(summary.job).is_some_and(|job| !job.is_open());
        let last = summary.last_seq;
        let job = self.known(summary);
        job.is_followed = true;
        if after > job.seq {
            job.is_cut = true;
            job.seq = after;
        }
        // The final state is among the events that follow, unless all of them were received before.
        if !was_over && !job.is_open() && job.seq < last {
            job.summary.state = JobState::Running;
        }
    }

    /// Applies an event if it is the next one of its job.
    pub fn event(&mut self, event: NumberedEvent) -> EventOutcome {
        let Some(job) = self.at(event.job) else { return EventOutcome::Ignored };
        if event.seq <= job.seq {
            return EventOutcome::Ignored;
        }
        if event.seq > job.seq + 1 {
            return EventOutcome::Gap(job.seq);
        }
        job.seq = event.seq;
        job.take(event.event, event.at_ms);
        EventOutcome::Applied
    }

    /// Marks all jobs as unsubscribed, because the socket was closed.
    pub fn lost(&mut self) {
        for job in &mut self.jobs {
            job.is_followed = false;
        }
    }

    /// Marks a job as unsubscribed.
    pub fn left(&mut self, id: JobId) {
        if let Some(job) = self.at(id) {
            job.is_followed = false;
        }
    }

    /// The newest job that has the roofs of a device; `None` if there is none, or if its result was applied.
    pub fn newest_roofs(&self, device: &str) -> Option<JobId> {
        let brings_roofs = |job: &&Job| match &job.summary.spec {
            ToldSpec::Known(JobSpec::Bench(bench)) => bench.what == BenchKind::Roofs,
            ToldSpec::Known(JobSpec::Calibrate(_)) => true,
            ToldSpec::Later(_) => false,
        };
        let done = |job: &&Job| job.summary.state == JobState::Done && !job.lacks_file();
        let mut jobs = self.jobs.iter().filter(|job| job.device() == device && !job.is_elsewhere);
        let found = jobs.find(|job| done(job) && brings_roofs(job))?;
        let is_unused = matches!(found.result_use, ResultUse::Shown | ResultUse::Offered);
        is_unused.then_some(found.summary.job)
    }

    /// Has the result of a job used when it arrives.
    pub fn awaits(&mut self, id: JobId, result_use: ResultUse) {
        if let Some(job) = self.at(id) {
            job.result_use = result_use;
        }
    }

    /// Marks the result of a job as a choice of device that it has become.
    pub fn offered(&mut self, id: JobId) {
        if let Some(job) = self.at(id).filter(|job| job.result_use == ResultUse::Offered) {
            job.result_use = ResultUse::Shown;
        }
    }

    /// Has the result of a job not used by itself, because its device is another one.
    pub fn elsewhere(&mut self, id: JobId) {
        if let Some(job) = self.at(id) {
            (job.is_elsewhere, job.result_use) = (true, ResultUse::Shown);
        }
    }

    /// Marks the result of a job as applied; results of older jobs of its device are then outdated.
    pub fn taken(&mut self, id: JobId) {
        let Some(device) = self.job(id).map(Job::device) else { return };
        for job in self.jobs.iter_mut().filter(|job| job.summary.job <= id) {
            if job.device() == device {
                job.result_use = ResultUse::Applied;
            }
        }
    }

    /// Subscribes to open jobs and to `shown` where that is missing, to `most` in all; returns each job with its last received sequence
    /// number.
    pub fn follow(&mut self, shown: Option<JobId>, most: usize) -> Vec<(JobId, u64)> {
        let wanted = |job: &Job| {
            let is_used = matches!(job.result_use, ResultUse::Offered | ResultUse::Awaited);
            let is_wanted = Some(job.summary.job) == shown || is_used;
            let has_more = job.seq < job.summary.last_seq;
            !job.is_followed && (job.is_open() || is_wanted && has_more)
        };
        let free = most.saturating_sub(self.jobs.iter().filter(|job| job.is_followed).count());
        // The shown job first, then those that run or run next: the oldest open ones. (Passes, because a sort is some kilobytes of page.)
        let pass_of = |job: &Job| match job.is_open() {
            _ if Some(job.summary.job) == shown => 0,
            true => 1,
            false => 2,
        };
        let mut found = Vec::new();
        for pass in 0..3 {
            for job in self.jobs.iter_mut().rev() {
                if found.len() < free && wanted(job) && pass_of(job) == pass {
                    job.is_followed = true;
                    found.push((job.summary.job, job.seq));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests;
