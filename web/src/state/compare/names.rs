//! Names of the columns: the points in which their scenarios differ.

use super::super::scenario::{BEST, PEAKS, Piece, pieces};
use super::Column;

/// A part of a scenario line with the text before it.
type Part = (Piece, &'static str, String);

/// Names the columns, and returns what they have in common as a scenario line with "…" for the rest.
pub fn name(columns: &mut [Column]) -> String {
    let said: Vec<Option<Vec<Part>>> = columns
        .iter()
        .map(|column| column.answered.as_ref().ok().map(|answered| pieces(&answered.inputs)))
        .collect();
    let read: Vec<&Vec<_>> = said.iter().flatten().collect();
    let Some(first) = read.first() else {
        for (place, column) in columns.iter_mut().enumerate() {
            column.name = nth(place);
        }
        return String::new();
    };
    let text = |pieces: &[Part], piece: Piece| {
        pieces.iter().find(|(other, ..)| *other == piece).map(|(.., said)| said.clone())
    };
    let differs = |piece: Piece| {
        let own = text(first, piece);
        read.iter().any(|pieces| text(pieces, piece) != own)
    };
    let is_alone = read.len() < 2;
    for (place, (column, pieces)) in columns.iter_mut().zip(&said).enumerate() {
        let named = pieces
            .iter()
            .flatten()
            .filter(|(piece, ..)| if is_alone { *piece == Piece::Device } else { differs(*piece) });
        let named: Vec<&Part> = named.collect();
        let has = |piece: Piece| named.iter().any(|(other, ..)| *other == piece);
        // The usual choices are not worth a word beside what tells the columns apart.
        let is_told = |part: &&&Part| match part {
            (Piece::Scheme, _, said) => named.len() == 1 || said != BEST,
            (Piece::Mode, _, said) => !has(Piece::Device) || said != PEAKS,
            _ => true,
        };
        let told = named.iter().filter(is_told);
        let parts: Vec<String> = told.map(|(piece, _, said)| in_name(*piece, said)).collect();
        column.name = if parts.is_empty() { nth(place) } else { parts.join(" · ") };
    }
    common(first, |piece| !is_alone && differs(piece))
}

/// The name of a column that has no other.
fn nth(place: usize) -> String {
    format!("Column {}", place + 1)
}

/// A part of the line as part of a name.
fn in_name(piece: Piece, said: &str) -> String {
    match piece {
        Piece::Device => said.strip_prefix("1 × ").unwrap_or(said).to_owned(),
        Piece::Engine => format!("with {said}"),
        Piece::Out => said.replace(" out", " tokens out"),
        _ => said.to_owned(),
    }
}

fn common(first: &[Part], differs: impl Fn(Piece) -> bool) -> String {
    let mut line = String::new();
    for (piece, before, said) in first {
        line += before;
        line += if differs(*piece) { "…" } else { said };
    }
    line
}
