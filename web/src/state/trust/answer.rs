//! Results of the Trust view for the rows that pass its filter.

use chart::mark::{Mark, Shape};
use chart::scatter::{Dot, Ends, Scatter};
use chart::sheet::NamedMark;
use chart::theme::Hue;
use report::number_text::{NO_NUMBER, count, percent, ratio};
use report::output::accuracy::{Errors, Pair as Judged, Percentiles, errors};

use super::filter::{Filter, FilterField, chosen, device_name};
use super::rows::{PublishedRow, rows};
use super::words::signed;
use crate::state::model::url::Pair;

/// Most groups in the list of large errors.
const WORST: usize = 8;

/// Columns of the error table: heading and explanation.
pub const COLUMNS: [(&str, &str); 9] = [
    ("Set", ""),
    ("Rows", ""),
    ("Devices", ""),
    ("Median", "half of the errors are smaller"),
    ("p90", "nine of ten errors are smaller; of fewer than ten rows the largest error"),
    ("Bias", "median with its sign: + where predictions are too slow"),
    ("Median by device", "mean over the devices of each one's median"),
    (
        "p90 by device",
        "mean over the devices of each one's p90, or largest error of fewer than ten rows",
    ),
    ("Inside", "measurements in the interval, which is made for 80 %"),
];

/// A group of rows with a large median error.
#[derive(Debug, Clone, PartialEq)]
pub struct Wrong {
    /// Device, engine and set.
    pub name: String,
    /// Size of the error, and number of rows.
    pub words: String,
    /// Filter values that select the group, in the order of [`FilterField::ALL`].
    pub chosen: [&'static str; 6],
}

/// All results of the view.
#[derive(Debug, Clone, PartialEq)]
pub struct TrustAnswer {
    /// Accuracy of the first set, in a sentence.
    pub sentence: String,
    /// Numbers of rows and devices, and the coverage of the intervals.
    pub line: String,
    /// The filter in one line, for small screens.
    pub filter_line: String,
    /// Legend of the chart's shaded region.
    pub region: String,
    /// Predictions are by fits that left out the whole device.
    pub unseen: bool,
    /// Indices of the rows, largest error first.
    pub by_error: Vec<usize>,
    /// Indices of the rows, shortest time first.
    pub by_time: Vec<usize>,
    pub scatter: Scatter,
    /// Mark, name and cells of each set.
    pub errors: Vec<(Mark, &'static str, [String; 8])>,
    /// Groups with the largest median error.
    pub wrong: Vec<Wrong>,
    /// Indices of the rows above the roof.
    pub above_roof: Vec<usize>,
}

impl TrustAnswer {
    /// Computes the results for a filter.
    pub fn of(pairs: &[Pair]) -> Self {
        let filter = Filter::of(pairs);
        let unseen = filter.unseen;
        let all = &rows().rows;
        let shown: Vec<usize> = (0..all.len()).filter(|place| filter.holds(&all[*place])).collect();
        let sorted = |size: &dyn Fn(&PublishedRow) -> f64| {
            let mut places = shown.clone();
            places.sort_by(|a, b| size(&all[*a]).total_cmp(&size(&all[*b])));
            places
        };
        let of_set =
            |set: usize| shown.iter().map(|place| &all[*place]).filter(move |row| row.set == set);
        let tables = (0..rows().sets.len()).filter_map(|set| {
            let found = judge(of_set(set), unseen)?;
            Some((mark(set), rows().sets[set].name, cells(&found)))
        });
        let scatter = scatter(&shown, unseen);
        let (sentence, line) = words(&filter, &shown);
        Self {
            sentence,
            line,
            filter_line: filter_line(pairs),
            region: region(&scatter),
            unseen,
            by_error: sorted(&|row| -times_off(row.error(unseen))),
            by_time: sorted(&|row| row.measured),
            scatter,
            errors: tables.collect(),
            wrong: wrong(&shown, unseen, filter.format_and_tier()),
            above_roof: shown.iter().copied().filter(|place| all[*place].above_roof).collect(),
        }
    }

