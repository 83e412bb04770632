//! A calibration as lines of tab-separated fields, the form that the page stores and puts into its URL. A number is the 16
//! hexadecimal digits of its bits, because the page avoids parsing decimal numbers.

use calc_core::calibration::{Engine, FactorRow, Interval, Tokens, WaveTile};
use calc_core::catalog;
use calc_core::op::OpKind;
use calc_core::quant_format::ComputeClass;
use calc_core::text::Text;
use calc_core::units::Seconds;

use super::{MAX_ROWS, MOST_EXTRA, OwnMeasurements, OwnRow};

/// Writes a calibration as lines.
pub fn write(own: &OwnMeasurements) -> String {
    let clean = |text: &str| text.replace(char::is_control, " ");
    let mut lines = format!("{}\t{}\n", clean(&own.device), clean(&own.about));
    for OwnRow { factors, points } in &own.rows {
        let number = |value: Option<f64>| {
            value.map_or_else(String::new, |value| format!("{:016x}", value.to_bits()))
        };
        let mut fields = vec![
            factors.engine.map_or("", Engine::key).to_owned(),
            factors.format.as_deref().unwrap_or_default().to_owned(),
            factors.op.map_or("", OpKind::key).to_owned(),
            if factors.in_step { "step" } else { "kernel" }.to_owned(),
            number(factors.eta_memory),
            number(factors.eta_compute),
            number(factors.floor.map(Seconds::get)),
            number(factors.interval.map(|interval| interval.low)),
            number(factors.interval.map(|interval| interval.high)),
            points.to_string(),
        ];
        // Older links have ten or 13 fields; a row without the newer ones is still written so.
        let has_tokens = factors.tokens.is_some() || factors.extra_tokens.is_some();
        if factors.compute.is_some() || has_tokens || factors.tile.is_some() {
            fields.push(factors.compute.map_or("", ComputeClass::key).to_owned());
            fields.push(factors.tokens.map_or("", Tokens::key).to_owned());
            fields.push(number(factors.extra_tokens));
        }
        if let Some(tile) = factors.tile {
            fields.push(tile.rows.to_string());
            fields.push(tile.columns.to_string());
        }
        lines += &fields.join("\t");
        lines.push('\n');
    }
    lines
}

/// Parses the lines of [`write`]; `None` for any other text.
pub fn read(text: &str) -> Option<OwnMeasurements> {
    let mut lines = text.lines();
    let (device, about) = lines.next()?.split_once('\t')?;
    let rows = lines.map(|line| row(device, line)).collect::<Option<Vec<OwnRow>>>()?;
    if device.is_empty() || rows.is_empty() || rows.len() > MAX_ROWS {
        return None;
    }
    Some(OwnMeasurements { device: device.to_owned(), about: about.to_owned(), rows })
}

fn row(device: &str, line: &str) -> Option<OwnRow> {
    let mut fields = line.split('\t');
    // Older links have ten or 13 fields; a row without a number of points is invalid.
    let mut next = || fields.next().unwrap_or_default();
    let [engine, format, op, measured] = [next(), next(), next(), next()];
    let [memory, compute, floor, low, high] = [next(), next(), next(), next(), next()];
    let [points, class, tokens, extra] = [next(), next(), next(), next()];
    let [tile_rows, tile_columns] = [next(), next()].map(side);
    if fields.next().is_some() {
        return None;
    }
    let [low, high] = [number(low, 0.01, 1.0)?, number(high, 1.0, 100.0)?];
    let factors = FactorRow {
        device: Some(Text::Owned(device.to_owned())),
        engine: key(engine, |key| {
            Engine::ALL.iter().find(|(known, _)| *known == key).map(|(_, engine)| *engine)
        })?,
        format: key(format, |key| Some(Text::Borrowed(catalog::format(key).ok()?.key)))?,
        op: key(op, OpKind::kernel)?,
        compute: key(class, |key| ComputeClass::ALL.into_iter().find(|class| class.key() == key))?,
        tokens: key(tokens, Tokens::of_key)?,
        in_step: measured == "step",
        eta_memory: number(memory, 1e-4, 10.0)?,
        eta_compute: number(compute, 1e-4, 10.0)?,
        extra_tokens: number(extra, 0.0, MOST_EXTRA)?,
        tile: match (tile_rows?, tile_columns?) {
            // As in the file: a tile has its share and no extra tokens.
            (Some(rows), Some(columns)) if !compute.is_empty() && extra.is_empty() => {
                Some(WaveTile { rows, columns })
            }
            (None, None) => None,
            _ => return None,
        },
        floor: number(floor, 0.0, 1.0)?.map(Seconds::new),
        interval: low.zip(high).map(|(low, high)| Interval { low, high }),
    };
    Some(OwnRow { factors, points: points.parse().ok()? })
}

/// Finds a key: `Some(None)` for an empty field, `None` for an unknown key.
#[expect(clippy::option_option, reason = "absent is fine, wrong is not")]
fn key<T>(key: &str, find: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if key.is_empty() { Some(None) } else { find(key).map(Some) }
}

/// Parses a side of a tile, as [`key`].
#[expect(clippy::option_option, reason = "absent is fine, wrong is not")]
fn side(text: &str) -> Option<Option<u32>> {
    key(text, |text| text.parse().ok().filter(|side| (1..=WaveTile::MOST).contains(side)))
}

/// Parses a number in a range: `Some(None)` for an empty field, `None` for invalid text.
#[expect(clippy::option_option, reason = "absent is fine, wrong is not")]
fn number(text: &str, min: f64, max: f64) -> Option<Option<f64>> {
    key(text, |text| {
        let value = f64::from_bits(u64::from_str_radix(text, 16).ok()?);
        (min..=max).contains(&value).then_some(value)
    })
}
