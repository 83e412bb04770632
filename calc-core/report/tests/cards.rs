//! Several cards in the name of the hardware, as people write them.

use calc_core::units::Bytes;
use report::input::request::{
    AnalyzeInputs, CheckInputs, EstimateInputs, Fields, Files, FitInputs, Library, RecommendInputs,
    ScheduleInputs, remedies,
};
use report::output::json::estimate::EstimateJson;
use report::output::{address, brief, formulas, summary};
use serde_json::{Value, json};

fn parsed(more: &Value) -> Result<EstimateInputs, String> {
    let mut all = json!({"model": "llama-3.1-70b", "weights": "q4_k_m", "batch": 1, "prompt": 512});
    for (key, value) in more.as_object().expect("an object") {
        all[key] = value.clone();
    }
    let fields = Fields::from_line(&all.to_string()).expect("JSON");
    EstimateInputs::parse(fields, &Library::CATALOGS).map_err(|error| error.to_string())
}

fn on(hardware: &str) -> Result<EstimateInputs, String> {
    parsed(&json!({ "hardware": hardware }))
}

/// The refusal of a request, by the parser or by the model.
fn refusal(more: &Value) -> String {
    let answer = parsed(more).and_then(|inputs| inputs.estimate().map_err(|e| e.to_string()));
    answer.map(|_| ()).expect_err("a refusal")
}

#[test]
fn cards_are_read_in_any_order_and_number() {
    for (written, names) in [
        ("rtx 4090 + rtx 3090", "GeForce RTX 4090 + GeForce RTX 3090"),
        ("3090+4090", "GeForce RTX 4090 + GeForce RTX 3090"),
        ("5090 + 2x 3090", "GeForce RTX 5090 + GeForce RTX 3090 + GeForce RTX 3090"),
        ("2x 3090 + 5090", "GeForce RTX 5090 + GeForce RTX 3090 + GeForce RTX 3090"),
    ] {
        let inputs = on(written).expect(written);
        assert_eq!(inputs.hardware_name(), names, "{written}");
        let count = names.matches('+').count() as u64 + 1;
        assert_eq!(inputs.workload.parallel.pipeline.stages(), count, "{written}");
    }
}

#[test]
fn equal_cards_are_a_pipeline() {
    let [listed, pipeline] = [
        json!({"hardware": "rtx 4090 + rtx 4090"}),
        json!({"hardware": "rtx_4090", "pipeline_parallel": 2}),
    ]
    .map(|request| parsed(&request).expect("a request").estimate().expect("an estimate"));
    assert_eq!(listed, pipeline);
    assert!(listed.cards.is_empty());
    let split =
        json!({"hardware": "4x 3090 + 4x 3090", "tensor_parallel": 4, "pipeline_parallel": 2});
    assert_eq!(parsed(&split).expect("a request").workload.parallel.devices(), 8);
}

#[test]
fn a_host_is_still_a_host() {
    for written in ["rtx 4090 + 96 GB DDR5", "rtx 4090 + ryzen 9 7950x 96 GB"] {
        let inputs = on(written).expect(written);
        assert!(inputs.host.is_some() && inputs.cards.is_none(), "{written}");
    }
}

#[test]
fn what_is_not_modeled_is_refused_by_name() {
    for (request, said) in [
        (json!({"hardware": "4090 + 3090 + 96 GB DDR5"}), "host does not apply to several cards"),
        (json!({"hardware": "4090 + 3090", "host": "96 GB DDR5"}), "host does not apply"),
        (json!({"hardware": "4090 + 3090 + foo"}), "unknown hardware `foo`"),
        (json!({"hardware": "4090 + 3090", "memory_gb": 48}), "memory_gb and hardware"),
        (json!({"hardware": "4090 + 3090", "tensor_parallel": 2}), "tensor_parallel does not"),
        (json!({"hardware": "4090 + 3090", "pipeline_parallel": 3}), "must be from 2 to 2; got 3"),
        (json!({"hardware": "4090 + 3090", "pipeline_parallel": 1}), "must be from 2 to 2; got 1"),
        (json!({"hardware": "3090 + 3090", "pipeline_parallel": 1}), "must be from 2 to 2; got 1"),
        (json!({"hardware": "4090 + 99x 3090"}), "from 1 to 16; got 99"),
        (json!({"hardware": "4090 + 3090", "engine": "exllamav2"}), "engines other than"),
        (json!({"hardware": "4090 + rx 7900 xtx"}), "cards of several vendors"),
        (json!({"hardware": "4090 + dgx spark"}), "no cards of one machine"),
        (
            json!({"hardware": "4090 + 3090", "draft_model": "llama-3.2-1b", "draft_tokens": 3, "acceptance": 0.5}),
            "draft_model does not apply to several cards",
        ),
    ] {
        let refusal = refusal(&request);
        assert!(refusal.contains(said), "{request}: {refusal}");
    }
}

