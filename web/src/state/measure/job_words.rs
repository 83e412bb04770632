//! Kernels and jobs in words: what a job measures, its state, its progress and its end.

use calc_core::catalog;
use protocol::bench::{BenchKind, BenchSpec};
use protocol::job::{JobSpec, JobState, LaterSpec, ProgressUnit as Unit, ToldSpec};
use report::number_text;
use report::output::words::bench_sizes;
use report::output::words::progress::{ProgressUnit, done_of, time_left};

use crate::link::client::Client;
use crate::link::jobs::{Job, JobProgress};
use crate::link::session::DaemonSession;

/// A job in a line: `GEMV, 3 shapes, all precisions`.
pub fn job(spec: &ToldSpec) -> String {
    match spec {
        ToldSpec::Known(JobSpec::Bench(bench)) => bench_line(bench),
        ToldSpec::Known(JobSpec::Calibrate(_)) => "calibration".to_owned(),
        ToldSpec::Later(LaterSpec { kind }) if kind.is_empty() => {
            "job of a later version".to_owned()
        }
        ToldSpec::Later(LaterSpec { kind }) => format!("{kind}, of a later version"),
    }
}

/// A job in a line, with the device that its order names: `Roofs, on scripted device`.
pub fn job_on(spec: &ToldSpec, session: Option<&DaemonSession>) -> String {
    let what = job(spec);
    match spec.known().and_then(JobSpec::device) {
        Some(id) => {
            let name = session.map_or(id, |session| session.device_name(id));
            format!("{what}, on {name}")
        }
        None => what,
    }
}

/// Name of a kernel.
pub const fn kernel(kind: BenchKind) -> &'static str {
    match kind {
        BenchKind::Gemv => "GEMV",
        BenchKind::Gemm => "GEMM",
        BenchKind::Bandwidth => "Memory bandwidth",
        BenchKind::Flops => "Peak rates",
        BenchKind::Roofs => "Roofs",
        BenchKind::Attention => "Attention",
        BenchKind::Norm => "Norm (add + RMSNorm)",
        BenchKind::Rope => "Rotary positions (RoPE)",
        BenchKind::Gate => "Gate (SiLU × up)",
        BenchKind::Embedding => "Embedding",
    }
}

/// The kernel of products of several tokens with packed weights, in records.
pub const PACKED: &str = "gemm_packed";

/// Name of a kernel by its key in records; the key itself where the page does not know it.
pub fn kernel_name(key: &str) -> &str {
    match key {
        "read" => "Reading",
        "copy" => "Copying",
        "triad" => "Triad",
        "fma_fp32" => "FP32 multiply-adds",
        "dot_int8" => "INT8 dot products",
        "mma_tf32" => "TF32 on tensor cores",
        "mma_fp16" => "FP16 on tensor cores",
        "mma_bf16" => "BF16 on tensor cores",
        "mma_fp8_e4m3" => "FP8 on tensor cores",
        "mma_int8" => "INT8 on tensor cores",
        PACKED => PRODUCT_PACKED,
        // A product of matrices in an element type, which the format beside it names.
        other if other.starts_with("gemm_") => kernel(BenchKind::Gemm),
        other => {
            let known = BenchKind::ALL.into_iter().find(|kind| kind.key() == other);
            known.map_or(other, |kind| kernel(kind))
        }
    }
}

const PRODUCT_PACKED: &str = "Product, packed weights";

/// Name of a format by its key; the key itself where the catalog does not have it.
fn format_name(key: &str) -> &str {
    catalog::format(key).map_or(key, |format| format.short_name)
}

/// A point of a job in the page's names. The daemon names it by keys: `fma_fp32`, `4096 × 4096 in int8`, `gate, 1 × 512 in fp16`.
fn point(note: &str) -> String {
    let (work, format) =
        note.rsplit_once(" in ").map_or((note, None), |(work, format)| (work, Some(format)));
    let (kernel, sizes) =
        work.split_once(", ").map_or((work, None), |(kernel, sizes)| (kernel, Some(sizes)));
    let mut text = kernel_name(kernel).to_owned();
    if let Some(sizes) = sizes {
        text += &format!(", {sizes}");
    }
    if let Some(format) = format {
        text += &format!(" in {}", format_name(format));
    }
    text
}

