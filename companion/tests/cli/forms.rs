//! Every verb in every output form, help, completions, manual, and pipes that close early.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use calc_core::catalog::{devices, formats, models};
use serde_json::Value;

use crate::run::{Folder, answer, device_file, line, model_file, program};

/// One request for each verb with output forms.
fn requests(folder: &Folder) -> Vec<String> {
    let measured = folder.file("t4.csv", "weights,time_us\nfp16,120\nint4_g128,40\n");
    let sweep = "sweep --hardware t4,b10 -m 1..4 -n 64 -k 64 --weights fp16,int8";
    let rows = folder.file("rows.jsonl", answer(&format!("{sweep} -o jsonl")));
    let requests = [
        "hardware",
        "hardware b10",
        "hardware --filter orin",
        "models",
        "models meta-llama/Llama-3.1-8B",
        "formats",
        "formats NVFP4",
        "analyze --hardware h100 -m 1 -n 4096 -k 4096 --weights int4_g128",
        "analyze --hardware gb10 --op attention --heads 32 --kv-heads 8 --head-dim 128 --cached 4096 --unfused",
        "analyze --hardware t4 --op norm --tokens 4 --hidden 4096",
        "analyze --hardware t4 --op activation --tokens 4 --width 4096 --plain",
        "estimate --hardware dgx_spark --model gpt-oss-20b --batch 1 --prompt 512 --new-tokens 8 --engine vllm",
        "tiling --hardware t4 -m 4096 -n 4096 -k 4096 --weights fp16",
        "check --hardware t4 --model llama-3.1-8b --weights int8 --batch 4 --prompt 64 --tokens-per-s 9 --per-user",
        sweep,
    ];
    let mut requests: Vec<String> = requests.map(str::to_owned).into();
    requests.push(format!("compare --hardware t4 -m 1 -n 4096 -k 4096 --measured {measured}"));
    requests.push(format!("hardware {}", device_file()));
    requests.push(format!("models {}", model_file()));
    requests.push(format!("merge {rows}"));
    requests
}

#[test]
fn every_verb_answers_in_every_form() {
    let folder = Folder::new();
    for request in requests(&folder) {
        let form = |form: &str| answer(&format!("{request} -o {form}"));
        assert!(form("table").lines().count() > 2, "{request}");
        let md = form("md");
        assert!(md.starts_with("# ") || md.contains("| --"), "{request}: {md}");
        serde_json::from_str::<Value>(&form("json"))
            .unwrap_or_else(|error| panic!("{request}: {error}"));
        for row in form("jsonl").lines() {
            serde_json::from_str::<Value>(row).unwrap_or_else(|error| panic!("{request}: {error}"));
        }
        let csv = form("csv");
        assert!(csv.lines().count() >= 2 && csv.contains(','), "{request}: {csv}");
        for name in ["table", "md", "json", "jsonl", "csv"] {
            assert!(!form(name).contains('\u{1b}'), "{request}: no colors, so NO_COLOR is honored");
        }
    }
}

/// Keys of an object at any depth, joined by dots; lists end a path.
fn paths(prefix: &str, value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                paths(&path, value, out);
            }
        }
        _ => out.push(prefix.to_owned()),
    }
}

#[test]
fn every_key_of_the_json_is_a_column_of_the_csv() {
    let folder = Folder::new();
    let own = format!("validate {}", crate::validate::file(&folder, crate::validate::GOOD));
    let more = [
        "recommend --hardware h100 --model llama-3.2-1b",
        "recommend --hardware t4 --model llama-3.1-405b",
        "recommend --hardware any --model llama-3.2-1b --max-tpot-ms 5",
        "schedule --hardware jetson_orin_nano_8gb_super --model llama-3.2-1b",
        "check --hardware t4 -m 1 -n 64 -k 64 --weights fp16 --time-us 50",
        "bench bandwidth --bytes 100000 --cache hot --iterations 5 --warm-up 0 --threads 1",
        own.as_str(),
    ];
    // Sweeps have columns of their own, without lists; `sweep` and `points` are for `merge`.
    let is_sweep = |request: &String| request.starts_with("sweep") || request.starts_with("merge");
    let requests = requests(&folder).into_iter().filter(|request| !is_sweep(request));
    for request in requests.chain(more.map(str::to_owned)) {
        // The exit code may be 4, where nothing meets the goal.
        let form = |form: &str| line(&format!("{request} -o {form}")).stdout;
        let json: Value = serde_json::from_str(&form("json")).expect("JSON");
        let csv = form("csv");
        let head: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
        let mut wanted = Vec::new();
        let rows = ["ranked", "devices", "tiles", "rows", "points"];
        for object in json.as_array().unwrap_or(&vec![json.clone()]) {
            for (key, value) in object.as_object().expect("an object") {
                match value.as_array().filter(|list| rows.contains(&&**key) && !list.is_empty()) {
                    Some(list) => list.iter().for_each(|row| paths("", row, &mut wanted)),
                    None => paths(key, value, &mut wanted),
                }
            }
        }
        for path in wanted {
            assert!(head.contains(&&*path), "{request}: {path} is not in {head:?}");
        }
    }
}

