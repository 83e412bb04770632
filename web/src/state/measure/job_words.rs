//! Kernels and jobs in words: what a job measures, its state, its progress and its end.

use protocol::bench::{BenchKind, BenchSpec};
use protocol::job::{JobSpec, JobState, LaterSpec, ToldSpec};
use report::number_text;
use report::output::words::bench_sizes;

use crate::link::jobs::Job;
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

fn bench_line(bench: &BenchSpec) -> String {
    let kernel = match &bench.shapes[..] {
        shapes if bench.what == BenchKind::Gemv && shapes.iter().any(|shape| shape.m > 1) => {
            "Product, packed weights"
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
        [key] => match calc_core::catalog::format(key) {
            Ok(format) => format!(", {}", format.short_name),
            Err(_) => format!(", {key}"),
        },
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
    let done = job.progress.as_ref().map_or(String::new(), |(done, total, note)| {
        let note = if note.is_empty() { String::new() } else { format!(": {note}") };
        format!(", {done} of {total}{note}")
    });
    let left = job.seconds_left().map_or(String::new(), |left| {
        let seconds = number_text::short(left.max(1.0), if left < 100.0 { 2 } else { 3 });
        format!("; about {seconds} s left")
    });
    format!("{what}{done}{left}.")
}

/// How a job ended, with the reason; empty while it is queued or running.
pub fn end(job: &Job) -> String {
    if job.is_open() {
        return String::new();
    }
    let fault = job.fault.as_ref().map_or(String::new(), |fault| format!(": {}", fault.message));
    let cut = if job.is_cut { " Its older results are not kept any more." } else { "" };
    format!("{} {}{fault}.{cut}", job_name(job), state(job.summary.state))
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
    use super::*;

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
    fn jobs_that_cannot_be_read_are_counted() {
        for (count, said) in [(0, ""), (1, "One more job cannot"), (12, "12 more jobs cannot")] {
            assert!(
                passed_over(count).starts_with(said)
                    && passed_over(count).is_empty() == (count == 0)
            );
        }
    }
}
