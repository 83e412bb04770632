//! Files of benchmarks and profilers: what is read, what is refused by name, and what is judged.

use calc_core::units::{Bytes, Seconds};
use report::input::measurements::{
    BenchTool, Hindrance, Judged, MeasuredFile, MeasuredWork, RunRemark, read,
};
use report::input::request::{Library, MeasuredInputs};
use report::output::json::measured::MeasuredJson;
use report::output::summary;
use serde_json::{Map, Value, json};

const LLAMA: &str = include_str!("measurements/llama-bench.json");
const LLAMA_LINES: &str = include_str!("measurements/llama-bench.jsonl");
const VLLM_ALONE: &str = include_str!("measurements/vllm-serve-alone.json");
const VLLM_QUEUE: &str = include_str!("measurements/vllm-serve-queue.json");
const VLLM_LATENCY: &str = include_str!("measurements/vllm-latency.json");
const VLLM_THROUGHPUT: &str = include_str!("measurements/vllm-throughput.json");
const SGLANG: &str = include_str!("measurements/sglang-serving.jsonl");
const ONE_BATCH: &str = include_str!("measurements/sglang-one-batch.jsonl");
const AIPERF: &str = include_str!("measurements/aiperf.json");
const DETAILS: &str = include_str!("measurements/ncu-details.csv");
const RAW: &str = include_str!("measurements/ncu-raw.csv");

const ALL: [&str; 11] = [
    LLAMA,
    LLAMA_LINES,
    VLLM_ALONE,
    VLLM_QUEUE,
    VLLM_LATENCY,
    VLLM_THROUGHPUT,
    SGLANG,
    ONE_BATCH,
    AIPERF,
    DETAILS,
    RAW,
];

fn file(text: &str) -> MeasuredFile {
    read(text).expect("a sound file").expect("a file of a known tool")
}

fn judge(text: &str, fields: Value) -> Result<MeasuredInputs, String> {
    let fields: Map<String, Value> = fields.as_object().expect("an object").clone();
    MeasuredInputs::judge(&fields, &file(text), None, &Library::CATALOGS)
        .map_err(|error| error.to_string())
}

fn judged(text: &str, fields: Value) -> MeasuredInputs {
    judge(text, fields).expect("a judgment")
}

