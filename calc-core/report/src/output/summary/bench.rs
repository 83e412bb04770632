//! Answers of `bench` for people.

use calc_core::units::{Bytes, BytesPerSec, FlopsPerSec, Seconds};

use serde_json::Value;

use super::Document;
use crate::number_text as n;
use crate::output::json::bench::BenchJson;
use crate::output::table::{Align, Table};
use crate::output::words;

/// Document of measurements, one row per point.
pub fn bench(rows: &[BenchJson]) -> Document {
    let mut out = Document::default();
    let Some(first) = rows.first() else { return out };
    let conditions = &first.conditions;
    out.heading(format!("Measured on {}", first.device));
    // A GPU is measured by all its multiprocessors.
    let (one, many) = match &*first.backend {
        "cuda" => ("multiprocessor", "multiprocessors"),
        _ => ("thread", "threads"),
    };
    out.line(format!(
        "{}{}, version {}, kernels {} for {}.",
        n::counted(conditions.threads as u64, one, many),
        match (conditions.pinned, conditions.threads) {
            (false, _) => "",
            (true, 1) => " kept on its core",
            (true, _) => " kept on their cores",
        },
        conditions.version,
        conditions.kernel_hash,
        conditions.build
    ));
    let mut table = Table::new(&[
        ("kernel", Align::Left),
        ("by", Align::Left),
        ("format", Align::Left),
        ("shape", Align::Left),
        ("cache", Align::Left),
        ("bytes", Align::Right),
        ("time", Align::Right),
        ("±", Align::Right),
        ("samples", Align::Right),
        ("bandwidth", Align::Right),
        ("rate", Align::Right),
        ("expected", Align::Right),
        ("check", Align::Left),
    ]);
    for row in rows {
        table.push(cells(row));
    }
    out.table(table);
    let remarks = bench_remarks(rows).into_iter().chain(padding(rows));
    let notes = remarks.chain(above_roof(rows)).chain(expectations(rows));
    out.notes(notes.collect());
    out
}

/// Notes on points that are faster than their roof: those whose roof was disturbed, and all others.
fn above_roof(rows: &[BenchJson]) -> Vec<String> {
    let of = |is_disturbed: bool| {
        let above = rows.iter().filter_map(|row| {
            let expected = row.expected.as_ref().filter(|expected| expected.above_roof)?;
            let is_one = expected.disturbed_roof.is_some() == is_disturbed;
            is_one.then(|| (row, expected, expected.ideal_s / row.time_s.median))
        });
        let above: Vec<_> = above.collect();
        let (_, first, _) = above.first()?;
        let mut names: Vec<String> = Vec::new();
        for (row, ..) in &above {
            if !names.contains(&name(row)) {
                names.push(name(row));
            }
        }
        let points = if names.len() > MOST_NAMES {
            format!("{} of {}", above.len(), rows.len())
        } else {
            names.join(", ")
        };
        let most = above.iter().fold(0.0, |most: f64, (.., times)| most.max(*times));
        Some(words::roofs::bench_above(&points, most, &first.hardware, is_disturbed))
    };
    [false, true].into_iter().filter_map(of).collect()
}

/// Matrices whose rows end with a block that is only partly used.
fn padding(rows: &[BenchJson]) -> Vec<String> {
    let mut said = Vec::new();
    for row in rows {
        let (Some(shape), Some(precision)) = (row.shape, &row.precision) else { continue };
        let padded = words::padded(&precision.weights, shape.k);
        let line = padded.map(|why| format!("{}: {why}", name(row)));
        said.extend(line.filter(|line| !said.contains(line)));
    }
    said
}

/// The device of the expected times, and each reason why there is none.
fn expectations(rows: &[BenchJson]) -> Vec<String> {
    let mut said = Vec::new();
    for row in rows {
        let line = match (&row.expected, row.conditions.missing.get("expected")) {
            (Some(expected), _) => {
                format!("expected times are those of {}", expected.hardware)
            }
            (None, Some(Value::String(why))) => format!("no expected time: {why}"),
            (None, _) => continue,
        };
        if !said.contains(&line) {
            said.push(line);
        }
    }
    said
}