#[test]
fn the_answer_has_each_card_and_the_options() {
    let inputs = on("rtx 4090 + rtx 3090").expect("a request");
    let answer = inputs.estimate().expect("an estimate");
    let told = json!(EstimateJson::new(&inputs, &answer));
    let cards = told["cards"].as_array().expect("a list");
    let layers = |card: &Value| card["layers"].as_u64().expect("a number");
    assert_eq!(cards.iter().map(layers).sum::<u64>(), 80);
    let split = format!("-ts {},{}", layers(&cards[0]), layers(&cards[1]) + 1);
    assert_eq!(told["cards_options"], json!(["-ngl 81", "-sm layer", split]));
    let total = |card: &Value| card["memory"]["total"].as_f64().expect("a number");
    let group = told["memory"]["group"]["total"].as_f64().expect("a number");
    assert!((cards.iter().map(total).sum::<f64>() - group).abs() < 1.0);
    let brief = brief::estimate(&inputs, &answer);
    assert!(
        brief.sentence.contains("on GeForce RTX 4090 + GeForce RTX 3090"),
        "{}",
        brief.sentence
    );
    assert!(brief.lines.iter().any(|line| line.contains(&split)), "{:?}", brief.lines);
}

#[test]
fn the_link_opens_all_cards() {
    for (written, device) in [
        ("3090 + 4090", "rtx_4090,rtx_3090"),
        ("4090 + 2x 3090", "rtx_4090,rtx_3090,rtx_3090"),
        ("3090 + 3090", "rtx_3090"),
    ] {
        let link = address::estimate(&on(written).expect(written)).expect("a link");
        assert!(link.query.contains(&format!("&d={device}&")), "{link:?}");
        assert_eq!(link.query.contains("&pp=2"), written == "3090 + 3090", "{link:?}");
        assert_eq!(link.lacks, Vec::<&str>::new());
    }
    let claim =
        r#"{"hardware":"4090 + 3090","model":"llama-3.1-70b","weights":"q4_k_m","tokens_per_s":9}"#;
    let fields = Fields::from_line(claim).expect("JSON");
    let claim = CheckInputs::parse(fields, &Library::CATALOGS).expect("a claim");
    let link = address::check(&claim).expect("a link");
    assert!(link.query.contains("&d=rtx_4090,rtx_3090&") && link.lacks.is_empty(), "{link:?}");
}

#[test]
fn the_formulas_and_the_setup_have_every_card() {
    let inputs = on("4090 + 3090").expect("a request");
    let answer = inputs.estimate().expect("an estimate");
    let told = formulas::estimate(&inputs, &answer);
    for (name, load) in ["GeForce RTX 4090", "GeForce RTX 3090"].into_iter().zip(&answer.cards) {
        let title = format!("Layers on {name}");
        let layers = told.iter().find(|step| step.title == title).expect(&title);
        let first = format!("{} to ", load.layers.start + 1);
        assert!(layers.values.starts_with(&first), "{layers:?}");
    }
    assert!(told.iter().any(|step| step.title == "Weights on GeForce RTX 4090"), "{told:?}");
    let roofs = told.iter().find(|step| step.title == "Each token, ideal").expect("a step");
    assert_eq!(roofs.source.text(), "the roofs of GeForce RTX 4090 + GeForce RTX 3090");
    let text = summary::estimate(&inputs, &answer).to_text();
    for (rate, name) in [("660.6", "4090"), ("284", "3090")] {
        let line = text.lines().find(|line| {
            line.contains(&format!("on GeForce RTX {name}")) && line.contains("roofs")
        });
        assert!(line.is_some_and(|line| line.contains(rate)), "{text}");
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("device  ")).count(), 2, "{text}");
}

