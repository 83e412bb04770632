//! Jobs: what may be asked for, in which states they are, and the events by which they tell.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::bench::{BenchRecord, BenchSpec};
use crate::fault::Fault;
use crate::hex::Hex;

/// The number of a job, unique on its daemon for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// Chosen by the client at random: the same one never starts a second job.
pub type RequestId = Hex<16>;

/// What to do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum JobSpec {
    /// Time kernels: one point is a spot check, many are a sweep.
    Bench(BenchSpec),
    /// Measure the points that fix this device's factors.
    Calibrate(CalibrateSpec),
}

/// A calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrateSpec {
    /// Key of the backend; without it the best that the machine has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

/// Where a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits.
    Queued,
    /// Its process runs.
    Running,
    /// It ended as it should.
    Done,
    /// It did not.
    Failed,
    /// A client ended it.
    Canceled,
    /// The daemon ended before it did.
    Interrupted,
}

impl JobState {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Done, Self::Failed, Self::Canceled, Self::Interrupted];

    /// True if nothing follows any more.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// Its name on the wire.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A job in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSummary {
    /// Which.
    pub job: JobId,
    /// The request that started it.
    pub request: RequestId,
    /// What it does.
    pub spec: JobSpec,
    /// Where it is.
    pub state: JobState,
    /// Wall clock of its start, milliseconds since 1970.
    pub created_ms: u64,
    /// The number of its last event; the first is 1.
    pub last_seq: u64,
}

/// One event of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberedEvent {
    /// Of which job.
    pub job: JobId,
    /// 1, 2, 3 and so on, without a gap, for good.
    pub seq: u64,
    /// Wall clock, milliseconds since 1970.
    pub at_ms: u64,
    /// What happened.
    pub event: JobEvent,
}

/// What happens to a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JobEvent {
    /// It waits.
    Queued,
    /// Its process runs.
    Started {
        /// Seconds that it will take, as far as it knows.
        predicted_s: Option<f64>,
    },
    /// It came further.
    Progress {
        /// Points that are done.
        done: u32,
        /// Of so many.
        total: u32,
        /// What it does now.
        note: String,
    },
    /// A point is measured.
    Result {
        /// Its record.
        record: alloc::boxed::Box<BenchRecord>,
    },
    /// A calibration is made.
    Calibration {
        /// The text of a calibration file, as `ridgepoint calibrate` writes it.
        calibration: String,
        /// The text of a device file with the measured ceilings, for a device that no catalog has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
    },
    /// A line that it has to say.
    Log {
        /// The line.
        line: String,
    },
    /// Its last event.
    Ended {
        /// How.
        state: JobState,
        /// Why, if it is not as it should be.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
    },
    /// An event of a later version.
    #[serde(other)]
    Unknown,
}