fn cells(row: &BenchJson) -> Vec<String> {
    let weights = row.precision.as_ref().map_or(String::new(), |it| it.weights.clone());
    let shape = match row.shape {
        Some(s) => format!("{} × {} × {}", s.m, s.n, s.k),
        None => words::bench_sizes(&row.sizes),
    };
    let bytes = if row.bytes > 0.0 { n::bytes(Bytes::new(row.bytes)) } else { String::new() };
    let activations = row.precision.as_ref().map(|it| &*it.activations);
    vec![
        row.kernel.clone(),
        row.route.clone(),
        weights,
        shape,
        match row.conditions.sustained_s {
            Some(load) => format!("{}, after {} s of load", row.cache, n::short(load, 4)),
            None => row.cache.clone(),
        },
        bytes,
        n::time(Seconds::new(row.time_s.median)),
        // One sample has no interval.
        if row.time_s.n > 1 { uncertainty(row.time_s.uncertainty()) } else { n::NO_NUMBER.into() },
        n::count(row.time_s.n as u64),
        row.byte_per_s.map_or(String::new(), |rate| n::bandwidth(BytesPerSec::new(rate))),
        row.flop_per_s.map_or(String::new(), |rate| {
            n::measured_rate(FlopsPerSec::new(rate), &row.kernel, activations)
        }),
        row.expected.as_ref().map_or(String::new(), |it| n::time(Seconds::new(it.time_s))),
        if row.check.passed { "right" } else { "WRONG" }.into(),
    ]
}

/// Share in percent; small shares keep two digits: `0.42 %`.
fn uncertainty(share: f64) -> String {
    format!("{}{}%", n::plain(share * 100.0), n::SPACE)
}

/// One note per flag, with the points that have it.
pub fn bench_remarks(rows: &[BenchJson]) -> Vec<String> {
    let mut flags: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        for flag in &row.flags {
            let name = name(row);
            match flags.iter_mut().find(|(known, _)| known == flag) {
                Some((_, names)) if names.contains(&name) => {}
                Some((_, names)) => names.push(name),
                None => flags.push((flag, vec![name])),
            }
        }
    }
    let all = rows.len();
    let note = |(flag, names): (&str, Vec<String>)| {
        let many = rows.iter().filter(|row| row.flags.iter().any(|it| it == flag)).count();
        let whose = match many {
            _ if all > 1 && many == all => "all".to_owned(),
            _ if names.len() > MOST_NAMES => format!("{many} of {all}"),
            _ => names.join(", "),
        };
        format!("{whose}: {}", words::bench_flag(flag))
    };
    flags.into_iter().map(note).collect()
}

/// Largest number of points that a note names; beyond it, the note counts the rest.
const MOST_NAMES: usize = 6;

fn name(row: &BenchJson) -> String {
    match &row.precision {
        Some(precision) => format!("{} {}", row.kernel, precision.weights),
        None => row.kernel.clone(),
    }
}

/// Difference of two results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// Time of the second over time of the first.
    pub ratio: f64,
    /// Lower end of the 99 % interval, which decides.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Ends of the 95 % interval, for programs.
    pub usual: [f64; 2],
    /// Smallest difference, as a share of the time, that such samples show at least four times of five. `None` if one side has too few.
    pub detectable: Option<f64>,
    /// Position of the speed relative to the least that is allowed, where the user named one.
    pub judged: Option<Judged>,
}

/// Speed of the second over speed of the first, against the least that is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// The whole interval reaches it.
    Reached,
    /// It is inside the interval: more samples would decide.
    Open,
    /// The whole interval is below it.
    Missed,
}