#[test]
fn ollama_has_no_option_for_a_cut() {
    for (hardware, says) in [
        ("4090 + 3090", "Ollama: no option sets this cut; Ollama cuts the layers by itself"),
        ("3090 + 3090", "no option sets these stages"),
        ("4090 + 96 GB DDR5", "Ollama has no option for this cut"),
    ] {
        let inputs = parsed(&json!({"hardware": hardware, "engine": "ollama"})).expect(hardware);
        let answer = inputs.estimate().expect("an estimate");
        let (text, brief) = (
            summary::estimate(&inputs, &answer).to_text(),
            brief::estimate(&inputs, &answer).text(),
        );
        for told in [text, brief] {
            assert!(told.contains(says), "{hardware}: {told}");
            assert!(!told.contains("-ngl") && !told.contains("cannot run"), "{hardware}: {told}");
        }
    }
}

#[test]
fn one_device_is_asked_for_where_cards_are_listed() {
    let model = r#"{"hardware":"4090 + 3090","model":"llama-3.1-8b"}"#;
    let product = r#"{"hardware":"4090 + 3090","m":1,"n":4096,"k":4096}"#;
    let fields = |line| Fields::from_line(line).expect("JSON");
    let refusals = [
        RecommendInputs::parse(fields(model), &Library::CATALOGS).map(|_| ()),
        ScheduleInputs::parse(fields(model), &Library::CATALOGS).map(|_| ()),
        FitInputs::parse(fields(model), &Library::CATALOGS).map(|_| ()),
        RecommendInputs::parse(fields(product), &Library::CATALOGS).map(|_| ()),
        AnalyzeInputs::parse(fields(product), &Library::CATALOGS).map(|_| ()),
        Library::CATALOGS.device("4090 + 3090").map(|_| ()),
    ];
    for refusal in refusals {
        let said = refusal.expect_err("a refusal").to_string();
        assert!(
            said.starts_with("`4090 + 3090` lists several cards, and only estimate and check"),
            "{said}"
        );
    }
}

#[test]
fn a_plus_needs_a_device_on_both_sides() {
    for written in ["4090 +", "+ 4090", "4090 + + 3090", "4090 + 3090 +"] {
        let said = refusal(&json!({ "hardware": written }));
        assert_eq!(said, "a device before or after + in hardware is missing", "{written}");
    }
    for name in ["xeon_8480plus", "INTEL(R) XEON(R) PLATINUM 8592+"] {
        assert!(Library::CATALOGS.device(name).is_ok(), "{name}");
    }
}

#[test]
fn a_card_that_slows_the_others_down_holds_nothing() {
    let small = json!({"hardware": "4090 + 3060", "model": "llama-3.1-8b"});
    let inputs = parsed(&small).expect("a request");
    let answer = inputs.estimate().expect("an estimate");
    let alone = parsed(&json!({"hardware": "4090", "model": "llama-3.1-8b"})).expect("a request");
    let alone = alone.estimate().expect("an estimate");
    assert_eq!(answer.tpot, alone.tpot);
    assert_eq!(answer.memory, alone.memory);
    assert!(answer.cards[1].layers.is_empty() && answer.cards[1].memory.is_none());
}

#[test]
fn what_would_fit_is_the_answer_of_the_same_cards() {
    let mut offers = 0;
    for hardware in ["4090 + 3060", "4090 + 4090", "2x 3090"] {
        let asked = json!({"hardware": hardware, "weights": "q8_0", "context": 8192});
        let inputs = parsed(&asked).expect("a request");
        let answer = inputs.estimate().expect("an estimate");
        for remedy in remedies(&inputs, &answer) {
            let mut changed = asked.clone();
            for (key, value) in &remedy.fields {
                changed[*key] = value.clone();
            }
            let again = parsed(&changed).expect("a request").estimate().expect("an estimate");
            assert!(again.memory.verdict().may_fit(), "{hardware}: {:?}", remedy.fields);
            assert_eq!(again.tpot, remedy.answer.tpot, "{hardware}: {:?}", remedy.fields);
            assert_eq!(again.cards.is_empty(), answer.cards.is_empty(), "{hardware}");
            offers += 1;
        }
    }
    assert!(offers >= 3, "{offers}");
}

