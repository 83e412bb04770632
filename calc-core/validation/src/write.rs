//! Writes the results of a fit: constants as Rust, held-out predictions as CSV, rows for the page, tables as Markdown.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use calc_core::calibration::coefficients::Coefficients;
use calc_core::calibration::{Calibration, DeviceScale, Interval, Intervals, PairRatios};
use calc_core::catalog;
use calc_core::device::MemoryKind;
use calc_core::text::List;
use report::number_text::NO_NUMBER;
use validation::counts::counts;
use validation::predict::Prepared;
use validation::row::Set;
use validation::score::{Errors, Group, Scored, errors};

use crate::page;

/// Significant digits of a written number; more would exceed the precision of the rows.
const DIGITS: usize = 4;

/// Longest line of generated Rust, in characters.
const WIDTH: usize = 100;

/// The constants rounded as they are written.
pub(crate) fn rounded(fitted: &Calibration) -> Calibration {
    let scales = fitted.scales.iter().map(|scale| DeviceScale {
        device: scale.device.clone(),
        memory: round(scale.memory),
        compute: round(scale.compute),
        host: round(scale.host),
    });
    Calibration {
        constants: Coefficients::of(&fitted.constants.values().map(round)),
        scales: List::Owned(scales.collect()),
        ..fitted.clone()
    }
}

/// The intervals rounded as they are written.
pub(crate) fn rounded_intervals(intervals: &Intervals) -> Intervals {
    let pair = |pair: [Interval; 2]| {
        pair.map(|interval| Interval { low: round(interval.low), high: round(interval.high) })
    };
    Intervals {
        decode: pair(intervals.decode),
        batched: pair(intervals.batched),
        prefill: pair(intervals.prefill),
        alone: pair(intervals.alone),
        pairs: PairRatios {
            decode: round(intervals.pairs.decode),
            prefill: round(intervals.pairs.prefill),
            alone: round(intervals.pairs.alone),
        },
    }
}

