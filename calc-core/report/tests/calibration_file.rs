//! Calibration files: the documented example is valid, schema and parser agree, and impossible rows are refused.

use std::collections::BTreeSet;

use calc_core::calibration::{Engine, Tokens, WaveTile};
use calc_core::op::OpKind;
use calc_core::quant_format::ComputeClass;
use calc_core::units::Seconds;
use report::input::calibration_file::{lines, parse, write};
use serde_json::{Value, json};

const EXAMPLE: &str = include_str!("../../../docs/examples/calibration.json");
const SCHEMA: &str = include_str!("../../../docs/schema/calibration.schema.json");

fn with(row: &Value) -> String {
    let mut whole = json!({"measured": "kernel", "eta_memory": 0.8});
    for (key, value) in row.as_object().expect("fields") {
        whole[key] = value.clone();
    }
    json!({"device": "t4", "rows": [whole]}).to_string()
}

#[test]
fn the_documented_example_survives_both_forms() {
    let own = parse(EXAMPLE).expect("a calibration");
    assert_eq!((own.device.as_str(), own.rows.len()), ("jetson_orin_nano_8gb_super", 4));
    let [kernel, step, matrices, waves] = &own.rows[..] else { panic!("four rows") };
    assert_eq!((kernel.factors.in_step, kernel.points), (false, 24));
    assert_eq!(kernel.factors.floor, Some(Seconds::new(6.5 * 1e-6)));
    let found = (step.factors.engine, step.factors.op, step.factors.interval);
    assert_eq!(found, (Some(Engine::LlamaCpp), Some(OpKind::Gemm), None));
    let factors = &matrices.factors;
    let found = (factors.compute, factors.tokens, factors.extra_tokens);
    assert_eq!(found, (Some(ComputeClass::Fp16), Some(Tokens::Several), Some(12.0)));
    assert_eq!(factors.tile, None);
    assert_eq!(waves.factors.tile, Some(WaveTile { rows: 128, columns: 64 }));
    assert_eq!(parse(&write(&own)).expect("what was written"), own);
    assert_eq!(lines::read(&lines::write(&own)), Some(own));
}

#[test]
fn an_alias_becomes_the_key_of_the_catalog() {
    let text = with(&json!({})).replace("t4", "b10");
    assert_eq!(parse(&text).expect("a calibration").device, "gb10");
}

#[test]
fn impossible_files_are_refused_by_name() {
    for (text, expected) in [
        (String::new(), "not a calibration file: EOF"),
        ("[]".into(), "not a calibration file: "),
        (json!({"device": "t4"}).to_string(), "missing field `rows`"),
        (json!({"device": "t4", "rows": []}).to_string(), "rows must have 1 to 1000 rows; got 0"),
        (with(&json!({})).replace("\"t4\"", "\"a b\""), "device must be a key"),
        (with(&json!({})).replace("\"t4\"", "\"\""), "device must be a key"),
        (with(&json!({"speed": 1})), "unknown field `speed`"),
        (with(&json!({"measured": "guessed"})), "unknown variant `guessed`"),
        (with(&json!({"eta_memory": null})), "row 1: needs eta_memory, eta_compute or floor_us"),
        (with(&json!({"eta_memory": 0})), "row 1: eta_memory must be from 0.0001 to 10; got 0"),
        (with(&json!({"eta_compute": 11})), "row 1: eta_compute must be from"),
        (with(&json!({"floor_us": -1})), "row 1: floor_us must be from 0"),
        (with(&json!({"low": 0.9})), "row 1: low and high go together"),
        (with(&json!({"low": 1.1, "high": 1.2})), "row 1: low must be from 0.01 to 1"),
        (with(&json!({"engine": "vlm"})), "row 1: engine must be one of llama.cpp"),
        (with(&json!({"format": "int5"})), "row 1: unknown format `int5`"),
        (with(&json!({"compute": "int5"})), "row 1: compute must be a peak such as fp32"),
        (with(&json!({"tokens": "many"})), "row 1: tokens must be one, few or several; got `many`"),
        (with(&json!({"extra_tokens": 4})), "row 1: extra_tokens needs eta_compute"),
        (with(&json!({"extra_tokens": -4, "eta_compute": 1})), "extra_tokens must be from 0"),
        (with(&json!({"tile_rows": 64})), "row 1: tile_rows and tile_columns go together"),
        (with(&json!({"tile_rows": 0, "tile_columns": 8})), "row 1: tile_rows must be from 1 to"),
        (with(&json!({"tile_rows": 8, "tile_columns": 2048})), "row 1: tile_columns must be from"),
        (with(&json!({"tile_rows": 64, "tile_columns": 64})), "row 1: a tile needs eta_compute"),
        (
            with(&json!({"tile_rows": 8, "tile_columns": 8, "eta_compute": 1, "extra_tokens": 4})),
            "row 1: a tile needs eta_compute, and no extra_tokens",
        ),
        (with(&json!({"op": "gem"})), "row 1: op must be an operator"),
        (" ".repeat(2 << 20), "at most 1048576 bytes"),
    ] {
        let said = parse(&text).expect_err("refused").to_string();
        assert!(said.contains(expected), "{said:?} lacks {expected:?}");
    }
}

#[test]
fn lines_that_were_never_written_are_refused() {
    let good = lines::write(&parse(EXAMPLE).expect("a calibration"));
    let row = good.lines().nth(1).expect("a row");
    for bad in [
        String::new(),
        "t4\tabout\n".into(),
        good.replace("llama.cpp", "lama.cpp"),
        good.replace("gguf_q4_k", "gguf_q9"),
        good.replacen('\t', " ", 2),
        good.replace("\t128\t64", "\t128\t0"),
        good.replace("\t128\t64", "\t128"),
        format!("t4\tx\n{}", row.replace("3feb851eb851eb85", "7ff8000000000000")),
    ] {
        assert_eq!(lines::read(&bad), None, "{bad}");
    }
}

#[test]
fn the_schema_has_the_keys_of_the_file() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let row = &schema["properties"]["rows"]["items"]["properties"];
    let own = parse(EXAMPLE).expect("a calibration");
    let written: Value = serde_json::from_str(&write(&own)).expect("JSON");
    let keys =
        |value: &Value| value.as_object().expect("fields").keys().cloned().collect::<BTreeSet<_>>();
    let rows = written["rows"].as_array().expect("rows").iter();
    assert_eq!(rows.flat_map(keys).collect::<BTreeSet<_>>(), keys(row));
    // Keys that older versions refuse are written only where they are needed, and rows with them are left out for those.
    let known = write(&own.for_older_programs());
    assert!(known.contains("extra_tokens") && !known.contains("tile_rows"), "{known}");
    assert!(written["rows"][0].get("tokens").is_none());
    assert_eq!(keys(&written), ["about", "device", "rows"].map(str::to_owned).into());
}
