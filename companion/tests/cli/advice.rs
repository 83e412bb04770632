//! `recommend` and `schedule`: refusals, output forms, and JSON lines.

use crate::run::{answer, line, with_stdin};

#[test]
fn impossible_goals_are_refused_in_one_line() {
    let shape = "--hardware t4 -m 1 -n 4096 -k 4096";
    for (request, word) in [
        (
            format!("recommend {shape} --objective speed"),
            "latency, throughput, energy, memory, quality",
        ),
        (format!("recommend {shape} --phase both"), "prefill, decode, whole"),
        (format!("recommend {shape} --max-quality-loss -1"), "max_quality_loss must be from 0"),
        (format!("recommend {shape} --max-tpot-ms soon"), "`soon`"),
        (format!("recommend {shape} --memory-limit-gb 0"), "memory_limit_gb must be from"),
        ("recommend --hardware t4 -n 64 -k 64".into(), "m is missing"),
        ("recommend --hardware t5 -m 1 -n 64 -k 64".into(), "unknown hardware `t5`"),
        (format!("schedule {shape} --objective memory"), "exclude each other"),
        (format!("schedule {shape} --power-cap-w 0"), "power_cap_w must be from"),
        (format!("schedule {shape} --max-batch 0"), "max_batch must be from 1"),
        (format!("schedule {shape} --batch 8"), "--batch"),
        (
            "schedule --hardware tpu_v5e -m 1 -n 64 -k 64 --power-cap-w 50".into(),
            "power of tpu_v5e",
        ),
    ] {
        let ended = line(&request);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{request}");
        assert_eq!(ended.stderr.lines().count(), 1, "{request}: {}", ended.stderr);
        assert!(ended.stderr.contains(word), "{request}: {}", ended.stderr);
    }
}

#[test]
fn lines_are_answered_in_order() {
    let input = "{\"hardware\":\"b10\",\"m\":1,\"n\":4096,\"k\":4096}\n{\"hardware\":\"b10\"}\n";
    let found = with_stdin("recommend --jsonl", input.as_bytes()).stdout;
    let lines: Vec<serde_json::Value> =
        found.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["ranked"][0]["rank"], 1);
    assert!(lines[1]["error"].as_str().is_some_and(|error| error.contains("m is missing")));
}

#[test]
fn named_weights_are_found_in_the_ranking() {
    let found = answer("recommend --hardware gb10 -m 1 -n 4096 -k 4096 --weights int8");
    assert!(found.contains("the requested weights int8 are first at rank"), "{found}");
}

#[test]
fn a_size_of_the_weights_that_no_scheme_takes_is_said() {
    let words = "recommend --hardware h100 --model llama-3.1-8b";
    let said = "the given size of the weights is that of one file";
    assert!(answer(&format!("{words} --weight-gb 5GB")).contains(said));
    assert!(!answer(words).contains(said));
}

#[test]
fn commands_are_of_the_named_engine() {
    let words = "recommend --hardware h100 --model llama-3.1-70b --tensor-parallel 4 --engine";
    for (engine, key, program) in [
        ("sglang", "sglang", "python -m sglang.launch_server "),
        ("tensorrt-llm", "tensorrt-llm", "trtllm-serve "),
        ("vllm", "vllm", "vllm serve "),
    ] {
        let found = answer(&format!("{words} {engine} -o json"));
        let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
        for row in found["ranked"].as_array().expect("rows") {
            let apply = &row["apply"];
            assert_eq!(apply["serve"][0]["engine"], key);
            assert_eq!(apply["timed_engine"], key);
            assert_eq!(apply["serve"].as_array().map(Vec::len), Some(1), "{apply}");
            assert!(apply["vllm"].is_null() || key == "vllm", "{apply}");
            let text = apply["serve"][0]["text"].as_str().expect("text");
            assert!(text.contains(program) || text.starts_with("# "), "{text}");
        }
        assert!(found.to_string().contains(program), "{engine}");
    }
}

#[test]
fn csv_has_a_line_for_each_ranked_scheme() {
    let csv = answer("recommend --hardware gb10 -m 1 -n 4096 -k 4096 -o csv");
    assert!(csv.lines().count() > 8, "{csv}");
    assert!(csv.lines().next().is_some_and(|head| head.contains("scheme")), "{csv}");
}

