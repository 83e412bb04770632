//! Hosts in requests: how people write them, what is refused, and what is said of a model that does not fit.

use calc_core::units::Bytes;
use report::input::request::{
    EstimateInputs, Fields, FitInputs, Library, RecommendInputs, remedies,
};
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
        (r#""reserve_gb":"much""#, "reserve_gb"),
    ] {
        let line = format!(r#"{{"hardware":"rtx_4090","model":"qwen3-8b",{fields}}}"#);
        let error = parsed(&line).expect_err(fields);
        assert!(error.contains(says), "{fields}: {error}");
    }
    for (fields, says) in [
        (r#""hardware":"gb10","host":"ddr5","host_memory_gb":64"#, "shares its memory"),
        (
            r#""hardware":"rtx_4090","host":"ddr5","host_memory_gb":64,"engine":"vllm""#,
            "engines other than",
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
    for remedy in &found {
        assert!(remedy.answer.memory.verdict().may_fit());
        // A request with the fields of the remedy has its time per token.
        let own = remedy.fields.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        let fields = Fields::from_line(line).expect("JSON").overlaid(own.collect());
        let again = EstimateInputs::parse(fields, &Library::CATALOGS).expect("valid");
        assert_eq!(again.estimate().expect("an estimate").tpot, remedy.answer.tpot);
    }
    let long = r#"{"hardware":"rtx_4090","model":"qwen3-8b","prompt":"120k"}"#;
    let (asked, shorter) = (inputs(long), inputs(&long.replace("120k", "4k")));
    let found = remedies(&asked, &asked.estimate().expect("an estimate"));
    let keys: Vec<&str> = found.iter().map(|remedy| remedy.fields[0].0).collect();
    assert_eq!(keys, ["host", "weights", "prompt"]);
    assert!(remedies(&shorter, &shorter.estimate().expect("an estimate")).is_empty());
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
    assert!(text.contains("-np 1 -ngl 59\n"), "{text}");
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
