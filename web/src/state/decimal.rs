//! Parses and formats decimal numbers. Browsers use JavaScript for it, because Rust's tables add some kilobytes to the page.

use report::input::number_input;

/// Parses a number such as `3.8`, `1e-3`, `1 024` or `2k`; `None` for anything else.
pub fn decimal(typed: &str) -> Option<f64> {
    parse(&number_input::quantity(typed)?).filter(|number| number.is_finite())
}

/// The shortest text that parses to this number.
pub fn written(number: f64) -> String {
    write(number)
}

#[cfg(target_arch = "wasm32")]
fn parse(text: &str) -> Option<f64> {
    Some(js_sys::Number::from(wasm_bindgen::JsValue::from_str(text)).value_of())
        .filter(|number| !number.is_nan())
}

#[cfg(target_arch = "wasm32")]
fn write(number: f64) -> String {
    js_sys::Number::from(number).to_string_with_radix(10).map_or_else(|_| String::new(), Into::into)
}

#[cfg(not(target_arch = "wasm32"))]
fn parse(text: &str) -> Option<f64> {
    text.parse().ok()
}

#[cfg(not(target_arch = "wasm32"))]
fn write(number: f64) -> String {
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_decimals_are_read_and_nothing_else() {
        for (typed, expected) in [("3.8", 3.8), (" 1 024 ", 1024.0), ("1e-3", 1e-3), ("-2", -2.0)] {
            assert!(
                decimal(typed).is_some_and(|found| (found - expected).abs() < 1e-15),
                "{typed}"
            );
        }
        for typed in
            ["", " ", "x", "1,5", "0x10", "NaN", "inf", "Infinity", "1e999", "1.2.3", "--1", "e5"]
        {
            assert_eq!(decimal(typed), None, "{typed:?}");
        }
    }
}
