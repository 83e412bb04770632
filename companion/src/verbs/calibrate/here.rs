//! Measures a calibration on this machine.

use std::path::{Path, PathBuf};

use calc_core::calibration::Tokens;
use calc_core::catalog::{self, formats::FORMATS};
use clap::ArgMatches;
use report::input::calibration_file::{self, OwnRow};
use report::number_text as n;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use report::output::words;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;
use crate::measure::calibration::{Calibrated, PLAN, points};
use crate::measure::device::{self, MeasuredRoofs};
use crate::output::{Answer, Form, Rows};
use crate::verbs::bench;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let path = |name: &str| matches.get_one::<String>(name).map(PathBuf::from);
    let measured = bench::device_of(matches)?;
    let (out, device) = (path("out"), path("export-device"));
    if let Some(key) = matches.get_one::<String>("hardware") {
        catalog::device(key).map_err(|error| Failure::bad(words::core_error(&error)))?;
        if device.is_none() {
            return Err(Failure::bad("hardware needs --export-device or --from"));
        }
    }
    if out.is_some() && out == device {
        return Err(Failure::bad("--out and --export-device must be different files"));
    }
    // Check the output first: three minutes of measurement must not be lost because a folder is missing.
    [&out, &device].into_iter().flatten().try_for_each(|target| writable(target))?;
    let found = bench::point::found(measured)?;
    let points = points(&found.support()).map_err(|why| {
        Failure::bad(format!("{} ({}) cannot be calibrated: {why}", found.id, found.name))
    })?;
    let records = bench::planned(measured, PLAN, &points)?;
    let base = matches.get_one::<String>("hardware").map(String::as_str);
    let calibrated = Calibrated::new(&records, &found, base)
        .map_err(|why| Failure::Failed(format!("{why}; nothing is written")))?;
    let own = calibration_file::write(&calibrated.own());
    if let Some(path) = out {
        files::write(&path, own.as_bytes())?;
    }
    if let Some(path) = device {
        let roofs =
            MeasuredRoofs::calibrated(calibrated.read, &records).map_err(Failure::Failed)?;
        let device = device::file(&roofs, &found, base).map_err(Failure::Failed)?;
        files::write(&path, format!("{device:#}\n").as_bytes())?;
    }
    let value = serde_json::from_str(&own).expect("it was just written");
    let support = found.support();
    let runs = support.formats("gemv").unwrap_or_default().iter();
    let runs: Vec<&str> =
        runs.filter_map(|it| Some(catalog::format(it.weights).ok()?.key)).collect();
    let coverage = Coverage::of(&calibrated, &runs);
    answer(&calibrated, &coverage, &value).print(Form::of(matches))
}

/// The catalog's formats, by whether they were measured.
#[derive(Debug, PartialEq, Eq)]
struct Coverage {
    measured: Vec<&'static str>,
    /// The device has kernels for them.
    left_out: Vec<&'static str>,
    /// The device has none.
    without_kernel: Vec<&'static str>,
}

impl Coverage {
    /// `runs` are the formats of the device's kernels.
    fn of(calibrated: &Calibrated, runs: &[&str]) -> Self {
        let has_row = |key: &str| {
            let is_its = |row: &OwnRow| {
                row.factors.format.as_deref() == Some(key) && row.factors.eta_memory.is_some()
            };
            calibrated.rows.iter().any(is_its)
        };
        Self::by(has_row, runs)
    }

    fn by(is_measured: impl Fn(&str) -> bool, runs: &[&str]) -> Self {
        let all = || FORMATS.iter().map(|format| format.key);
        let (measured, others): (Vec<_>, Vec<_>) = all().partition(|key| is_measured(key));
        let (left_out, without_kernel) = others.into_iter().partition(|key| runs.contains(key));
        Self { measured, left_out, without_kernel }
    }

    fn sentence(&self) -> String {
        let all = self.measured.len() + self.left_out.len() + self.without_kernel.len();
        let mut sentence =
            format!("Measured: {} of the catalog's {all} formats.", self.measured.len());
        for (why, keys) in [
            ("left out to save time", &self.left_out),
            ("without a kernel on this device", &self.without_kernel),
        ] {
            if !keys.is_empty() {
                sentence += &format!(" Not measured, {why}, {}: {}.", keys.len(), keys.join(", "));
            }
        }
        if all > self.measured.len() {
            sentence += " Those keep the fitted factors of other machines.";
        }
        sentence
    }
}

