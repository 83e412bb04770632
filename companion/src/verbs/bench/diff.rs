//! `bench diff`: two result files against each other, with a confidence interval.

use std::path::Path;

use clap::{Arg, ArgMatches, Command, ValueHint};
use kernels::stats::{ALARM, CONFIDENCE, ratio_interval};
use report::input::json_input;
use report::output::summary::{self, Difference};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;
use crate::output::{self, Answer, Form, Rows};

pub(super) fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).required(true).value_name(name).value_hint(ValueHint::FilePath).help(help)
    };
    Command::new("diff")
        .about("Two result files of `bench -o json` or `-o jsonl`: time ratios with their 95 % intervals")
        .args([file("A", "What it is compared with"), file("B", "What is compared")])
        .arg(output::argument())
        .after_help("Example:\n  ridgepoint bench diff before.json after.json")
}

/// A point of a file.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    name: String,
    samples: Vec<f64>,
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let name = |key: &str| matches.get_one::<String>(key).map_or("", String::as_str);
    let (a, b) = (name("A"), name("B"));
    let (ours, theirs) = (points(a)?, points(b)?);
    let rows = differences(&ours, &theirs)?;
    if rows.is_empty() {
        return Err(Failure::bad(format!("{a} and {b} have no point in common")));
    }
    let alone = [only(a, &ours, &theirs), only(b, &theirs, &ours)].concat();
    let values = rows.iter().map(|(name, row)| {
        json!({
            "point": name,
            "time_ratio": row.ratio,
            "low": row.low,
            "high": row.high,
            "differs": row.differs,
            "verdict": row.verdict(),
        })
    });
    let values: Vec<Value> = values.collect();
    let document = summary::bench_difference(a, b, &rows, alone);
    Answer { document, value: Value::Array(values), rows: Rows::List }.print(Form::of(matches))
}

/// A note about points that the other file lacks.
fn only(file: &str, points: &[Point], other: &[Point]) -> Vec<String> {
    let alone = points.iter().filter(|point| other.iter().all(|it| it.name != point.name));
    let names: Vec<&str> = alone.map(|point| point.name.as_str()).collect();
    match names.len() {
        0 => Vec::new(),
        _ => vec![format!("Only in {file}: {}.", names.join(", "))],
    }
}

fn differences(a: &[Point], b: &[Point]) -> Result<Vec<(String, Difference)>, Failure> {
    let mut rows = Vec::new();
    for point in a {
        let Some(other) = b.iter().find(|other| other.name == point.name) else { continue };
        let compared = compare(&point.samples, &other.samples);
        let row = compared
            .ok_or_else(|| Failure::bad(format!("{}: a sample is no positive time", point.name)))?;
        rows.push((point.name.clone(), row));
    }
    Ok(rows)
}

fn compare(a: &[f64], b: &[f64]) -> Option<Difference> {
    let (ratio, interval) = ratio_interval(a, b, CONFIDENCE)?;
    let (_, sure) = ratio_interval(a, b, ALARM)?;
    let (low, high) = (interval.low, interval.high);
    Some(Difference { ratio, low, high, differs: !sure.contains(1.0) })
}

fn points(path: &str) -> Result<Vec<Point>, Failure> {
    let text = files::read_text(Path::new(path));
    let text = text.map_err(|why| Failure::bad(format!("{path}: {why}")))?;
    parse(&text).map_err(|why| Failure::bad(format!("{path}: {why}")))
}

fn parse(text: &str) -> Result<Vec<Point>, String> {
    let values = match json_input::value(text) {
        Ok(Value::Array(values)) => values,
        Ok(value) => vec![value],
        Err(_) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let value = |(i, line)| {
                json_input::value(line).map_err(|error| format!("line {}: {error}", i + 1))
            };
            lines.map(value).collect::<Result<_, _>>()?
        }
    };
    if values.is_empty() {
        return Err("it has no records".into());
    }
    let numbered = values.iter().enumerate();
    numbered
        .map(|(i, value)| point(value).map_err(|why| format!("record {}: {why}", i + 1)))
        .collect()
}

fn point(value: &Value) -> Result<Point, String> {
    let kernel = value["kernel"].as_str().ok_or("it has no kernel, so it is no record of bench")?;
    let samples = value["samples_s"].as_array().ok_or("it has no samples_s")?;
    let samples: Option<Vec<f64>> = samples.iter().map(Value::as_f64).collect();
    let samples =
        samples.filter(|samples| !samples.is_empty()).ok_or("samples_s must be numbers")?;
    let word = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => format!(" {text}"),
        other => format!(" {other}"),
    };
    let shape = &value["shape"];
    let shape = match (shape["m"].as_u64(), shape["n"].as_u64(), shape["k"].as_u64()) {
        (Some(m), Some(n), Some(k)) => format!(" {m}x{n}x{k}"),
        _ => String::new(),
    };
    // Of products the shape says how large they are.
    let size = if shape.is_empty() {
        let bytes = value["bytes"].as_f64().unwrap_or(0.0);
        if bytes > 0.0 { format!(" {bytes:.0} bytes") } else { String::new() }
    } else {
        shape
    };
    let name = format!(
        "{kernel}{}{}{size}{}",
        word(&value["precision"]["weights"]),
        word(&value["precision"]["activations"]),
        word(&value["cache"]),
    );
    Ok(Point { name, samples })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(times: &[f64]) -> String {
        json!([{"kernel": "read", "cache": "cold", "bytes": 4096.0, "samples_s": times}])
            .to_string()
    }

    #[test]
    fn a_slower_file_is_slower_and_an_equal_one_is_not() {
        let times: Vec<f64> = (0..40).map(|i| 1.0 + 0.001 * f64::from(i * 7 % 40)).collect();
        let slower: Vec<f64> = times.iter().map(|time| 1.05 * time).collect();
        for (other, verdict) in [(&times, "no difference found"), (&slower, "slower")] {
            let rows =
                differences(&parse(&file(&times)).unwrap(), &parse(&file(other)).unwrap()).unwrap();
            assert_eq!(rows.len(), 1);
            assert_eq!(rows[0].1.verdict(), verdict);
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for (text, expected) in [
            ("[]", "no records"),
            ("{}", "record 1: it has no kernel"),
            (r#"{"kernel":"read"}"#, "no samples_s"),
            (r#"{"kernel":"read","samples_s":[]}"#, "must be numbers"),
            (r#"{"kernel":"read","samples_s":["x"]}"#, "must be numbers"),
            ("{\"kernel\":\"read\",\"samples_s\":[1]}\n{oops", "line 2"),
        ] {
            let why = parse(text).expect_err(text);
            assert!(why.contains(expected), "{text}: {why}");
        }
        assert!(
            differences(&parse(&file(&[1.0])).unwrap(), &parse(&file(&[-1.0])).unwrap()).is_err()
        );
    }
}
