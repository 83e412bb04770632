//! Images as people write them: `1024x768`, or `3x1024x768` for three.

use calc_core::image::{AskedImages, ImageSize};

/// Parses a number of images and their size in pixels; `None` for any other text.
pub fn images(text: &str) -> Option<AskedImages> {
    let numbers: Option<Vec<u64>> =
        text.split(['x', 'X', '×']).map(|number| number.trim().parse().ok()).collect();
    let (count, sides) = match *numbers?.as_slice() {
        [width, height] => (1, [width, height]),
        [count, width, height] => (count, [width, height]),
        _ => return None,
    };
    let [width, height] = sides.map(|side| u32::try_from(side).ok());
    let size = ImageSize { width: width?, height: height? };
    Some(AskedImages { count, size, stated_tokens: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_typed() {
        let read = |text: &str| images(text).map(|it| (it.count, it.size.width, it.size.height));
        for (text, expected) in [
            ("1024x768", Some((1, 1024, 768))),
            ("3x1024x768", Some((3, 1024, 768))),
            (" 2 × 640 X 480 ", Some((2, 640, 480))),
            ("1024", None),
            ("1024x", None),
            ("axb", None),
            ("1x2x3x4", None),
            ("5000000000x5", None),
            ("-1x5", None),
            ("1.5x5", None),
            ("", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
