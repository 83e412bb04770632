//! A user's measurements of a device as a JSON file: the shares of its roofs that kernels reach. Command line and page
//! read the same file. The format is documented in `docs/guides/calibration.md` and `docs/schema/calibration.schema.json`.

use core::fmt::{self, Write};

use calc_core::calibration::{Calibration, Engine, FactorRow, Interval, Tokens, WaveTile};
use calc_core::catalog;
use calc_core::op::OpKind;
use calc_core::quant_format::ComputeClass;
use calc_core::text::{List, Text};
use calc_core::units::Seconds;
use serde::{Deserialize, Serialize};

use crate::refusal_text::OneLine;

pub mod lines;

/// Largest accepted file [byte].
pub const MAX_BYTES: usize = 1 << 20;
/// Largest number of rows in a file.
pub const MAX_ROWS: usize = 1000;
/// Upper limit of the padding tokens of a product.
const MOST_EXTRA: f64 = 1e6;

/// Measurements of one device.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnMeasurements {
    pub device: String,
    /// Date, method and software of the measurement, as the user states them.
    pub about: String,
    pub rows: Vec<OwnRow>,
}

/// A row of factors with its number of measurements.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnRow {
    pub factors: FactorRow,
    /// Number of measurements.
    pub points: u32,
}

impl OwnMeasurements {
    /// The measurements without rows that programs of before refuse: those of a few tokens, and of waves of tiles.
    #[must_use]
    pub fn for_older_programs(&self) -> Self {
        let is_known =
            |row: &&OwnRow| row.factors.tokens != Some(Tokens::Few) && row.factors.tile.is_none();
        Self { rows: self.rows.iter().filter(is_known).cloned().collect(), ..self.clone() }
    }

    /// The fitted model with these rows ahead of its own.
    pub fn calibration(&self) -> Calibration {
        let rows = self.rows.iter().map(|row| row.factors.clone()).collect();
        let about = Text::Owned(self.about.clone());
        Calibration { rows: List::Owned(rows), about, ..Calibration::FITTED }
    }
}

/// Reasons why a calibration file is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalibrationFileError {
    /// Larger than [`MAX_BYTES`].
    TooLarge {
        /// Size of the file [byte].
        bytes: usize,
    },
    /// Malformed JSON, an unknown key or a value of the wrong type.
    Malformed {
        /// Mistake and its position, from the parser.
        reason: String,
    },
    /// A row with impossible values.
    Row {
        /// Number of the row, from 1.
        row: usize,
        /// Mistake and the allowed values.
        reason: String,
    },
}

impl fmt::Display for CalibrationFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = OneLine(f);
        match self {
            Self::TooLarge { bytes } => {
                write!(
                    line,
                    "a calibration file has at most {MAX_BYTES} bytes; this one has {bytes}"
                )
            }
            Self::Malformed { reason } => write!(line, "not a calibration file: {reason}"),
            Self::Row { row, reason } => write!(line, "row {row}: {reason}"),
        }
    }
}

impl core::error::Error for CalibrationFileError {}

/// Fields of the JSON file; units are in the names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "$schema", default, skip_serializing)]
    _schema: Option<String>,
    device: String,
    #[serde(default)]
    about: String,
    rows: Vec<CalibrationRow>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CalibrationRow {
    #[serde(default)]
    engine: Option<String>,
    #[serde(default)]
    format: Option<String>,
    #[serde(default)]
    op: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    compute: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokens: Option<String>,
    measured: Measured,
    #[serde(default)]
    eta_memory: Option<f64>,
    #[serde(default)]
    eta_compute: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra_tokens: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tile_rows: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tile_columns: Option<u32>,
    #[serde(default)]
    floor_us: Option<f64>,
    #[serde(default)]
    low: Option<f64>,
    #[serde(default)]
    high: Option<f64>,
    #[serde(default)]
    points: u32,
}

/// Measured kind of kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Measured {
    Kernel,
    Step,
}

/// Parses a calibration file.
///
/// # Errors
/// [`CalibrationFileError`] with the row, the value and the allowed range.
pub fn parse(text: &str) -> Result<OwnMeasurements, CalibrationFileError> {
    if text.len() > MAX_BYTES {
        return Err(CalibrationFileError::TooLarge { bytes: text.len() });
    }
    let malformed = |reason: String| CalibrationFileError::Malformed { reason };
    let file: File = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| malformed(error.to_string()))?;
    if file.rows.is_empty() || file.rows.len() > MAX_ROWS {
        return Err(malformed(format!(
            "rows must have 1 to {MAX_ROWS} rows; got {}",
            file.rows.len()
        )));
    }
    let known = catalog::device(&file.device).map(|device| device.key.to_string());
    let is_key = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if known.is_err() && !(1..=64).contains(&file.device.len()) || !file.device.chars().all(is_key)
    {
        return Err(malformed(format!(
            "device must be a key of 1 to 64 letters, digits, `_`, `-`, `.`; got `{}`",
            file.device
        )));
    }
    let device = known.unwrap_or(file.device);
    let rows = file.rows.into_iter().enumerate().map(|(i, row)| {
        own_row(&device, &row).map_err(|reason| CalibrationFileError::Row { row: i + 1, reason })
    });
    let rows = rows.collect::<Result<_, _>>()?;
    Ok(OwnMeasurements { device, about: file.about, rows })
}

