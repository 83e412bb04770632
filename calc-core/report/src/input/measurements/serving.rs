//! `vllm bench serve --save-result` and SGLang's `bench_serving`: means over the requests to a server. Such a run measures
//! queues, too: only one request at a time is work that an estimate describes whole.

use serde_json::Value;

use super::error::MeasurementError;
use super::record::{MILLISECONDS, Record, clipped};
use super::{
    Comparable, Hindrance, MeasuredRun, MeasuredTime, MeasuredWork, RunRemark, Statistic,
    ToldByFile,
};
use calc_core::units::Seconds;

/// Share of the request rate below which a queue grew; assumed, because the last requests end after the last arrival.
const KEPT_UP: f64 = 0.9;
/// Expected value of a rate.
const RATE: &str = "a number above 0";

/// The settings and results of a serving benchmark, in the terms of every such tool.
#[derive(Debug, Clone, Default)]
pub(super) struct Served {
    /// Requests per second; `None` for all at once.
    pub(super) request_rate: Option<f64>,
    /// Requests per second that were answered.
    pub(super) answered_rate: Option<f64>,
    /// Requests at once, at most, and the field that says it.
    pub(super) limit: Option<(u64, &'static str)>,
    pub(super) completed: u64,
    pub(super) failed: u64,
    pub(super) cancelled: bool,
    /// Tokens of a prompt and of an answer, in the mean.
    pub(super) lengths: (f64, f64),
    /// Fields that say the lengths.
    pub(super) lengths_of: (&'static str, &'static str),
    pub(super) lengths_vary: bool,
    pub(super) first_token: Option<(Seconds, Statistic)>,
    pub(super) token: Option<(Seconds, Statistic)>,
    /// Generated tokens per second of all requests.
    pub(super) rate: Option<f64>,
    /// Tokens that a step gives a sequence, with drafts.
    pub(super) accept_length: Option<f64>,
}

/// Reads a record of vLLM.
pub(super) fn vllm(record: &Record<'_>) -> Result<MeasuredRun, MeasurementError> {
    let mut served = of_both(record)?;
    served.failed = record.maybe_count("failed")?.unwrap_or(0);
    served.accept_length = record.maybe_real("spec_decode_acceptance_length", RATE)?;
    if served.limit.is_none() {
        let peak = record.maybe_count("max_concurrent_requests")?.filter(|peak| *peak > 0);
        served.limit = peak.map(|peak| (peak, "max_concurrent_requests"));
    }
    let mut told = Vec::new();
    if matches!(record.text("backend"), Some("vllm" | "openai" | "openai-chat")) {
        told.push(ToldByFile::new("engine", "vllm", "the tool"));
    }
    told.extend(record.text("model_id").map(|name| ToldByFile::new("model", name, "model_id")));
    run(record, &served, told)
}

/// Reads a record of SGLang.
pub(super) fn sglang(record: &Record<'_>) -> Result<MeasuredRun, MeasurementError> {
    let mut served = of_both(record)?;
    served.accept_length = record.maybe_real("accept_length", RATE)?;
    let varied = record.get("random_range_ratio").and_then(Value::as_f64);
    served.lengths_vary |= varied.is_none_or(|ratio| ratio < 1.0);
    let engine = match record.text("backend") {
        Some(name) if name.starts_with("sglang") => Some("sglang"),
        Some(name) if name.starts_with("vllm") => Some("vllm"),
        _ => None,
    };
    let told = engine.map(|engine| ToldByFile::new("engine", engine, "backend"));
    run(record, &served, told.into_iter().collect())
}

/// The fields that both tools write.
fn of_both(record: &Record<'_>) -> Result<Served, MeasurementError> {
    let completed = record.count("completed")?;
    if completed == 0 {
        return Err(MeasurementError::AllFailed { place: record.place(), tool: record.tool });
    }
    let total = |field| -> Result<f64, MeasurementError> {
        let tokens = record.count(field)?;
        if tokens == 0 {
            return Err(record.wrong(field, "a whole number above 0", &record.fields[field]));
        }
        Ok(tokens as f64 / completed as f64)
    };
    let statistic = |mean: &str, median: &str| -> Result<_, MeasurementError> {
        if let Some(time) = record.maybe_time(mean, MILLISECONDS)? {
            return Ok(Some((time, Statistic::Mean)));
        }
        Ok(record.maybe_time(median, MILLISECONDS)?.map(|time| (time, Statistic::Median)))
    };
    let request_rate = match record.get("request_rate") {
        Some(Value::String(text)) if matches!(text.as_str(), "inf" | "trace") => None,
        _ => record.maybe_real("request_rate", "requests per second above 0, or inf")?,
    };
    let limit = record.maybe_count("max_concurrency")?.filter(|limit| *limit > 0);
    Ok(Served {
        request_rate,
        answered_rate: record.maybe_real("request_throughput", RATE)?,
        limit: limit.map(|limit| (limit, "max_concurrency")),
        completed,
        lengths: (total("total_input_tokens")?, total("total_output_tokens")?),
        lengths_of: ("total_input_tokens, completed", "total_output_tokens, completed"),
        lengths_vary: varies(record.get("input_lens")) || varies(record.get("output_lens")),
        first_token: statistic("mean_ttft_ms", "median_ttft_ms")?,
        token: statistic("mean_tpot_ms", "median_tpot_ms")?,
        rate: record.maybe_real("output_throughput", "token/s above 0")?,
        ..Served::default()
    })
}

fn varies(lengths: Option<&Value>) -> bool {
    let list = lengths.and_then(Value::as_array);
    list.is_some_and(|list| list.iter().any(|length| Some(length) != list.first()))
}

/// The times of a run, each with what it can be compared with.
pub(super) fn run(
    record: &Record<'_>,
    served: &Served,
    told: Vec<ToldByFile>,
) -> Result<MeasuredRun, MeasurementError> {
    if served.first_token.is_none() && served.token.is_none() && served.rate.is_none() {
        let field = "mean_ttft_ms, mean_tpot_ms or output_throughput";
        return Err(record.missing(field, "times in ms or token/s"));
    }
    let (prompt, new) = served.lengths;
    let prompt_told = ToldByFile::new("prompt", prompt.round().max(1.0), served.lengths_of.0);
    let middle = (prompt + new / 2.0).round().max(1.0);
    let context_told = ToldByFile::new("context", middle, served.lengths_of.1);
    let mut run = MeasuredRun { label: label(record, served), told, ..MeasuredRun::default() };
    run.remarks = remarks(served);
    let alone = served.judged();
    if let Some((time, statistic)) = served.first_token {
        run.times.push(MeasuredTime {
            work: MeasuredWork::FirstToken,
            time,
            statistic,
            told: vec![prompt_told.clone()],
            fixed: vec![("batch", 1), ("new_tokens", 1)],
            tokens: Some(prompt),
            traffic: None,
            judged: alone,
        });
    }
    let decoding = if served.has_drafts() { Comparable::Nothing(Hindrance::Drafts) } else { alone };
    if let Some((time, statistic)) = served.token {
        run.times.push(MeasuredTime {
            work: MeasuredWork::Token,
            time,
            statistic,
            told: vec![prompt_told.clone(), context_told.clone()],
            fixed: vec![("batch", 1), ("new_tokens", 1)],
            tokens: Some(1.0),
            traffic: None,
            judged: decoding,
        });
    }
    let is_alone = served.limit.is_some_and(|(limit, _)| limit == 1);
    if let Some(rate) = served.rate.filter(|_| !is_alone) {
        // More requests than these were never at once, so no step was shared by more.
        let (batch, of) = served.limit.unwrap_or((served.completed, "completed"));
        let batch = batch.min(served.completed.max(1));
        run.times.push(MeasuredTime {
            work: MeasuredWork::AllTokens,
            time: Seconds::new(batch as f64 / rate),
            statistic: Statistic::Mean,
            told: vec![prompt_told, context_told, ToldByFile::new("batch", batch, of)],
            fixed: vec![("new_tokens", 1)],
            tokens: Some(batch as f64),
            traffic: None,
            judged: if served.has_drafts() {
                decoding
            } else {
                Comparable::Roof(Hindrance::WholeRun)
            },
        });
    }
    Ok(run)
}

impl Served {
    fn has_drafts(&self) -> bool {
        self.accept_length.is_some_and(|length| length > 1.0)
    }

