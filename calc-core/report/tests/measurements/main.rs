//! Files of benchmarks and profilers: what is read, and what is judged.

use calc_core::units::{Bytes, Seconds};
use report::input::measurements::{
    BenchTool, Comparable, Hindrance, MeasuredFile, MeasuredWork, RunRemark, read,
};
use report::input::request::{Library, MeasuredInputs};
use report::output::json::measured::MeasuredJson;
use report::output::summary;
use serde_json::{Value, json};

mod refusals;

const LLAMA: &str = include_str!("llama-bench.json");
const LLAMA_LINES: &str = include_str!("llama-bench.jsonl");
const VLLM_ALONE: &str = include_str!("vllm-serve-alone.json");
const VLLM_QUEUE: &str = include_str!("vllm-serve-queue.json");
const VLLM_LATENCY: &str = include_str!("vllm-latency.json");
const SGLANG: &str = include_str!("sglang-serving.jsonl");
const ONE_BATCH: &str = include_str!("sglang-one-batch.jsonl");
const AIPERF: &str = include_str!("aiperf.json");
const DETAILS: &str = include_str!("ncu-details.csv");
const RAW: &str = include_str!("ncu-raw.csv");

fn file(text: &str) -> MeasuredFile {
    read(text).expect("a sound file").expect("a file of a known tool")
}

fn judge(text: &str, fields: Value) -> Result<MeasuredInputs, String> {
    let Value::Object(fields) = fields else { panic!("an object of fields") };
    MeasuredInputs::judge(&fields, &file(text), None, &Library::CATALOGS)
        .map_err(|error| error.to_string())
}

fn judged(text: &str, fields: Value) -> MeasuredInputs {
    judge(text, fields).expect("a judgment")
}

type Work = (MeasuredWork, f64);

#[test]
fn every_tool_is_recognized_and_its_times_are_read() {
    use MeasuredWork::{AllTokens, Answer, FirstToken, Kernel, Prompt, Token};
    let cases: [(&str, BenchTool, &[Work]); 10] = [
        (
            LLAMA,
            BenchTool::LlamaBench,
            &[(Prompt, 0.044), (Token, 0.94 / 128.0), (Token, 1.03 / 128.0), (Answer, 0.99)],
        ),
        (LLAMA_LINES, BenchTool::LlamaBench, &[(Prompt, 0.044), (Token, 0.94 / 128.0)]),
        (VLLM_ALONE, BenchTool::VllmServe, &[(FirstToken, 41.2e-3), (Token, 7.42e-3)]),
        (
            VLLM_QUEUE,
            BenchTool::VllmServe,
            &[(FirstToken, 4.21), (Token, 39.5e-3), (AllTokens, 183.0 / 1651.6)],
        ),
        (VLLM_LATENCY, BenchTool::VllmLatency, &[(Answer, 1.02)]),
        (
            SGLANG,
            BenchTool::SglangServe,
            &[(FirstToken, 0.31), (Token, 15.1e-3), (AllTokens, 16.0 / 978.1)],
        ),
        (
            ONE_BATCH,
            BenchTool::SglangOneBatch,
            &[(Prompt, 0.039), (Token, 7.1e-3), (Prompt, 0.58), (Token, 8.3e-3)],
        ),
        (AIPERF, BenchTool::Aiperf, &[(FirstToken, 44e-3), (Token, 7.5e-3)]),
        (DETAILS, BenchTool::NsightCompute, &[(Kernel, 38.9e-6)]),
        (RAW, BenchTool::NsightCompute, &[(Kernel, 38.9e-6), (Kernel, 2.016e-6)]),
    ];
    for (text, tool, expected) in cases {
        let found = file(text);
        assert_eq!(found.tool, tool);
        let times: Vec<_> = found.runs.iter().flat_map(|run| &run.times).collect();
        assert_eq!(times.len(), expected.len(), "{tool:?}");
        for (time, (work, seconds)) in times.iter().zip(expected) {
            assert_eq!(time.work, *work, "{tool:?}");
            let ratio = time.time / Seconds::new(*seconds);
            assert!((ratio - 1.0).abs() <= 1e-9, "{tool:?} {work:?}: {ratio}");
        }
    }
}

#[test]
fn a_profile_counts_launches_and_traffic_in_either_form() {
    let details = file(DETAILS);
    assert_eq!(details.runs[0].remarks, [RunRemark::Launches(3)]);
    for (text, bytes) in [(DETAILS, 33.58e6 + 8.45e3), (RAW, 33_580_032.0 + 8_320.0)] {
        let traffic = file(text).runs[0].times[0].traffic.expect("counted");
        assert!((traffic / Bytes::new(bytes) - 1.0).abs() <= 1e-9, "{traffic:?}");
    }
}

#[test]
fn other_content_is_left_to_other_readers() {
    for text in [
        "{\"precision\":{\"weights\":\"fp16\"},\"time_s\":1}",
        "[]",
        "[1, 2]",
        "{oops",
        "weights,time_s\nfp16,1",
        "hello",
    ] {
        assert_eq!(read(text), Ok(None), "{text}");
    }
}

