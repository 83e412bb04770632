//! Sentences about the measurements of a file beside the model's values.

use calc_core::check::Pace;

use crate::input::measurements::{
    BenchTool, Comparable, Hindrance, MeasuredWork, RunRemark, Statistic, ToldByFile,
};
use crate::input::request::{MeasuredInputs, MeasuredRow, ReplacedField};
use crate::number_text as n;
use crate::output::words::check;

/// Largest number of rows of which an explanation is given.
const EXPLAINED: usize = 3;

/// Key of the work of a row, in JSON.
pub const fn work_key(work: MeasuredWork) -> &'static str {
    match work {
        MeasuredWork::Prompt => "prompt",
        MeasuredWork::FirstToken => "first_token",
        MeasuredWork::Token => "token",
        MeasuredWork::AllTokens => "all_tokens",
        MeasuredWork::Answer => "answer",
        MeasuredWork::Kernel => "kernel",
    }
}

/// Name of the work of a row.
pub const fn work(work: MeasuredWork) -> &'static str {
    match work {
        MeasuredWork::Prompt => "prefill",
        MeasuredWork::FirstToken => "TTFT",
        MeasuredWork::Token => "token",
        MeasuredWork::AllTokens => "all tokens",
        MeasuredWork::Answer => "answer",
        MeasuredWork::Kernel => "kernel",
    }
}

/// Key of a statistic.
pub const fn statistic(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => "mean",
        Statistic::Median => "median",
    }
}

/// Key of the part of a comparison that a row allows.
pub const fn judged_key(judged: Comparable) -> &'static str {
    match judged {
        Comparable::Interval => "interval",
        Comparable::Roof(_) => "roof",
        Comparable::Nothing(_) => "nothing",
    }
}

/// Judgment of a row in a few words.
pub const fn judgment(row: &MeasuredRow) -> &'static str {
    match (row.judged, row.answer.pace) {
        (Comparable::Nothing(_), _) => "not judged",
        (_, Pace::AboveTheRoof) => "faster than the roof",
        (Comparable::Roof(_), _) => "possible; expected not judged",
        (Comparable::Interval, Pace::Fast) => "faster than expected",
        (Comparable::Interval, Pace::AsExpected) => "as expected",
        (Comparable::Interval, Pace::Slow) => "slower than expected",
    }
}

/// The reason against a full comparison.
pub const fn hindrance(hindrance: Hindrance) -> &'static str {
    match hindrance {
        Hindrance::OtherRequests => {
            "several requests ran at once, and each waits while prompts of others are computed: the ideal and expected times are those of a request alone, a lower bound"
        }
        Hindrance::UnknownConcurrency => {
            "the number of requests at once is not in the file and varied: the ideal and expected times are those of a request alone, a lower bound"
        }
        Hindrance::RateAboveCapacity => {
            "requests arrived faster than they were answered, so the times contain a queue that grew: the ideal and expected times are those of a request alone, a lower bound"
        }
        Hindrance::WholeRun => {
            "the rate of all tokens is that of the whole run with its prompts and its pauses, so only the roof of the largest batch can be compared"
        }
        Hindrance::FailedRequests => {
            "requests failed or were cancelled, and how long they took part is unknown, so only the roof is compared"
        }
        Hindrance::Drafts => {
            "a step gave several tokens by drafts, so its time is not that of a token; name the drafts with draft_tokens and acceptance"
        }
        Hindrance::PartlyOnHost => {
            "part of the model was not on the device, so nothing is judged; name the machine around it with host"
        }
    }
}

/// Verdict over all rows.
pub fn sentence(answer: &MeasuredInputs) -> String {
    let count = |is: fn(&MeasuredRow) -> bool| answer.rows.iter().filter(|row| is(row)).count();
    let above = count(is_above);
    let judged = count(|row| row.judged == Comparable::Interval);
    let inside = count(is_inside);
    let all = answer.rows.len();
    let inside = if judged == 0 {
        format!(
            "{}: only their roofs",
            if all == 1 {
                "The time allows no comparison with the expected one".to_owned()
            } else {
                format!("None of {all} times can be compared with the expected ones")
            }
        )
    } else {
        format!(
            "{inside} of {judged} comparable times {} as expected",
            if inside == 1 { "is" } else { "are" }
        )
    };
    let above = match above {
        0 => "; none is faster than the roof.".to_owned(),
        1 => "; 1 is faster than the roof, which is not possible as described.".to_owned(),
        _ => format!("; {above} are faster than the roof, which is not possible as described."),
    };
    format!("{inside}{above}")
}