#[test]
fn unmet_bounds_list_the_reasons_with_exit_code_4() {
    let model = "--hardware h100 --model llama-3.1-8b --batch 1 --prompt 512";
    for request in [
        format!("recommend {model} --max-tpot-ms 0.001 -o json"),
        format!("recommend {model} --min-tokens-per-s 1e9"),
        "schedule --hardware h100 --model llama-3.1-8b --prompt 512 --max-tpot-ms 0.001 -o json"
            .into(),
        "recommend --hardware any --model llama-3.1-8b --batch 1 --prompt 512 --max-tpot-ms 1e-5"
            .into(),
    ] {
        let ended = line(&request);
        assert_eq!(ended.code, Some(4), "{request}: {}", ended.stderr);
        assert!(ended.stderr.contains("nothing meets all bounds"), "{}", ended.stderr);
        assert!(!ended.stdout.is_empty(), "{request}");
    }
    let ended = line(&format!("recommend {model} --max-tpot-ms 0.001 -o json"));
    let value: serde_json::Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let dropped = value["dropped"].as_array().expect("a list");
    assert!(dropped.iter().any(|row| row["reason"]["kind"] == "tpot"));
}

#[test]
fn a_given_answer_length_ranks_by_the_whole_request() {
    let request = "recommend --hardware h100 --model llama-3.1-70b --batch 1 --prompt 4096";
    let found = answer(&format!("{request} --new-tokens 128 -o json"));
    let value: serde_json::Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(value["goal"]["phase"], "whole");
    assert_eq!(value["ranked"][0]["scheme"]["key"], "fp8_w8a8");
    let found = answer(&format!("{request} -o json"));
    assert!(found.contains("no answer length is given"), "{found}");
}

#[test]
fn common_format_names_are_known_and_gguf_names_mean_files() {
    let model = "--hardware h100 --model llama-3.1-8b --batch 1 --prompt 512 -o json";
    let estimate = |weights: &str| -> serde_json::Value {
        let found = answer(&format!("estimate {model} --weights {weights}"));
        serde_json::from_str(&found).expect("JSON")
    };
    let file = estimate("Q4_K_M");
    assert_eq!(file, estimate("gguf_q4_k"));
    assert!(file["notes"].to_string().contains("4.894 bits per weight"), "{}", file["notes"]);
    let row: serde_json::Value =
        serde_json::from_str(&answer(&format!("recommend {model}"))).expect("JSON");
    let ranked = row["ranked"].as_array().expect("a list");
    let same = ranked.iter().find(|row| row["scheme"]["key"] == "gguf_q4_k").expect("ranked");
    assert_eq!(same["memory_bytes"], file["memory"]["total"]);
    let fp8 = estimate("fp8");
    assert_eq!(fp8["precision"]["activations"], "fp8_e4m3");
    assert!(fp8["notes"].to_string().contains("fp8 is taken as fp8_e4m3"), "{}", fp8["notes"]);
    assert!(answer("formats").contains("q4_k_m"));
}

#[test]
fn a_request_that_leaves_something_open_or_contradicts_itself_is_told() {
    let draft = "--draft-tokens 4 --acceptance 0.7 --draft-model";
    for (request, said) in [
        (
            "estimate --hardware a100 --model llama-3.1-8b".to_owned(),
            "a100 is taken as a100_80gb_sxm",
        ),
        (
            "recommend --hardware a100 --model llama-3.1-8b".to_owned(),
            "it may also mean a100_40gb_sxm",
        ),
        (
            "estimate --hardware h100_sxm --model llama-3.1-8b --prompt 512 --context 100"
                .to_owned(),
            "after this prompt 512 tokens are cached",
        ),
        (
            format!("estimate --hardware h100_sxm --model llama-3.1-70b {draft} qwen2.5-0.5b"),
            "engines pair only models with the same vocabulary",
        ),
        (
            format!("estimate --hardware h100_sxm --model llama-3.1-8b {draft} llama-3.1-70b"),
            "drafting slows it down",
        ),
    ] {
        let found = answer(&request);
        assert!(found.contains(said), "{request}: {found}");
    }
    let quiet = "estimate --hardware h100_sxm --model qwen2.5-72b --prompt 512 --context 513";
    let found = answer(&format!("{quiet} {draft} qwen2.5-0.5b"));
    for word in ["taken as", "tokens are cached", "vocabulary"] {
        assert!(!found.contains(word), "{word}: {found}");
    }
}