#[test]
fn defaults_fill_missing_values_and_are_named() {
    let model = "--hardware h100 --model llama-3.2-1b";
    let taken = "defaults for fields that the request leaves out: batch 1, prompt 512";
    let given = "--batch 1 --prompt 512";
    let searched = "defaults for fields that the request leaves out: prompt 512";
    for (verb, said, given) in [
        ("estimate", taken, given),
        ("recommend", taken, given),
        ("check --tokens-per-s 9", taken, given),
        ("schedule", searched, "--prompt 512"),
    ] {
        let words = format!("{verb} {model}");
        assert!(answer(&words).contains(said), "{words}");
        let json = |words: &str| -> Value {
            serde_json::from_str(&answer(&format!("{words} -o json"))).expect("JSON")
        };
        let (mut short, mut long) = (json(&words), json(&format!("{words} {given}")));
        assert_eq!(short["notes"][0], said, "{words}");
        assert!(!long.to_string().contains("usual values"), "{words}");
        for answer in [&mut short, &mut long] {
            answer["notes"] = Value::Null;
        }
        assert_eq!(short, long, "{words}");
    }
    let row: Value =
        serde_json::from_str(&answer(&format!("sweep {model} -o jsonl"))).expect("JSON");
    assert_eq!((&row["batch"], &row["prompt"]), (&1.into(), &512.into()));
    assert!(
        answer(&format!("sweep {model}"))
            .starts_with("hardware h100, model llama-3.2-1b, batch 1, prompt 512")
    );
    let many = answer("recommend --hardware any --model llama-3.2-1b --max-tpot-ms 50");
    assert!(many.contains(taken), "{many}");
}

#[test]
fn a_table_is_the_default_in_a_pipe_too() {
    assert_eq!(answer("formats"), answer("formats -o table"));
}

#[test]
fn catalogs_list_everything_with_its_source() {
    for (verb, count, value) in [
        ("hardware", devices::all().count(), "bandwidth_byte_per_s"),
        ("models", models::all().count(), "parameters"),
        ("formats", formats::FORMATS.len(), "bits_per_element"),
    ] {
        let rows: Vec<Value> =
            serde_json::from_str(&answer(&format!("{verb} -o json"))).expect("JSON");
        assert_eq!(rows.len(), count, "{verb}");
        for row in &rows {
            let provenance = &row[value]["provenance"];
            assert!(
                provenance["kind"].is_string() && provenance["source"].is_string(),
                "{verb}: {row}"
            );
        }
        assert_eq!(answer(&format!("{verb} -o jsonl")).lines().count(), count, "{verb}");
        assert_eq!(answer(&format!("{verb} -o csv")).lines().count(), count + 1, "{verb}");
    }
}

#[test]
fn aliases_and_spellings_are_one_device() {
    let expected = answer("hardware gb10 -o json");
    for alias in ["b10", "dgx_spark", "DGX-Spark", "GB10"] {
        assert_eq!(answer(&format!("hardware {alias} -o json")), expected, "{alias}");
    }
}

