//! Answers of `bench` for people.

use calc_core::quant_format::ComputeClass;
use calc_core::units::{Bytes, BytesPerSec, FlopsPerSec, Seconds};

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
    out.line(format!(
        "{} threads{}, version {}, kernels {} for {}.",
        conditions.threads,
        if conditions.pinned { " kept on their cores" } else { "" },
        conditions.version,
        conditions.kernel_hash,
        conditions.build
    ));
    let mut table = Table::new(&[
        ("kernel", Align::Left),
        ("by", Align::Left),
        ("weights", Align::Left),
        ("shape", Align::Left),
        ("cache", Align::Left),
        ("bytes", Align::Right),
        ("time", Align::Right),
        ("±", Align::Right),
        ("samples", Align::Right),
        ("bandwidth", Align::Right),
        ("rate", Align::Right),
        ("check", Align::Left),
    ]);
    for row in rows {
        table.push(cells(row));
    }
    out.table(table);
    out.notes(remarks(rows));
    out
}

fn cells(row: &BenchJson) -> Vec<String> {
    let weights = row.precision.as_ref().map_or(String::new(), |it| it.weights.clone());
    let shape = row.shape.map_or(String::new(), |s| format!("{} × {} × {}", s.m, s.n, s.k));
    let bytes = if row.bytes > 0.0 { n::bytes(Bytes::new(row.bytes)) } else { String::new() };
    let class = if row.kernel.contains("int8") { ComputeClass::Int8 } else { ComputeClass::Fp32 };
    vec![
        row.kernel.clone(),
        row.route.clone(),
        weights,
        shape,
        row.cache.clone(),
        bytes,
        n::time(Seconds::new(row.time_s.median)),
        uncertainty(row.time_s.uncertainty()),
        n::count(row.time_s.n as u64),
        row.byte_per_s.map_or(String::new(), |rate| n::bandwidth(BytesPerSec::new(rate))),
        row.flop_per_s.map_or(String::new(), |rate| n::rate(FlopsPerSec::new(rate), class)),
        if row.check.passed { "right" } else { "WRONG" }.into(),
    ]
}

/// Share in percent; small shares keep two digits: `0.42 %`.
fn uncertainty(share: f64) -> String {
    format!("{}{}%", n::plain(share * 100.0), n::SPACE)
}

/// One note per flag, with the points that have it.
fn remarks(rows: &[BenchJson]) -> Vec<String> {
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
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// True when the difference is significant at 99 %.
    pub differs: bool,
}

impl Difference {
    /// The difference as a word.
    pub const fn verdict(&self) -> &'static str {
        match (self.differs, self.ratio > 1.0) {
            (false, _) => "no difference found",
            (true, true) => "slower",
            (true, false) => "faster",
        }
    }
}

/// Document of pairs of points of two files; `alone` lists points that only one file has.
pub fn bench_difference(
    a: &str,
    b: &str,
    rows: &[(String, Difference)],
    alone: Vec<String>,
) -> Document {
    let mut out = Document::default();
    out.heading(format!("{b} against {a}"));
    let mut table = Table::new(&[
        ("point", Align::Left),
        ("time ratio", Align::Right),
        ("95 % interval", Align::Left),
        ("verdict", Align::Left),
    ]);
    for (name, row) in rows {
        let text = |x: f64| n::short(x, 4);
        table.push(vec![
            name.clone(),
            text(row.ratio),
            format!("{} to {}", text(row.low), text(row.high)),
            row.verdict().into(),
        ]);
    }
    out.table(table);
    out.notes([alone, vec![words::two_runs().into()]].concat());
    out
}
