//! Hosts in requests: how people write them, what is refused, and what is said of a model that does not fit.

use calc_core::check::ClaimVerdict;
use calc_core::units::Bytes;
use report::input::request::{
    CheckInputs, EstimateInputs, Fields, FitInputs, Library, RecommendInputs,
};
use report::number_text::bytes;
use report::output::json::check::CheckJson;
use report::output::words::placement::{options, places};
use report::output::{address, formulas, summary};

fn parsed(line: &str) -> Result<EstimateInputs, String> {
    let fields = Fields::from_line(line).expect("JSON");
    EstimateInputs::parse(fields, &Library::CATALOGS).map_err(|error| error.to_string())
}

fn inputs(line: &str) -> EstimateInputs {
    parsed(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Words on the host, and the options of llama.cpp.
fn placed(line: &str) -> (String, String) {
    let inputs = inputs(line);
    let answer = inputs.estimate().expect("an estimate");
    assert!(answer.memory.verdict().may_fit(), "{line}");
    let (placement, arch) = (answer.placement.expect("a host"), &inputs.model.arch);
    (places(&placement, arch), options(&placement, arch, &inputs.workload).join(" "))
}

#[test]
fn a_host_is_understood_behind_the_name_of_a_card() {
    for (hardware, card, name, gib) in [
        ("rtx 4090 with 96 GB of DDR5", "rtx_4090", "2x DDR5-5600", 96.0),
        ("RTX 3090 + 128GB DDR4-3200", "rtx_3090", "2x DDR4-3200", 128.0),
        ("4090 with ryzen 9 7950x and 64 GB", "rtx_4090", "Ryzen 9 7950X", 64.0),
    ] {
        let line = format!(r#"{{"hardware":"{hardware}","model":"gpt-oss-120b"}}"#);
        let inputs = inputs(&line);
        let host = &inputs.host.as_ref().expect(hardware).host;
        assert_eq!((&*inputs.device.key, host.installed), (card, Bytes::from_gib(gib)), "{line}");
        assert!(host.name.starts_with(name), "{}", host.name);
        assert!(inputs.taken.iter().any(|note| note.starts_with("host: ")), "{line}");
    }
}

/// The lines on weights say which memory they count, so that the parts by role can be compared with them.
#[test]
fn the_weights_are_said_to_be_on_the_card_or_beside_it() {
    let text = |line: &str| {
        let inputs = inputs(line);
        summary::estimate(&inputs, &inputs.estimate().expect("an estimate")).to_text()
    };
    let split = text(r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b"}"#);
    assert!(
        split.contains(" on the card; the host has ") && split.contains("by role on both sides: "),
        "{split}"
    );
    let card = text(
        r#"{"hardware":"rtx_4090","model":"qwen3-8b","weights":"q4_k_m","engine":"llama.cpp"}"#,
    );
    assert!(card.contains("in the machine's memory") && card.contains("by role: "), "{card}");
    let all = text(r#"{"hardware":"rtx_4090","model":"qwen3-8b","engine":"vllm"}"#);
    assert!(all.contains("all of them; a step reads few rows"), "{all}");
}

#[test]
fn the_weights_of_a_tied_model_are_counted_once() {
    // The embedding is on the card as its LM head, and a copy on the host: the sum of the first row is that of the model.
    let alone = inputs(r#"{"hardware":"rtx_4090","model":"llama-3.2-3b","weights":"q4_k_m"}"#);
    let with =
        r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"llama-3.2-3b","weights":"q4_k_m"}"#;
    let with = inputs(with);
    let answer = with.estimate().expect("an estimate");
    let told = formulas::estimate(&with, &answer);
    let values = |title: &str| {
        let part = told.iter().find(|part| part.title == title);
        part.unwrap_or_else(|| panic!("{title}")).values.clone()
    };
    let all = bytes(alone.estimate().expect("an estimate").memory.weights);
    assert_eq!(values("Weights on the card"), format!("{all} − {} = {all}", bytes(Bytes::ZERO)));
    let copy = answer.memory.host.expect("a host").copy;
    assert!((copy.get() - 128_256.0 * 3072.0 * 6.5625 / 8.0).abs() < 1.0, "{copy:?}");
    let there = values("Weights on the host");
    assert!(there.contains("which the card has, too, as its LM head"), "{there}");
}

#[test]
fn a_large_model_is_placed_with_options() {
    let (places, options) = placed(
        r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b","prompt":4096,"new_tokens":512}"#,
    );
    assert_eq!(places, "the experts of 24 of 36 layers lie on the host, the rest on the card");
    assert_eq!(options, "-ngl 37 -ncmoe 24 -c 4608 -np 1");
    // The first three layers of DeepSeek V3 have no experts, and those of one layer fit on the card.
    let (_, options) = placed(
        r#"{"hardware":"rtx_4090","host":"ddr5-4800x12","host_memory_gb":768,"model":"deepseek-v3","weights":"q4_k_m"}"#,
    );
    assert!(options.contains("-ncmoe 60"), "{options}");
    let (places, options) = placed(
        r#"{"hardware":"rtx_3090","host":"ddr4","host_memory_gb":64,"model":"qwen3.5-35b-a3b","weights":"q4","context":"128k"}"#,
    );
    assert_eq!(places, "everything but the input embedding lies on the card");
    assert!(options.starts_with("-ngl 42 -c 131073"), "{options}");
}

#[test]
fn what_a_host_cannot_be_is_refused_with_the_field() {
    for (fields, says) in [
        (r#""host_memory_gb":64"#, "host_memory_gb needs host"),
        (r#""host":"ddr5""#, "host_memory_gb is missing"),
        (r#""host":"nonsense""#, "nonsense"),
        (r#""host":"ddr5","host_memory_gb":0"#, "host_memory_gb must be from"),
        (r#""host":"h100","host_memory_gb":64"#, "no processor"),
        (r#""host":"ddr5","host_memory_gb":64,"host_link":"x""#, "host_link must be one of"),
        (r#""host":"ddr5","host_memory_gb":64,"ssd_gb_s":-1"#, "ssd_gb_s must be from"),
        (r#""host":"epyc 9654 with 384 GB of DDR4""#, "host must be one of ddr5; got `ddr4`"),
        (r#""host":"96 GB","host_memory_gb":64"#, "host_memory_gb and host `96 GB` name different"),
        (r#""host":"96 GB 64 GB""#, "more than one amount of memory"),
        (r#""host":"ddr4 ddr5","host_memory_gb":64"#, "more than one kind of memory"),
        (
            r#""hardware":"rtx 4090 with 96 GB of DDR5","host":"ddr5""#,
            "host and hardware `rtx 4090",
        ),
        (r#""reserve_gb":"much""#, "reserve_gb"),
    ] {
        let hardware = if fields.contains("hardware") { "" } else { r#""hardware":"rtx_4090","# };
        let line = format!(r#"{{{hardware}"model":"qwen3-8b",{fields}}}"#);
        let error = parsed(&line).expect_err(fields);
        assert!(error.contains(says), "{fields}: {error}");
    }
    for (fields, says) in [
        (r#""hardware":"gb10","host":"ddr5","host_memory_gb":64"#, "shares its memory"),
        (r#""hardware":"tpu_v6e","host":"ddr5","host_memory_gb":64"#, "llama.cpp has no build"),
        (r#""hardware":"gaudi3","host":"ddr5","host_memory_gb":64"#, "llama.cpp has no build"),
        (
            r#""hardware":"rtx_4090","host":"ddr5","host_memory_gb":64,"engine":"vllm""#,
            "engines other than llama.cpp and ollama",
        ),
        (
            r#""hardware":"rtx_4090","host":"ddr5","host_memory_gb":64,"tensor_parallel":2"#,
            "several devices",
        ),
    ] {
        let found = parsed(&format!(r#"{{"model":"qwen3-8b",{fields}}}"#));
        let error = found.and_then(|inputs| inputs.estimate().map_err(|error| error.to_string()));
        assert!(error.expect_err(fields).contains(says), "{fields}");
    }
}

#[test]
fn other_programs_take_their_part_of_the_memory_they_share() {
    let usable = |reserve: &str| {
        let line = format!(r#"{{"hardware":"gb10","model":"qwen3-8b"{reserve}}}"#);
        inputs(&line).estimate().expect("an estimate").memory.usable.bytes
    };
    let all = usable("");
    assert_eq!(all - usable(r#","reserve_gb":4"#), Bytes::from_gb(4.0));
    assert_eq!(all - usable(r#","reserve_gb":"desktop""#), Bytes::from_gb(2.0));
    assert_eq!(usable(r#","reserve_gb":"999GB""#), Bytes::ZERO);
    let host = |reserve: &str| {
        let line = format!(
            r#"{{"hardware":"rtx_4090","host":"ddr5","host_memory_gb":64,"model":"qwen3-8b"{reserve}}}"#
        );
        inputs(&line).host.expect("a host").host.usable
    };
    let taken = host("") - host(r#","reserve_gb":4"#);
    assert!((taken.get() - 4e9).abs() < 1.0);
}

/// A request with the fields of a remedy fits, in the promised time.
#[test]
fn a_plan_of_what_fits_and_a_ranking_know_hosts() {
    let fields = |line: &str| Fields::from_line(line).expect("JSON");
    let line = r#"{"hardware":"rtx_4090","model":"gpt-oss-120b"}"#;
    let plan = FitInputs::parse(fields(line), &Library::CATALOGS).expect("valid");
    let plan = plan.plan(&Library::CATALOGS).expect("a plan");
    let changed = plan.changes.iter().find(|change| change.fields[0].0 == "host");
    assert!(changed.expect("a host").first.outcome.verdict().fits() == Some(true));
    let line = r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"llama-3.1-70b"}"#;
    let inputs = RecommendInputs::parse(fields(line), &Library::CATALOGS).expect("valid");
    assert!(inputs.recommend().expect("a ranking").ranked.len() > 4, "formats that need the host");
}

#[test]
fn the_command_of_a_ranked_scheme_places_the_model() {
    let line = r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"llama-3.1-70b"}"#;
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("valid");
    let request = inputs.request().expect("a request");
    let answer = inputs.recommend().expect("a ranking");
    let text = summary::recommendation(&inputs, &request, &answer, &[]).to_text();
    assert!(text.contains("-np 1 -ngl 81 -ncffn 28\n"), "{text}");
    assert!(!text.contains("-ngl 99"), "{text}");
}

#[test]
fn a_link_has_the_host_as_the_request_tells_it() {
    for (line, query) in [
        (
            r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b"}"#,
            "&host=96%20GB%20of%20DDR5&v=",
        ),
        (
            r#"{"hardware":"rtx_4090","host":"ddr5","host_memory_gb":96,"host_link":"pcie_3_x16","ssd_gb_s":7,"reserve_gb":"desktop","model":"gpt-oss-120b"}"#,
            "&host=ddr5&hostgb=96&hostlink=pcie_3_x16&ssd=7&reserve=desktop&v=",
        ),
        (
            r#"{"hardware":"gb10","reserve_gb":4,"model":"gemma-4-26b-a4b","image":"1024x768","image_tokens":256}"#,
            "&reserve=4&image=1024x768&imagetok=256&v=",
        ),
        (
            r#"{"hardware":"gb10","model":"gemma-4-26b-a4b","language_model_only":true}"#,
            "&textonly=1&v=",
        ),
    ] {
        let address = address::estimate(&inputs(line)).expect("a link");
        assert!(address.lacks.is_empty(), "{:?}", address.lacks);
        assert!(address.query.contains(query), "{}", address.query);
        assert!(!address.query.contains("memory="), "{}", address.query);
    }
}

#[test]
fn a_published_run_is_possible() {
    // Rows t19 and t20 of calc-core/validation/data/two-tiers.csv.
    for (prompt, seconds) in [(256, 1.066), (512, 1.3464)] {
        let line = format!(
            r#"{{"hardware":"rtx_3090","model":"gpt-oss-120b","host":"ddr5, 64 GB","host_link":"pcie_4_x16","prompt":{prompt},"new_tokens":1,"seconds":{seconds}}}"#
        );
        let fields = Fields::from_line(&line).expect("JSON");
        let inputs = CheckInputs::parse(fields, &Library::CATALOGS).expect("valid");
        let answer = inputs.check().expect("a check");
        assert_ne!(answer.verdict, ClaimVerdict::AboveTheRoof, "{prompt}: {:?}", answer.ideal);
    }
}

/// The memory of a processor is that of its row unless a request states another speed, and only what is stated is derived.
#[test]
fn the_memory_of_a_processor_is_its_own_unless_stated() {
    for (host, name, gb_s, origin) in [
        ("epyc 9654 with 384 GB", "12x DDR5-4800", 460.8, "derived"),
        ("epyc 9654 with 384 GB of DDR5", "12x DDR5-4800", 460.8, "derived"),
        ("ryzen 9 7950x, ddr5 96 GB", "2x DDR5-5200", 83.2, "derived"),
        ("ryzen 9 7950x, ddr5-6000 96 GB", "2x DDR5-6000", 96.0, "derived"),
        ("core i9 13900k with 64 GB of DDR4", "2x DDR4-3200", 51.2, "assumed"),
        ("ddr5, 64 GB", "2x DDR5-5600", 89.6, "assumed"),
    ] {
        let line = format!(r#"{{"hardware":"rtx_4090","model":"qwen3-8b","host":"{host}"}}"#);
        let inputs = inputs(&line);
        let found = &inputs.host.as_ref().expect("a host").host;
        assert!(found.name.ends_with(name), "{host}: {}", found.name);
        let rate = found.bandwidth.value.get() / 1e9;
        assert!((rate / gb_s - 1.0).abs() < 1e-3, "{host}: {rate}");
        assert_eq!(found.bandwidth.provenance.key(), origin, "{host}");
    }
}

#[test]
fn the_link_of_a_card_is_that_of_its_row_or_its_chip() {
    for (card, link, unknown) in [
        ("rtx_4090", "PCIe 4.0 x16", false),
        ("rtx_4060_laptop", "PCIe 4.0 x8", false),
        ("rtx_3060_laptop", "PCIe 4.0 x16", false),
        ("rtx_5060_laptop", "PCIe 5.0 x8", false),
        ("arc_b570", "PCIe 4.0 x8", false),
        ("mi300x", "PCIe 5.0 x16", false),
        ("mi350x", "PCIe 4.0 x16", true),
    ] {
        let line = format!(
            r#"{{"hardware":"{card}","model":"qwen3-8b","host":"ddr5","host_memory_gb":64}}"#
        );
        let inputs = inputs(&line);
        let host = &inputs.host.as_ref().expect("a host").host;
        assert_eq!(host.link_name, link, "{card}");
        assert_eq!(host.link.provenance.key() == "assumed", unknown, "{card}");
        let said = inputs.taken.iter().any(|note| note.contains("is not known"));
        assert_eq!(said, unknown, "{card}: {:?}", inputs.taken);
    }
}

#[test]
fn what_a_request_states_is_not_called_assumed() {
    for (reserve, assumed) in [("2", false), (r#""desktop""#, true)] {
        let line = format!(
            r#"{{"hardware":"rtx_4090","model":"qwen3-8b","host":"96 GB","reserve_gb":{reserve}}}"#
        );
        let notes = inputs(&line).taken;
        let note = notes.iter().find(|note| note.contains("left to other")).expect("a note");
        assert!(note.starts_with("2.00"), "{note}");
        assert_eq!(note.contains("assumed"), assumed, "{note}");
    }
}

#[test]
fn one_device_has_no_transfers_between_devices() {
    let line =
        r#"{"hardware":"arc_b580","model":"qwen3-30b-a3b","weights":"q4_k_m","host":"32 GB"}"#;
    let inputs = inputs(line);
    let answer = inputs.estimate().expect("an estimate");
    let text = summary::estimate(&inputs, &answer).to_text();
    assert!(!text.contains("between devices"), "{text}");
    assert!(text.contains("on the host from published runs of llama.cpp"), "{text}");
}

/// A claim about a split model is judged by what card and host sustain, and its table has both memories.
#[test]
fn a_check_of_a_split_model_knows_both_memories() {
    let line =
        r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b","tokens_per_s":60}"#;
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = CheckInputs::parse(fields, &Library::CATALOGS).expect("valid");
    let answer = inputs.check().expect("a check");
    let host = answer.host.expect("a host");
    // 1.27 GB of experts per token lie there.
    assert!((host.implied.get() / (1.27e9 * 60.0) - 1.0).abs() < 0.02, "{host:?}");
    assert!((host.sustained.value / host.datasheet.value - 0.44).abs() < 1e-9, "{host:?}");
    assert!(answer.implied.bandwidth.get() < 160e9, "{:?}", answer.implied);
    // The roof takes 16.0 ms of the claimed 16.7 ms, and what the host sustains twice as long.
    assert!(
        answer.share.of_datasheet < 1.0 && answer.share.of_sustained > 1.9,
        "{:?}",
        answer.share
    );
    let text = summary::check(&inputs, &answer).to_text();
    assert!(text.contains("of the roof of card and host"), "{text}");
    assert!(text.contains("DRAM of the host"), "{text}");
    let told = serde_json::json!(CheckJson::new(&inputs, &answer));
    assert_eq!(told["subject"]["weights"], "gguf_q8_0", "as the sentence says");
    assert_eq!(told["host"]["byte_per_s"], 89.6e9);
}

/// An engine that copies from the host does so for each chunk of the prompt, so that the share is larger than in one step.
#[test]
fn the_host_share_of_a_prompt_counts_every_chunk() {
    let share = |prompt: u64| {
        let line = format!(
            r#"{{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b","engine":"llama.cpp","prompt":{prompt}}}"#
        );
        let fields = Fields::from_line(&line).expect("JSON");
        let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.recommend().expect("a recommendation");
        let prefill = &answer.ranked[0].outcome.prefill;
        prefill.host / prefill.expected.time
    };
    let (one, eight) = (share(512), share(4096));
    assert!(one > 0.9 && (eight - one).abs() < 0.02, "{one} and {eight}");
}