    /// The judgment of times that one request sees.
    fn judged(&self) -> Comparable {
        let answered = self.request_rate.zip(self.answered_rate);
        if self.failed > 0 || self.cancelled {
            Comparable::Roof(Hindrance::FailedRequests)
        } else if let Some((1, _)) = self.limit {
            Comparable::Interval
        } else if answered.is_some_and(|(asked, answered)| answered < KEPT_UP * asked) {
            Comparable::Roof(Hindrance::RateAboveCapacity)
        } else if self.limit.is_none() {
            Comparable::Roof(Hindrance::UnknownConcurrency)
        } else {
            Comparable::Roof(Hindrance::OtherRequests)
        }
    }
}

fn remarks(served: &Served) -> Vec<RunRemark> {
    let Served { failed, completed, .. } = *served;
    let failed = (failed > 0).then_some(RunRemark::Failed { failed, completed });
    let drafts = served.accept_length.filter(|length| *length > 1.0);
    failed
        .into_iter()
        .chain(served.cancelled.then_some(RunRemark::Cancelled))
        .chain(served.lengths_vary.then_some(RunRemark::MeanLengths))
        .chain(drafts.map(RunRemark::AcceptLength))
        .collect()
}

fn label(record: &Record<'_>, served: &Served) -> String {
    let requests = if served.completed == 1 { "request" } else { "requests" };
    let at_once = served.limit.map_or(String::new(), |(limit, _)| format!(", {limit} at once"));
    let name = record.text("label").map_or(String::new(), |name| format!("{}: ", clipped(name)));
    format!("{name}{} {requests}{at_once}", served.completed)
}
