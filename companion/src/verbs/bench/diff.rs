//! `bench diff`: compares two result files, with a confidence interval of each ratio, and judges it by a threshold.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use clap::{Arg, ArgMatches, Command, ValueHint};
use kernels::stats::{ALARM, CONFIDENCE, ratio_interval};
use report::input::{json_input, number_input};
use report::number_text::{counted, typed};
use report::output::summary::{self, Difference, Judged};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;
use crate::output::{self, Answer, Form, Rows};
use crate::verbs::unknown_file;

/// The files that are read.
const EXPECTED: &str =
    "records of `bench` with their samples, as `-o json` or `-o jsonl` writes them";
/// Range of the threshold: above 1, the second file has to be faster.
const THRESHOLDS: (f64, f64) = (0.1, 10.0);
/// The fewest samples whose extremes enclose the median with 99 % confidence: 1 - 2 · 0.5⁸ = 0.992; with seven it is 0.984.
const FEWEST: usize = 8;
/// One-sided quantile of the normal distribution at 80 %, the usual power of a test [standard deviations].
const POWER: f64 = 0.841_621;
/// Text before the number of a record whose point occurs several times in its file.
const RUN: &str = " (run ";

pub(super) fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).required(true).value_name(name).value_hint(ValueHint::FilePath).help(help)
    };
    Command::new("diff")
        .about("Two result files of `bench -o json` or `-o jsonl`: time ratios with their 99 % intervals")
        .args([file("A", "File to compare with"), file("B", "File to compare")])
        .arg(
            Arg::new("threshold")
                .long("threshold")
                .value_name("RATIO")
                .value_hint(ValueHint::Other)
                .help("Least speed of B over that of A, such as 0.95; exit code 4 if the whole 99 % interval of a point is below it"),
        )
        .arg(output::argument())
        .after_help(
            "Examples:\n  ridgepoint bench diff before.json after.json\n  \
             ridgepoint bench diff before.json after.json --threshold 0.95",
        )
}

/// A measured point of a file.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    /// Identifies it in both files.
    name: String,
    /// The device that was measured; `None` if the record does not tell it.
    device: Option<Measured>,
    samples: Vec<f64>,
}

/// A device by the record of a point.
#[derive(Debug, Clone, PartialEq)]
struct Measured {
    /// Backend and index, such as `cuda:0`.
    id: String,
    /// The name that it reports.
    name: Option<String>,
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{} ({name})", self.id),
            None => f.write_str(&self.id),
        }
    }
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let name = |key: &str| matches.get_one::<String>(key).map_or("", String::as_str);
    let (a, b) = (name("A"), name("B"));
    let threshold = threshold(matches)?;
    let (ours, theirs) = named_apart(points(a)?, points(b)?);
    let rows = differences(&ours, &theirs, threshold)?;
    if rows.is_empty() {
        return Err(Failure::bad(format!("{a} and {b} have no point in common")));
    }
    let devices = between_devices([a, b], &ours, &theirs);
    let repeated = repeated(&ours, &theirs);
    let alone = [only(a, &ours, &theirs), only(b, &theirs, &ours)].concat();
    let notes = [devices, repeated, alone].concat();
    let device = |points: &[Point], name: &str| {
        let point = points.iter().find(|point| point.name == name)?;
        point.device.as_ref().map(|device| device.id.clone())
    };
    let values = rows.iter().map(|(name, row)| {
        json!({
            "point": name,
            "devices": [device(&ours, name), device(&theirs, name)],
            "time_ratio": row.ratio,
            "low": row.usual[0],
            "high": row.usual[1],
            "low_99": row.low,
            "high_99": row.high,
            "differs": row.differs(),
            "verdict": row.verdict(),
            "detectable": row.detectable,
            "threshold": threshold,
            "judged": row.judged.map(Judged::key),
            "threshold_detectable": threshold.map(|least| row.could_find(least)),
        })
    });
    let values: Vec<Value> = values.collect();
    let document = summary::bench_difference(a, b, &rows, threshold, notes);
    Answer { document, value: Value::Array(values), rows: Rows::List }.print(Form::of(matches))?;
    let absent = missing(&ours, &theirs);
    let absent =
        (!absent.is_empty()).then(|| format!("{b} lacks points to judge: {}", absent.join(", ")));
    complain(&rows, threshold, absent)
}