/// The answer to a request with its options and notes.
fn told(more: &Value) -> (Vec<String>, String, EstimateInputs) {
    let inputs = parsed(more).expect("a request");
    let answer = inputs.estimate().expect("an estimate");
    let told = json!(EstimateJson::new(&inputs, &answer));
    let options = told["cards_options"].as_array().expect("a list").iter();
    let options = options.map(|option| option.as_str().expect("a text").to_owned()).collect();
    (options, summary::estimate(&inputs, &answer).to_text(), inputs)
}

#[test]
fn an_engine_without_a_build_for_one_of_the_cards_is_said_with_its_name() {
    let asked = json!({"hardware": "v100_sxm2_32gb + p40", "model": "llama-3.1-8b", "weights": "fp16", "batch": 64, "context": 4096});
    let (options, text, _) = told(&asked);
    assert!(options[0].starts_with("-ngl"), "vLLM has no kernels for the P40: {options:?}");
    assert!(!text.contains("no build"), "{text}");
    for (hardware, says) in
        [("rtx 3090 + p40", true), ("v100_sxm2_16gb + p40", true), ("rtx 3090 + rtx 3060", false)]
    {
        let asked = json!({"hardware": hardware, "engine": "vllm", "model": "qwen2.5-14b", "weights": "fp16"});
        let (_, text, inputs) = told(&asked);
        assert_eq!(text.contains("vllm has no build for Tesla P40"), says, "{hardware}: {text}");
        let answer = inputs.estimate().expect("an estimate");
        assert_eq!(inputs.served(&answer).is_err(), says, "{hardware}");
    }
}

#[test]
fn a_device_file_is_a_card_as_any_other() {
    let own = json!({"key": "my_card", "vendor": "NVIDIA", "class": "discrete_gpu", "memory_gib": 16, "bandwidth_gb_s": 2000, "dense_peaks_tflops": {"fp16": 100}});
    let read = |name: &str| match name {
        "my_card.json" => Ok(own.to_string()),
        "slow.json" => {
            let mut slow = own.clone();
            (slow["key"], slow["bandwidth_gb_s"]) = (json!("slow"), json!(200));
            Ok(slow.to_string())
        }
        _ => Err("not found".to_owned()),
    };
    let files = Files::new(&read);
    let library = Library::with_files(&files);
    for (hardware, names) in [
        ("my_card.json + rtx 3060", ["my_card", "GeForce RTX 3060 12GB"]),
        ("rtx 3060 + my_card.json", ["my_card", "GeForce RTX 3060 12GB"]),
        ("slow.json + my_card.json", ["my_card", "slow"]),
        ("my_card.json + my_card.json", ["my_card", "my_card"]),
    ] {
        let line = json!({"hardware": hardware, "model": "llama-3.1-70b", "weights": "q4_k_m", "link": "pcie_4_x16"});
        let fields = Fields::from_line(&line.to_string()).expect("JSON");
        let inputs = EstimateInputs::parse(fields, &library).expect(hardware);
        let all: Vec<&str> = inputs.listed.iter().map(|card| &*card.device.name).collect();
        assert!(
            all[0] == names[0] && all[1].starts_with(names[1].trim_end_matches(" 12GB")),
            "{all:?}"
        );
        let answer = inputs.estimate().expect("an estimate");
        let remedies = remedies(&inputs, &answer);
        assert!(!remedies.is_empty(), "{hardware}");
        for remedy in remedies {
            assert_eq!(remedy.answer.cards.len(), answer.cards.len(), "{hardware}: {remedy:?}");
        }
    }
}

