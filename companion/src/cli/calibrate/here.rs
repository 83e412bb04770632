//! A calibration that is measured now, on this machine.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ArgMatches;
use report::calibration_file;
use report::number_text as n;
use report::summary::Document;
use report::table::{Align, Table};
use serde_json::{Value, json};

use crate::cli::output::{Answer, Form, Rows};
use crate::cli::{Failure, bench, files};
use crate::measure::calibration::{Calibrated, PLAN, points};

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let path = |name: &str| matches.get_one::<String>(name).map(PathBuf::from);
    let (out, device) = (path("out"), path("export-device"));
    // Three minutes of work must not be lost because a folder is missing.
    [&out, &device].into_iter().flatten().try_for_each(|target| writable(target))?;
    let records = bench::planned(PLAN, &points)?;
    let calibrated = Calibrated::new(&records)
        .map_err(|why| Failure::Failed(format!("{why}; nothing is written")))?;
    let own = calibration_file::write(&calibrated.own());
    if let Some(path) = out {
        write(&path, &own)?;
    }
    if let Some(path) = device {
        let device = calibrated.device(&records).map_err(Failure::Failed)?;
        write(&path, &format!("{device:#}\n"))?;
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
    for row in &calibrated.rows {
        let factors = &row.factors;
        table.push(vec![
            factors.format.as_deref().unwrap_or_default().to_owned(),
            factors.eta_memory.map_or_else(String::new, n::percent),
            factors.floor.map_or_else(String::new, n::time),
            row.points.to_string(),
        ]);
    }
    document.table(table);
    document.line(format!(
        "Median error over {} points that took no part: {}.",
        calibrated.held_out.len(),
        n::percent(calibrated.error())
    ));
    if calibrated.flagged > 0 {
        document.line(format!(
            "{} of {} points are flagged, as on a busy machine; calibrate again when it rests.",
            calibrated.flagged, calibrated.points
        ));
    }
    let rows = own["rows"].as_array().cloned().unwrap_or_default();
    let value = json!({ "calibration": own, "held_out": calibrated.held_out, "median_error": calibrated.error() });
    Answer { document, value, rows: Rows::Inside(rows) }
}

fn writable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::bad(format!("{}: there is no such folder", path.display())))
        }
        _ if path.is_dir() => Err(Failure::bad(format!("{}: it is a folder", path.display()))),
        _ => Ok(()),
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| {
        Failure::Failed(format!("cannot write {}: {}", path.display(), files::said(&error)))
    })
}
