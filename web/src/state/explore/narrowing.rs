//! How the reader narrows and orders the table, as texts of the address: a brushed part of the chart, and the sorted column.

use calc_core::math::{exp10, floor, log10};
use chart::front::Brush;
use report::input::number_input;
use report::number_text::typed;

use super::ExploreField;
use super::column::{Order, PointColumn};
use crate::state::inputs::Inputs;

/// Mark of an order with the largest first.
const DESCENDING: char = '-';
/// Digits that the ends of a brushed part keep.
const DIGITS: f64 = 4.0;

/// Order of the table; `None` while the best by the first criterion come first.
///
/// # Errors
/// An unknown column, as a sentence.
pub fn order(inputs: &Inputs) -> Result<Option<Order>, String> {
    let text = inputs.explore.get(ExploreField::Sort);
    if text.is_empty() {
        return Ok(None);
    }
    let key = text.strip_prefix(DESCENDING).unwrap_or(text);
    let found = PointColumn::ALL.into_iter().find(|column| column.key() == key);
    found.map(|column| Some((column, text.starts_with(DESCENDING)))).ok_or_else(|| {
        let keys = PointColumn::ALL.map(PointColumn::key).join(", ");
        format!("{}={} is none of {keys}.", ExploreField::Sort.key(), start(text))
    })
}

/// The text of an order.
pub fn order_text((column, descending): Order) -> String {
    let sign = if descending { DESCENDING.to_string() } else { String::new() };
    sign + column.key()
}

/// The brushed part of the chart, by the values of the two criteria in base units; `None` for the whole chart.
///
/// # Errors
/// A text that is no part, as a sentence.
pub fn brush(inputs: &Inputs) -> Result<Option<Brush>, String> {
    let text = inputs.explore.get(ExploreField::Brush);
    if text.is_empty() {
        return Ok(None);
    }
    let range = |text: &str| {
        let (low, high) = text.split_once("..")?;
        let [low, high] = [low, high]
            .map(|end| number_input::real(end).filter(|value| (0.0..=f64::MAX).contains(value)));
        Some((low?, high?)).filter(|(low, high)| low <= high)
    };
    let both = text.split_once(',').and_then(|(x, y)| Some(Brush { x: range(x)?, y: range(y)? }));
    both.map(Some).ok_or_else(|| {
        let key = ExploreField::Brush.key();
        format!("{key}={} is no part of the chart, such as 10..200,0.05..1.", start(text))
    })
}

/// The text of a brushed part.
pub fn brush_text(brush: &Brush) -> String {
    let range = |(low, high): (f64, f64)| format!("{}..{}", rounded(low), rounded(high));
    format!("{},{}", range(brush.x), range(brush.y))
}

/// A value with few digits, so that a link stays short.
fn rounded(value: f64) -> String {
    if value <= 0.0 {
        return typed(0.0);
    }
    let unit = exp10(floor(log10(value)) + 1.0 - DIGITS);
    typed((value / unit).round_ties_even() * unit)
}

/// The start of a text that may be long.
fn start(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::url;

    fn inputs(query: &str) -> Inputs {
        url::read(&format!("?view=explore&{query}")).0
    }

    #[test]
    fn an_order_and_a_brushed_part_come_back_from_their_texts() {
        assert_eq!((order(&inputs("")), brush(&inputs(""))), (Ok(None), Ok(None)));
        for column in PointColumn::ALL {
            for descending in [false, true] {
                let text = order_text((column, descending));
                let back = order(&inputs(&format!("sort={text}")));
                assert_eq!(back, Ok(Some((column, descending))), "{text}");
            }
        }
        let part = Brush { x: (10.0, 212.34), y: (0.0, 0.300_04) };
        assert_eq!(brush_text(&part), "10..212.3,0..0.3");
        let back = brush(&inputs("brush=10..212.3,0..0.3"));
        assert_eq!(back, Ok(Some(Brush { x: (10.0, 212.3), y: (0.0, 0.3) })));
        let bytes = Brush { x: (1.0, 2.0), y: (6.105e9, 1.9999e11) };
        assert_eq!(brush_text(&bytes), "1..2,6105000000..200000000000");
    }

    #[test]
    fn garbage_is_said() {
        for text in ["1", "1..2", "2..1,1..2", "-1..2,1..2", "a..b,c..d", "1..2,1..inf", "..,.."] {
            let found = brush(&inputs(&format!("brush={text}")));
            assert!(found.is_err_and(|why| why.contains("no part of the chart")), "{text}");
        }
        let found = order(&inputs("sort=--rate"));
        assert!(found.is_err_and(|why| why.contains("sort=--rate is none of name, memory")));
    }
}