#[test]
fn a_context_beyond_the_model_stands_below_the_verdict() {
    let long = "--hardware h100 --model qwen3-8b --prompt 50000 --new-tokens 1000";
    for verb in ["estimate", "recommend"] {
        let text = answer(&format!("{verb} {long}"));
        let head = text.lines().take(4).collect::<String>();
        let said = "The model does not serve this: 50999 tokens exceed the model's limit of 40960.";
        assert!(head.contains(said), "{text}");
    }
    assert!(!answer(&format!("recommend {long}")).contains("vllm serve"));
}

#[test]
fn a_quantized_copy_is_served_from_its_own_repository() {
    let copy = "hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4";
    let words = format!("recommend --hardware h100 --model {copy} -o json");
    let found: serde_json::Value = serde_json::from_str(&answer(&words)).expect("JSON");
    let rows = found["ranked"].as_array().expect("rows");
    let command = |key: &str| {
        let row = rows.iter().find(|row| row["scheme"]["key"] == key).expect("a row");
        row["apply"]["vllm"].as_str().expect("a command").to_owned()
    };
    assert!(command("as_published").starts_with(&format!("vllm serve {copy} ")));
    assert!(command("half").starts_with("vllm serve meta-llama/Llama-3.1-8B-Instruct "));
}

#[test]
fn a_quantized_copy_loses_what_its_quantizer_loses() {
    for (model, loss) in [
        ("bartowski/Meta-Llama-3.1-8B-Instruct-GGUF", Some("gguf_q4_k")),
        ("hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4", Some("int4_g128_awq")),
        ("openai/gpt-oss-20b", None),
        ("deepseek-ai/DeepSeek-V3", None),
    ] {
        let high = |model: &str, key: &str| {
            let words =
                format!("recommend --hardware gb300 --tensor-parallel 4 --model {model} -o json");
            let found: serde_json::Value = serde_json::from_str(&answer(&words)).expect("JSON");
            let rows = found["ranked"].as_array().expect("rows");
            let row = rows.iter().find(|row| row["scheme"]["key"] == key);
            row.and_then(|row| row["quality"]["high"].as_f64())
        };
        let published = high(model, "as_published");
        assert!(published.is_some(), "{model} is not ranked");
        let same = loss.map_or(Some(0.0), |key| high("llama-3.1-8b", key));
        assert_eq!(published, same, "{model}");
        // The quantizer's scheme is the copy itself, so it has no row of its own.
        assert!(loss.is_none_or(|key| high(model, key).is_none()), "{model}");
    }
}

#[test]
fn each_scheme_is_timed_with_an_engine_that_has_its_kernels() {
    let words = "recommend --hardware jetson_orin_nano_8gb_super --model llama-3.1-8b --prompt 4096 --new-tokens 128 -o json";
    let rows = |engine: &str| {
        let found = answer(&format!("{words}{engine}"));
        let found: serde_json::Value = serde_json::from_str(&found).expect("JSON");
        let rows = found["ranked"].as_array().expect("rows").clone();
        let row = |row: &serde_json::Value| {
            let key = row["scheme"]["key"].as_str().expect("a key").to_owned();
            (key, row["mean"]["tpot"]["time_s"].as_f64().expect("seconds"))
        };
        rows.iter().map(row).collect::<Vec<_>>()
    };
    let (any, llama_cpp, vllm) = (rows(""), rows(" --engine llama.cpp"), rows(" --engine vllm"));
    assert!(llama_cpp.iter().all(|(key, _)| key.starts_with("gguf") || key == "half"));
    assert!(!vllm.is_empty() && vllm.iter().all(|(key, _)| !key.starts_with("gguf")));
    // A named engine fixes a few formats that are open otherwise.
    for (key, time) in &any {
        let same = llama_cpp.iter().chain(&vllm).find(|(other, _)| other == key);
        assert!(
            same.is_some_and(|(_, other)| (other / time - 1.0).abs() < 0.02),
            "{key}: {same:?}"
        );
    }
}
