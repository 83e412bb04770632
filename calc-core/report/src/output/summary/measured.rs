//! Answer of `compare` for people, for a file of a benchmark or a profiler.

use calc_core::units::{Seconds, TokensPerSec};

use super::Document;
use crate::input::request::{MeasuredInputs, MeasuredRow};
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::words::measured as words;

/// Document of the judged times of a file.
pub fn measured(answer: &MeasuredInputs) -> Document {
    let mut out = Document::default();
    let device = answer.rows.first().map_or_else(String::new, |row| {
        let mode = row.inputs.power_mode();
        let mode = mode.map_or(String::new(), |mode| format!(" in mode {mode}"));
        format!(" on {}{mode}", row.inputs.hardware_name())
    });
    out.heading(format!("{}{device}: theory against measurement", answer.tool.name()));
    out.line(words::sentence(answer));
    let mut table = Table::new(&[
        ("run", Align::Left),
        ("work", Align::Left),
        ("measured", Align::Right),
        ("rate", Align::Right),
        ("ideal", Align::Right),
        ("expected", Align::Right),
        ("measured / expected", Align::Right),
        ("judgment", Align::Left),
    ]);
    let traffic = answer.rows.iter().filter_map(traffic).collect::<Vec<_>>();
    for row in &answer.rows {
        table.push(cells(row));
    }
    out.table(table);
    for line in traffic {
        out.line(line);
    }
    out.notes(words::notes(answer));
    out
}

fn cells(row: &MeasuredRow) -> Vec<String> {
    let MeasuredRow { measured, answer, .. } = row;
    let rate = |time: Seconds| {
        let tokens = measured.tokens.map(|tokens| TokensPerSec::new(tokens / time.get()));
        tokens.map_or("–".into(), n::token_rate)
    };
    let expected = &answer.expected;
    vec![
        words::short(&row.label),
        words::work(measured.work).into(),
        n::time(measured.time),
        rate(measured.time),
        n::time(answer.ideal),
        n::time_range(expected.low, expected.high),
        n::ratio(answer.time / expected.time),
        words::judgment(row).into(),
    ]
}

/// Counted beside calculated traffic of a kernel.
fn traffic(row: &MeasuredRow) -> Option<String> {
    let counted = row.measured.traffic?;
    let predicted = row.answer.cost.traffic.total();
    Some(format!(
        "DRAM traffic: counted {}, calculated {}, ratio {}",
        n::bytes(counted),
        n::bytes(predicted),
        n::ratio(counted / predicted)
    ))
}
