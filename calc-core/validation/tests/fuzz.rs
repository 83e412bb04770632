//! Fuzz target: files of measurements, the tables that `validate` scores and the files of benchmarks and profilers that `compare`
//! reads. A damaged line spoils no other one; times are above zero; a refusal names the line, the record or the field.

use std::fs;
use std::path::{Path, PathBuf};

use fuzz::{Case, Target, Verdict};
use report::input::measurements::{self, MAX_TIMES};
use validation::predict::Prepared;
use validation::read::{File, read};
use validation::row::PublishedRow;

const WORDS: [&str; 18] = [
    ",",
    "\n",
    "\"",
    "\"\"",
    "value_ms",
    "latency_us",
    "decode",
    "prefill",
    "fp16",
    "h100_sxm",
    "llama-3.1-8b",
    "gemm",
    "-",
    "1e9",
    "null",
    "\"avg_ns\":",
    "\"n_gen\": 0,",
    "Duration",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The first line of a table and some rows of it, far apart so that devices and engines differ.
fn excerpt(table: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data").join(table);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{table}: {error}"));
    let (head, rows) = text.split_once('\n').expect("a table");
    let rows: Vec<&str> = rows.lines().collect();
    let some = rows.iter().step_by(rows.len().div_ceil(12));
    let lines: Vec<&str> = [head].into_iter().chain(some.copied()).collect();
    (lines.join("\n") + "\n").into_bytes()
}

/// The tables, then the files of other programs.
fn inputs() -> Vec<Vec<u8>> {
    let mut inputs: Vec<Vec<u8>> = TABLES.map(excerpt).to_vec();
    let folder = crates().join("report/tests/measurements");
    for name in [
        "ncu-details.csv",
        "ncu-raw.csv",
        "llama-bench.json",
        "llama-bench.jsonl",
        "vllm-serve-queue.json",
        "vllm-latency.json",
        "sglang-serving.jsonl",
        "sglang-one-batch.jsonl",
        "aiperf.json",
    ] {
        inputs.push(fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}")));
    }
    inputs
}

const TABLES: [&str; 2] = ["steps.csv", "operators.csv"];

/// A row as text; its line may differ.
fn told(row: &PublishedRow) -> String {
    format!("{} {:?} {:?} {:?}", row.engine_text, row.device.key, row.request, row.measured)
}

fn check_table(case: &Case<'_>, text: &str, file: &File) {
    let lines = text.lines().count() as u64;
    // A carriage return alone ends a row, and no line.
    let first = if text.contains('\r') { 1 } else { 2 };
    for (line, reason) in &file.refused {
        assert!((first..=lines).contains(line), "line {line} of {lines}: {reason}");
        assert!(reason.len() > 5, "{reason}");
    }
    for row in &file.rows {
        assert!(row.measured.get() > 0.0 && row.measured.get().is_finite(), "line {}", row.line);
        let bandwidth = row.device.bandwidth.value.get();
        assert!(bandwidth > 0.0 && bandwidth.is_finite(), "line {}", row.line);
        assert!((first..=lines).contains(&row.line), "line {} of {lines}", row.line);
    }
    let mut refused = Vec::new();
    for prepared in Prepared::all(&file.rows, &mut refused) {
        let calibration = calc_core::calibration::Calibration::FITTED;
        let expected = prepared.expected(&calibration);
        let (low, time, high) = (expected.low.get(), expected.time.get(), expected.high.get());
        assert!(low <= time && time <= high && low > 0.0 && high.is_finite(), "{expected:?}");
    }
    spoils_no_other_line(case, text, file);
}

/// A line that is as it was gives the row that it gave, unless quotes or the header were damaged.
fn spoils_no_other_line(case: &Case<'_>, text: &str, file: &File) {
    let whole = String::from_utf8_lossy(case.whole);
    if text.lines().next() != whole.lines().next()
        || text.matches('"').count() != whole.matches('"').count()
        || text.contains('\r')
    {
        return;
    }
    let Ok(before) = read(&whole) else { return };
    let quoted = |line: &str| line.matches('"').count() % 2 == 1;
    if text.lines().any(quoted) {
        return;
    }
    let kept: Vec<&str> = text.lines().collect();
    for (line, row) in whole.lines().zip(1_u64..).skip(1).filter_map(|(line, number)| {
        let row = before.rows.iter().find(|row| row.line == number)?;
        Some((line, row))
    }) {
        if kept.contains(&line) {
            let is_same = |other: &PublishedRow| told(other) == told(row);
            assert!(file.rows.iter().any(is_same), "`{line}` was lost");
        }
    }
}

#[test]
fn a_damaged_line_of_measurements_spoils_no_other() {
    Target { name: "measurements", inputs: inputs(), words: &WORDS }.run(|case| {
        let text = case.text();
        let table = read(&text);
        let is_table = case.of < TABLES.len();
        let mut verdict = Verdict::Refused;
        match &table {
            Ok(file) => {
                check_table(case, &text, file);
                verdict = Verdict::Accepted;
            }
            Err(reason) => assert!(!(is_table && case.is_whole()) && reason.len() > 10, "{reason}"),
        }
        match measurements::read(&text) {
            Ok(Some(file)) => {
                let times: Vec<_> = file.runs.iter().flat_map(|run| &run.times).collect();
                assert!((1..=MAX_TIMES).contains(&times.len()));
                for time in times {
                    assert!(time.time.get() > 0.0 && time.time.get().is_finite(), "{time:?}");
                    assert!(time.tokens.is_none_or(|tokens| tokens > 0.0 && tokens.is_finite()));
                    assert!(
                        time.traffic
                            .is_none_or(|bytes| bytes.get() >= 0.0 && bytes.get().is_finite())
                    );
                }
                verdict = Verdict::Accepted;
            }
            Ok(None) => assert!(is_table || !case.is_whole()),
            Err(error) => {
                let said = error.to_string();
                assert!(!case.is_whole() && said.len() > 15 && !said.contains('\n'), "{said}");
            }
        }
        verdict
    });
}

/// Found by the target: the first became a time of 0 s, the second a bandwidth that is no number.
#[test]
fn numbers_that_vanish_in_base_units_are_refused() {
    let table = |bandwidth: &str, time: &str| {
        format!(
            "device_key,bandwidth_gb_s,engine,op,format,m,n,k,latency_us\n\
             a100_80gb_sxm,{bandwidth},vllm,gemm,fp16,1,4096,4096,{time}\n"
        )
    };
    for (bandwidth, time, rows) in [("", "20", 1), ("", "1e-320", 0), ("1e308", "20", 0)] {
        let file = read(&table(bandwidth, time)).expect("a table");
        assert_eq!((file.rows.len(), file.refused.len()), (rows, 1 - rows), "{:?}", file.refused);
    }
}
