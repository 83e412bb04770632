//! A calibration as a JSON file: shares of a device's roofs and a fixed time per kernel, measured on it, format by format.
//! `calibrate` writes it; whoever predicts for that device reads it.

use calc_core::calibration::{Calibration, FactorRow, Factors};
use calc_core::catalog;
use calc_core::provenance::Provenance;
use calc_core::text::{List, Text};
use calc_core::units::Seconds;
use serde::{Deserialize, Serialize};

/// Number of this layout.
pub const SCHEMA: u32 = 1;

/// The file. What else it has, as the points that were measured, is for people and for later fits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationFile {
    /// Of the layout.
    pub schema: u32,
    /// Key of the device that was measured.
    pub device: String,
    /// A row per format.
    pub rows: Vec<CalibrationRow>,
}

/// Factors of one format.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRow {
    /// Key of the format of the weights.
    pub format: String,
    /// Share of the device's bandwidth.
    pub eta_memory: f64,
    /// Share of its peak; null where no product was large enough to be bound by it, and then the assumed share counts.
    pub eta_compute: Option<f64>,
    /// Time that every kernel costs, in seconds.
    pub floor_s: f64,
    /// Fastest of the measured points, as a multiple of what the row says of it.
    pub low: f64,
    /// Slowest of them.
    pub high: f64,
    /// How many there were.
    pub points: usize,
}

/// Reads a file.
///
/// # Errors
/// Why not, in words that follow the name of the file.
pub fn parse(text: &str) -> Result<Calibration, String> {
    let file: CalibrationFile =
        serde_json::from_str(text).map_err(|error| format!("it is no calibration: {error}"))?;
    if file.schema != SCHEMA {
        return Err(format!("it has schema {}; this version reads {SCHEMA}", file.schema));
    }
    let rows = file.rows.iter().map(|row| row.factors(&file.device));
    let rows: Vec<FactorRow> = rows.collect::<Result<_, _>>()?;
    Ok(Calibration { rows: List::Owned(rows), ..Calibration::FITTED })
}

impl CalibrationRow {
    fn factors(&self, device: &str) -> Result<FactorRow, String> {
        let format = catalog::format(&self.format).map_err(|_unknown| {
            format!("it has a row for `{}`, which is no format", self.format)
        })?;
        let within = |name: &str, value: f64, least: f64, most: f64| {
            if (least..=most).contains(&value) {
                Ok(value)
            } else {
                Err(format!(
                    "{name} of {} must be from {least} to {most}; got {value}",
                    self.format
                ))
            }
        };
        let factors = Factors {
            // Caches can make a share larger than 1, though not by much.
            eta_memory: within("eta_memory", self.eta_memory, 1e-6, 2.0)?,
            eta_compute: match self.eta_compute {
                Some(share) => within("eta_compute", share, 1e-6, 2.0)?,
                None => Factors::ASSUMED.eta_compute,
            },
            floor: Seconds::new(within("floor_s", self.floor_s, 0.0, 1.0)?),
            low: within("low", self.low, 1e-3, 1.0)?,
            high: within("high", self.high, 1.0, 1e3)?,
            provenance: Provenance::Measured,
        };
        Ok(FactorRow {
            device: Some(Text::Owned(device.to_owned())),
            class: None,
            format: Some(Text::Borrowed(format.key)),
            op: None,
            engine: None,
            factors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn file(change: impl Fn(&mut serde_json::Value)) -> String {
        let mut value = json!({"schema": 1, "device": "here", "note": "more", "rows": [
            {"format": "int8", "eta_memory": 0.9, "eta_compute": null, "floor_s": 2e-6, "low": 0.95, "high": 1.1, "points": 4}
        ]});
        change(&mut value);
        value.to_string()
    }

    #[test]
    fn a_row_becomes_factors_of_its_device_and_format() {
        let calibration = parse(&file(|_| {})).unwrap();
        let row = &calibration.rows[0];
        assert_eq!((row.device.as_deref(), row.format.as_deref()), (Some("here"), Some("int8")));
        assert_eq!(row.factors.provenance, Provenance::Measured);
        assert!((row.factors.eta_memory - 0.9).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        type Change = fn(&mut serde_json::Value);
        let cases: [(Change, &str); 6] = [
            (|it| it["schema"] = json!(2), "schema 2"),
            (|it| it["rows"][0]["format"] = json!("int9"), "`int9`"),
            (|it| it["rows"][0]["eta_memory"] = json!(0), "eta_memory of int8"),
            (|it| it["rows"][0]["floor_s"] = json!(-1), "floor_s of int8"),
            (|it| it["rows"][0]["high"] = json!(0.5), "high of int8"),
            (|it| it["rows"] = json!(7), "no calibration"),
        ];
        for (change, expected) in cases {
            let why = parse(&file(change)).expect_err(expected);
            assert!(why.contains(expected), "{why}");
        }
    }
}