fn threshold(matches: &ArgMatches) -> Result<Option<f64>, Failure> {
    let Some(text) = matches.get_one::<String>("threshold") else { return Ok(None) };
    let (least, most) = THRESHOLDS;
    let value = number_input::real(text).filter(|value| (least..=most).contains(value));
    value.map(Some).ok_or_else(|| {
        let (least, most) = (typed(least), typed(most));
        Failure::bad(format!("threshold must be a number from {least} to {most}; got {text}"))
    })
}

/// The failure of points that miss the threshold, and of those that the second file lacks, after the answer was printed.
fn complain(
    rows: &[(String, Difference)],
    threshold: Option<f64>,
    absent: Option<String>,
) -> Result<(), Failure> {
    let Some(threshold) = threshold else { return Ok(()) };
    let missed = rows.iter().filter(|(_, row)| row.judged == Some(Judged::Missed));
    let missed: Vec<String> = missed
        .map(|(name, row)| {
            let speeds = [1.0 / row.high, 1.0 / row.low].map(|speed| format!("{speed:.3}"));
            format!("{name} reaches {} of the speed", speeds.join(" to "))
        })
        .collect();
    let slower = (!missed.is_empty()).then(|| {
        format!(
            "slower than {} of the speed, {} of {}: {}",
            typed(threshold),
            missed.len(),
            counted(rows.len() as u64, "point", "points"),
            missed.join("; ")
        )
    });
    let failures: Vec<String> = slower.into_iter().chain(absent).collect();
    if failures.is_empty() { Ok(()) } else { Err(Failure::NotMet(failures.join("; "))) }
}

/// The points of both files with names that occur once in a file: with the device if one of the files has several, and with a number from
/// the second record of a point on, so that records are compared in their order.
fn named_apart(a: Vec<Point>, b: Vec<Point>) -> (Vec<Point>, Vec<Point>) {
    let ids = |points: &[Point]| {
        let ids = points.iter().map(|point| point.device.as_ref().map(|it| it.id.clone()));
        ids.collect::<BTreeSet<_>>().len()
    };
    let has_several = ids(&a).max(ids(&b)) > 1;
    let named = |points: Vec<Point>| {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let named = points.into_iter().map(|mut point| {
            if let Some(device) = point.device.as_ref().filter(|_| has_several) {
                point.name = format!("{} on {}", point.name, device.id);
            }
            let number = seen.entry(point.name.clone()).or_default();
            *number += 1;
            if *number > 1 {
                point.name = format!("{}{RUN}{number})", point.name);
            }
            point
        });
        named.collect()
    };
    (named(a), named(b))
}

/// A note if points are compared between unlike devices.
fn between_devices([file, against]: [&str; 2], a: &[Point], b: &[Point]) -> Vec<String> {
    let pairs = a.iter().filter_map(|point| {
        let other = b.iter().find(|other| other.name == point.name)?;
        Some((point.device.as_ref()?, other.device.as_ref()?))
    });
    let mut told: Vec<String> = pairs
        .filter(|(one, other)| one != other)
        .map(|(one, other)| format!("{one} in {file} with {other} in {against}"))
        .collect();
    told.sort();
    told.dedup();
    match told.len() {
        0 => Vec::new(),
        _ => vec![format!("The ratios compare unlike devices: {}.", told.join("; "))],
    }
}

/// A note if a point occurs several times in both files.
fn repeated(a: &[Point], b: &[Point]) -> Vec<String> {
    let is_paired = |point: &Point| b.iter().any(|other| other.name == point.name);
    let any = a.iter().any(|point| point.name.contains(RUN) && is_paired(point));
    let said = "Points that occur several times in a file are compared in the order of their records: the first of one file with the first of \
                the other.";
    if any { vec![said.to_owned()] } else { Vec::new() }
}

/// Names of points that another file lacks.
fn missing<'a>(points: &'a [Point], other: &[Point]) -> Vec<&'a str> {
    let alone = points.iter().filter(|point| other.iter().all(|it| it.name != point.name));
    alone.map(|point| point.name.as_str()).collect()
}

/// A note about the points that the other file lacks.
fn only(file: &str, points: &[Point], other: &[Point]) -> Vec<String> {
    let names = missing(points, other);
    match names.len() {
        0 => Vec::new(),
        _ => vec![format!("Only in {file}: {}.", names.join(", "))],
    }
}

