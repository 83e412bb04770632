//! Measures a calibration on this machine.

use std::path::{Path, PathBuf};

use calc_core::calibration::Tokens;
use calc_core::catalog;
use clap::ArgMatches;
use report::input::calibration_file;
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
    let calibrated = Calibrated::new(&records)
        .map_err(|why| Failure::Failed(format!("{why}; nothing is written")))?;
    let own = calibration_file::write(&calibrated.own());
    if let Some(path) = out {
        files::write(&path, own.as_bytes())?;
    }
    if let Some(path) = device {
        let base = matches.get_one::<String>("hardware").map(String::as_str);
        let roofs = MeasuredRoofs::calibrated(&calibrated, &records).map_err(Failure::Failed)?;
        let device = device::file(&roofs, &found, base).map_err(Failure::Failed)?;
        files::write(&path, format!("{device:#}\n").as_bytes())?;
    }
    let value = serde_json::from_str(&own).expect("it was just written");
    answer(&calibrated, &value).print(Form::of(matches))
}

fn answer(calibrated: &Calibrated, own: &Value) -> Answer {
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
                n::short(factors.extra_tokens.unwrap_or(0.0), 3),
                row.points.to_string(),
            ]),
            (Some(_), None) => {}
        }
    }
    document.table(table);
    document.table(matrices);
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
    let value = json!({ "calibration": own, "held_out": calibrated.held_out, "median_error": calibrated.error(),
        "held_out_packed": calibrated.held_out_packed, "held_out_matrices": calibrated.held_out_matrices, "median_error_matrices": calibrated.error_of_matrices() });
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
