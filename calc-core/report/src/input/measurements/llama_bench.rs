//! `llama-bench -o json` and `-o jsonl`: a record per test, of a prompt (`pp`), of generated tokens (`tg`) or of both (`pg`).

use calc_core::catalog::{self, model_names};
use serde_json::Value;

use super::error::MeasurementError;
use super::record::{NANOSECONDS, Record};
use super::{
    Comparable, MeasuredRun, MeasuredTime, MeasuredWork, RunRemark, Statistic, ToldByFile,
};

/// Tokens of a chunk that llama.cpp computes at once unless a flag says another number.
const USUAL_MICRO_BATCH: u64 = 512;
/// Largest difference of the two times of a record: the mean of rates is not the rate of the mean time. Assumed.
const AGREE: f64 = 1.25;
/// Number of layers that stands for all of them: the tool's default is -1, and older versions had 99.
const ALL_LAYERS: u64 = 99;

/// Reads a record.
pub(super) fn run(record: &Record<'_>) -> Result<MeasuredRun, MeasurementError> {
    let (prompt, new) = (record.count("n_prompt")?, record.count("n_gen")?);
    let depth = record.maybe_count("n_depth")?.unwrap_or(0);
    if prompt + new == 0 {
        return Err(record.wrong(
            "n_prompt",
            "above 0 where n_gen is 0",
            &record.fields["n_prompt"],
        ));
    }
    let time = record.time("avg_ns", NANOSECONDS)?;
    let tokens = (prompt + new) as f64;
    if let Some(rate) = record.maybe_real("avg_ts", "token/s above 0")? {
        let times = [time.get(), tokens / rate];
        let ratio = times[0] / times[1];
        if !(1.0 / AGREE..=AGREE).contains(&ratio) {
            return Err(MeasurementError::Contradiction {
                place: record.place(),
                fields: ["avg_ns", "avg_ts"],
                times,
            });
        }
    }
    let mut run = MeasuredRun { label: label(prompt, new, depth), ..MeasuredRun::default() };
    run.told.extend(settings(record));
    run.device_layers = device_layers(record)?;
    cache(record, &mut run);
    if let Some(tokens) =
        record.maybe_count("n_ubatch")?.filter(|n| *n != USUAL_MICRO_BATCH && prompt > *n)
    {
        run.remarks.push(RunRemark::MicroBatch(tokens));
    }
    let tell = ToldByFile::new;
    let (work, told, fixed, per) = match (prompt, new) {
        (_, 0) => {
            let mut told = vec![tell("prompt", prompt, "n_prompt")];
            told.extend((depth > 0).then(|| tell("cached_prefix", depth, "n_depth")));
            (MeasuredWork::Prompt, told, vec![("new_tokens", 1)], 1.0)
        }
        (0, _) => {
            let told = vec![tell("context", (depth + new / 2).max(1), "n_depth, n_gen")];
            (MeasuredWork::Token, told, vec![("prompt", 1), ("new_tokens", 1)], new as f64)
        }
        (_, _) => {
            let mut told =
                vec![tell("prompt", prompt, "n_prompt"), tell("new_tokens", new, "n_gen")];
            told.extend((depth > 0).then(|| tell("cached_prefix", depth, "n_depth")));
            (MeasuredWork::Answer, told, vec![], 1.0)
        }
    };
    run.times.push(MeasuredTime {
        work,
        time: time / per,
        statistic: Statistic::Mean,
        told,
        fixed: [("batch", 1)].into_iter().chain(fixed).collect(),
        tokens: Some(tokens / per),
        traffic: None,
        judged: Comparable::Interval,
    });
    Ok(run)
}

/// Name of a test as the tool's table has it.
fn label(prompt: u64, new: u64, depth: u64) -> String {
    let test = match (prompt, new) {
        (_, 0) => format!("pp{prompt}"),
        (0, _) => format!("tg{new}"),
        (_, _) => format!("pp{prompt}+tg{new}"),
    };
    if depth > 0 { format!("{test} @ d{depth}") } else { test }
}

/// Engine, device, model, and the formats and size of its weights.
fn settings(record: &Record<'_>) -> Vec<ToldByFile> {
    let mut told = vec![ToldByFile::new("engine", "llama.cpp", "the tool")];
    let device = record.text("gpu_info").filter(|name| catalog::device(name).is_ok());
    told.extend(device.map(|name| ToldByFile::new("hardware", name, "gpu_info")));
    told.extend(record.text("model_filename").map(stem).map(|stem| {
        let key = model_names::find(stem).map_or(stem, |found| found.model.key);
        ToldByFile::new("model", key, "model_filename")
    }));
    let weights = record.text("model_type").and_then(weights);
    told.extend(weights.map(|key| ToldByFile::new("weights", key, "model_type")));
    let size = record.get("model_size").and_then(Value::as_f64).filter(|bytes| *bytes > 0.0);
    told.extend(size.map(|bytes| ToldByFile::new("weight_gb", bytes / 1e9, "model_size")));
    told
}

/// Name of a file without folder, ending and the number of its part.
fn stem(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".gguf").unwrap_or(name);
    match name.rsplit_once("-of-").and_then(|(before, _)| before.rsplit_once('-')) {
        Some((stem, part)) if part.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        _ => name,
    }
}

/// Key of the format at the end of a description: `qwen2 7B Q4_K - Medium`.
fn weights(description: &str) -> Option<&'static str> {
    let words: Vec<&str> = description.trim_end_matches(" (guessed)").split(' ').collect();
    let name = match words.as_slice() {
        [.., format, "-", size @ ("Small" | "Medium" | "Large")] => {
            format!("{format}_{}", &size[..1])
        }
        [.., format] => (*format).to_owned(),
        [] => return None,
    };
    catalog::format(&name).ok().map(|format| format.key)
}

/// The type of the cache, if keys and values share one.
fn cache(record: &Record<'_>, run: &mut MeasuredRun) {
    match (record.text("type_k"), record.text("type_v")) {
        (Some(keys), Some(values)) if keys == values => {
            let format = catalog::format(keys).ok();
            run.told
                .extend(format.map(|format| ToldByFile::new("kv", format.key, "type_k, type_v")));
        }
        (Some(_), Some(_)) => run.remarks.push(RunRemark::MixedCache),
        _ => {}
    }
}

/// Layers on the device, if these may not be all: a number below 99, or experts on the processor.
fn device_layers(record: &Record<'_>) -> Result<Option<u64>, MeasurementError> {
    if record.maybe_count("n_cpu_moe")?.is_some_and(|layers| layers > 0) {
        return Ok(Some(0));
    }
    match record.get("n_gpu_layers").and_then(Value::as_i64) {
        Some(layers) if layers < 0 => Ok(None),
        _ => Ok(record.maybe_count("n_gpu_layers")?.filter(|layers| *layers < ALL_LAYERS)),
    }
}