fn own_row(device: &str, row: &CalibrationRow) -> Result<OwnRow, String> {
    let engine = row.engine.as_deref().map(engine).transpose()?;
    let format = row.format.as_deref().map(|key| {
        catalog::format(key)
            .map(|format| Text::Borrowed(format.key))
            .map_err(|error| crate::refusal_text::core_error(&error))
    });
    let op = row.op.as_deref().map(operator).transpose()?;
    let compute = row.compute.as_deref().map(class).transpose()?;
    let tokens = row.tokens.as_deref().map(tokens).transpose()?;
    let share = |what, value| in_range(what, value, 1e-4, 10.0);
    share("eta_memory", row.eta_memory)?;
    share("eta_compute", row.eta_compute)?;
    in_range("extra_tokens", row.extra_tokens, 0.0, MOST_EXTRA)?;
    if row.extra_tokens.is_some() && row.eta_compute.is_none() {
        return Err("extra_tokens needs eta_compute".to_owned());
    }
    let tile = tile(row)?;
    in_range("floor_us", row.floor_us, 0.0, 1e6)?;
    in_range("low", row.low, 0.01, 1.0)?;
    in_range("high", row.high, 1.0, 100.0)?;
    if row.eta_memory.is_none() && row.eta_compute.is_none() && row.floor_us.is_none() {
        return Err("needs eta_memory, eta_compute or floor_us".to_owned());
    }
    let interval = match (row.low, row.high) {
        (Some(low), Some(high)) => Some(Interval { low, high }),
        (None, None) => None,
        _ => return Err("low and high go together".to_owned()),
    };
    let factors = FactorRow {
        device: Some(Text::Owned(device.to_owned())),
        engine,
        format: format.transpose()?,
        op,
        compute,
        tokens,
        in_step: row.measured == Measured::Step,
        eta_memory: row.eta_memory,
        eta_compute: row.eta_compute,
        extra_tokens: row.extra_tokens,
        tile,
        floor: row.floor_us.map(|floor| Seconds::new(floor * 1e-6)),
        interval,
    };
    Ok(OwnRow { factors, points: row.points })
}

fn tile(row: &CalibrationRow) -> Result<Option<WaveTile>, String> {
    let side = |what, side: Option<u32>| {
        in_range(what, side.map(f64::from), 1.0, f64::from(WaveTile::MOST))
    };
    side("tile_rows", row.tile_rows)?;
    side("tile_columns", row.tile_columns)?;
    match (row.tile_rows, row.tile_columns) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) if row.eta_compute.is_none() || row.extra_tokens.is_some() => {
            Err("a tile needs eta_compute, and no extra_tokens".to_owned())
        }
        (Some(rows), Some(columns)) => Ok(Some(WaveTile { rows, columns })),
        _ => Err("tile_rows and tile_columns go together".to_owned()),
    }
}

fn engine(key: &str) -> Result<Engine, String> {
    let found = Engine::ALL.iter().find(|(known, _)| *known == key);
    found.map(|(_, engine)| *engine).ok_or_else(|| {
        let known: Vec<&str> = Engine::ALL.iter().map(|(key, _)| *key).collect();
        format!("engine must be one of {}; got `{key}`", known.join(", "))
    })
}

fn operator(key: &str) -> Result<OpKind, String> {
    OpKind::kernel(key).ok_or_else(|| {
        format!("op must be an operator such as gemm, attention or norm; got `{key}`")
    })
}

fn class(key: &str) -> Result<ComputeClass, String> {
    let found = ComputeClass::ALL.into_iter().find(|class| class.key() == key);
    found.ok_or_else(|| format!("compute must be a peak such as fp32, fp16 or int8; got `{key}`"))
}

fn tokens(key: &str) -> Result<Tokens, String> {
    Tokens::of_key(key).ok_or_else(|| format!("tokens must be one, few or several; got `{key}`"))
}

fn in_range(what: &str, value: Option<f64>, min: f64, max: f64) -> Result<(), String> {
    match value {
        Some(value) if !(min..=max).contains(&value) => {
            Err(format!("{what} must be from {min} to {max}; got {value}"))
        }
        _ => Ok(()),
    }
}

/// Writes the JSON file that [`parse`] reads.
#[expect(clippy::missing_panics_doc, reason = "text keys that go to memory cannot fail")]
pub fn write(own: &OwnMeasurements) -> String {
    let row = |row: &OwnRow| {
        let factors = &row.factors;
        CalibrationRow {
            engine: factors.engine.map(|engine| engine.key().to_owned()),
            format: factors.format.as_ref().map(ToString::to_string),
            op: factors.op.map(|op| op.key().to_owned()),
            compute: factors.compute.map(|class| class.key().to_owned()),
            tokens: factors.tokens.map(|tokens| tokens.key().to_owned()),
            measured: if factors.in_step { Measured::Step } else { Measured::Kernel },
            eta_memory: factors.eta_memory.map(rounded),
            eta_compute: factors.eta_compute.map(rounded),
            extra_tokens: factors.extra_tokens.map(rounded),
            tile_rows: factors.tile.map(|tile| tile.rows),
            tile_columns: factors.tile.map(|tile| tile.columns),
            floor_us: factors.floor.map(|floor| rounded(floor.get() * 1e6)),
            low: factors.interval.map(|interval| rounded(interval.low)),
            high: factors.interval.map(|interval| rounded(interval.high)),
            points: row.points,
        }
    };
    let file = File {
        _schema: None,
        device: own.device.clone(),
        about: own.about.clone(),
        rows: own.rows.iter().map(row).collect(),
    };
    let mut text = serde_json::to_string_pretty(&file).expect("writing to memory cannot fail");
    text.push('\n');
    text
}

/// Rounds to four decimals, the precision of a measurement.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}
