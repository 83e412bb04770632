//! Fits a calibration to a file of measurements.

use std::io::{self, Write};
use std::path::Path;

use calc_core::calibration::Calibration;
use calc_core::catalog;
use clap::ArgMatches;
use report::input::calibration_file::{OwnMeasurements, write};
use report::number_text as n;
use report::output::accuracy::Typical;
use validation::own;
use validation::predict::Prepared;
use validation::read::read;

use crate::failure::Failure;
use crate::files;
use crate::output;

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let given = |key| matches.get_one::<String>(key).map(String::as_str);
    let name = given("from").unwrap_or_default();
    let bad = |reason: String| Failure::bad(format!("{name}: {reason}"));
    let text = files::read_text(Path::new(name)).map_err(bad)?;
    let mut file = read(&text).map_err(bad)?;
    let rows = core::mem::take(&mut file.rows);
    let mut prepared = Prepared::all(&rows, &mut file.refused);
    let device = device(&prepared, given("hardware")).map_err(bad)?;
    prepared.retain(|row| row.row.device.key == device);
    let own = OwnMeasurements {
        rows: own::rows(&device, &prepared),
        about: given("about").map_or_else(|| format!("from {name}"), str::to_owned),
        device,
    };
    if own.rows.is_empty() {
        return Err(bad("no usable row".to_owned()));
    }
    for (line, reason) in &file.refused {
        say(&format!("line {line} skipped: {reason}"));
    }
    let text = write(&own);
    match given("out") {
        None => io::stdout().write_all(text.as_bytes())?,
        Some(path) => files::write(Path::new(path), text.as_bytes())?,
    }
    let [before, after] = [Calibration::FITTED, own.calibration()].map(|c| error(&prepared, &c));
    say(&format!(
        "{}: {}, {}; their {} is {} without the calibration and {} with it",
        own.device,
        n::counted(prepared.len() as u64, "measurement", "measurements"),
        n::counted(own.rows.len() as u64, "row", "rows"),
        after.name(),
        n::percent(before.error()),
        n::percent(after.error())
    ));
    Ok(())
}

/// Prints a note on stderr, which may be closed.
fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", output::one_line(line));
}

/// The device of the rows; if the rows are of several devices, the one that `--hardware` selects.
fn device(rows: &[Prepared<'_>], named: Option<&str>) -> Result<String, String> {
    let mut devices: Vec<&str> = rows.iter().map(|row| &*row.row.device.key).collect();
    devices.sort_unstable();
    devices.dedup();
    let named = named.map(|name| catalog::device(name).map_or(name, |device| &device.key));
    match (named, &devices[..]) {
        (_, []) => Err("no usable row".to_owned()),
        (Some(name), _) if devices.contains(&name) => Ok(name.to_owned()),
        (Some(name), _) => Err(format!("no row for `{name}`; the file has {}", devices.join(", "))),
        (None, [one]) => Ok((*one).to_owned()),
        (None, _) => Err(format!(
            "rows of several devices; name one with --hardware: {}",
            devices.join(", ")
        )),
    }
}

/// The error that stands for the rows.
fn error(rows: &[Prepared<'_>], calibration: &Calibration) -> Typical {
    let error =
        |row: &Prepared<'_>| row.expected(calibration).time.get() / row.row.measured.get() - 1.0;
    Typical::of(rows.iter().map(error))
}
