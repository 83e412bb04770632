//! Plans of what fits, in sentences.

use report::input::request::{Fields, FitInputs, Library};
use report::output::brief::fit;

fn told(line: &str) -> String {
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = FitInputs::parse(fields, &Library::CATALOGS).expect(line);
    fit::plan(&inputs, &inputs.plan(&Library::CATALOGS).expect(line)).text()
}

#[test]
fn a_plan_says_what_is_unknown_and_keeps_the_format_asked_for() {
    let larger = told(r#"{"hardware":"h100","model":"deepseek-v3.2"}"#);
    let xeon = larger.lines().find(|line| line.starts_with("Larger: Xeon")).expect("a processor");
    assert!(xeon.contains("if so much memory is installed"), "{xeon}");
    let split = told(r#"{"hardware":"ryzen_ai_max_395","model":"deepseek-v3.2"}"#);
    assert!(!split.contains("tensor_parallel"), "nobody published its link: {split}");
    let q8 = told(r#"{"hardware":"rtx_4090","model":"qwen3-8b","weights":"q8_0"}"#);
    assert!(q8.contains("fits: GGUF Q8_0,"), "{q8}");
}
