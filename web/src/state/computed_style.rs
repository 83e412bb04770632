//! Values of computed styles, which are texts: the size of text, and the colors that a reader forces on every page.

use chart::theme::{Color, Theme};

/// Size of text in the style sheet, where the reader's default is 16 px [px].
const TEXT: f64 = 15.0;
/// Least width to which a chart with large text is laid out [px].
const LEAST: f64 = 240.0;

/// How much larger than usual a chart is drawn: as much as the text around it, as far as its width allows.
pub fn text_scale(font_size: &str, width: f64) -> f64 {
    let size = whole_numbers(font_size).first().map_or(TEXT, |size| f64::from(*size));
    (size / TEXT).min(width / LEAST).max(1.0)
}

/// Colors of charts from a background and a text color as `rgb(…)`; `None` if they are written otherwise.
pub fn forced_theme(background: &str, ink: &str) -> Option<Theme> {
    Some(Theme::of_two(color(background)?, color(ink)?))
}

fn color(text: &str) -> Option<Color> {
    let parts = whole_numbers(text);
    let part = |place: usize| u8::try_from(*parts.get(place)?).ok();
    Some(Color(part(0)?, part(1)?, part(2)?))
}

/// The digits of a text as numbers: little code, because every visitor loads it, for texts that browsers write.
fn whole_numbers(text: &str) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    let mut goes_on = false;
    for letter in text.bytes() {
        let digit = u32::from(letter.wrapping_sub(b'0'));
        let is_digit = digit < 10;
        match numbers.last_mut() {
            Some(last) if is_digit && goes_on => {
                *last = last.saturating_mul(10).saturating_add(digit);
            }
            _ if is_digit => numbers.push(digit),
            _ => {}
        }
        goes_on = is_digit;
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_grow_with_the_text_and_stay_wide_enough() {
        for (font_size, width, scale) in [
            ("15px", 500.0, 1.0),
            ("30px", 800.0, 2.0),
            ("30px", 360.0, 1.5),
            ("30px", 200.0, 1.0),
            ("22.5px", 500.0, 22.0 / 15.0),
            ("9px", 500.0, 1.0),
            ("", 500.0, 1.0),
        ] {
            assert!((text_scale(font_size, width) - scale).abs() < 1e-9, "{font_size} {width}");
        }
    }

    #[test]
    fn forced_colors_are_those_of_the_page() {
        let theme = forced_theme("rgb(0, 0, 0)", "rgb(255 255 0)").expect("colors");
        assert_eq!((theme.background, theme.ink), (Color(0, 0, 0), Color(255, 255, 0)));
        assert_eq!(
            forced_theme("rgba(0, 0, 0, 0)", "rgb(1, 2, 3)").map(|it| it.ink),
            Some(Color(1, 2, 3))
        );
        assert_eq!(forced_theme("black", "white"), None);
    }
}