    /// The marks of the chart with the names of their sets.
    pub fn marks(&self) -> Vec<NamedMark> {
        let named = |(mark, name, _): &(Mark, &str, [String; 8])| NamedMark {
            mark: *mark,
            name: (*name).to_owned(),
        };
        self.errors.iter().map(named).collect()
    }
}

fn judge<'a>(rows: impl Iterator<Item = &'a PublishedRow>, unseen: bool) -> Option<Errors> {
    errors(rows.map(|row| Judged {
        device: row.device,
        error: row.error(unseen),
        inside: row.predicted[usize::from(unseen)].inside,
    }))
}

fn cells(found: &Errors) -> [String; 8] {
    let (rows, devices) = (count(found.rows as u64), count(found.devices as u64));
    let none = || NO_NUMBER.to_owned();
    let inside = percent(found.inside);
    match found.percentiles {
        None => {
            let largest = format!("largest {}", percent(found.largest));
            [rows, devices, none(), largest, none(), none(), none(), inside]
        }
        Some(Percentiles { median, p90, bias }) => [
            rows,
            devices,
            percent(median),
            percent(p90),
            signed(bias),
            percent(found.macro_median),
            percent(found.macro_p90),
            inside,
        ],
    }
}

/// Accuracy of the chosen set; without a choice, of the first set with rows, which is the one most users ask about.
fn words(filter: &Filter, shown: &[usize]) -> (String, String) {
    let all = &rows().rows;
    let sets = &rows().sets;
    let first = shown.iter().map(|place| all[*place].set).min();
    let Some((first, found)) = first.and_then(|first| {
        let own = shown.iter().map(|place| &all[*place]).filter(|row| row.set == first);
        Some((first, judge(own, filter.unseen)?))
    }) else {
        let line = "Choose all again where a choice leaves too little.".to_owned();
        return ("No published row has all of this.".to_owned(), line);
    };
    let left = if filter.unseen { "on devices that were" } else { "on rows that were" };
    let name = said(sets[first].key);
    let sentence = match found.percentiles {
        None => format!(
            "{}: {}, {left} left out of the fit.",
            name.trim_end_matches(','),
            found.largest_in_words()
        ),
        Some(Percentiles { median, p90, .. }) => format!(
            "{name} is within {} half of the time, and within {} nine times in ten, {left} left out of the fit.",
            percent(median),
            percent(p90),
        ),
    };
    let whole = judge(shown.iter().map(|place| &all[*place]), filter.unseen);
    let (devices, inside) = whole.map_or((0, 0.0), |whole| (whole.devices, whole.inside));
    let (row, device) = (plural(shown.len(), "row"), plural(devices, "device"));
    let line = format!(
        "{row} of {device}; {} lie in their interval, which is made for {}.",
        percent(inside),
        percent(0.8)
    );
    (sentence, line)
}

fn plural(number: usize, thing: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {thing}{ending}", count(number as u64))
}

/// Names of the chosen filter values; "All rows" without a filter.
fn filter_line(pairs: &[Pair]) -> String {
    let name = |part: FilterField| {
        let value = chosen(pairs, part);
        let found = part.choices().into_iter().find(|(key, _)| *key == value && !key.is_empty());
        found.map(|(_, name)| name)
    };
    let names: Vec<String> = FilterField::ALL.into_iter().filter_map(name).collect();
    if names.is_empty() { "All rows".to_owned() } else { names.join(" · ") }
}

fn region(scatter: &Scatter) -> String {
    let said = |(low, high): Ends| format!("{} to {}", ratio(low), ratio(high));
    match (scatter.shared, scatter.widest) {
        (shared, Some(widest)) if shared == Some(widest) => {
            format!("between the dashes: the interval, {} the expected time", said(widest))
        }
        (_, Some(widest)) => format!(
            "shaded: in every interval · between the dashes: the widest, {} the expected time",
            said(widest)
        ),
        (_, None) => String::new(),
    }
}

/// Label of the button that shows more rows.
pub fn more_of(left: usize, step: usize) -> String {
    format!("Show {} more of {}", count(left.min(step) as u64), count(left as u64))
}

/// A set as the subject of a sentence.
fn said(key: &str) -> &'static str {
    match key {
        "decode1" => "Decode with one sequence",
        "decode" => "Decode with more sequences",
        "prefill" => "Prefill",
        "prefillc" => "Prefill, by community measurements,",
        "gemm" => "A matrix product alone",
        "attdecode" => "Attention alone, in decode,",
        _ => "Attention alone, in prefill,",
    }
}

