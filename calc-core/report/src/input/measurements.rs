//! Files that benchmarks and profilers write, recognized by their content: whole runs of llama-bench, vLLM, SGLang and
//! aiperf, and kernels of Nsight Compute, as times of work that a request can describe. Nothing here reads a file.
//!
//! Times, sizes and settings only: what they are compared with is the matter of `request::measured`.

mod aiperf;
pub mod error;
mod llama_bench;
mod nsight;
mod offline;
mod record;
mod serving;

use calc_core::units::{Bytes, Seconds};
use serde_json::{Map, Value};

use self::error::MeasurementError;
use self::record::Record;
use super::json_input;

/// Largest number of times of a file.
pub const MAX_TIMES: usize = 2000;

/// The program that wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchTool {
    LlamaBench,
    VllmServe,
    VllmLatency,
    SglangServe,
    SglangOneBatch,
    Aiperf,
    NsightCompute,
}

impl BenchTool {
    /// Name for people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LlamaBench => "llama-bench",
            Self::VllmServe => "vllm bench serve",
            Self::VllmLatency => "vllm bench latency",
            Self::SglangServe => "SGLang's bench_serving",
            Self::SglangOneBatch => "SGLang's bench_one_batch",
            Self::Aiperf => "aiperf",
            Self::NsightCompute => "Nsight Compute",
        }
    }
}

/// The measurements of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredFile {
    pub tool: BenchTool,
    pub runs: Vec<MeasuredRun>,
}

/// A run, or the launches of a kernel.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MeasuredRun {
    /// Name as the tool writes it: `tg128 @ d512`.
    pub label: String,
    /// Fields of a request that the file tells; flags replace them.
    pub told: Vec<ToldByFile>,
    /// Fields that a request must have beside them, because the file does not tell them.
    pub needs: &'static [&'static str],
    /// Layers on the device, where the file says that it is not all of them: llama.cpp counts the LM head as one.
    pub device_layers: Option<u64>,
    pub times: Vec<MeasuredTime>,
    pub remarks: Vec<RunRemark>,
}

/// A field of a request, and the field of the file that tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldByFile {
    pub key: &'static str,
    pub value: String,
    /// Name in the file.
    pub of: &'static str,
}

impl ToldByFile {
    #[expect(clippy::needless_pass_by_value, reason = "callers give texts and numbers alike")]
    pub(super) fn new(key: &'static str, value: impl ToString, of: &'static str) -> Self {
        Self { key, value: value.to_string(), of }
    }
}

/// Work with a measured time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredWork {
    /// The prompts of a batch, computed apart.
    Prompt,
    /// A request until its first token.
    FirstToken,
    /// A token of each sequence.
    Token,
    /// Tokens of all requests, as the time of a token of each.
    AllTokens,
    /// Prompt and all new tokens.
    Answer,
    /// One launch of a kernel.
    Kernel,
}

/// Mean or median over what was repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    Mean,
    Median,
}

/// A measured time with the size of its work.
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredTime {
    pub work: MeasuredWork,
    pub time: Seconds,
    pub statistic: Statistic,
    /// Fields of the request that only this work has; flags replace them.
    pub told: Vec<ToldByFile>,
    /// Fields that no flag replaces, because they are what is compared.
    pub fixed: Vec<(&'static str, u64)>,
    /// Tokens in the time, for its rate; `None` for a kernel.
    pub tokens: Option<f64>,
    /// DRAM traffic that the profiler counted.
    pub traffic: Option<Bytes>,
    pub judged: Comparable,
}

/// The part of a comparison that a time allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparable {
    /// The interval of the expected time, and the roof.
    Interval,
    /// The roof only: the time contains more than the work.
    Roof(Hindrance),
    /// Neither.
    Nothing(Hindrance),
}

/// Reasons against a full comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hindrance {
    /// Several requests at once: each waits for the prompts of others.
    OtherRequests,
    /// The number of requests at once is not known.
    UnknownConcurrency,
    /// Requests arrived faster than they were answered, so a queue grew.
    RateAboveCapacity,
    /// Prompts and waiting are in the rate of all tokens.
    WholeRun,
    FailedRequests,
    /// Several tokens a step, by drafts.
    Drafts,
    /// Layers or experts outside of the device.
    PartlyOnHost,
}

/// Facts about a run that a reader must know.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RunRemark {
    Failed {
        failed: u64,
        completed: u64,
    },
    /// Lengths of prompts or answers differ; the mean was taken.
    MeanLengths,
    /// Tokens of a chunk other than the usual 512 of llama.cpp.
    MicroBatch(u64),
    /// Keys and values of different types; neither was taken.
    MixedCache,
    AcceptLength(f64),
    Cancelled,
    /// Launches of the kernel, of which the median counts.
    Launches(usize),
}

