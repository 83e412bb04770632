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
    ("set", ""),
    ("rows", ""),
    ("devices", ""),
    ("median", "half of the errors are smaller"),
    ("p90", "nine of ten errors are smaller; of fewer than ten rows the largest error"),
    ("bias", "median with its sign: + where predictions are too slow"),
    ("median by device", "mean over the devices of each one's median"),
    (
        "p90 by device",
        "mean over the devices of each one's p90, or largest error of fewer than ten rows",
    ),
    ("inside", "measurements in the interval, which is made for 80 %"),
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
mod tests {
    use super::*;
    use crate::state::trust::filter::pairs;

    fn answer(query: &str) -> TrustAnswer {
        TrustAnswer::of(&pairs(&crate::state::url::read(query).0))
    }

    #[test]
    fn the_sentence_says_the_errors_of_its_set() {
        let all = answer("");
        let whole = format!("{} of ", plural(rows().rows.len(), "row"));
        assert!(
            all.sentence.starts_with("Decode with one sequence is within "),
            "{}",
            all.sentence
        );
        let (_, name, cells) = &all.errors[0];
        assert_eq!(*name, "decode, batch 1");
        let [_, _, median, p90, ..] = cells;
        assert!(
            all.sentence
                .contains(&format!("within {median} half of the time, and within {p90} nine"))
        );
        assert!(all.line.starts_with(&whole), "{}", all.line);
        let one = answer("?fs=prefill&fd=gb10");
        assert!(one.sentence.starts_with("Prefill is within "), "{}", one.sentence);
        assert_eq!(one.errors.len(), 1);
    }

    #[test]
    fn fewer_than_ten_rows_have_their_largest_error_and_no_percentile() {
        for (query, said) in [
            ("?fd=t4", "Decode with one sequence: 1 measurement, "),
            ("?fd=rtx_5070", "Decode with one sequence: 6 measurements, the largest error "),
        ] {
            let few = answer(query);
            assert!(few.sentence.starts_with(said), "{query}: {}", few.sentence);
            for (_, set, [_, _, median, p90, bias, ..]) in &few.errors {
                assert_eq!([median.as_str(), bias], [NO_NUMBER; 2], "{query}: {set}");
                assert!(p90.starts_with("largest "), "{query}: {p90}");
            }
            assert!(!few.wrong.iter().any(|group| group.words.contains("median")), "{query}");
        }
        let many = answer("?fs=gemm&fd=h100_sxm");
        assert!(many.wrong.iter().any(|group| group.words.contains("off in the median")));
    }

    #[test]
    fn a_choice_without_rows_says_so() {
        let none = answer("?fd=t4&ff=nvfp4");
        assert!(none.sentence.contains("No published row"), "{}", none.sentence);
        assert_eq!((none.by_error.len(), none.errors.len(), none.wrong.len()), (0, 0, 0));
    }

    #[test]
    fn rows_are_sorted_by_error_and_by_time() {
        let answer = answer("?fs=decode1");
        let error = |place: &usize| times_off(rows().rows[*place].error(false));
        assert!(answer.by_error.windows(2).all(|pair| error(&pair[0]) >= error(&pair[1])));
        let time = |place: &usize| rows().rows[*place].measured;
        assert!(answer.by_time.windows(2).all(|pair| time(&pair[0]) <= time(&pair[1])));
        assert_eq!(answer.by_error.len(), 75);
    }

    #[test]
    fn the_region_is_that_of_every_interval_and_the_dashes_are_the_widest() {
        let one = answer("?fs=decode1").scatter;
        assert!(one.shared.is_some() && one.widest == one.shared);
        let all = answer("").scatter;
        let ((low, high), (widest_low, widest_high)) =
            (all.shared.expect("rows"), all.widest.expect("several"));
        assert!(widest_low < low && high < widest_high);
        for dot in one.dots {
            let (low, high) = one.shared.expect("rows");
            let ratio = dot.x / dot.y;
            // The file stores four digits, so a ratio at an end may be on either side.
            if (ratio / low - 1.0).abs() > 1e-3 && (ratio / high - 1.0).abs() > 1e-3 {
                // A row above its roof is outside its interval, which ends at the roof.
                let inside = (low..=high).contains(&ratio) && !rows().rows[dot.key].above_roof;
                assert_eq!(dot.filled, inside, "{}", dot.key);
            }
        }
    }

    #[test]
    fn a_wrong_group_chooses_its_own_rows() {
        for query in ["", "?fl=device"] {
            let all = answer(query);
            assert_eq!(all.wrong.len(), WORST);
            for wrong in &all.wrong {
                let chosen = FilterField::ALL.into_iter().zip(wrong.chosen);
                let pairs: Vec<Pair> =
                    chosen.map(|(part, value)| (part.key(), value.to_owned())).collect();
                let own = TrustAnswer::of(&pairs);
                assert_eq!(own.wrong.len(), 1, "{}", wrong.name);
                assert_eq!((&own.wrong[0].name, &own.wrong[0].words), (&wrong.name, &wrong.words));
            }
        }
    }

    #[test]
    fn rows_above_the_roof_are_named_with_a_reason() {
        let all = answer("");
        assert!(!all.above_roof.is_empty() && all.above_roof.len() < 20);
        assert!(answer("?fs=gemm").above_roof.is_empty());
    }
}
