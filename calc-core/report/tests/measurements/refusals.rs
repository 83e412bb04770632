//! Files of benchmarks and profilers that are refused, each by its field, and files that nobody wrote.

use report::input::measurements::read;
use report::input::request::{Library, MeasuredInputs};
use report::output::summary;
use serde_json::json;

use super::{
    AIPERF, DETAILS, LLAMA, LLAMA_LINES, ONE_BATCH, RAW, SGLANG, VLLM_ALONE, VLLM_LATENCY,
    VLLM_QUEUE, judge,
};

const VLLM_THROUGHPUT: &str = include_str!("vllm-throughput.json");

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

/// Fixture, text in it, text in its place, part of the refusal.
const WRONG: [(&str, &str, &str, &str); 31] = [
    ("", "", "", "the file is empty"),
    (VLLM_THROUGHPUT, "", "", "vllm bench throughput"),
    (
        VLLM_QUEUE,
        "\"output_throughput\": 1651.6",
        "\"output_throughput\": 1e-320",
        "output_throughput must be token/s above 0; got 1e-320",
    ),
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
    (LLAMA, "\"n_prompt\": 512,", "\"n_prompt\": 0,", "n_prompt must be above 0 where n_gen is 0"),
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
    (RAW, "\"gpu__time_duration.sum\"", "\"gpu__cycles.sum\"", "gpu__time_duration.sum is missing"),
    (
        RAW,
        "\"byte\",\"byte\"",
        "\"sector\",\"byte\"",
        "dram__bytes_read.sum must be an amount in byte",
    ),
    (RAW, "\"38,900\"", "\"-38,900\"", "gpu__time_duration.sum must be a time"),
];

#[test]
fn wrong_files_are_refused_by_field() {
    for (text, from, to, expected) in WRONG {
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

    fn byte(&mut self) -> u8 {
        let [.., top] = self.below(256).to_be_bytes();
        top
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
        let bytes: Vec<u8> = (0..dice.below(200)).map(|_| dice.byte()).collect();
        let _found = read(&String::from_utf8_lossy(&bytes));
    }
}
