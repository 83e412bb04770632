//! `docs/notebooks/t4.ipynb`: its cells run in order on the processor, as a notebook runs them on a GPU.

use std::process::Command;

use serde_json::Value;

use crate::binary::TURN;
use crate::run::{Ended, Folder};

const NOTEBOOK: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/notebooks/t4.ipynb"));

fn cells() -> Vec<Value> {
    let notebook: Value = serde_json::from_str(NOTEBOOK).expect("a notebook is JSON");
    notebook["cells"].as_array().expect("cells").clone()
}

/// The cells with code, one after the other in one program.
fn program() -> String {
    let is_code = |cell: &Value| cell["cell_type"] == "code";
    let lines = cells().into_iter().filter(is_code).flat_map(|cell| {
        let source = cell["source"].as_array().expect("lines").clone();
        source.into_iter().chain([Value::from("\n\n")])
    });
    lines.map(|line| line.as_str().expect("a text").to_owned()).collect()
}

fn run(folder: &Folder, variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new("python3");
    command.args(["-c", &program()]).current_dir(folder.path(".")).env(TURN, "");
    command.envs(variables.iter().copied()).env("RIDGEPOINT_QUICK", "1");
    command.output().expect("Python").into()
}

#[test]
fn the_cells_measure_a_processor_and_compare_it_with_a_datasheet() {
    let folder = Folder::new();
    let here = [("RIDGEPOINT", env!("CARGO_BIN_EXE_ridgepoint")), ("RIDGEPOINT_DEVICE", "cpu:0")];
    let ended = run(&folder, &here);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for expected in ["     1        1.0     203  memory", "  2048     1024.0     203  compute"] {
        assert!(ended.stdout.contains(expected), "{expected}: {}", ended.stdout);
    }
    assert!(ended.stdout.contains("Mistral-7B v0.3 on Tesla T4"), "{}", ended.stdout);
    // Five roofs and four products, each right.
    assert_eq!(ended.stdout.matches("right: True").count(), 9, "{}", ended.stdout);
    assert!(ended.stdout.contains("theory against measurement"), "{}", ended.stdout);
    let picture = std::fs::read_to_string(folder.path("roofline.svg")).expect("a picture");
    assert!(picture.contains("int4_g128") && picture.contains("<svg"), "{picture}");
}

#[test]
fn a_missing_program_and_a_missing_gpu_are_said() {
    let folder = Folder::new();
    let missing = run(&folder, &[("RIDGEPOINT", "./ridgepoint")]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.stderr.contains("put the program beside this notebook"), "{}", missing.stderr);
    let gpu = [("RIDGEPOINT", env!("CARGO_BIN_EXE_ridgepoint")), ("RIDGEPOINT_DEVICE", "cuda:0")];
    let absent = run(&folder, &gpu);
    assert_eq!(absent.code, Some(1));
    assert!(absent.stderr.contains("no device `cuda:0` here"), "{}", absent.stderr);
}

/// Results of some machine would be read as those of the reader's.
#[test]
fn the_notebook_is_kept_without_results() {
    for cell in cells() {
        assert!(cell["outputs"].as_array().is_none_or(Vec::is_empty), "{cell}");
        assert!(cell["execution_count"].is_null(), "{cell}");
    }
}