fn round(value: f64) -> f64 {
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

/// Writes constants, predictions, the page's rows and the tables.
pub(crate) fn all(
    root: &Path,
    fitted: &Calibration,
    rows: &[Prepared<'_>],
    tables: &[(String, Vec<Scored<'_>>)],
) -> io::Result<()> {
    std::fs::write(root.join("calc-core/src/calibration/fitted.rs"), constants(fitted, rows))?;
    std::fs::write(root.join("calc-core/validation/data/left-out.csv"), left_out(tables))?;
    if let [_, (_, groups), (_, devices), ..] = tables {
        std::fs::write(root.join("web/assets/trust.csv"), page::text(groups, devices))?;
    }
    std::fs::write(root.join("docs/theory/accuracy-tables.md"), markdown(tables))
}

fn constants(fitted: &Calibration, rows: &[Prepared<'_>]) -> String {
    let mut text = String::from(
        "//! Written by `cargo xtask fit` from the published measurements in `calc-core/validation/data`; not by hand.\n\n\
         use super::coefficients::Coefficients;\nuse super::{\n    DeviceScale, Engine, Interval, Intervals, MeasuredRows, MemoryKind, PairRatios,\n};\nuse crate::text::Text;\n\n\
         /// The constants.\npub const CONSTANTS: Coefficients = Coefficients {\n",
    );
    for (prior, value) in Coefficients::PRIORS.iter().zip(fitted.constants.values()) {
        let _ = writeln!(text, "    {}: {value:?},", prior.name);
    }
    let _ = writeln!(
        text,
        "}};\n\n/// Devices of the fit.\npub static DEVICES: [DeviceScale; {}] = [",
        fitted.scales.len()
    );
    for DeviceScale { device, memory, compute, host } in fitted.scales.iter() {
        let fields = [
            format!("device: Text::Borrowed(\"{device}\")"),
            format!("memory: {memory:?}"),
            format!("compute: {compute:?}"),
            format!("host: {host:?}"),
        ];
        text.push_str(&literal("DeviceScale", &fields));
    }
    let found = counts(rows.iter().map(|row| row.row));
    let _ = writeln!(
        text,
        "];\n\n/// Published measurements in the fit.\npub static MEASURED: [MeasuredRows; {}] = [",
        found.len()
    );
    for ((device, engine), count) in &found {
        let engine = engine.map_or_else(|| "None".to_owned(), |it| format!("Some(Engine::{it:?})"));
        let fields = [
            format!("device: \"{device}\""),
            format!("name: \"{}\"", name(device)),
            format!("kind: MemoryKind::{:?}", kind(device)),
            format!("engine: {engine}"),
            format!("count: {count}"),
        ];
        text.push_str(&literal("MeasuredRows", &fields));
    }
    text.push_str(
        "];\n\n/// Where about 80 % of the left-out measurements lay: with the device in the fit, and without.\n\
         pub const INTERVALS: Intervals = Intervals {\n",
    );
    let i = &fitted.intervals;
    for (name, pair) in
        [("decode", i.decode), ("batched", i.batched), ("prefill", i.prefill), ("alone", i.alone)]
    {
        let [known, unseen] =
            pair.map(|one| format!("Interval {{ low: {:?}, high: {:?} }}", one.low, one.high));
        let _ = writeln!(text, "    {name}: [{known}, {unseen}],");
    }
    let PairRatios { decode, prefill, alone } = i.pairs;
    let _ = writeln!(
        text,
        "    pairs: PairRatios {{ decode: {decode:?}, prefill: {prefill:?}, alone: {alone:?} }},"
    );
    text.push_str("};\n");
    text
}

/// Displayed name of a catalog device without the addition in parentheses.
fn name(key: &str) -> &str {
    let name = catalog::device(key).map_or(key, |device| &*device.name);
    name.split(" (").next().unwrap_or(name)
}

/// Kind of the memory of a catalog device.
fn kind(key: &str) -> MemoryKind {
    catalog::device(key).map_or(MemoryKind::Gddr, MemoryKind::of)
}

/// A value in a list, in the layout that rustfmt produces.
fn literal(name: &str, fields: &[String]) -> String {
    let short = format!("    {name} {{ {} }},\n", fields.join(", "));
    // The comma after the value counts, the line break does not.
    if short.len() <= WIDTH + 1 {
        return short;
    }
    format!("    {name} {{\n        {},\n    }},\n", fields.join(",\n        "))
}

/// Measured and predicted time of each row: in the fit, without the row's group, and without its device.
fn left_out(tables: &[(String, Vec<Scored<'_>>)]) -> String {
    let mut text = String::from("id,measured_s,fitted_s,left_out_s,low_s,high_s,unseen_device_s\n");
    let [(_, fitted), (_, rows), (_, device), ..] = tables else { return text };
    for ((fitted, left), device) in fitted.iter().zip(rows).zip(device) {
        let _ = writeln!(
            text,
            "{},{:.3e},{:.3e},{:.3e},{:.3e},{:.3e},{:.3e}",
            left.row.id,
            left.row.measured.get(),
            fitted.predicted,
            left.predicted,
            left.interval.0,
            left.interval.1,
            device.predicted
        );
    }
    text
}

fn markdown(tables: &[(String, Vec<Scored<'_>>)]) -> String {
    let mut text = String::from("<!-- Written by `cargo xtask fit`; not by hand. -->\n");
    targets(&mut text, tables);
    for (title, scored) in tables {
        let _ = writeln!(text, "\n### {title}\n");
        head(&mut text, "set");
        for group in Group::all() {
            line(
                &mut text,
                &group.name(),
                errors(scored.iter().filter(|row| group.holds(row.row))),
            );
        }
    }
    if let Some((_, scored)) = tables.get(1) {
        text.push_str("\n### By device, its rows left out in parts\n\n");
        head(&mut text, "device");
        let mut devices: Vec<&str> = scored.iter().map(|row| &*row.row.device.key).collect();
        devices.sort_unstable();
        devices.dedup();
        for device in devices {
            let own = scored.iter().filter(|row| row.row.device.key == device);
            line(&mut text, device, errors(own));
        }
    }
    text
}

/// Targets set before the fit: set, index of its table, median and 90th percentile of the absolute error [%].
const TARGETS: [(&str, Set, usize, f64, f64); 6] = [
    ("decode, batch 1, known device", Set::DecodeOne, 1, 5.0, 15.0),
    ("decode, batch 1, unseen device", Set::DecodeOne, 2, 6.0, 15.0),
    ("decode, batch > 1, known device", Set::DecodeMany, 1, 8.0, 25.0),
    ("prefill, tiers A and B, known device", Set::Prefill, 1, 15.0, 40.0),
    ("GEMM, unseen shape, known device", Set::Gemm, 3, 6.0, 25.0),
    ("GEMM, unseen device", Set::Gemm, 2, 10.0, 30.0),
];

fn targets(text: &mut String, tables: &[(String, Vec<Scored<'_>>)]) {
    text.push_str(
        "\n### Against the targets\n\n\
         | set | rows | median | target | p90 | target |\n|---|---|---|---|---|---|\n",
    );
    for (name, set, table, median, p90) in TARGETS {
        let scored = tables.get(table).map_or(&[] as &[_], |(_, scored)| scored);
        let found = errors(scored.iter().filter(|row| row.row.set() == set));
        let Some((found, shown)) = found.and_then(|found| Some((found, found.percentiles?))) else {
            continue;
        };
        let judged = |share: f64, target: f64| {
            let percent = (share * 1000.0).round() / 10.0; // as it is printed
            let verdict = if percent <= target { "met" } else { "missed" };
            format!("{percent:.1} % | {target} %, {verdict}")
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {} | {} |",
            found.rows,
            judged(shown.median, median),
            judged(shown.p90, p90)
        );
    }
}

fn head(text: &mut String, name: &str) {
    let _ = writeln!(
        text,
        "| {name} | rows | devices | median | p90 | bias | median over devices | p90 over devices | inside the interval |\n\
         |---|---|---|---|---|---|---|---|---|"
    );
}

fn line(text: &mut String, name: &str, errors: Option<Errors>) {
    let Some(e) = errors else { return };
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let shown = e.percentiles.map_or_else(
        || {
            format!(
                "{NO_NUMBER} | largest {} | {NO_NUMBER} | {NO_NUMBER} | {NO_NUMBER}",
                percent(e.largest)
            )
        },
        |found| {
            let (median, p90, bias) =
                (percent(found.median), percent(found.p90), found.bias * 100.0);
            let (macro_median, macro_p90) = (percent(e.macro_median), percent(e.macro_p90));
            format!("{median} | {p90} | {bias:+.1} % | {macro_median} | {macro_p90}")
        },
    );
    let _ = writeln!(
        text,
        "| {name} | {} | {} | {shown} | {:.0} % |",
        e.rows,
        e.devices,
        e.inside * 100.0
    );
}
