//! Names of the columns: the points in which their scenarios differ.

use super::super::scenario::{BEST, PEAKS, ScenarioPart, parts};
use super::CompareColumn;

/// A part of a scenario line with the text before it.
type Part = (ScenarioPart, &'static str, String);

/// Names the columns, and returns what they have in common as a scenario line with "…" for the rest.
pub fn name(columns: &mut [CompareColumn]) -> String {
    let said: Vec<Option<Vec<Part>>> = columns
        .iter()
        .map(|column| column.answered.as_ref().ok().map(|answered| parts(&answered.inputs)))
        .collect();
    let read: Vec<&Vec<_>> = said.iter().flatten().collect();
    let Some(first) = read.first() else {
        for (place, column) in columns.iter_mut().enumerate() {
            column.name = nth(place);
        }
        return String::new();
    };
    let text = |parts: &[Part], part: ScenarioPart| {
        parts.iter().find(|(other, ..)| *other == part).map(|(.., said)| said.clone())
    };
    let differs = |part: ScenarioPart| {
        let own = text(first, part);
        read.iter().any(|parts| text(parts, part) != own)
    };
    let is_alone = read.len() < 2;
    for (place, (column, parts)) in columns.iter_mut().zip(&said).enumerate() {
        let named = parts.iter().flatten().filter(|(part, ..)| {
            if is_alone { *part == ScenarioPart::Device } else { differs(*part) }
        });
        let named: Vec<&Part> = named.collect();
        let has = |part: ScenarioPart| named.iter().any(|(other, ..)| *other == part);
        // The usual choices are not worth a word beside what tells the columns apart.
        let is_told = |part: &&&Part| match part {
            (ScenarioPart::Scheme, _, said) => named.len() == 1 || said != BEST,
            (ScenarioPart::Mode, _, said) => !has(ScenarioPart::Device) || said != PEAKS,
            _ => true,
        };
        let told = named.iter().filter(is_told);
        let parts: Vec<String> = told.map(|(part, _, said)| in_name(*part, said)).collect();
        column.name = if parts.is_empty() { nth(place) } else { parts.join(" · ") };
    }
    common(first, |part| !is_alone && differs(part))
}

/// The name of a column that has no other.
fn nth(place: usize) -> String {
    format!("Column {}", place + 1)
}

/// A part of the line as part of a name.
fn in_name(part: ScenarioPart, said: &str) -> String {
    match part {
        ScenarioPart::Device => said.strip_prefix("1 × ").unwrap_or(said).to_owned(),
        ScenarioPart::Engine => format!("with {said}"),
        ScenarioPart::Out => said.replace(" out", " tokens out"),
        _ => said.to_owned(),
    }
}

fn common(first: &[Part], differs: impl Fn(ScenarioPart) -> bool) -> String {
    let mut line = String::new();
    for (part, before, said) in first {
        line += before;
        line += if differs(*part) { "…" } else { said };
    }
    line
}
