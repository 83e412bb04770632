//! `validate`: scores expected times on a file of published or own measurements.

use std::path::Path;

use calc_core::calibration::Calibration;
use clap::{Arg, ArgMatches, Command, ValueHint};
use report::input::request::Library;
use report::number_text as n;
use report::output::json::SCHEMA;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::{Value, json};
use validation::predict::Prepared;
use validation::read::{File, read};
use validation::score::{Errors, Group, Percentiles, Scored, errors};

use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::weight_files;

/// Thresholds on the errors of every set: flag, description, and the percentile that is compared.
type Threshold = (&'static str, &'static str, fn(&Percentiles) -> f64);

const THRESHOLDS: [Threshold; 2] = [
    ("max-median-percent", "median error", |found| found.median),
    ("max-p90-percent", "90th percentile of the error", |found| found.p90),
];
/// Number of worst rows in a table.
const WORST: usize = 10;

pub(super) fn command() -> Command {
    let file = Arg::new("file")
        .value_name("FILE")
        .required(true)
        .value_hint(ValueHint::FilePath)
        .help("Measurements as CSV, with the columns of calc-core/validation/data/steps.csv or operators.csv");
    let calibration = Arg::new("calibration")
        .long("calibration")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath)
        .help("Calibration file of `calibrate`; rows of its device are scored with it");
    let threshold = |(flag, what, _): Threshold| {
        Arg::new(flag)
            .long(flag)
            .value_name("PERCENT")
            .allow_negative_numbers(true)
            .help(format!("Limit of the {what} of every set, or of the largest error of fewer than ten rows; exit code 4 if exceeded"))
    };
    Command::new("validate")
        .about("Score expected times on a file of published or own measurements, per set and per row")
        .arg(file)
        .args(THRESHOLDS.map(threshold))
        .arg(calibration)
        .arg(output::argument())
        .after_help(
            "Unusable rows are listed with line and reason; the others are scored.\n\n\
             Example:\n  ridgepoint validate calc-core/validation/data/steps.csv --max-median-percent 20",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let name = matches.get_one::<String>("file").map_or("", String::as_str);
    let mut limits = Vec::new();
    for (flag, what, of) in THRESHOLDS {
        limits.extend(limit(matches, flag)?.map(|most| (most, what, of)));
    }
    let text = files::read_text(Path::new(name))
        .map_err(|reason| Failure::bad(format!("{name}: {reason}")))?;
    let mut file = read(&text).map_err(|reason| Failure::bad(format!("{name}: {reason}")))?;
    let rows = core::mem::take(&mut file.rows);
    let prepared = Prepared::all(&rows, &mut file.refused);
    if prepared.is_empty() {
        let first = file.refused.first();
        let why = first.map_or_else(String::new, |(line, why)| format!("; line {line}: {why}"));
        return Err(Failure::bad(format!("{name}: no row can be scored{why}")));
    }
    let calibration = match matches.get_one::<String>("calibration") {
        None => Calibration::FITTED,
        Some(name) => {
            let files = weight_files::user_files();
            Library::with_files(&files).own_measurements(name)?.calibration()
        }
    };
    let scored: Vec<Scored<'_>> = prepared.iter().map(|row| score(row, &calibration)).collect();
    answer(name, &file, &scored).print(Form::of(matches))?;
    limits.into_iter().try_for_each(|(most, what, of)| hold(&scored, most, what, of))
}

fn score<'a>(row: &Prepared<'a>, calibration: &Calibration) -> Scored<'a> {
    let expected = row.expected(calibration);
    Scored {
        row: row.row,
        predicted: expected.time.get(),
        interval: (expected.low.get(), expected.high.get()),
        above_roof: row.is_above_roof(),
    }
}

fn limit(matches: &ArgMatches, flag: &str) -> Result<Option<f64>, Failure> {
    let Some(text) = matches.get_one::<String>(flag) else { return Ok(None) };
    match text.parse::<f64>() {
        Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(Some(percent / 100.0)),
        Ok(_) => Err(Failure::bad(format!("--{flag} must be at least 0; got `{text}`"))),
        Err(error) => {
            Err(Failure::bad(format!("--{flag} must be a number; got `{text}` ({error})")))
        }
    }
}