fn differences(
    a: &[Point],
    b: &[Point],
    threshold: Option<f64>,
) -> Result<Vec<(String, Difference)>, Failure> {
    let mut rows = Vec::new();
    for point in a {
        let Some(other) = b.iter().find(|other| other.name == point.name) else { continue };
        let fewest = point.samples.len().min(other.samples.len());
        if threshold.is_some() && fewest < FEWEST {
            return Err(Failure::bad(format!(
                "{}: no interval to judge by from {}; a threshold needs at least {FEWEST} in both files",
                point.name,
                counted(fewest as u64, "sample", "samples")
            )));
        }
        let compared = compare(&point.samples, &other.samples, threshold);
        let row = compared.ok_or_else(|| {
            Failure::bad(format!("{}: a sample is not a positive time", point.name))
        })?;
        rows.push((point.name.clone(), row));
    }
    Ok(rows)
}

fn compare(a: &[f64], b: &[f64], threshold: Option<f64>) -> Option<Difference> {
    let (ratio, sure) = ratio_interval(a, b, ALARM)?;
    let (_, usual) = ratio_interval(a, b, CONFIDENCE)?;
    let (low, high) = (sure.low, sure.high);
    let has_interval = a.len().min(b.len()) >= FEWEST;
    Some(Difference {
        ratio,
        low,
        high,
        usual: [usual.low, usual.high],
        detectable: has_interval.then(|| detectable(ratio, sure)),
        judged: threshold.map(|least| Judged::of(low, high, least)),
    })
}

/// The smallest difference that is found at least four times of five, as a share of the time.
///
/// A difference is found if the interval at 99 % leaves out 1. On the logarithmic scale of times the estimate is on either side of
/// the true ratio, so a true difference of half the interval's width is found every other time; for four of five it has to be larger
/// by the quantile of the power:
///
/// ```text
/// detectable = exp(h · (z99 + z80) / z99) - 1      h the longer side of the interval, z99 = 2.576, z80 = 0.842
/// ```
fn detectable(ratio: f64, sure: kernels::stats::Interval) -> f64 {
    let side = (ratio / sure.low).max(sure.high / ratio);
    calc_core::math::pow(side, (ALARM.deviations + POWER) / ALARM.deviations) - 1.0
}

fn points(path: &str) -> Result<Vec<Point>, Failure> {
    let text = files::read_text(Path::new(path));
    let text = text.map_err(|why| Failure::bad(format!("{path}: {why}")))?;
    parse(&text).map_err(|why| Failure::bad(unknown_file::sentence(path, &why, &text, EXPECTED)))
}

fn parse(text: &str) -> Result<Vec<Point>, String> {
    let values = json_input::values(text)?;
    if values.is_empty() {
        return Err("it has no records".into());
    }
    let numbered = values.iter().enumerate();
    numbered
        .map(|(i, value)| point(value).map_err(|why| format!("record {}: {why}", i + 1)))
        .collect()
}

fn point(value: &Value) -> Result<Point, String> {
    let kernel =
        value["kernel"].as_str().ok_or("it has no kernel, so it is not a record of bench")?;
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
        _ => value["sizes"].as_object().map_or_else(String::new, |sizes| {
            let mut named: Vec<String> =
                sizes.iter().map(|(name, size)| format!(" {name}={size}")).collect();
            named.sort();
            named.concat()
        }),
    };
    // Kernels with a shape or sizes are identified by them.
    let size = if shape.is_empty() {
        let bytes = value["bytes"].as_f64().unwrap_or(0.0);
        if bytes > 0.0 { format!(" {bytes:.0} bytes") } else { String::new() }
    } else {
        shape
    };
    let name = format!(
        "{kernel}{}{}{size}{}{}",
        word(&value["precision"]["weights"]),
        word(&value["precision"]["activations"]),
        word(&value["cache"]),
        if value["conditions"]["sustained_s"].is_number() { " sustained" } else { "" },
    );
    let device = value["backend"].as_str().map(|backend| Measured {
        // Records that do not tell the index are of the first device.
        id: format!("{backend}:{}", value["index"].as_u64().unwrap_or(0)),
        name: value["device"].as_str().map(str::to_owned),
    });
    Ok(Point { name, device, samples })
}

#[cfg(test)]
mod tests;