/// The mark of a set, by its index.
pub fn mark(set: usize) -> Mark {
    let (shape, hue) = match set {
        0 => (Shape::Circle, Hue::Orange),
        1 => (Shape::Diamond, Hue::Blue),
        2 => (Shape::Triangle, Hue::Purple),
        3 => (Shape::Wedge, Hue::Rose),
        4 => (Shape::Square, Hue::Cyan),
        5 => (Shape::Pentagon, Hue::Green),
        _ => (Shape::Hexagon, Hue::Brown),
    };
    Mark { shape, hue }
}

fn scatter(shown: &[usize], unseen: bool) -> Scatter {
    let all = &rows().rows;
    let dot = |&key: &usize| {
        let row = &all[key];
        let prediction = row.predicted[usize::from(unseen)];
        Dot {
            key,
            x: row.measured,
            y: prediction.time,
            mark: mark(row.set),
            filled: prediction.inside,
        }
    };
    // Intervals end at the roof, so a row near the roof has a shorter one; the set's own interval is the longest of its rows.
    let of_set = |set: usize| {
        let rows = all.iter().filter(|row| row.set == set);
        let ends = rows.map(|row| row.predicted[usize::from(unseen)].ends);
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    };
    let sets =
        (0..rows().sets.len()).filter(|set| shown.iter().any(|place| all[*place].set == *set));
    let ends: Vec<Ends> = sets.filter_map(of_set).collect();
    let both = |low: fn(f64, f64) -> f64, high: fn(f64, f64) -> f64| -> Option<Ends> {
        ends.iter().copied().reduce(|one, other| (low(one.0, other.0), high(one.1, other.1)))
    };
    let (shared, widest) = (both(f64::max, f64::min), both(f64::min, f64::max));
    Scatter {
        names: ["measured".to_owned(), "expected".to_owned()],
        sides: ["expected too slow".to_owned(), "expected too fast".to_owned()],
        dots: shown.iter().map(dot).collect(),
        shared,
        widest,
    }
}

/// Device, engine and set, with the indices of the group's rows.
type Group = ((&'static str, &'static str, usize), Vec<usize>);

fn wrong(shown: &[usize], unseen: bool, also: (&'static str, &'static str)) -> Vec<Wrong> {
    let all = &rows().rows;
    let mut groups: Vec<Group> = Vec::new();
    for &place in shown {
        let row = &all[place];
        let key = (row.device, row.engine, row.set);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, places)) => places.push(place),
            None => groups.push((key, vec![place])),
        }
    }
    let mut judged: Vec<(Group, Errors)> = groups
        .into_iter()
        .filter_map(|group| {
            let found = judge(group.1.iter().map(|place| &all[*place]), unseen)?;
            Some((group, found))
        })
        .collect();
    // A group is of one device, so the mean over its devices is its own median.
    judged.sort_by(|(_, a), (_, b)| b.macro_median.total_cmp(&a.macro_median));
    judged.truncate(WORST);
    let group = |(((device, engine, set), _), found): &(Group, Errors)| {
        let set = rows().sets[*set];
        let left_out = if unseen { "device" } else { "" };
        let chosen = [set.key, device, engine, also.0, also.1, left_out];
        let words = found.percentiles.map_or_else(
            || found.largest_in_words(),
            |Percentiles { median, bias, .. }| {
                let rows = plural(found.rows, "row");
                format!("{} off in the median, {} over {rows}", percent(median), signed(bias))
            },
        );
        Wrong { name: format!("{}, {engine}, {}", device_name(device), set.name), words, chosen }
    };
    judged.iter().map(group).collect()
}

/// Ratio of the times, at least 1: a quarter of the time is as wrong as four times the time.
fn times_off(error: f64) -> f64 {
    let ratio = 1.0 + error;
    ratio.max(1.0 / ratio)
}

#[cfg(test)]
mod tests;