impl Judged {
    /// Places an interval of the time ratio.
    pub fn of(low: f64, high: f64, least_speed: f64) -> Self {
        // The slowest speed belongs to the longest time.
        match (1.0 / low < least_speed, 1.0 / high < least_speed) {
            (true, _) => Self::Missed,
            (false, true) => Self::Open,
            (false, false) => Self::Reached,
        }
    }

    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Open => "open",
            Self::Missed => "missed",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Reached => "reached",
            Self::Open => "not decided",
            Self::Missed => "MISSED",
        }
    }
}

impl Difference {
    /// True when the interval leaves out 1.
    pub fn differs(&self) -> bool {
        !(self.low..=self.high).contains(&1.0)
    }

    /// True when such samples show a difference as large as the least speed allows.
    pub fn could_find(&self, least_speed: f64) -> bool {
        self.detectable.is_some_and(|size| size <= slowdown(least_speed))
    }

    /// The difference as a word.
    pub fn verdict(&self) -> &'static str {
        match (self.differs(), self.ratio > 1.0) {
            (false, _) => "no difference found",
            (true, true) => "slower",
            (true, false) => "faster",
        }
    }
}

/// Distance of a least speed from equal speeds, as a share of the time; on a logarithmic scale a gain counts as a loss.
fn slowdown(least_speed: f64) -> f64 {
    least_speed.max(1.0 / least_speed) - 1.0
}

/// Whether the samples could find a difference of the threshold, and what follows for the points that are not decided.
fn reach(rows: &[(String, Difference)], least_speed: f64) -> String {
    let hidden: Vec<&Difference> =
        rows.iter().map(|(_, row)| row).filter(|row| !row.could_find(least_speed)).collect();
    let sizes =
        if hidden.is_empty() { rows.iter().map(|(_, row)| row).collect() } else { hidden.clone() };
    // A point with too few samples has no size, and none would be large enough.
    let size = sizes.iter().map(|row| row.detectable).reduce(|a, b| Some(a?.max(b?))).flatten();
    words::threshold_reach(&words::ThresholdReach {
        threshold: uncertainty(slowdown(least_speed)),
        size: size.map_or_else(|| n::NO_NUMBER.to_owned(), uncertainty),
        hidden: hidden.len(),
        all: rows.len(),
        open: hidden.iter().filter(|row| row.judged == Some(Judged::Open)).count(),
    })
}

/// Document of pairs of points of two files; `least_speed` is the threshold, if there is one, and `alone` lists points that only one
/// file has.
pub fn bench_difference(
    a: &str,
    b: &str,
    rows: &[(String, Difference)],
    least_speed: Option<f64>,
    alone: Vec<String>,
) -> Document {
    let mut out = Document::default();
    out.heading(format!("{b} against {a}"));
    let threshold = least_speed.map(|least| format!("{} of the speed", n::percent(least)));
    let mut heads = vec![
        ("point", Align::Left),
        ("time ratio", Align::Right),
        ("99 % interval", Align::Left),
        ("could find", Align::Right),
        ("verdict", Align::Left),
    ];
    heads.extend(threshold.as_deref().map(|head| (head, Align::Left)));
    let mut table = Table::new(&heads);
    for (name, row) in rows {
        let text = |x: f64| n::short(x, 4);
        let mut cells = vec![
            name.clone(),
            text(row.ratio),
            format!("{} to {}", text(row.low), text(row.high)),
            row.detectable.map_or_else(|| n::NO_NUMBER.to_owned(), uncertainty),
            row.verdict().into(),
        ];
        cells.extend(row.judged.map(|judged| judged.words().to_owned()));
        table.push(cells);
    }
    out.table(table);
    let few = rows.iter().any(|(_, row)| row.detectable.is_none());
    let few = few.then(|| words::too_few_samples().to_owned());
    let reach = least_speed.map(|least| reach(rows, least));
    let usual = [words::could_find().into(), words::two_runs().into()];
    out.notes(reach.into_iter().chain(alone).chain(few).chain(usual).collect());
    out
}