#[test]
fn every_verb_has_help_with_an_example() {
    for verb in [
        "hardware",
        "models",
        "formats",
        "analyze",
        "estimate",
        "sweep",
        "merge",
        "tiling",
        "compare",
        "check",
        "plot",
        "serve",
        "completions",
        "man",
    ] {
        let help = answer(&format!("{verb} --help"));
        assert!(
            help.contains("Example") && help.contains(&format!("  ridgepoint {verb}")),
            "{verb}: {help}"
        );
        assert!(answer("--help").contains(&format!("\n  {verb} ")), "{verb}");
    }
    assert!(answer("--version").starts_with("ridgepoint "));
}

#[test]
fn completions_know_verbs_flags_and_keys() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = answer(&format!("completions {shell}"));
        for word in ["estimate", "power-mode", "int4_g128", "jetson_orin_nano_8gb_super"] {
            // The completions of elvish and PowerShell cover flags only, not values.
            let complete = script.contains(word)
                || matches!(shell, "elvish" | "powershell") && word.contains('_');
            assert!(complete, "{shell} lacks {word}");
        }
    }
}

#[test]
fn the_manual_has_a_page_per_verb() {
    assert!(answer("man").contains("ridgepoint"));
    let folder = Folder::new();
    let pages = folder.path("man1");
    answer(&format!("man --dir {pages}"));
    for name in ["ridgepoint.1", "ridgepoint-estimate.1", "ridgepoint-serve.1"] {
        let page = fs::read_to_string(format!("{pages}/{name}")).expect(name);
        assert!(page.contains(".TH"), "{name}");
    }
}

#[test]
fn a_closed_pipe_ends_the_program_quietly() {
    for words in
        ["hardware -o json", "sweep --hardware t4 -m 1..20000 -n 64 -k 64 --weights fp16 -o jsonl"]
    {
        let mut child = program()
            .args(words.split(' '))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut first = [0; 1];
        child.stdout.take().expect("piped").read_exact(&mut first).expect("there is output");
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!((ended.status.code(), ended.stderr), (Some(0), Vec::new()), "{words}");
    }
}

#[test]
fn plots_are_svg_and_png() {
    let folder = Folder::new();
    let request =
        "plot --hardware t4 -m 1 -n 4096 -k 4096 --weights fp16,int4_g128 --point a<b&c,3.8,0.1";
    let svg = answer(request);
    assert!(
        svg.starts_with("<svg ") && svg.contains("a&lt;b&amp;c") && svg.contains("int4_g128"),
        "{svg}"
    );
    assert!(answer(&format!("{request} -o -")) == svg);
    assert!(answer(&format!("{request} --theme dark")) != svg);
    let (drawn, pixels) = (folder.path("t4.svg"), folder.path("t4.png"));
    assert_eq!(answer(&format!("{request} -o {drawn}")), "");
    assert!(fs::read_to_string(drawn).expect("a file") == svg);
    answer(&format!("{request} --width 320 --height 200 -o {pixels}"));
    let png = fs::read(pixels).expect("a file");
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
    assert_eq!(
        (&png[16..20], &png[20..24]),
        (&[0, 0, 1, 64][..], &[0, 0, 0, 200][..]),
        "320 by 200"
    );
    assert!(png.len() > 3_000, "letters and lines take room: {}", png.len());
}

#[test]
fn a_measurement_above_the_roof_is_flagged() {
    let folder = Folder::new();
    let measured = folder.file(
        "bench.jsonl",
        "{\"shape\":{\"m\":1,\"n\":4096,\"k\":4096},\"precision\":{\"weights\":\"fp16\",\"activations\":\"fp16\"},\"time_s\":{\"median\":1e-6}}\n",
    );
    let told = answer(&format!("compare --hardware t4 --measured {measured}"));
    assert!(told.contains("faster than the roofline allows"), "{told}");
    let json: Value = serde_json::from_str(&answer(&format!(
        "compare --hardware t4 --measured {measured} -o json"
    )))
    .expect("JSON");
    assert_eq!(json["rows"][0]["above_roof"], true);
    assert_eq!(json["shape"]["n"], 4096);
}

#[test]
fn k_is_padded_to_whole_blocks_with_a_note() {
    let told = answer("analyze --hardware t4 -m 1 -n 64 -k 100 --weights int4_g128");
    assert!(told.contains("not a multiple"), "{told}");
    assert_eq!(
        line("analyze --hardware t4 -m 1 -n 64 -k 128 --weights int4_g128")
            .stdout
            .matches("multiple")
            .count(),
        0
    );
}