fn bench_line(bench: &BenchSpec) -> String {
    let kernel = match &bench.shapes[..] {
        shapes if bench.what == BenchKind::Gemv && shapes.iter().any(|shape| shape.m > 1) => {
            PRODUCT_PACKED
        }
        _ => kernel(bench.what),
    };
    let problems = match (&bench.shapes[..], &bench.sizes[..]) {
        ([], []) => String::new(),
        ([shape], _) => {
            let numbers = [shape.m, shape.n, shape.k].map(number_text::count);
            format!(", {}", numbers.join(" × "))
        }
        ([], [sizes]) => format!(", {}", bench_sizes(sizes)),
        ([], many) => format!(", {} sizes", many.len()),
        (many, _) => format!(", {} shapes", many.len()),
    };
    let formats = match &bench.formats[..] {
        [] => String::new(),
        [key] => format!(", {}", format_name(key)),
        many => format!(", {} precisions", many.len()),
    };
    format!("{kernel}{problems}{formats}")
}

/// State of a job, in a word.
pub const fn state(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "waits",
        JobState::Running => "runs",
        JobState::Done => "done",
        JobState::Failed => "failed",
        JobState::Canceled => "canceled",
        JobState::Interrupted => "interrupted",
        JobState::Unknown => "in a state of a later version",
    }
}

/// Progress of a job, in a sentence.
pub fn progress(job: &Job) -> String {
    let what = self::job(&job.summary.spec);
    if job.summary.state == JobState::Queued {
        return format!("{what} waits for its turn.");
    }
    let done = job.progress.as_ref().map_or(String::new(), |progress| {
        let JobProgress { done, total, unit, note } = progress;
        // It waits, and nobody knows its points yet.
        if *total == 0 {
            return format!(" {note}");
        }
        let note = match unit {
            _ if note.is_empty() => String::new(),
            Unit::Points => format!(": {}", point(note)),
            Unit::Bytes | Unit::Tokens | Unit::Unknown => format!(": {note}"),
        };
        format!(", {}{note}", done_of(*done, *total, unit_of(*unit)))
    });
    let left = job.seconds_left().map_or(String::new(), |left| format!("; {}", time_left(left)));
    format!("{what}{done}{left}.")
}

/// The jobs that wait behind the open one, in a sentence; empty if there are none.
pub fn queue(client: &Client) -> String {
    let open = client.jobs.all().iter().rev().filter(|job| job.is_open());
    let waiting: Vec<&Job> = open.skip(1).collect();
    let Some(next) = waiting.first() else { return String::new() };
    let more = match waiting.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let what = job_on(&next.summary.spec, client.session());
    format!("Next: job {}, {what}{more}.", next.summary.job.0)
}

/// Label of a button that acts on the jobs of an order: `Cancel`, `Cancel both jobs`.
pub fn on_jobs(act: &str, count: usize) -> String {
    match count {
        0 | 1 => act.to_owned(),
        2 => format!("{act} both jobs"),
        _ => format!("{act} {count} jobs"),
    }
}

/// A moment of the day: `27 Nov, 13:04`. The month counts from 0.
pub fn moment(month: u32, day: u32, hour: u32, minute: u32) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.get(month as usize).unwrap_or(&"");
    format!("{day} {month}, {hour:02}:{minute:02}")
}

const fn unit_of(unit: Unit) -> ProgressUnit {
    match unit {
        Unit::Points => ProgressUnit::Points,
        Unit::Bytes => ProgressUnit::Bytes,
        Unit::Tokens => ProgressUnit::Tokens,
        Unit::Unknown => ProgressUnit::Unknown,
    }
}

