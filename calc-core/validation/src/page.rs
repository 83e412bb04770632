//! The data file of the Trust view: one line per row; texts that many rows share are listed once at the head.
//!
//! Times are in whole nanoseconds, interval ends in ten-thousandths of the prediction.

use std::fmt::Write as _;

use calc_core::analysis::Operator;
use calc_core::lowering::Step;
use validation::row::{PublishedRow, Set, Tier, Work};
use validation::score::Scored;

/// The columns of a row. A prediction comes with its interval, and 1 if the measurement is inside: first held out with the
/// row's fold of the groups, then with its device.
const COLUMNS: &str = "id,set,tier,device,engine,what,batch,new,cached,format,above_roof,measured_ns,\
                       predicted_ns,low,high,inside,predicted_ns,low,high,inside,source";

/// Significant digits of a time.
const DIGITS: usize = 4;

/// Returns the data file.
pub(crate) fn text(groups: &[Scored<'_>], devices: &[Scored<'_>]) -> String {
    let mut text = String::new();
    for set in Set::ALL {
        let _ = writeln!(text, "set,{},{}", key(set), set.name());
    }
    let mut sources: Vec<&str> = Vec::new();
    for scored in groups {
        if !sources.contains(&scored.row.source.as_str()) {
            sources.push(&scored.row.source);
            let _ = writeln!(text, "source,{}", scored.row.source);
        }
    }
    let _ = writeln!(text, "{COLUMNS}");
    for (group, device) in groups.iter().zip(devices) {
        line(&mut text, group, device, &sources);
    }
    text
}

fn line(text: &mut String, group: &Scored<'_>, device: &Scored<'_>, sources: &[&str]) {
    let row = group.row;
    let tier = match row.tier {
        Tier::A => 'A',
        Tier::B => 'B',
        Tier::C => 'C',
    };
    let (what, [batch, new, cached]) = work(row);
    let source = sources.iter().position(|source| *source == row.source).unwrap_or_default();
    let _ = writeln!(
        text,
        "{},{},{tier},{},{},{what},{batch},{new},{cached},{},{},{},{},{},{source}",
        row.id,
        key(row.set()),
        row.device.key,
        row.engine_text,
        row.format(),
        u8::from(group.above_roof),
        nanoseconds(row.measured.get()),
        prediction(group),
        prediction(device),
    );
}

fn prediction(scored: &Scored<'_>) -> String {
    let share = |end: f64| (end / scored.predicted * 1e4).round();
    let (low, high) = scored.interval;
    let inside = u8::from(scored.is_inside());
    format!("{},{},{},{inside}", nanoseconds(scored.predicted), share(low), share(high))
}

/// Model or shape of a row, with its sequences (tokens of a matmul), new tokens and cached tokens.
fn work(row: &PublishedRow) -> (String, [u64; 3]) {
    match &row.work {
        Work::Step(step) => {
            let Step { batch, new, cached, .. } = step.step();
            (row.model(), [batch, new, cached])
        }
        Work::Operator(work) => match work.inputs.operator {
            Operator::Gemm(shape) => (row.model(), [shape.m, 0, 0]),
            Operator::Attention { shape, .. } => (
                format!("{} x {}", shape.heads, shape.qk_dim),
                [shape.batch, shape.new, shape.cached],
            ),
            _ => (row.model(), [0; 3]),
        },
    }
}

/// Whole nanoseconds, rounded to four digits.
fn nanoseconds(seconds: f64) -> f64 {
    let value = seconds * 1e9;
    format!("{value:.*e}", DIGITS - 1).parse().map_or(value, f64::round)
}

const fn key(set: Set) -> &'static str {
    match set {
        Set::DecodeOne => "decode1",
        Set::DecodeMany => "decode",
        Set::Prefill => "prefill",
        Set::PrefillC => "prefillc",
        Set::Gemm => "gemm",
        Set::AttentionDecode => "attdecode",
        Set::AttentionPrefill => "attprefill",
    }
}