#[test]
fn every_tool_is_recognized_and_its_times_are_read() {
    use MeasuredWork::{AllTokens, Answer, FirstToken, Kernel, Prompt, Token};
    let cases: [(&str, BenchTool, &[(MeasuredWork, f64)]); 10] = [
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
fn wrong_files_are_refused_by_field() {
    let cases: [(&str, &str, &str, &str); 30] = [
        ("", "", "", "the file is empty"),
        (VLLM_THROUGHPUT, "", "", "vllm bench throughput"),
        (
            LLAMA,
            "\"avg_ns\": 44000000,",
            "",
            "record 1 of llama-bench: avg_ns is missing; expected a time in ns",
        ),
        (
            LLAMA,
            "44000000,",
            "-44000000,",
            "record 1: avg_ns must be a time in ns above 0; got -44000000",
        ),
        (LLAMA, "44000000,", "0,", "avg_ns must be a time in ns above 0; got 0"),
        (LLAMA, "44000000,", "1e300,", "avg_ns must be a time in ns above 0; got 1e+300"),
        (LLAMA, "44000000,", "44.0,", "avg_ns says 0.0000 s and avg_ts says 0.0440 s"),
        (LLAMA, "44000000,", "\"fast\",", "avg_ns must be a time in ns above 0; got \"fast\""),
        (LLAMA, "44000000,", "NaN,", "avg_ns is NaN"),
        (
            LLAMA,
            "\"n_prompt\": 512,",
            "\"n_prompt\": 0,",
            "n_prompt must be above 0 where n_gen is 0",
        ),
        (
            LLAMA,
            "\"n_prompt\": 512,",
            "\"n_prompt\": 1.5,",
            "n_prompt must be a whole number from 0; got 1.5",
        ),
        (LLAMA, "\"n_prompt\": 512,", "", "n_prompt is missing"),
        (
            LLAMA_LINES,
            "\n{\"build_commit\"",
            "\n{\"other\":1}\n{\"build_commit\"",
            "record 2 is not of llama-bench",
        ),
        (VLLM_ALONE, "\"completed\": 64", "\"completed\": 0", "no request was completed"),
        (
            VLLM_ALONE,
            "\"total_input_tokens\": 65536",
            "\"total_input_tokens\": 0",
            "total_input_tokens must be a whole number above 0",
        ),
        (
            VLLM_ALONE,
            "\"mean_tpot_ms\": 7.42",
            "\"mean_tpot_ms\": -7.42",
            "mean_tpot_ms must be a time in ms above 0; got -7.42",
        ),
        (
            VLLM_ALONE,
            "\"mean_ttft_ms\": 41.2",
            "\"mean_ttft_ms\": Infinity",
            "mean_ttft_ms is Infinity",
        ),
        (
            VLLM_ALONE,
            "\"request_rate\": \"inf\"",
            "\"request_rate\": \"often\"",
            "request_rate must be requests per second above 0, or inf; got \"often\"",
        ),
        (SGLANG, "\"total_output_tokens\": 32768, ", "", "total_output_tokens is missing"),
        (
            ONE_BATCH,
            "\"batch_size\": 1,",
            "\"batch_size\": 0,",
            "batch_size must be a whole number above 0; got 0",
        ),
        (
            ONE_BATCH,
            "\"prefill_latency\": 0.039",
            "\"prefill_latency\": 0",
            "prefill_latency must be a time in seconds above 0",
        ),
        (VLLM_LATENCY, "1.02,", "null,", "avg_latency is missing"),
        (
            AIPERF,
            "\"unit\": \"ms\",\n    \"avg\": 44.0",
            "\"unit\": \"tokens\",\n    \"avg\": 44.0",
            "time_to_first_token.unit must be ns, us, ms or s; got \"tokens\"",
        ),
        (
            AIPERF,
            "\"avg\": 44.0",
            "\"avg\": -44.0",
            "time_to_first_token.avg must be a number from 0; got -44.0",
        ),
        (AIPERF, "\"avg\": 550.0", "\"avg\": 0.0", "input_sequence_length is missing"),
        (
            DETAILS,
            "\"us\",\"39.10\"",
            "\"cycle\",\"39.10\"",
            "Duration must be a time in ns, us, ms or s; got `39.10 cycle`",
        ),
        (
            DETAILS,
            "\"us\",\"39.10\"",
            "\"us\",\"39,10\"",
            "Duration must be a time in ns, us, ms or s; got `39,10`",
        ),
        (
            RAW,
            "\"gpu__time_duration.sum\"",
            "\"gpu__cycles.sum\"",
            "gpu__time_duration.sum is missing",
        ),
        (
            RAW,
            "\"byte\",\"byte\"",
            "\"sector\",\"byte\"",
            "dram__bytes_read.sum must be an amount in byte",
        ),
        (RAW, "\"38,900\"", "\"-38,900\"", "gpu__time_duration.sum must be a time"),
    ];
    for (text, from, to, expected) in cases {
        assert!(from.is_empty() || text.contains(from), "the fixture has no {from}");
        let error = read(&text.replacen(from, to, usize::from(!from.is_empty())))
            .expect_err(expected)
            .to_string();
        assert!(error.contains(expected) && !error.contains('\n'), "{expected}: {error}");
    }
}

#[test]
fn a_table_of_llama_bench_in_csv_names_the_form_to_give() {
    let error = read("build_commit,build_number\n\"a\",\"1\"").expect_err("CSV").to_string();
    assert!(error.contains("-o json"), "{error}");
}

#[test]
fn too_many_times_are_refused() {
    let line = LLAMA_LINES.lines().next().expect("a line");
    let error = read(&format!("{line}\n").repeat(2001)).expect_err("too many").to_string();
    assert!(error.contains("2001 measurements; at most 2000"), "{error}");
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
    let roof = Judged::Roof;
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
    assert_eq!(hindrance(VLLM_ALONE), [Judged::Interval, Judged::Interval]);
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
    assert_eq!(judged_of(&drafts, asked)[1..], [Judged::Nothing(Hindrance::Drafts); 2]);
    let named = json!({"hardware": "h100_sxm", "model": "llama-3.1-8b", "draft_tokens": 3, "acceptance": 0.8});
    assert!(matches!(judged_of(&drafts, named)[1], Judged::Roof(_)));
    let split = LLAMA.replace("\"n_gpu_layers\": -1", "\"n_gpu_layers\": 20");
    assert_eq!(judged_of(&split, json!({})), [Judged::Nothing(Hindrance::PartlyOnHost); 4]);
    let whole = LLAMA.replace("\"n_gpu_layers\": -1", "\"n_gpu_layers\": 33");
    assert_eq!(judged_of(&whole, json!({})), [Judged::Interval; 4]);
    let text = summary::measured(&judged(&split, json!({}))).to_text();
    assert!(text.contains("not judged") && text.contains("name the machine around it"), "{text}");
}

#[test]
fn missing_parts_of_a_request_are_named() {
    for (text, fields, expected) in [
        (
            VLLM_LATENCY,
            json!({"hardware": "h100_sxm", "model": "llama-3.1-8b", "batch": 8}),
            "prompt is missing; a file of vllm bench latency does not tell it",
        ),
        (
            SGLANG,
            json!({"hardware": "h100_sxm"}),
            "model is missing; a file of SGLang's bench_serving does not tell it",
        ),
        (VLLM_ALONE, json!({}), "hardware is missing"),
        (
            DETAILS,
            json!({"hardware": "rtx_4090"}),
            "m is missing; a file of Nsight Compute does not tell it",
        ),
        (
            RAW,
            json!({"hardware": "rtx_4090", "m": 1, "n": 4096, "k": 4096, "weights": "fp16"}),
            "chooses 2; some are gemv_kernel, rms_norm",
        ),
        (AIPERF, json!({"hardware": "h101"}), "h101"),
    ] {
        let error = judge(text, fields).expect_err(expected);
        assert!(error.contains(expected), "{expected}: {error}");
    }
    let unknown = VLLM_ALONE.replace("meta-llama/Llama-3.1-8B-Instruct", "someone/unheard-of");
    let error = judge(&unknown, json!({"hardware": "h100_sxm"})).expect_err("unknown");
    assert!(error.contains("`someone/unheard-of` (model_id)"), "{error}");
    let other = LLAMA.replace("Meta-Llama-3.1-8B-Instruct-Q4_K_M", "unheard-of-Q4_K_M");
    let error = judge(&other, json!({})).expect_err("unknown");
    assert!(error.contains("`unheard-of-Q4_K_M` (model_filename)"), "{error}");
    let path = VLLM_ALONE.replace("meta-llama/", "/data/models/");
    assert!(judge(&path, json!({"hardware": "h100_sxm"})).is_ok());
}

/// Pseudorandom numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % limit.max(1)
    }
}

