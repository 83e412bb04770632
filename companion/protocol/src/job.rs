//! Jobs: their orders, their states, and their events.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bench::{BenchKind, BenchRecord, BenchSpec};
use crate::device::DeviceName;
use crate::fault::Fault;
use crate::hex::Hex;
use crate::scope::Scope;
use crate::telemetry::SensorSeries;
use crate::tolerant::{known_items, or_default};

/// The number of a job; a daemon never uses one twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// Random id of a request; a repeated id never starts a second job.
pub type RequestId = Hex<16>;

/// The order of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum JobSpec {
    /// Times kernels: one point is a spot check, many are a sweep.
    Bench(BenchSpec),
    /// Measures the points from which this device's factors are fitted.
    Calibrate(CalibrateSpec),
}

impl JobSpec {
    /// All kinds of this version, as [`Self::kind`] names them.
    pub const KINDS: [&str; 2] = [Self::BENCH, Self::CALIBRATE];
    /// Kind of [`Self::Bench`].
    pub const BENCH: &str = "bench";
    /// Kind of [`Self::Calibrate`].
    pub const CALIBRATE: &str = "calibrate";

    /// Name of the kind in JSON.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Bench(_) => Self::BENCH,
            Self::Calibrate(_) => Self::CALIBRATE,
        }
    }

    /// The scope that a session needs to start the job.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Bench(_) | Self::Calibrate(_) => Scope::Bench,
        }
    }

    /// The device that the order names; `None` for the first of the machine.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::Bench(spec) => spec.backend.as_deref(),
            Self::Calibrate(spec) => spec.backend.as_deref(),
        }
    }
}

/// The order of a job as a daemon tells it; that of a later version does not spoil the list that it stands in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ToldSpec {
    Known(JobSpec),
    /// An order whose kind, kernel or field this version does not know.
    Later(LaterSpec),
}

impl ToldSpec {
    /// The order, unless it is of a later version.
    pub const fn known(&self) -> Option<&JobSpec> {
        match self {
            Self::Known(spec) => Some(spec),
            Self::Later(_) => None,
        }
    }

    /// Whether pages of the first version read the order.
    pub fn is_first(&self) -> bool {
        match self.known() {
            Some(JobSpec::Bench(spec)) => {
                BenchKind::FIRST.contains(&spec.what) && spec.sizes.is_empty()
            }
            Some(JobSpec::Calibrate(CalibrateSpec { backend: _ })) => true,
            None => false,
        }
    }
}

impl From<JobSpec> for ToldSpec {
    fn from(spec: JobSpec) -> Self {
        Self::Known(spec)
    }
}

/// The part of an order of a later version that this one reads.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaterSpec {
    /// Kind of the job, such as `quantize`; empty if it is not named.
    #[serde(default, deserialize_with = "or_default")]
    pub kind: String,
}

/// The order of a calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CalibrateSpec {
    /// Device, such as `cuda:1`, or `cuda` for the first of its backend; absent for the first of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
}

/// The state of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Accepted, not started.
    Queued,
    Running,
    /// Completed with success.
    Done,
    /// Ended with an error.
    Failed,
    /// Ended by a client.
    Canceled,
    /// The daemon ended while the job waited or ran.
    Interrupted,
    /// A state of a later version.
    #[serde(other)]
    Unknown,
}

impl JobState {
    /// All states of this version.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Done, Self::Failed, Self::Canceled, Self::Interrupted];

    /// True if no further event follows.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// The name in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Interrupted => "interrupted",
            Self::Unknown => "unknown",
        }
    }
}

/// The summary of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobSummary {
    pub job: JobId,
    pub request: RequestId,
    pub spec: ToldSpec,
    pub state: JobState,
    /// Start by the wall clock, in ms since 1970.
    pub created_ms: u64,
    /// Number of the last event; the first is 1.
    pub last_seq: u64,
}

/// An event with its number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NumberedEvent {
    pub job: JobId,
    /// Number of the event: 1, 2, 3 and so on, without a gap.
    pub seq: u64,
    /// Wall clock, in ms since 1970.
    pub at_ms: u64,
    /// [`JobEvent::Unknown`] if it cannot be read, so that its number counts and the events after it are read.
    #[serde(deserialize_with = "or_default")]
    pub event: JobEvent,
}

/// The unit in which a job counts its progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressUnit {
    #[default]
    Points,
    Bytes,
    Tokens,
    /// A unit of a later version.
    #[serde(other)]
    Unknown,
}

impl ProgressUnit {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    const fn is_points(&self) -> bool {
        matches!(self, Self::Points)
    }
}

/// An event of a job.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JobEvent {
    /// The job is in the queue.
    Queued,
    /// The worker runs.
    Started {
        /// Predicted duration, in s.
        predicted_s: Option<f64>,
        /// The device that is measured; absent for older daemons, and for jobs that measure none.
        #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_default")]
        device: Option<DeviceName>,
    },
    /// Progress of the worker.
    Progress {
        /// Finished points, bytes or tokens.
        done: u64,
        /// Those of the whole job; 0 while nobody knows them.
        total: u64,
        /// Unit of both; absent for points, as in messages of before.
        #[serde(default, skip_serializing_if = "ProgressUnit::is_points")]
        unit: ProgressUnit,
        /// The point that is measured now.
        note: String,
    },
    /// The record of one point.
    Result { record: alloc::boxed::Box<BenchRecord> },
    /// The result of a calibration.
    Calibration {
        /// The text of a calibration file, as `ridgepoint calibrate` writes it.
        calibration: String,
        /// The text of a device file with the measured ceilings, for a device that is not in the catalog.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The calibration with the rows that programs of before refuse; absent where it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<String>,
        /// The device file with the fields that programs of before refuse; absent where it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole_device: Option<String>,
    },
    /// The roofs of a device, from the job that measured them.
    Device {
        /// The text of a device file.
        file: String,
        /// The file with the fields that programs of before refuse; absent where it has none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        whole: Option<String>,
    },
    /// Load, clocks, temperature and power since the event before, read at most ten times a second while the worker runs.
    Readings {
        /// Moments by the wall clock, in ms since 1970.
        at_ms: Vec<u64>,
        /// The sensors that gave a value; one of a later version is left out.
        #[serde(deserialize_with = "known_items")]
        sensors: Vec<SensorSeries>,
    },
    /// A line of the worker's log.
    Log { line: String },
    /// The last event.
    Ended {
        state: JobState,
        /// The reason of a failure or an interruption.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
    },
    /// An event of a later version.
    #[default]
    #[serde(other)]
    Unknown,
}
