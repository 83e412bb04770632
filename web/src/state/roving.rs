//! Positions: the focus after an arrow key, and the popover beside its number.

use report::number_text::typed;

/// A cell: row, column.
pub type CellPosition = (usize, usize);

/// The cell after a key press in a table of this many rows and columns; `None` for other keys.
pub fn step(
    (row, column): CellPosition,
    (rows, columns): CellPosition,
    key: &str,
) -> Option<CellPosition> {
    let (last_row, last_column) = (rows.checked_sub(1)?, columns.checked_sub(1)?);
    Some(match key {
        "ArrowUp" => (row.saturating_sub(1), column),
        "ArrowDown" => ((row + 1).min(last_row), column),
        "ArrowLeft" => (row, column.saturating_sub(1)),
        "ArrowRight" => (row, (column + 1).min(last_column)),
        "Home" => (row, 0),
        "End" => (row, last_column),
        "PageUp" => (0, column),
        "PageDown" => (last_row, column),
        _ => return None,
    })
}

/// The item after a key press in a ring of `count` items. Without a current item, an arrow key starts at the end that it moves
/// away from.
pub fn turn(at: Option<usize>, count: usize, key: &str) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match (key, at) {
        ("ArrowRight" | "ArrowDown", None) | ("Home", _) => Some(0),
        ("ArrowLeft" | "ArrowUp", None) | ("End", _) => Some(last),
        ("ArrowRight" | "ArrowDown", Some(at)) => Some(if at >= last { 0 } else { at + 1 }),
        ("ArrowLeft" | "ArrowUp", Some(at)) => {
            Some(if at == 0 { last } else { (at - 1).min(last) })
        }
        _ => None,
    }
}

/// Position of the popover as CSS values; `auto` leaves an edge free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PopoverPlace {
    pub left: String,
    pub top: String,
    pub bottom: String,
}

/// Below the number, or above it near the window's end. The anchor is (left, top, bottom), the sizes of the popover and of the
/// window are (width, height) [px].
pub fn popover_place(
    (left, top, bottom): (f64, f64, f64),
    (own_width, own_height): (f64, f64),
    (width, height): (f64, f64),
) -> PopoverPlace {
    const GAP: f64 = 4.0;
    let left = left.min(width - own_width - 2.0 * GAP).max(2.0 * GAP);
    let pixels = |value: f64| format!("{}px", typed(value.round_ties_even()));
    let auto = || "auto".to_owned();
    let needed = own_height + 2.0 * GAP;
    let (top, bottom) = if bottom + needed < height || top < needed {
        (pixels(bottom + GAP), auto())
    } else {
        (auto(), pixels(height - top + GAP))
    };
    PopoverPlace { left: pixels(left), top, bottom }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_stop_at_the_edges_of_a_table() {
        for (from, key, expected) in [
            ((0, 0), "ArrowUp", Some((0, 0))),
            ((0, 0), "ArrowDown", Some((1, 0))),
            ((2, 4), "ArrowDown", Some((2, 4))),
            ((2, 4), "ArrowRight", Some((2, 4))),
            ((1, 2), "Home", Some((1, 0))),
            ((1, 2), "End", Some((1, 4))),
            ((1, 2), "PageDown", Some((2, 2))),
            ((1, 2), "a", None),
        ] {
            assert_eq!(step(from, (3, 5), key), expected, "{from:?} {key}");
        }
        assert_eq!(step((0, 0), (0, 5), "ArrowDown"), None);
    }

    #[test]
    fn the_popover_stays_in_the_window() {
        for (anchor, own, expected) in [
            ((100.0, 100.0, 120.0), (340.0, 280.0), ("100px", "124px", "auto")),
            ((900.0, 100.0, 120.0), (340.0, 280.0), ("652px", "124px", "auto")),
            ((100.0, 700.0, 720.0), (340.0, 280.0), ("100px", "auto", "104px")),
            ((-50.0, 100.0, 700.0), (340.0, 280.0), ("8px", "704px", "auto")),
            // One that is low or high stands elsewhere.
            ((100.0, 700.0, 720.0), (340.0, 60.0), ("100px", "724px", "auto")),
            ((100.0, 400.0, 420.0), (340.0, 380.0), ("100px", "auto", "404px")),
            ((900.0, 100.0, 120.0), (600.0, 280.0), ("392px", "124px", "auto")),
        ] {
            let place = popover_place(anchor, own, (1000.0, 800.0));
            assert_eq!((&*place.left, &*place.top, &*place.bottom), expected, "{anchor:?} {own:?}");
        }
    }

    #[test]
    fn arrows_go_round_in_a_ring() {
        for (at, key, expected) in [
            (None, "ArrowRight", Some(0)),
            (None, "ArrowLeft", Some(2)),
            (Some(2), "ArrowRight", Some(0)),
            (Some(0), "ArrowLeft", Some(2)),
            (Some(9), "ArrowLeft", Some(2)),
            (Some(1), "Tab", None),
        ] {
            assert_eq!(turn(at, 3, key), expected, "{at:?} {key}");
        }
        assert_eq!(turn(None, 0, "ArrowRight"), None);
    }
}
