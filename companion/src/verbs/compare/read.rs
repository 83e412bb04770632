//! Measurements in a file: records of `bench` as JSON or JSON lines, or CSV.

use report::input::json_input;
use serde_json::Value;

use super::csv;
use super::measured::{Measured, checked};

/// Reads a file of measurements.
///
/// # Errors
/// The first error, with its line.
pub(super) fn parse(text: &str) -> Result<Vec<Measured>, String> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let rows = match text.bytes().next() {
        None => Err("the file is empty".into()),
        Some(b'{' | b'[') => parse_json(text),
        Some(_) => csv::parse(text),
    }?;
    if rows.is_empty() { Err("the file has no measurements".into()) } else { Ok(rows) }
}

fn parse_json(text: &str) -> Result<Vec<Measured>, String> {
    let values = json_input::values(text)?;
    let numbered = values.iter().enumerate();
    numbered
        .map(|(i, value)| record(value).map_err(|reason| format!("record {}: {reason}", i + 1)))
        .collect()
}

/// Reads a record of `bench`: shape{m,n,k}, precision{weights,activations}, time_s{median}.
fn record(value: &Value) -> Result<Measured, String> {
    let precision = &value["precision"];
    let weights = precision["weights"].as_str().ok_or("it has no precision.weights")?;
    let time = &value["time_s"];
    let time = time["median"].as_f64().or(time.as_f64()).ok_or("it has no time_s.median")?;
    let shape = &value["shape"];
    let dimension = |key: &str| {
        shape[key].as_u64().ok_or(format!("shape.{key} must be a whole number; got {}", shape[key]))
    };
    let shape = if shape.is_null() {
        None
    } else {
        Some((dimension("m")?, dimension("n")?, dimension("k")?))
    };
    let activations = precision["activations"].as_str().map(str::to_owned);
    Ok(Measured { weights: weights.into(), activations, time: checked(time)?, shape })
}

#[cfg(test)]
mod tests {
    use calc_core::units::Seconds;

    use super::*;

    #[test]
    fn records_are_read_as_a_list_and_line_by_line() {
        let record = r#"{"schema":1,"shape":{"m":1,"n":2,"k":3},"precision":{"weights":"fp16","activations":"fp16"},"time_s":{"median":0.5,"low":0.4}}"#;
        let expected = Measured {
            weights: "fp16".into(),
            activations: Some("fp16".into()),
            time: Seconds::new(0.5),
            shape: Some((1, 2, 3)),
        };
        for text in [format!("[{record}]"), format!("{record}\n"), record.to_owned()] {
            assert_eq!(parse(&text), Ok(vec![expected.clone()]));
        }
        assert_eq!(parse(&format!("{record}\n\n{record}")).map(|rows| rows.len()), Ok(2));
    }

    #[test]
    fn what_is_no_measurement_says_which() {
        for (text, expected) in [
            ("", "empty"),
            ("[]", "no measurements"),
            ("{\"a\":1}", "record 1: it has no precision.weights"),
            ("{\"precision\":{\"weights\":\"fp16\"}}", "time_s.median"),
            ("{\"precision\":{\"weights\":\"fp16\"},\"time_s\":-1}", "positive"),
            ("{\"precision\":{\"weights\":\"fp16\"},\"time_s\":1}\n{oops", "line 2"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
