//! `profile_export_aiperf.json` of aiperf, whose form is that of genai-perf: an object per metric with its unit.

use calc_core::units::Seconds;
use serde_json::Value;

use super::error::MeasurementError;
use super::record::{Record, whole};
use super::serving::{self, Served};
use super::{MeasuredRun, Statistic, ToldByFile};

/// Metrics by which a file is recognized.
pub(super) const METRICS: [&str; 4] =
    ["time_to_first_token", "inter_token_latency", "output_token_throughput", "request_latency"];

/// Units of a time, with their number per second.
const TIMES: [(&str, f64); 7] = [
    ("ns", 1e9),
    ("us", 1e6),
    ("µs", 1e6),
    ("ms", 1e3),
    ("s", 1.0),
    ("sec", 1.0),
    ("seconds", 1.0),
];

/// Reads the file.
pub(super) fn run(record: &Record<'_>) -> Result<MeasuredRun, MeasurementError> {
    let served = served(record)?;
    let config = record.get("input_config");
    let names = config.and_then(|config| config.pointer("/endpoint/model_names"));
    let name = names.and_then(|names| names.get(0).or(Some(names))).and_then(Value::as_str);
    let of = "input_config.endpoint.model_names";
    let told = name.map(|name| ToldByFile::new("model", name, of));
    serving::run(record, &served, told.into_iter().collect())
}

fn served(record: &Record<'_>) -> Result<Served, MeasurementError> {
    let config = record.get("input_config");
    let setting = |key: &str| config.and_then(|config| config.get("loadgen")?.get(key)).cloned();
    let completed = metric(record, "request_count", &["requests", "request"])?.unwrap_or(1.0);
    if completed < 1.0 {
        return Err(MeasurementError::AllFailed { place: record.place(), tool: record.tool });
    }
    let length = |field: &'static str| {
        let tokens = metric(record, field, &["tokens", "token"])?.filter(|tokens| *tokens >= 1.0);
        tokens.ok_or_else(|| record.missing(field, "an object with unit tokens and avg from 1"))
    };
    let failed = metric(record, "error_request_count", &["requests", "request"])?;
    let rate = setting("request_rate").and_then(|rate| rate.as_f64());
    let limit = setting("concurrency").and_then(|limit| limit.as_u64()).filter(|limit| *limit > 0);
    let spread = |field: &str| {
        let std = record.get(field).and_then(|metric| metric.get("std")).and_then(Value::as_f64);
        std.is_some_and(|std| std > 0.0)
    };
    Ok(Served {
        request_rate: rate.filter(|rate| *rate > 0.0),
        answered_rate: metric(record, "request_throughput", &["requests/sec"])?,
        limit: limit.map(|limit| (limit, "input_config.loadgen.concurrency")),
        completed: whole(completed).unwrap_or(1),
        failed: failed.and_then(whole).unwrap_or(0),
        cancelled: record.get("was_cancelled").and_then(Value::as_bool).unwrap_or(false),
        lengths: (length("input_sequence_length")?, length("output_sequence_length")?),
        lengths_of: ("input_sequence_length", "output_sequence_length"),
        lengths_vary: spread("input_sequence_length") || spread("output_sequence_length"),
        first_token: time(record, "time_to_first_token")?,
        token: time(record, "inter_token_latency")?,
        rate: metric(record, "output_token_throughput", &["tokens/sec"])?
            .filter(|rate| *rate > 0.0),
        accept_length: None,
    })
}

/// The mean of a metric in one of its units; `None` where the file does not have it.
fn metric(
    record: &Record<'_>,
    field: &str,
    units: &'static [&'static str],
) -> Result<Option<f64>, MeasurementError> {
    let Some(value) = record.get(field) else { return Ok(None) };
    let unit = value.get("unit").and_then(Value::as_str).unwrap_or_default();
    if !units.contains(&unit) {
        let field = format!("{field}.unit");
        return Err(record.wrong(&field, units[0], value.get("unit").unwrap_or(&Value::Null)));
    }
    average(record, field, value).map(Some)
}

/// The mean of a time.
fn time(
    record: &Record<'_>,
    field: &str,
) -> Result<Option<(Seconds, Statistic)>, MeasurementError> {
    let Some(value) = record.get(field) else { return Ok(None) };
    let unit = value.get("unit").and_then(Value::as_str).unwrap_or_default();
    let Some((_, per_second)) = TIMES.iter().find(|(name, _)| *name == unit) else {
        let name = format!("{field}.unit");
        return Err(record.wrong(
            &name,
            "ns, us, ms or s",
            value.get("unit").unwrap_or(&Value::Null),
        ));
    };
    let seconds = average(record, field, value)? / per_second;
    if !(1e-12..=1e9).contains(&seconds) {
        let name = format!("{field}.avg");
        return Err(record.wrong(&name, "a time above 0", &value["avg"]));
    }
    Ok(Some((Seconds::new(seconds), Statistic::Mean)))
}

fn average(record: &Record<'_>, field: &str, metric: &Value) -> Result<f64, MeasurementError> {
    let field = format!("{field}.avg");
    let Some(value) = metric.get("avg") else {
        return Err(record.missing(&field, "the mean as a number"));
    };
    let number = value.as_f64().filter(|number| (0.0..=1e18).contains(number));
    number.ok_or_else(|| record.wrong(&field, "a number from 0", value))
}