fn answer(calibrated: &Calibrated, coverage: &Coverage, own: &Value) -> Answer {
    let mut document = Document::default();
    document.heading(format!("Factors of {}", calibrated.device));
    let mut table = Table::new(&[
        ("format", Align::Left),
        ("share of the bandwidth", Align::Right),
        ("time per kernel", Align::Right),
        ("points", Align::Right),
    ]);
    let mut matrices = Table::new(&[
        ("weights", Align::Left),
        ("tokens", Align::Left),
        ("multiplied as", Align::Left),
        ("share of the peak", Align::Right),
        ("extra tokens", Align::Right),
        ("tile", Align::Right),
        ("points", Align::Right),
    ]);
    for row in &calibrated.rows {
        let factors = &row.factors;
        let format = factors.format.as_deref();
        let percent = |share: Option<f64>| share.map_or_else(String::new, n::percent);
        match (factors.tokens, factors.compute) {
            (None, _) => table.push(vec![
                format.unwrap_or_default().to_owned(),
                percent(factors.eta_memory),
                factors.floor.map_or_else(String::new, n::time),
                row.points.to_string(),
            ]),
            (Some(tokens), Some(class)) => matrices.push(vec![
                format.unwrap_or(class.key()).to_owned(),
                match tokens {
                    Tokens::Few => format!("2 to {}", Tokens::MOST_PACKED),
                    Tokens::One | Tokens::Several => "more".to_owned(),
                },
                class.key().to_owned(),
                percent(factors.eta_compute),
                match factors.tile {
                    Some(_) => String::new(),
                    None => n::short(factors.extra_tokens.unwrap_or(0.0), 3),
                },
                factors.tile.map_or_else(String::new, |it| format!("{} × {}", it.rows, it.columns)),
                row.points.to_string(),
            ]),
            (Some(_), None) => {}
        }
    }
    document.table(table);
    document.table(matrices);
    document.line(coverage.sentence());
    document.line(format!("Held-out points: {}.", calibrated.held_out_in_words()));
    if !calibrated.faster.is_empty() {
        let names: Vec<&str> = calibrated.faster.iter().map(|(name, _)| name.as_str()).collect();
        let most = calibrated.faster.iter().fold(1.0, |most, (_, times)| times.max(most));
        document.line(format!(
            "{} moved more bytes per second than the read kernel, up to {} of its rate: it was disturbed, so the highest rate is the bandwidth.",
            names.join(", "),
            n::percent(most)
        ));
    }
    if calibrated.flagged > 0 {
        document.line(format!(
            "Flagged: {} of {}, as on a busy machine; calibrate again when it is idle.",
            calibrated.flagged,
            n::counted(calibrated.points as u64, "point", "points")
        ));
    }
    let not_measured = [&*coverage.left_out, &*coverage.without_kernel].concat();
    let value = json!({ "calibration": own, "measured": coverage.measured, "not_measured": not_measured, "held_out": calibrated.held_out.vectors, "median_error": calibrated.error(),
        "held_out_packed": calibrated.held_out.packed, "held_out_matrices": calibrated.held_out.matrices, "median_error_matrices": calibrated.error_of_matrices() });
    Answer { document, value, rows: Rows::At("/calibration/rows") }
}

fn writable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::bad(format!("{}: there is no such folder", path.display())))
        }
        _ => match files::output(path) {
            Ok(_) => Ok(()),
            Err(why) => Err(Failure::bad(format!("{}: {why}", path.display()))),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_of_the_catalog_is_measured_or_said_not_to_be() {
        let runs = ["fp16", "int8", "nf4"];
        let coverage = Coverage::by(|key| ["fp16", "int8"].contains(&key), &runs);
        assert_eq!((coverage.measured.len(), &*coverage.left_out), (2, &["nf4"][..]));
        let others = coverage.without_kernel.len();
        assert_eq!(2 + 1 + others, FORMATS.len());
        let said = coverage.sentence();
        let start = format!(
            "Measured: 2 of the catalog's {} formats. Not measured, left out to save time, 1: nf4. \
             Not measured, without a kernel on this device, {others}: fp64, ",
            FORMATS.len()
        );
        assert!(said.starts_with(&start) && !said.contains("fp16,"), "{said}");
        let all = Coverage::by(|_| true, &runs);
        let number = FORMATS.len();
        assert_eq!(
            all.sentence(),
            format!("Measured: {number} of the catalog's {number} formats.")
        );
    }
}
