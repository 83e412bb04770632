//! Labels that avoid each other, the points and, where they can, the lines.

use crate::geometry::{Rect, Spot, clip};
use crate::theme::Ink;

/// Height of a line of text over its font size.
pub(crate) const LINE_HEIGHT: f64 = 1.25;

/// Which end of a text is at its spot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A text with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct Label {
    pub text: String,
    /// Vertically the middle of the text, horizontally the end that `anchor` names.
    pub at: Spot,
    pub anchor: Anchor,
    pub ink: Ink,
    /// Font size in CSS pixels.
    pub size: f64,
    /// Stands upright along the y axis, read from below.
    pub upright: bool,
    /// The box that the text covers.
    pub bounds: Rect,
}

impl Label {
    /// A text at a spot.
    pub fn new(text: &str, at: Spot, anchor: Anchor, ink: Ink, size: f64) -> Self {
        let (width, height) = (text_width(text, size), size * LINE_HEIGHT);
        let left = match anchor {
            Anchor::Start => at.x,
            Anchor::Middle => at.x - width / 2.0,
            Anchor::End => at.x - width,
        };
        let bounds = Rect {
            left,
            right: left + width,
            top: at.y - height / 2.0,
            bottom: at.y + height / 2.0,
        };
        Self { text: text.to_owned(), at, anchor, ink, size, upright: false, bounds }
    }

    /// A text that stands upright, its middle at a spot.
    pub fn upright(text: &str, at: Spot, ink: Ink, size: f64) -> Self {
        let (width, height) = (text_width(text, size), size * LINE_HEIGHT);
        let bounds = Rect {
            left: at.x - height / 2.0,
            right: at.x + height / 2.0,
            top: at.y - width / 2.0,
            bottom: at.y + width / 2.0,
        };
        let text = text.to_owned();
        Self { text, at, anchor: Anchor::Middle, ink, size, upright: true, bounds }
    }
}

/// Width of a text, a little more than a wide sans-serif needs: backends that could measure it insert elements into
/// the page to do so, and SVG cannot.
pub(crate) fn text_width(text: &str, size: f64) -> f64 {
    let width = |letter: char| match letter {
        '\u{202f}' => 0.2,
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ' ' | '·' | '|' | '\'' => 0.34,
        'f' | 'r' | 't' | '/' | '(' | ')' | '-' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.98,
        'A'..='Z' | '×' | '+' | '<' | '>' | '=' => 0.74,
        '0'..='9' => 0.64,
        _ => 0.62,
    };
    text.chars().map(width).sum::<f64>() * size
}

/// Places labels greedily: each takes the best free place that its predecessors left.
pub(crate) struct Placer {
    /// Labels stay inside it.
    pub(crate) bounds: Rect,
    /// Boxes that no label may overlap.
    pub(crate) taken: Vec<Rect>,
    /// Lines that a label crosses only if no other place is left.
    pub(crate) lines: Vec<(Spot, Spot)>,
}

impl Placer {
    /// The first of the proposed labels that covers nothing; else the one that crosses the fewest lines; else none, and
    /// the reader finds the text on focus and in the table.
    pub(crate) fn place(&mut self, proposed: impl IntoIterator<Item = Label>) -> Option<Label> {
        self.best(&mut proposed.into_iter(), usize::MAX)
    }

    /// The first of the proposed labels that covers nothing and crosses no line; else none.
    pub(crate) fn place_clear(
        &mut self,
        proposed: impl IntoIterator<Item = Label>,
    ) -> Option<Label> {
        self.best(&mut proposed.into_iter(), 0)
    }

    /// The first label that crosses the fewest lines, and at most so many.
    fn best(&mut self, proposed: &mut dyn Iterator<Item = Label>, most: usize) -> Option<Label> {
        let mut best: Option<(usize, Label)> = None;
        for label in proposed {
            if !self.is_free(&label.bounds) {
                continue;
            }
            let crossed = self.lines_through(&label.bounds);
            if crossed <= most && best.as_ref().is_none_or(|(fewest, _)| crossed < *fewest) {
                best = Some((crossed, label));
            }
            if crossed == 0 {
                break;
            }
        }
        let (_, label) = best?;
        self.taken.push(label.bounds);
        Some(label)
    }

    fn is_free(&self, bounds: &Rect) -> bool {
        self.bounds.encloses(bounds) && self.taken.iter().all(|taken| !taken.overlaps(bounds))
    }

    fn lines_through(&self, bounds: &Rect) -> usize {
        self.lines.iter().filter(|(from, to)| clip(*from, *to, bounds).is_some()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(x: f64, y: f64) -> Label {
        Label::new("FP16", Spot { x, y }, Anchor::Start, Ink::Muted, 10.0)
    }

    fn placer() -> Placer {
        let bounds = Rect { left: 0.0, top: 0.0, right: 200.0, bottom: 100.0 };
        Placer { bounds, taken: Vec::new(), lines: Vec::new() }
    }

    #[test]
    fn a_label_keeps_out_of_what_is_taken() {
        let mut placer = placer();
        let first = placer.place([label(10.0, 50.0)]).expect("room");
        let second = placer.place([label(12.0, 52.0), label(12.0, 70.0)]).expect("room");
        assert!(!first.bounds.overlaps(&second.bounds));
        assert_eq!(placer.place([label(11.0, 51.0)]), None);
        assert_eq!(placer.place([label(199.0, 51.0)]), None, "it would leave the picture");
    }

    #[test]
    fn a_label_avoids_lines_if_it_can() {
        let mut placer = placer();
        placer.lines.push((Spot { x: 0.0, y: 50.0 }, Spot { x: 200.0, y: 50.0 }));
        let chosen = placer.place([label(10.0, 50.0), label(10.0, 30.0)]).expect("room");
        assert!((chosen.at.y - 30.0).abs() < 1e-9);
        assert!(placer.place([label(100.0, 50.0)]).is_some(), "better across a line than nowhere");
    }

    #[test]
    fn the_end_of_the_text_is_where_its_anchor_says() {
        let at = Spot { x: 100.0, y: 50.0 };
        let bounds = |anchor| Label::new("FP16", at, anchor, Ink::Main, 10.0).bounds;
        assert!((bounds(Anchor::End).right - 100.0).abs() < 1e-9);
        assert!((bounds(Anchor::Start).left - 100.0).abs() < 1e-9);
        let middle = bounds(Anchor::Middle);
        assert!((middle.left + middle.right - 200.0).abs() < 1e-9);
    }
}
