//! Requests that name the link between their devices.

use report::input::request::{EstimateInputs, Fields, Library, RecommendInputs};
use report::output::words;
use serde_json::{Value, json};

/// The link's time in a decode step [s], and the notes of the answer.
fn answer(more: &Value) -> Result<(f64, Vec<String>), String> {
    let mut request = json!({
        "hardware": "gb10", "model": "llama-3.1-8b", "weights": "fp8_e4m3", "prompt": 64,
    });
    for (key, value) in more.as_object().expect("fields") {
        request[key] = value.clone();
    }
    let run = || {
        let fields = Fields::from_line(&request.to_string())?;
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS)?;
        let answer = inputs.estimate()?;
        Ok((answer.tpot.time.get(), words::estimate_notes(&inputs, &answer)))
    };
    run().map_err(|error: report::input::request::RequestError| error.to_string())
}

#[test]
fn a_named_link_replaces_that_of_the_catalog_and_is_said() {
    let time = |link: &str| {
        let (time, notes) = answer(&json!({"tensor_parallel": 2, "link": link})).expect(link);
        assert!(notes.iter().any(|note| note.starts_with("link ")), "{notes:?}");
        time
    };
    let (fast, slow) = (time("NVLink 4"), time("10 GbE"));
    // Two hops of 300 and of 5 µs in 64 all-reduces: 37.8 ms, and some bandwidth.
    assert!((0.0377..0.05).contains(&(slow - fast)), "{fast} s and {slow} s");
    let (_, notes) = answer(&json!({"tensor_parallel": 2, "link": "200gbe"})).expect("an answer");
    let said = "link 200GbE between two DGX Sparks: 24.8\u{202f}GB/s per direction, 5.00\u{202f}µs per hop";
    assert!(notes.iter().any(|note| note.starts_with(said)), "{notes:?}");
}

#[test]
fn a_link_that_nothing_uses_or_nobody_knows_is_refused() {
    for (request, expected) in [
        (json!({"link": "nvlink4"}), "link does not apply to devices that exchange nothing"),
        (json!({"link": "nvlink4", "pipeline_parallel": 2}), "link does not apply to devices"),
        (
            json!({"link": "infiniband", "tensor_parallel": 2}),
            "link must be one of nvlink5, nvlink4",
        ),
        (json!({"link": "", "tensor_parallel": 2}), "link is empty"),
    ] {
        let refused = answer(&request).expect_err("refused");
        assert!(refused.starts_with(expected), "{request}: {refused}");
    }
    let any = r#"{"hardware": "any", "model": "llama-3.1-8b", "link": "nvlink4"}"#;
    let fields = Fields::from_line(any).expect("an object");
    let refused = RecommendInputs::parse(fields, &Library::CATALOGS).expect_err("refused");
    assert_eq!(refused.to_string(), "link and hardware any exclude each other");
}
