//! `vllm bench latency --output-json` and SGLang's `bench_one_batch`: a batch of equal sequences, from start to end.

use super::error::MeasurementError;
use super::record::{Record, SECONDS, clipped};
use super::{Comparable, MeasuredRun, MeasuredTime, MeasuredWork, Statistic, ToldByFile};

/// Reads the file of vLLM, which tells neither the lengths nor the batch.
pub(super) fn vllm_latency(record: &Record<'_>) -> Result<MeasuredRun, MeasurementError> {
    let time = record.time("avg_latency", SECONDS)?;
    Ok(MeasuredRun {
        label: "latency".into(),
        told: vec![engine("vllm")],
        needs: &["model", "batch", "prompt", "new_tokens"],
        times: vec![MeasuredTime {
            work: MeasuredWork::Answer,
            time,
            statistic: Statistic::Mean,
            told: vec![],
            fixed: vec![],
            tokens: None,
            traffic: None,
            judged: Comparable::Interval,
        }],
        ..MeasuredRun::default()
    })
}

/// Reads a record of SGLang.
pub(super) fn one_batch(record: &Record<'_>) -> Result<MeasuredRun, MeasurementError> {
    let [batch, input, output] =
        [record.count("batch_size")?, record.count("input_len")?, record.count("output_len")?];
    if batch == 0 || input == 0 {
        let field = if batch == 0 { "batch_size" } else { "input_len" };
        return Err(record.wrong(field, "a whole number above 0", &record.fields[field]));
    }
    let of_batch = ToldByFile::new("batch", batch, "batch_size");
    let of_prompt = ToldByFile::new("prompt", input, "input_len");
    let prompt = MeasuredTime {
        work: MeasuredWork::Prompt,
        time: record.time("prefill_latency", SECONDS)?,
        statistic: Statistic::Mean,
        told: vec![of_batch.clone(), of_prompt.clone()],
        fixed: vec![("new_tokens", 1)],
        tokens: Some((batch * input) as f64),
        traffic: None,
        judged: Comparable::Interval,
    };
    let token = record.maybe_time("median_decode_latency", SECONDS)?.map(|time| MeasuredTime {
        work: MeasuredWork::Token,
        time,
        statistic: Statistic::Median,
        told: vec![
            of_batch,
            of_prompt,
            ToldByFile::new("context", input + output / 2, "input_len, output_len"),
        ],
        tokens: Some(batch as f64),
        ..prompt.clone()
    });
    let name = record.text("run_name").filter(|name| *name != "default");
    let name = name.map_or(String::new(), |name| format!("{}: ", clipped(name)));
    Ok(MeasuredRun {
        label: format!("{name}{batch} × {input} + {output}"),
        told: vec![engine("sglang")],
        times: [prompt].into_iter().chain(token).collect(),
        ..MeasuredRun::default()
    })
}

fn engine(key: &str) -> ToldByFile {
    ToldByFile::new("engine", key, "the tool")
}