/// Reads a file of a known tool; `None` for other content.
///
/// # Errors
/// Files of a known tool that lack a value or have one that cannot be.
pub fn read(text: &str) -> Result<Option<MeasuredFile>, MeasurementError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let file = match text.bytes().next() {
        None => return Err(MeasurementError::Empty),
        Some(b'{' | b'[') => read_json(text)?,
        Some(_) => nsight::read(text)?,
    };
    let Some(file) = file else { return Ok(None) };
    let count: usize = file.runs.iter().map(|run| run.times.len()).sum();
    match count {
        0 => Err(MeasurementError::NoRows { tool: file.tool.name() }),
        1..=MAX_TIMES => Ok(Some(file)),
        _ => Err(MeasurementError::TooMany { count, most: MAX_TIMES }),
    }
}

fn read_json(text: &str) -> Result<Option<MeasuredFile>, MeasurementError> {
    let Some(values) = records(text) else {
        let number = no_json_number(text);
        return number.map_or(Ok(None), |(field, literal)| {
            Err(MeasurementError::NoJsonNumber { field, literal })
        });
    };
    let Some(tool) = values.first().and_then(Value::as_object).map(tool_of).transpose()?.flatten()
    else {
        return Ok(None);
    };
    let mut runs = Vec::new();
    for (index, value) in values.iter().enumerate() {
        let number = index + 1;
        let other = || MeasurementError::OtherTool {
            place: format!("record {number}"),
            first: tool.name(),
        };
        let fields = value.as_object().ok_or_else(other)?;
        if tool_of(fields)? != Some(tool) {
            return Err(other());
        }
        let record = Record { fields, number, tool: tool.name() };
        runs.push(match tool {
            BenchTool::LlamaBench => llama_bench::run(&record)?,
            BenchTool::VllmServe => serving::vllm(&record)?,
            BenchTool::SglangServe => serving::sglang(&record)?,
            BenchTool::VllmLatency => offline::vllm_latency(&record)?,
            BenchTool::SglangOneBatch => offline::one_batch(&record)?,
            BenchTool::Aiperf => aiperf::run(&record)?,
            BenchTool::NsightCompute => unreachable!("its files are CSV"),
        });
    }
    Ok(Some(MeasuredFile { tool, runs }))
}

/// The records of a list, of one object, or of one object per line; `None` for text that is not JSON.
fn records(text: &str) -> Option<Vec<Value>> {
    match json_input::value(text) {
        Ok(Value::Array(values)) => Some(values),
        Ok(value) => Some(vec![value]),
        Err(_) => {
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines.map(|line| json_input::value(line).ok()).collect()
        }
    }
}

/// The field with a literal that Python writes and JSON lacks.
fn no_json_number(text: &str) -> Option<(String, &'static str)> {
    const LITERALS: [&str; 3] = ["NaN", "Infinity", "-Infinity"];
    let mut rest = text;
    while let Some(at) = rest.find("\":") {
        let value = rest[at + 2..].trim_start();
        if let Some(literal) = LITERALS.into_iter().find(|literal| value.starts_with(literal)) {
            let field = rest[..at].rsplit('"').next().unwrap_or_default();
            return Some((record::clipped(field), literal));
        }
        rest = &rest[at + 2..];
    }
    None
}

/// The tool whose fields a record has.
fn tool_of(fields: &Map<String, Value>) -> Result<Option<BenchTool>, MeasurementError> {
    let any = |keys: &[&str]| keys.iter().any(|key| fields.contains_key(*key));
    let all = |keys: &[&str]| keys.iter().all(|key| fields.contains_key(*key));
    let is_metric = |key: &&str| fields.get(*key).is_some_and(|value| value.get("unit").is_some());
    if all(&["n_prompt", "n_gen"]) || any(&["avg_ts", "avg_ns"]) {
        return Ok(Some(BenchTool::LlamaBench));
    }
    if any(&["prefill_latency", "median_decode_latency"]) {
        return Ok(Some(BenchTool::SglangOneBatch));
    }
    if all(&["avg_latency", "percentiles"]) {
        return Ok(Some(BenchTool::VllmLatency));
    }
    if all(&["elapsed_time", "requests_per_second"]) {
        return Err(MeasurementError::OtherForm {
            found: "a file of `vllm bench throughput`",
            instead: "its one rate adds prompts and answers of an unknown number of requests at once, so compare `vllm bench latency` or `vllm bench serve`",
        });
    }
    if aiperf::METRICS.iter().any(is_metric) {
        return Ok(Some(BenchTool::Aiperf));
    }
    let is_serving = any(&["mean_ttft_ms", "median_ttft_ms", "mean_tpot_ms", "median_tpot_ms"])
        || all(&["output_throughput", "completed"]);
    let of_sglang =
        ["total_output_tokens_retokenized", "sharegpt_output_len", "random_range_ratio"];
    Ok(match (is_serving, any(&of_sglang)) {
        (false, _) => None,
        (true, true) => Some(BenchTool::SglangServe),
        (true, false) => Some(BenchTool::VllmServe),
    })
}