/// How a job ended, with the reason; empty while it is queued or running.
pub fn end(job: &Job) -> String {
    if job.is_open() {
        return String::new();
    }
    let fault = job.fault.as_ref().map_or(String::new(), |fault| format!(": {}", fault.message));
    let cut = if job.is_cut { " Its older results are not kept any more." } else { "" };
    let later = match job.later {
        0 => String::new(),
        1 => " One of its events is of a later version and is not shown.".to_owned(),
        count => format!(" {count} of its events are of a later version and are not shown."),
    };
    format!("{} {}{fault}.{cut}{later}", job_name(job), state(job.summary.state))
}

fn job_name(job: &Job) -> String {
    format!("Job {}, {},", job.summary.job.0, self::job(&job.summary.spec))
}

/// Jobs that the daemon cannot read, in a sentence; empty if there are none.
pub fn passed_over(count: u32) -> String {
    match count {
        0 => String::new(),
        1 => "One more job cannot be read; the daemon's messages name it.".to_owned(),
        _ => format!("{count} more jobs cannot be read; the daemon's messages name them."),
    }
}

#[cfg(test)]
mod tests {
    use protocol::hex::Hex;
    use protocol::job::{CalibrateSpec, JobEvent, JobId, JobSummary, NumberedEvent};

    use super::*;
    use crate::link::jobs::JobList;