fn hold(
    scored: &[Scored<'_>],
    most: f64,
    what: &str,
    of: fn(&Percentiles) -> f64,
) -> Result<(), Failure> {
    for (group, errors) in sets(scored) {
        let (what, found) =
            errors.percentiles.map_or(("largest error", errors.largest), |all| (what, of(&all)));
        if found > most {
            return Err(Failure::NotMet(format!(
                "{}: {what} {:.1} %; the limit is {:.1} %",
                group.name(),
                found * 100.0,
                most * 100.0
            )));
        }
    }
    Ok(())
}

fn sets<'a>(scored: &'a [Scored<'a>]) -> impl Iterator<Item = (Group, Errors)> + 'a {
    Group::all().filter_map(move |group| {
        let own = scored.iter().filter(|row| group.holds(row.row));
        errors(own).map(|errors| (group, errors))
    })
}

fn answer(name: &str, file: &File, scored: &[Scored<'_>]) -> Answer {
    let points: Vec<Value> = scored.iter().map(point).collect();
    let refused: Vec<Value> = file
        .refused
        .iter()
        .map(|(line, reason)| json!({ "line": line, "reason": reason }))
        .collect();
    let sets: Vec<Value> = sets(scored).map(|(group, e)| set(&group.name(), &e)).collect();
    let value = json!({
        "schema": SCHEMA,
        "file": name,
        "rows": scored.len(),
        "ceilings": file.ceilings,
        "refused": refused,
        "sets": sets,
        "points": points,
    });
    Answer { document: document(name, file, scored), value, rows: Rows::At("/points") }
}

fn set(name: &str, errors: &Errors) -> Value {
    json!({
        "set": name,
        "rows": errors.rows,
        "devices": errors.devices,
        "median_error": errors.percentiles.map(|found| found.median),
        "p90_error": errors.percentiles.map(|found| found.p90),
        "largest_error": errors.largest,
        "bias": errors.percentiles.map(|found| found.bias),
        "median_over_devices": errors.percentiles.map(|_| errors.macro_median),
        "p90_over_devices": errors.percentiles.map(|_| errors.macro_p90),
        "inside_interval": errors.inside,
    })
}

fn point(scored: &Scored<'_>) -> Value {
    let row = scored.row;
    json!({
        "id": row.id,
        "line": row.line,
        "set": row.set().name(),
        "device": row.device.key,
        "engine": row.engine_text,
        "model": row.model(),
        "format": row.format(),
        "measured_s": row.measured.get(),
        "expected_s": scored.predicted,
        "low_s": scored.interval.0,
        "high_s": scored.interval.1,
        "error": scored.error(),
        "inside_interval": scored.is_inside(),
        "above_roof": scored.above_roof,
        "source": row.source,
    })
}

fn document(name: &str, file: &File, scored: &[Scored<'_>]) -> Document {
    let mut out = Document::default();
    out.heading(format!("Expected times against {name}"));
    let above = scored.iter().filter(|row| row.above_roof).count();
    out.line(format!(
        "{} scored, {} refused, {} without a time, {above} faster than the roof.",
        n::counted(scored.len() as u64, "row", "rows"),
        file.refused.len(),
        file.ceilings
    ));
    let heads = ["set", "rows", "devices", "median", "p90", "bias", "inside the interval"];
    let mut table = Table::new(&heads.map(|head| (head, right_but(head, "set"))));
    for (group, errors) in sets(scored) {
        let [median, p90, bias] = errors.percentiles.map_or_else(
            || {
                let none = || n::NO_NUMBER.to_owned();
                [none(), format!("largest {}", n::percent(errors.largest)), none()]
            },
            |found| [n::percent(found.median), n::percent(found.p90), signed(found.bias)],
        );
        table.push(vec![
            group.name(),
            errors.rows.to_string(),
            errors.devices.to_string(),
            median,
            p90,
            bias,
            n::percent(errors.inside),
        ]);
    }
    out.table(table);
    let mut worst: Vec<&Scored<'_>> = scored.iter().collect();
    worst.sort_by(|a, b| far(b).total_cmp(&far(a)));
    let heads = ["row", "device", "what", "format", "measured", "expected", "error"];
    let mut table = Table::new(&heads.map(|head| {
        (
            head,
            if ["measured", "expected", "error"].contains(&head) {
                Align::Right
            } else {
                Align::Left
            },
        )
    }));
    for row in worst.into_iter().take(WORST) {
        let flag = if row.above_roof { ", faster than the roof" } else { "" };
        table.push(vec![
            row.row.id.clone(),
            row.row.device.key.to_string(),
            format!("{}, {}", row.row.model(), row.row.set().name()),
            row.row.format().to_owned(),
            n::time(row.row.measured),
            n::time(calc_core::units::Seconds::new(row.predicted)),
            format!("{}{flag}", signed(row.error())),
        ]);
    }
    out.heading("Largest errors");
    out.table(table);
    out.notes(file.refused.iter().map(|(line, why)| format!("line {line}: {why}")).collect());
    out
}

/// Distance of a row's ratio from 1, symmetric for too slow and too fast.
fn far(scored: &Scored<'_>) -> f64 {
    let ratio = scored.predicted / scored.row.measured.get();
    ratio.max(1.0 / ratio)
}

fn right_but(head: &str, left: &str) -> Align {
    if head == left { Align::Left } else { Align::Right }
}

/// A signed percentage such as `+12 %`; positive where the prediction is too slow.
fn signed(share: f64) -> String {
    let sign = if share < 0.0 { '−' } else { '+' };
    format!("{sign}{}", n::percent(share.abs()))
}