/// True for a time that is faster than the roof allows, where that can be judged.
pub fn is_above(row: &MeasuredRow) -> bool {
    row.answer.pace == Pace::AboveTheRoof && !matches!(row.judged, Comparable::Nothing(_))
}

/// True for a time in the interval of the expected one, where that can be judged.
pub fn is_inside(row: &MeasuredRow) -> bool {
    row.answer.pace == Pace::AsExpected && row.judged == Comparable::Interval
}

/// Notes: what the file told, what the request replaced, what hinders, and explanations of the rows that are not as expected.
pub fn notes(answer: &MeasuredInputs) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let taken = &answer.taken;
    notes.extend((!taken.is_empty()).then(|| told(taken)));
    notes.extend(answer.replaced.iter().map(replaced));
    for row in &answer.rows {
        if let Comparable::Roof(reason) | Comparable::Nothing(reason) = row.judged {
            notes.push(format!("{}: {}", row_name(row), hindrance(reason)));
        }
        notes.extend(row.remarks.iter().map(|it| format!("{}: {}", short(&row.label), remark(it))));
    }
    if answer.tool == BenchTool::NsightCompute {
        notes.push("Nsight Compute fixes the clocks to their base and empties the caches before each launch unless told otherwise, so its times may be longer than those of a normal run".into());
    }
    let odd = answer.rows.iter().filter(|row| is_above(row) || is_odd(row));
    for row in odd.take(EXPLAINED) {
        let first = check::explanations(&row.answer).into_iter().next();
        notes.extend(first.map(|text| format!("{}: {text}", row_name(row))));
    }
    for row in &answer.rows {
        notes.extend(check::notes(&row.inputs, &row.answer));
    }
    let mut known = Vec::new();
    notes.retain(|note| {
        !known.contains(note) && {
            known.push(note.clone());
            true
        }
    });
    notes
}

fn is_odd(row: &MeasuredRow) -> bool {
    row.judged == Comparable::Interval && row.answer.pace != Pace::AsExpected
}

fn row_name(row: &MeasuredRow) -> String {
    format!("{}, {}", short(&row.label), work(row.measured.work))
}

/// Name of a run, shortened as in the table.
pub fn short(label: &str) -> String {
    const MOST: usize = 40;
    let clip: String = label.chars().take(MOST).collect();
    if clip.len() < label.len() { format!("{clip}…") } else { clip }
}

/// A note with the fields that the file told, of each at most three values.
fn told(taken: &[ToldByFile]) -> String {
    const VALUES: usize = 3;
    let mut keys: Vec<&str> = taken.iter().map(|told| told.key).collect();
    let mut known = Vec::new();
    keys.retain(|key| {
        !known.contains(key) && {
            known.push(*key);
            true
        }
    });
    let parts = keys.into_iter().map(|key| {
        let of: Vec<&ToldByFile> = taken.iter().filter(|told| told.key == key).collect();
        let values: Vec<&str> = of.iter().take(VALUES).map(|told| &*told.value).collect();
        let more = if of.len() > VALUES { ", …" } else { "" };
        format!("{key} {}{more} ({})", values.join(", "), of[0].of)
    });
    format!("taken from the file: {}", parts.collect::<Vec<_>>().join("; "))
}

fn replaced(found: &ReplacedField) -> String {
    let ReplacedField { key, asked, in_file, flag_wins } = found;
    if *flag_wins {
        format!("{key} {asked} of the request replaces {in_file} of the file")
    } else {
        format!("{key} {asked} is not used where the measured work has {in_file}")
    }
}

fn remark(remark: &RunRemark) -> String {
    match remark {
        RunRemark::Failed { failed, completed } => {
            format!(
                "{} requests failed, {} were completed",
                n::count(*failed),
                n::count(*completed)
            )
        }
        RunRemark::MeanLengths => {
            "prompts and answers may differ in length; their means were taken".into()
        }
        RunRemark::MicroBatch(tokens) => format!(
            "the prompt was computed in chunks of {} tokens, and the expected time is that of the usual 512",
            n::count(*tokens)
        ),
        RunRemark::MixedCache => {
            "keys and values of the cache have different types; name one format with kv".into()
        }
        RunRemark::AcceptLength(tokens) => {
            format!("a step gave {} tokens in the mean", n::short(*tokens, 3))
        }
        RunRemark::Cancelled => "the run was cancelled".into(),
        RunRemark::Launches(count) => format!("the median of {count} launches"),
    }
}
