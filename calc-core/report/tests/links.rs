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
    let said = "link 200GbE between two DGX Sparks: 24.8\u{202f}GB/s per direction in practice, 25.0\u{202f}GB/s by line rate, 5.00\u{202f}µs per hop";
    assert!(notes.iter().any(|note| note.starts_with(said)), "{notes:?}");
}

#[test]
fn a_link_is_stated_by_bandwidth_and_latency_too() {
    let time = |link: &str, split: &str| {
        answer(&json!({split: 2, "link": link})).unwrap_or_else(|why| panic!("{why}")).0
    };
    let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} s and {b} s");
    same(time("25,5", "tensor_parallel"), time("pcie_4_x16", "tensor_parallel"));
    same(time("25", "tensor_parallel"), time("25, 5", "tensor_parallel"));
    // A pipeline of two hands 8 kB over once: 300 µs and 6.6 µs by 10GbE, 5 µs and 18 ns by NVLink 4.
    let (slow, fast) = (time("10gbe", "pipeline_parallel"), time("nvlink4", "pipeline_parallel"));
    assert!((3.0e-4..3.1e-4).contains(&(slow - fast)), "{slow} s and {fast} s");
}

#[test]
fn a_switch_takes_two_hops_whatever_the_number_of_devices() {
    let time = |link: &str, devices: u64| {
        let more = json!({
            "hardware": "h200_sxm", "model": "llama-3.1-70b", "weights": "bf16", "link": link,
            "tensor_parallel": devices,
        });
        answer(&more).expect(link).0
    };
    // 161 all-reduces, each with 12 further hops of 5 µs around a ring of eight, and 6 of the logits: 9.69 ms, and some bandwidth.
    let (switched, ring) = (time("nvlink4", 8), time("pcie_5_x16", 8));
    assert!((0.0097..0.0098).contains(&(ring - switched)), "{ring} s and {switched} s");
    let (switched, ring) = (time("nvlink4", 2), time("pcie_5_x16", 2));
    assert!((0.0..0.0001).contains(&(ring - switched)), "{ring} s and {switched} s");
}

#[test]
fn the_link_between_devices_is_in_the_answer() {
    let document = |more: &str| {
        let line = format!(
            r#"{{"model": "llama-3.1-8b", "weights": "fp8_e4m3", "prompt": 64, "tensor_parallel": 2, {more}}}"#
        );
        let fields = Fields::from_line(&line).expect("an object");
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.estimate().expect("an estimate");
        let json = report::output::json::estimate::pretty(&inputs);
        let json: Value = serde_json::from_str(&json).expect("JSON");
        (report::output::summary::estimate(&inputs, &answer).to_text(), json["device_link"].clone())
    };
    for (more, said, bandwidth, latency) in [
        (
            r#""hardware": "gb10""#,
            "24.8\u{202f}GB/s per direction, 5.00\u{202f}µs per hop (reported)",
            24.75e9,
            5e-6,
        ),
        (r#""hardware": "h200_sxm""#, "NVLink4 900 GB/s: 450", 450e9, 5e-6),
        (r#""hardware": "h200_sxm", "link": "10gbe""#, "10GbE over TCP: 1.25", 1.25e9, 300e-6),
    ] {
        let (text, json) = document(more);
        let line = text.lines().find(|line| line.starts_with("link  ")).expect(more);
        assert!(line.contains(said), "{line}");
        assert_eq!(json["bandwidth_byte_per_s"], json!(bandwidth), "{json}");
        assert_eq!(json["latency_s"], json!(latency), "{json}");
    }
    // Without a published link the text has the times of the devices alone, and the key says that nobody knows the link.
    let (text, json) = document(r#""hardware": "ryzen_ai_max_395""#);
    assert!(text.contains("link        unknown: nobody published it"), "{text}");
    assert!(text.contains(" ideal; without the link "), "{text}");
    assert!(
        text.contains(" expected without the link between the devices, which nobody"),
        "{text}"
    );
    assert!(json.is_null(), "{json}");
}

#[test]
fn a_ranking_without_a_published_link_says_so() {
    let request = r#"{"hardware": "ryzen_ai_max_395", "model": "llama-3.1-8b", "prompt": 64, "tensor_parallel": 2}"#;
    let fields = Fields::from_line(request).expect("an object");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
    let said = report::output::json::recommend::pretty(&inputs);
    assert!(said.contains("Nobody published the link between these devices"), "{said}");
    assert!(said.contains("\"rank\": 1"), "{said}");
}

#[test]
fn a_link_that_nothing_uses_or_nobody_knows_is_refused() {
    for (request, expected) in [
        (json!({"link": "nvlink4"}), "link does not apply to one device"),
        (json!({"link": "0", "tensor_parallel": 2}), "link must be from 0.001 to 100000; got 0"),
        (
            json!({"link": "12.5,-3", "tensor_parallel": 2}),
            "latency of link [µs] must be from 0 to 1000000; got -3",
        ),
        (json!({"link": "5,x", "tensor_parallel": 2}), "link must be one of nvlink5"),
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

#[test]
fn the_page_opens_with_the_link_of_a_request() {
    for (more, key, lacks) in [
        (r#""hardware": "h200_sxm", "link": "pcie_5_x16""#, "link=pcie_5_x16", &[][..]),
        (r#""hardware": "dgx spark", "link": "200gbe""#, "link=200gbe", &[]),
        (
            r#""hardware": "h200_sxm", "link": "pcie_5_x16", "memory_gb": 100"#,
            "link=pcie_5_x16",
            &["memory_gb"],
        ),
    ] {
        let line = format!(r#"{{"model": "qwen3-8b", "tensor_parallel": 2, {more}}}"#);
        let fields = Fields::from_line(&line).expect("an object");
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let address = report::output::address::estimate(&inputs).expect(more);
        assert!(address.query.contains(key), "{}", address.query);
        assert_eq!(address.lacks, lacks, "{more}");
    }
}
