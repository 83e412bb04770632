//! A row in words: the timed work, the measured time, and the error of the prediction.

use calc_core::units::Seconds;
use report::number_text::{count, percent, time, time_range};

use super::filter::{device_name, format_name};
use super::rows::{PublishedRow, rows};

/// The timed work: `llama-3.1-8b, batch 8, 2 048 cached`.
pub fn work(row: &PublishedRow) -> String {
    let what = row.what;
    match (row.new, row.cached) {
        (0, _) => format!("{} x {what}", count(row.batch)),
        (1, cached) => format!("{what}, batch {}, {} cached", count(row.batch), count(cached)),
        (new, 0) => format!("{what}, batch {}, prompt {}", count(row.batch), count(new)),
        (new, cached) => format!(
            "{what}, batch {}, prompt {} after {}",
            count(row.batch),
            count(new),
            count(cached)
        ),
    }
}

/// The measured time.
pub fn measured(row: &PublishedRow) -> String {
    time(Seconds::new(row.measured))
}

/// The predicted time.
pub fn predicted(row: &PublishedRow, unseen: bool) -> String {
    time(Seconds::new(row.predicted[usize::from(unseen)].time))
}

/// An error with sign: `+12 %`, above 0 where the prediction is too slow. Errors under 0.5 % have no sign.
pub fn signed(error: f64) -> String {
    if error.abs() < 0.005 {
        return percent(0.0);
    }
    let sign = if error < 0.0 { "−" } else { "+" };
    format!("{sign}{}", percent(error.abs()))
}

/// An error in words, such as "12 % too slow".
pub fn too(error: f64) -> String {
    let side = if error < 0.0 { "fast" } else { "slow" };
    format!("{} too {side}", percent(error.abs()))
}

/// "in" or "out": whether the measurement is within the interval.
pub const fn place(inside: bool) -> &'static str {
    if inside { "in" } else { "out" }
}

/// All values of a row in a sentence.
pub fn spoken(row: &PublishedRow, unseen: bool) -> String {
    let prediction = row.predicted[usize::from(unseen)];
    let (low, high) = prediction.ends;
    let end = |share: f64| Seconds::new(prediction.time * share);
    let set = rows().sets.get(row.set).map_or("", |set| set.name);
    let place = if prediction.inside { "in the interval" } else { "outside of the interval" };
    format!(
        "{}, {set}: {}, {}, {}. Measured {}, expected {}, {}; {place} of {}.",
        device_name(row.device),
        work(row),
        row.engine,
        format_name(row.format),
        measured(row),
        predicted(row, unseen),
        too(row.error(unseen)),
        time_range(end(low), end(high)),
    )
}

/// The reason why a row is above the roof.
pub const fn above_roof(row: &PublishedRow) -> &'static str {
    if row.batch > 1 {
        "uniform routing counts more experts than a batch really reads"
    } else {
        "the format of the LM head, or of what is not an expert, is not stated, and the one that is counted is too wide"
    }
}
