//! The types by which pages of before `hello.can` read a daemon, as they were: what is needed to read its messages. They are never
//! changed; what they mean is said where the living types are.

#![allow(dead_code, reason = "fields are here to be read from JSON")]

use std::collections::BTreeMap;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Say {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<u32>,
    pub(crate) say: ServerMessage,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ServerMessage {
    Hello(Hello),
    Identified(Identified),
    Paired(Paired),
    Accepted(Accepted),
    Jobs {
        jobs: Vec<JobSummary>,
    },
    Event(NumberedEvent),
    Snapshot {
        job: JobSummary,
        after: u64,
    },
    Telemetry(Telemetry),
    Ok,
    Pong,
    Fault(Fault),
    Bye(Fault),
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) protocol: Versions,
    pub(crate) server: Hex<16>,
    pub(crate) nonce: Hex<32>,
    pub(crate) version: String,
    pub(crate) limits: Limits,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Versions {
    pub(crate) min: u32,
    pub(crate) max: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Identified {
    pub(crate) proof: Hex<32>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) session: u64,
    pub(crate) epoch: Hex<8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) machine: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Paired {
    pub(crate) key: Hex<8>,
    pub(crate) proof: Hex<32>,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) session: u64,
    pub(crate) epoch: Hex<8>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) machine: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accepted {
    pub(crate) job: JobId,
    pub(crate) fresh: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobId(pub(crate) u64);

pub(crate) type RequestId = Hex<16>;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum JobSpec {
    Bench(BenchSpec),
    Calibrate(CalibrateSpec),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CalibrateSpec {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobState {
    Queued,
    Running,
    Done,
    Failed,
    Canceled,
    Interrupted,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct JobSummary {
    pub(crate) job: JobId,
    pub(crate) request: RequestId,
    pub(crate) spec: JobSpec,
    pub(crate) state: JobState,
    pub(crate) created_ms: u64,
    pub(crate) last_seq: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct NumberedEvent {
    pub(crate) job: JobId,
    pub(crate) seq: u64,
    pub(crate) at_ms: u64,
    pub(crate) event: JobEvent,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum JobEvent {
    Queued,
    Started {
        predicted_s: Option<f64>,
    },
    Progress {
        done: u32,
        total: u32,
        note: String,
    },
    Result {
        record: Box<BenchRecord>,
    },
    Calibration {
        calibration: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
    },
    Log {
        line: String,
    },
    Ended {
        state: JobState,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<Fault>,
    },
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BenchSpec {
    pub(crate) what: BenchKind,
    #[serde(default)]
    pub(crate) shapes: Vec<Shape>,
    #[serde(default)]
    pub(crate) formats: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) backend: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) iterations: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum BenchKind {
    Gemv,
    Gemm,
    Bandwidth,
    Flops,
    Roofs,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shape {
    pub(crate) m: u64,
    pub(crate) n: u64,
    pub(crate) k: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BenchRecord {
    pub(crate) schema: u32,
    pub(crate) kernel: String,
    pub(crate) route: String,
    pub(crate) backend: String,
    pub(crate) device: String,
    pub(crate) shape: Option<Shape>,
    pub(crate) precision: Option<Precision>,
    pub(crate) cache: String,
    pub(crate) bytes: f64,
    pub(crate) flops: f64,
    #[serde(default)]
    pub(crate) accounting: String,
    #[serde(default)]
    pub(crate) footprint_bytes: f64,
    pub(crate) time_s: Time,
    pub(crate) byte_per_s: Option<f64>,
    pub(crate) flop_per_s: Option<f64>,
    pub(crate) energy_j: Option<f64>,
    pub(crate) check: Check,
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) stop_rule: BTreeMap<String, Condition>,
    #[serde(default)]
    pub(crate) calls_per_window: u64,
    #[serde(default)]
    pub(crate) samples_s: Vec<f64>,
    pub(crate) conditions: BTreeMap<String, Condition>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Precision {
    pub(crate) weights: String,
    pub(crate) activations: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Time {
    pub(crate) median: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
    pub(crate) n: u64,
    #[serde(default)]
    pub(crate) mad: f64,
    #[serde(default)]
    pub p5: f64,
    #[serde(default)]
    pub p95: f64,
    #[serde(default)]
    pub(crate) min: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Check {
    pub(crate) worst_error: Option<f64>,
    pub(crate) tolerance: f64,
    pub(crate) passed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Condition {
    Flag(bool),
    Number(f64),
    Text(String),
    Reasons(BTreeMap<String, String>),
    Missing(()),
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: FaultCode,
    pub(crate) message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_ms: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FaultCode {
    Malformed,
    Unauthenticated,
    Forbidden,
    NotFound,
    BadInput,
    Conflict,
    QueueFull,
    Rate,
    Version,
    Unsupported,
    Hung,
    Crashed,
    Garbled,
    Failed,
    Interrupted,
    Storage,
    Draining,
    Internal,
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Limits {
    pub(crate) message_bytes: u32,
    pub(crate) sessions: u32,
    pub(crate) messages_per_s: u32,
    pub(crate) subscriptions: u32,
    pub(crate) telemetry_hz: f64,
    pub(crate) queued_jobs: u32,
    pub(crate) jobs_per_key: u32,
    pub(crate) points: u32,
    pub(crate) dimension: u64,
    pub(crate) job_s: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    Read,
    Bench,
    Files,
    Power,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Telemetry {
    pub(crate) at_ms: u64,
    pub(crate) readings: Vec<Reading>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reading {
    pub(crate) name: String,
    pub(crate) value: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

/// Bytes as lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hex<const N: usize>(String);

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(to)
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 2 * N && text.bytes().all(is_digit) {
            Ok(Self(text))
        } else {
            Err(D::Error::custom("not hexadecimal digits in lower case"))
        }
    }
}