    #[test]
    fn a_job_is_named_by_what_it_measures() {
        let named = |text| {
            let spec: ToldSpec = serde_json::from_str(text).expect("a job");
            job(&spec).replace('\u{202f}', " ")
        };
        for (text, name) in [
            (
                r#"{"kind":"bench","what":"gemv","shapes":[{"m":1,"n":4096,"k":64}],"formats":["int8"]}"#,
                "GEMV, 1 × 4 096 × 64, INT8",
            ),
            (
                r#"{"kind":"bench","what":"gemv","shapes":[{"m":4,"n":64,"k":64}]}"#,
                "Product, packed weights, 4 × 64 × 64",
            ),
            (
                r#"{"kind":"bench","what":"norm","sizes":[{"tokens":2,"width":64}],"formats":["fp16","fp32"]}"#,
                "Norm (add + RMSNorm), 2 × 64, 2 precisions",
            ),
            (r#"{"kind":"calibrate"}"#, "calibration"),
            (r#"{"kind":"quantize","scheme":"w4a16"}"#, "quantize, of a later version"),
            (r#"{"kind":7}"#, "job of a later version"),
        ] {
            assert_eq!(named(text), name, "{text}");
        }
    }

    #[test]
    fn events_of_a_later_version_are_counted_at_the_end() {
        let ended = || JobEvent::Ended { state: JobState::Done, fault: None };
        for (count, said) in [
            (0, "Job 7, calibration, done."),
            (
                1,
                "Job 7, calibration, done. One of its events is of a later version and is not shown.",
            ),
            (
                2,
                "Job 7, calibration, done. 2 of its events are of a later version and are not shown.",
            ),
        ] {
            let mut jobs = JobList::default();
            jobs.snapshot(summary(), 0);
            let later = (0..count).map(|_| JobEvent::Unknown);
            for (seq, event) in (1..).zip(later.chain([ended()])) {
                jobs.event(NumberedEvent { job: JobId(7), seq, at_ms: 0, event });
            }
            assert_eq!(end(jobs.job(JobId(7)).expect("it was told")), said);
        }
    }

    #[test]
    fn progress_has_its_unit_and_the_time_that_is_left() {
        let of = |done, total, unit, note: &str| JobEvent::Progress {
            done,
            total,
            unit,
            note: note.to_owned(),
        };
        for (event, expected) in [
            (
                of(3, 9, Unit::Points, "fma_fp32"),
                "calibration, 3 of 9 points: FP32 multiply-adds; about 12 s left.",
            ),
            (
                of(4_000_000_000, 16_000_000_000, Unit::Bytes, "a.gguf"),
                "calibration, 4.00 GB of 16.0 GB: a.gguf; about 18 s left.",
            ),
            (
                of(1024, 4096, Unit::Tokens, ""),
                "calibration, 1 024 of 4 096 tokens; about 18 s left.",
            ),
            (of(1, 2, Unit::Unknown, ""), "calibration, 1 of 2; about 6 s left."),
            (of(0, 0, Unit::Points, "waits until"), "calibration waits until; about 84 s left."),
        ] {
            let mut jobs = JobList::default();
            jobs.snapshot(summary(), 0);
            let numbered = |seq, at_ms, event| NumberedEvent { job: JobId(7), seq, at_ms, event };
            jobs.event(numbered(
                1,
                1000,
                JobEvent::Started { predicted_s: Some(90.0), device: None },
            ));
            jobs.event(numbered(2, 7000, event));
            let said = progress(jobs.job(JobId(7)).expect("it was told"));
            assert_eq!(said.replace(['\u{202f}', '\u{a0}'], " "), expected);
        }
    }

    fn summary() -> JobSummary {
        JobSummary {
            job: JobId(7),
            request: Hex([3; 16]),
            spec: JobSpec::Calibrate(CalibrateSpec { backend: None }).into(),
            state: JobState::Running,
            created_ms: 0,
            last_seq: 0,
        }
    }

    #[test]
    fn jobs_that_wait_are_said_in_their_order() {
        let mut client = Client::default();
        let said = |client: &Client| queue(client).replace('\u{202f}', " ");
        let jobs = |count: u64| -> Vec<JobSummary> {
            (0..count).map(|nth| JobSummary { job: JobId(7 + nth), ..summary() }).collect()
        };
        for (count, expected) in [
            (0, ""),
            (1, ""),
            (2, "Next: job 8, calibration."),
            (4, "Next: job 8, calibration, and 2 more."),
        ] {
            client.jobs.listed(jobs(count));
            assert_eq!(said(&client), expected);
        }
        assert_eq!(moment(10, 7, 9, 5), "7 Nov, 09:05");
    }

    #[test]
    fn a_point_in_progress_has_the_names_of_the_page() {
        for (note, named) in [
            ("fma_fp32", "FP32 multiply-adds"),
            ("read", "Reading"),
            ("gemm_packed", "Product, packed weights"),
            ("gemm_fp8_e4m3", "GEMM"),
            ("8 × 4096 × 4096 in int4_g128", "8 × 4096 × 4096 in INT4 g128"),
            (
                "attention, 32/8 heads of 128, context 4096 in fp16",
                "Attention, 32/8 heads of 128, context 4096 in FP16",
            ),
            ("norm, 1 × 4096 in bf16", "Norm (add + RMSNorm), 1 × 4096 in BF16"),
            ("rope, 1 × 40 × 128 in fp32", "Rotary positions (RoPE), 1 × 40 × 128 in FP32"),
            ("gate, 1 × 512 in fp16", "Gate (SiLU × up), 1 × 512 in FP16"),
            ("embedding, 1 × 512 of 1000 rows in fp16", "Embedding, 1 × 512 of 1000 rows in FP16"),
            ("step 3", "step 3"),
            ("fireworks, 7 in color", "fireworks, 7 in color"),
        ] {
            assert_eq!(point(note), named, "{note}");
        }
    }

    #[test]
    fn every_kernel_of_the_protocol_has_a_name() {
        for kind in BenchKind::ALL {
            assert_ne!(kernel_name(kind.key()), kind.key());
        }
    }

    #[test]
    fn jobs_that_cannot_be_read_are_counted() {
        for (count, said) in [(0, ""), (1, "One more job cannot"), (12, "12 more jobs cannot")] {
            assert!(
                passed_over(count).starts_with(said)
                    && passed_over(count).is_empty() == (count == 0)
            );
        }
    }
}
