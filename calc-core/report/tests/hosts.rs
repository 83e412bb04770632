//! Hosts in requests: how people write them, what is refused, and what is said of a model that does not fit.

use calc_core::check::ClaimVerdict;
use calc_core::units::Bytes;
use report::input::request::{
    CheckInputs, EstimateInputs, Fields, FitInputs, Library, RecommendInputs, remedies,
};
use report::output::json::check::CheckJson;
use report::output::json::recommend::pretty;
use report::output::words::placement::{Asked, options, places, what_would_fit};
use report::output::{address, summary};

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

#[test]
fn a_large_model_is_placed_with_options() {
    let (places, options) = placed(
        r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b","prompt":4096,"new_tokens":512}"#,
    );
    assert_eq!(places, "the experts of 24 of 36 layers lie on the host, the rest on the card");
    assert_eq!(options, "-ngl 37 -ncmoe 24 -c 4607");
    // The first three layers of DeepSeek V3 have no experts, and those of one layer fit on the card.
    let (_, options) = placed(
        r#"{"hardware":"rtx_4090","host":"ddr5-4800x12","host_memory_gb":768,"model":"deepseek-v3","weights":"q4_k_m"}"#,
    );
    assert!(options.contains("-ncmoe 60"), "{options}");
    let (places, options) = placed(
        r#"{"hardware":"rtx_3090","host":"ddr4","host_memory_gb":64,"model":"qwen3.5-35b-a3b","weights":"q4","context":"128k"}"#,
    );
    assert_eq!(places, "everything but the input embedding lies on the card");
    assert!(options.starts_with("-ngl 41 -c 131072"), "{options}");
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
        (r#""reserve_gb":"much""#, "reserve_gb"),
    ] {
        let line = format!(r#"{{"hardware":"rtx_4090","model":"qwen3-8b",{fields}}}"#);
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

#[test]
fn a_model_that_does_not_fit_says_what_would() {
    let line = r#"{"hardware":"rtx_4090","model":"llama-3.1-70b","prompt":4096,"new_tokens":256}"#;
    let asked = inputs(line);
    let answer = asked.estimate().expect("an estimate");
    let found = remedies(&asked, &answer);
    let keys: Vec<&str> = found.iter().map(|remedy| remedy.fields[0].0).collect();
    assert_eq!(keys, ["host"], "no format and no context fits 70B on a card of 24 GB");
    let long = r#"{"hardware":"rtx_4090","model":"qwen3-8b","prompt":"120k"}"#;
    let (asked, shorter) = (inputs(long), inputs(&long.replace("120k", "4k")));
    let found = remedies(&asked, &asked.estimate().expect("an estimate"));
    let keys: Vec<&str> = found.iter().map(|remedy| remedy.fields[0].0).collect();
    assert_eq!(keys, ["host", "weights", "prompt"]);
    assert!(remedies(&shorter, &shorter.estimate().expect("an estimate")).is_empty());
}

/// A request with the fields of a remedy fits, in the promised time.
#[test]
fn a_request_with_the_fields_of_a_remedy_is_the_promised_one() {
    let cards = ["rtx_3090", "rtx_4090 + 16 GB DDR4", "h100", "arc_b580", "gb10", "tpu_v6e"];
    let models = ["llama-3.1-70b", "gpt-oss-120b", "qwen3.5-27b", "llama-3.1-8b"];
    let options = [
        "",
        r#","reserve_gb":12"#,
        r#","prompt":100000,"image":"8x1024x1024","weights":"q4_k_m""#,
        r#","weights":"q8_0","weight_gb":200,"kv":"q8_0""#,
        r#","engine":"vllm""#,
        r#","engine":"llama.cpp","batch":4,"prompt":30000,"new_tokens":500"#,
        r#","prompt":1000,"cached_prefix":120000,"weights":"q3_k_m""#,
    ];
    let mut found = std::collections::BTreeMap::new();
    for (card, model) in cards.iter().flat_map(|card| models.map(|model| (card, model))) {
        for option in options {
            let line = format!(r#"{{"hardware":"{card}","model":"{model}"{option}}}"#);
            let Ok(asked) = parsed(&line) else { continue };
            let Ok(answer) = asked.estimate() else { continue };
            for remedy in remedies(&asked, &answer) {
                let set = remedy.fields.iter().map(|(key, value)| ((*key).into(), value.clone()));
                let changed = Fields::from_line(&line).expect("JSON").overlaid(set.collect());
                let again = EstimateInputs::parse(changed, &Library::CATALOGS);
                let again = again.unwrap_or_else(|error| panic!("{line}: {error}"));
                let got = again.estimate().expect("an estimate");
                let case = format!("{line} with {:?}", remedy.fields);
                assert!(got.memory.verdict().may_fit(), "{case}");
                assert_eq!(
                    (got.tpot, got.ttft),
                    (remedy.answer.tpot, remedy.answer.ttft),
                    "{case}"
                );
                assert_eq!(got.placement, remedy.answer.placement, "{case}");
                assert!(again.served(&got).is_ok(), "{case}");
                *found.entry(remedy.fields[0].0).or_insert(0) += 1;
            }
        }
    }
    let kinds: Vec<&str> = found.keys().copied().collect();
    assert_eq!(kinds, ["host", "host_memory_gb", "prompt", "weights"], "{found:?}");
    assert!(found.values().all(|count| *count > 2), "{found:?}");
}

#[test]
fn a_remedy_says_all_that_changes() {
    let fields_of = |line: &str, kind: &str| {
        let asked = inputs(line);
        let all = remedies(&asked, &asked.estimate().expect("an estimate"));
        let found = all.iter().find(|remedy| remedy.fields[0].0 == kind);
        found.unwrap_or_else(|| panic!("{line}: no {kind}")).fields.clone()
    };
    // Text and images share the context; the field is about the text.
    let line = r#"{"hardware":"rtx_3090","model":"qwen3.5-27b","weights":"q4_k_m","prompt":"128k","image":"8x1024x1024"}"#;
    let fields = fields_of(line, "prompt");
    let number = |place: usize| fields[place].1.as_u64().expect("a number");
    let images = inputs(line).workload.images.expect("images").tokens();
    assert!(number(0) + images <= number(1), "{fields:?}");
    let line = r#"{"hardware":"rtx_3090","model":"qwen3.5-27b","weights":"q8_0","weight_gb":29}"#;
    assert!(fields_of(line, "weights")[1].1.is_null(), "the stated size is that of Q8_0");
    let line =
        r#"{"hardware":"h100","model":"nemotron-3-super-120b-a12b","prompt":"8k","engine":"vllm"}"#;
    assert_eq!(fields_of(line, "weights")[0].1, "int4_g128");
}

#[test]
fn a_model_that_fits_without_its_towers_says_so() {
    let line = r#"{"hardware":"rtx_4090","model":"gemma-3-12b","new_tokens":16"#;
    let whole = inputs(&format!("{line}}}")).estimate().expect("an estimate");
    let towers = inputs(&format!("{line}}}")).model.arch.tower_bytes();
    // Half of the towers is missing.
    let usable = (whole.memory.total().get() - 0.5 * towers.get()) / 1e9;
    let limited = format!(r#"{line},"memory_limit_gb":{usable}"#);
    let asked = inputs(&format!("{limited}}}"));
    let found = remedies(&asked, &asked.estimate().expect("an estimate"));
    let said = what_would_fit(&asked, &asked.estimate().expect("an estimate"), Asked::Flags);
    assert_eq!(found[0].fields, [("language_model_only", true.into())]);
    assert!(said[0].contains("with --language-model-only:"), "{}", said[0]);
    // An image needs its tower.
    let pictured = inputs(&format!(r#"{limited},"image":"896x896"}}"#));
    let found = remedies(&pictured, &pictured.estimate().expect("an estimate"));
    assert!(found.iter().all(|remedy| remedy.fields[0].0 != "language_model_only"));
    // Among memories whose steps are less than the towers, one has room for 16 bits but not for the towers.
    let ranked = |end: &str| {
        let says = "of towers for images or sound more schemes would fit: ";
        (54..62).any(|memory| {
            let line = format!(r#"{line},"memory_gb":{}{end}"#, 0.4 * f64::from(memory));
            let fields = Fields::from_line(&line).expect("JSON");
            let asked = RecommendInputs::parse(fields, &Library::CATALOGS).expect("valid");
            pretty(&asked).contains(says)
        })
    };
    assert!(ranked("}"));
    assert!(!ranked(r#","language_model_only":true}"#));
}

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
fn a_shorter_prompt_keeps_its_images() {
    let line = r#"{"hardware":"a100_40gb_sxm","model":"gemma-3-12b","weights":"bf16","image":"1024x768","prompt":100000,"batch":4}"#;
    let asked = inputs(line);
    let answer = asked.estimate().expect("valid");
    let found = remedies(&asked, &answer);
    let shorter = found.iter().find(|remedy| remedy.fields[0].0 == "prompt");
    let shorter = shorter.unwrap_or_else(|| panic!("a shorter prompt fits: {found:?}"));
    let text = shorter.fields[0].1.as_u64().expect("a count");
    let images = asked.workload.images.expect("images").tokens();
    assert!(text > 0 && images > 0);
    let mut fields = Fields::from_line(line).expect("JSON");
    fields.replace_text("prompt", &text.to_string());
    fields.replace_text("new_tokens", "1");
    let changed = EstimateInputs::parse(fields, &Library::CATALOGS).expect("valid");
    let needs = changed.estimate().expect("valid").memory.total();
    assert!((needs / shorter.answer.memory.total() - 1.0).abs() < 1e-3, "{text} tokens of text");
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
        ("mi300x", "PCIe 4.0 x16", true),
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

#[test]
fn what_would_fit_stands_below_the_verdict_in_the_words_of_the_reader() {
    let line = r#"{"hardware":"rtx_4090","model":"gpt-oss-120b","prompt":512,"new_tokens":128}"#;
    let asked = inputs(line);
    let text = summary::estimate(&asked, &asked.estimate().expect("an estimate")).to_text();
    let lines: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert!(lines[0].starts_with("Does not fit"), "{text}");
    assert!(lines[1].starts_with("It fits with --host ddr5 --host-memory-gb 64: "), "{text}");

    let fields = Fields::from_line(line).expect("JSON");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
    let (request, answer) = (inputs.request().expect("valid"), inputs.recommend().expect("valid"));
    let text = summary::recommendation(&inputs, &request, &answer, &[]).to_text();
    assert!(text.contains("\nIt fits with --host ddr5 --host-memory-gb 64: "), "{text}");
    assert!(!text.contains("Ranked by"), "{text}");
    let told = report::output::brief::recommend(&inputs, &answer, Vec::new()).text();
    assert!(told.contains("\nIt fits with host ddr5, host_memory_gb 64: "), "{told}");
}