/// Bytes of a fixture with a few of them cut, doubled or replaced.
fn mutated(text: &str, dice: &mut Dice) -> String {
    const PARTS: [&str; 12] =
        ["\"", "{", "]", ",", "-", "1e308", "NaN", "null", "0", "\n", "99999999999999999999", "é"];
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        let end = (at + dice.below(30)).min(bytes.len());
        match dice.below(4) {
            0 => drop(bytes.drain(at..end)),
            1 => bytes.truncate(at),
            2 => drop(bytes.splice(at..end, PARTS[dice.below(PARTS.len())].bytes())),
            _ => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[test]
fn mutated_files_and_random_bytes_never_panic() {
    let mut dice = Dice(7);
    let (mut read_well, mut refused) = (0, 0);
    for round in 0..4000 {
        let text = mutated(ALL[round % ALL.len()], &mut dice);
        match read(&text) {
            Ok(Some(found)) => {
                read_well += 1;
                let fields = json!({
                    "hardware": "h100_sxm", "model": "llama-3.1-8b", "weights": "fp16",
                });
                let fields = fields.as_object().expect("an object");
                // Each hundredth is judged, too, because a judgment takes longer.
                if read_well % 100 == 0 {
                    let judged = MeasuredInputs::judge(fields, &found, None, &Library::CATALOGS);
                    let _text = judged.map(|judged| summary::measured(&judged).to_text());
                }
            }
            Ok(None) => {}
            Err(error) => {
                refused += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
        }
    }
    assert!(read_well > 300 && refused > 300, "{read_well} read, {refused} refused");
    for _ in 0..2000 {
        let bytes: Vec<u8> = (0..dice.below(200)).map(|_| dice.below(256) as u8).collect();
        let _found = read(&String::from_utf8_lossy(&bytes));
    }
}