#[test]
fn what_other_programs_take_is_taken_from_each_card() {
    let usable = |hardware: &str| {
        let inputs = parsed(&json!({"hardware": hardware, "reserve_gb": 4})).expect(hardware);
        let answer = inputs.estimate().expect("an estimate");
        let loads = answer.cards.iter().map(|load| load.memory.expect("layers"));
        loads.chain([answer.memory]).map(|memory| memory.usable.bytes).collect::<Vec<_>>()
    };
    let left = Bytes::from_gib(24.0) - Bytes::from_gb(4.0);
    for hardware in ["4090 + 3090", "3090 + 3090"] {
        assert!(usable(hardware).into_iter().all(|bytes| bytes == left), "{hardware}");
    }
    let limited = json!({"hardware": "4090 + 3090", "reserve_gb": 4, "memory_limit_gb": 20});
    let answer = parsed(&limited).expect("a request").estimate().expect("an estimate");
    assert_eq!(answer.memory.usable.bytes, Bytes::from_gb(20.0));
}

#[test]
fn all_layers_are_put_on_the_cards_however_many_there_are() {
    // 126 layers and the LM head.
    let large = json!({"hardware": "3x rtx_pro_6000_blackwell + 5090", "model": "llama-3.1-405b"});
    let (options, ..) = told(&large);
    assert_eq!(options[0], "-ngl 127", "{options:?}");
}

#[test]
fn an_idle_card_is_left_out_of_what_vllm_sees() {
    let asked = json!({"hardware": "5090 + 3060 + 3090", "engine": "vllm", "weights": "int4_g128"});
    let (options, text, _) = told(&asked);
    assert_eq!(options[0], "CUDA_VISIBLE_DEVICES=0,1", "the 3060 is last: {options:?}");
    assert_eq!(options[2], "--pipeline-parallel-size 2");
    assert!(
        text.contains("CUDA_VISIBLE_DEVICES is for GeForce RTX 5090, GeForce RTX 3090, "),
        "{text}"
    );
    // The card between two others has no room for a layer.
    let mut inputs = parsed(&asked).expect("a request");
    let cards = inputs.cards.as_mut().expect("cards");
    cards.others[0].memory_limit = Some(Bytes::from_gb(0.5));
    let answer = inputs.estimate().expect("an estimate");
    let told = json!(EstimateJson::new(&inputs, &answer));
    assert_eq!(told["cards_options"][0], "CUDA_VISIBLE_DEVICES=0,2", "{told}");
    let text = summary::estimate(&inputs, &answer).to_text();
    assert!(
        text.contains("; nothing on GeForce RTX 3090, which has no room for a layer"),
        "{text}"
    );
}

#[test]
fn numbers_of_cards_have_an_order_in_words() {
    for (more, says) in [
        (
            json!({"hardware": "3090 + 4090"}),
            "-ts is for GeForce RTX 4090, GeForce RTX 3090 in this order and counts the LM head as a layer; compare it with the list that llama.cpp prints at start",
        ),
        (
            json!({"hardware": "4090 + 3060", "model": "llama-3.1-8b"}),
            "-mg is for GeForce RTX 4090, GeForce RTX 3060 12GB in this order; compare it with the list that llama.cpp",
        ),
        (
            json!({"hardware": "4090 + 3090", "engine": "vllm", "weights": "int4_g128"}),
            "VLLM_PP_LAYER_PARTITION is for GeForce RTX 4090, GeForce RTX 3090 in this order; compare it with the list of the devices of PyTorch",
        ),
    ] {
        let (_, text, _) = told(&more);
        assert!(text.contains(says), "{more}: {text}");
        assert!(!text.contains("the fastest first"), "{text}");
    }
}

#[test]
fn a_card_is_empty_for_a_true_reason() {
    let full = json!({"hardware": "4090 + 3060", "batch": 64, "prompt": 131_072});
    let (_, text, _) = told(&full);
    assert!(
        text.contains("80 of 80 layers and the LM head on GeForce RTX 4090; nothing on"),
        "{text}"
    );
    assert!(text.contains("which has no room for a layer"), "{text}");
    let (_, text, _) = told(&json!({"hardware": "4090 + 3060", "model": "llama-3.1-8b"}));
    assert!(text.contains("which would only slow the answer down"), "{text}");
}
