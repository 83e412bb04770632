//! The types by which daemons of before `hello.can` read a page, as they were: an unknown field or message was refused. They are never
//! changed; what they mean is said where the living types are.

#![allow(dead_code, reason = "fields are here to be read from JSON")]

use protocol::hex::Hex;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    id: u32,
    ask: ClientMessage,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum ClientMessage {
    Identify(Identify),
    Pair(Pair),
    StartJob(StartJob),
    ContinueJob(ContinueJob),
    CancelJob {
        job: u64,
    },
    ListJobs {
        #[serde(default)]
        limit: u32,
    },
    SubscribeJob {
        job: u64,
        #[serde(default)]
        after: u64,
    },
    UnsubscribeJob {
        job: u64,
    },
    SubscribeTelemetry {
        hz: f64,
    },
    UnsubscribeTelemetry {},
    Ping {},
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Identify {
    protocol: u32,
    key: Hex<8>,
    nonce: Hex<32>,
    proof: Hex<32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pair {
    protocol: u32,
    nonce: Hex<32>,
    proof: Hex<32>,
    #[serde(default)]
    label: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StartJob {
    request: Hex<16>,
    job: JobSpec,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContinueJob {
    request: Hex<16>,
    job: u64,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum JobSpec {
    Bench(BenchSpec),
    Calibrate(CalibrateSpec),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CalibrateSpec {
    #[serde(default)]
    backend: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BenchSpec {
    what: BenchKind,
    #[serde(default)]
    shapes: Vec<Shape>,
    #[serde(default)]
    formats: Vec<String>,
    #[serde(default)]
    backend: Option<String>,
    #[serde(default)]
    iterations: Option<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BenchKind {
    Gemv,
    Gemm,
    Bandwidth,
    Flops,
    Roofs,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    m: u64,
    n: u64,
    k: u64,
}