#[test]
fn a_file_tells_device_model_formats_and_sizes_and_flags_win() {
    let all = judged(LLAMA, json!({}));
    let device = all.rows[0].inputs.device();
    assert_eq!(device.key, "rtx_4090");
    let keys: Vec<&str> = all.taken.iter().map(|told| told.key).collect();
    for key in ["engine", "hardware", "model", "weights", "weight_gb", "kv", "prompt", "context"] {
        assert!(keys.contains(&key), "{key} of {keys:?}");
    }
    assert!(all.replaced.is_empty());
    let flags = judged(LLAMA, json!({"hardware": "rtx_3090", "weights": "q8_0", "batch": 8}));
    assert_eq!(flags.rows[0].inputs.device().key, "rtx_3090");
    assert_eq!(flags.rows[0].answer.weights.key, "gguf_q8_0");
    let replaced: Vec<(&str, bool)> =
        flags.replaced.iter().map(|field| (field.key, field.flag_wins)).collect();
    assert_eq!(replaced, [("hardware", true), ("weights", true), ("batch", false)]);
    assert!(flags.taken.iter().all(|told| told.key != "weight_gb"), "a size of other weights");
}

#[test]
fn the_judgment_is_that_of_check() {
    use report::input::request::{CheckInputs, Fields};
    let row = &judged(ONE_BATCH, json!({"hardware": "h100_sxm", "model": "llama-3.1-8b"})).rows[3];
    let fields = json!({
        "hardware": "h100_sxm", "model": "llama-3.1-8b", "engine": "sglang", "batch": 16,
        "prompt": 1024, "context": 1088, "time_us": 8300.0,
    });
    let fields = Fields::new(fields.as_object().expect("an object").clone());
    let check = CheckInputs::parse(fields, &Library::CATALOGS).expect("a claim").check();
    let check = check.expect("a judgment");
    assert_eq!(
        (row.answer.ideal, row.answer.expected, row.answer.pace),
        (check.ideal, check.expected, check.pace)
    );
}

#[test]
fn a_faster_run_than_the_roof_is_not_possible() {
    // A tenth of the measured times, consistent in both fields.
    let text = LLAMA_LINES
        .replace("\"avg_ns\": 940000000", "\"avg_ns\": 94000000")
        .replace("\"avg_ts\": 136.17", "\"avg_ts\": 1361.7");
    assert!(text.contains("1361.7"));
    let found = judged(&text, json!({}));
    let text = summary::measured(&found).to_text();
    assert!(
        text.contains("1 is faster than the roof, which is not possible as described"),
        "{text}"
    );
    let json = json!(MeasuredJson::new(&found));
    assert_eq!(json["rows"][1]["above_roof"], true);
    assert_eq!(json["rows"][1]["verdict"], "above the roof");
    assert_eq!(json["rows"][0]["inside_expected"], true);
}

#[test]
fn queues_leave_only_a_lower_bound() {
    let asked = json!({"hardware": "h100_sxm"});
    let hindrance = |text: &str| {
        let found = judged(text, asked.clone());
        found.rows.iter().map(|row| row.judged).collect::<Vec<_>>()
    };
    let roof = Comparable::Roof;
    assert_eq!(
        hindrance(VLLM_QUEUE),
        [
            roof(Hindrance::RateAboveCapacity),
            roof(Hindrance::RateAboveCapacity),
            roof(Hindrance::WholeRun)
        ]
    );
    let slow = VLLM_QUEUE.replace("\"request_rate\": 20.0", "\"request_rate\": 13.0");
    assert_eq!(hindrance(&slow)[0], roof(Hindrance::OtherRequests));
    let peakless = slow.replace("\"max_concurrent_requests\": 183,", "");
    assert_eq!(hindrance(&peakless)[0], roof(Hindrance::UnknownConcurrency));
    assert_eq!(hindrance(VLLM_ALONE), [Comparable::Interval, Comparable::Interval]);
    let failed = VLLM_ALONE.replace("\"failed\": 0", "\"failed\": 3");
    assert_eq!(hindrance(&failed)[0], roof(Hindrance::FailedRequests));
    let row = &json!(MeasuredJson::new(&judged(VLLM_QUEUE, asked)))["rows"][0];
    assert_eq!((&row["inside_expected"], &row["judged"]), (&Value::Null, &json!("roof")));
    assert_eq!((&row["batch"], &row["above_roof"]), (&json!(1), &json!(false)));
}

#[test]
fn what_cannot_be_judged_is_not() {
    let drafts = SGLANG.replace("\"accept_length\": null", "\"accept_length\": 2.7");
    let asked = json!({"hardware": "h100_sxm", "model": "llama-3.1-8b"});
    let judged_of = |text: &str, asked: Value| {
        judged(text, asked).rows.iter().map(|row| row.judged).collect::<Vec<_>>()
    };
    assert_eq!(judged_of(&drafts, asked)[1..], [Comparable::Nothing(Hindrance::Drafts); 2]);
    let named = json!({"hardware": "h100_sxm", "model": "llama-3.1-8b", "draft_tokens": 3, "acceptance": 0.8});
    assert!(matches!(judged_of(&drafts, named)[1], Comparable::Roof(_)));
    let split = LLAMA.replace("\"n_gpu_layers\": -1", "\"n_gpu_layers\": 20");
    assert_eq!(judged_of(&split, json!({})), [Comparable::Nothing(Hindrance::PartlyOnHost); 4]);
    let whole = LLAMA.replace("\"n_gpu_layers\": -1", "\"n_gpu_layers\": 33");
    assert_eq!(judged_of(&whole, json!({})), [Comparable::Interval; 4]);
    let text = summary::measured(&judged(&split, json!({}))).to_text();
    assert!(text.contains("not judged") && text.contains("name the machine around it"), "{text}");
}
