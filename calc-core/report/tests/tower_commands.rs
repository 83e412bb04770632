//! Commands for models with towers, and for requests with images.

use report::input::request::{Fields, Library, RecommendInputs};
use report::output::json::recommend;

fn answer(line: &str) -> String {
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect(line);
    recommend::pretty(&inputs)
}

#[test]
fn recipes_leave_towers_in_16_bits() {
    for (model, is_ignored) in [("qwen3.5-35b-a3b", true), ("qwen3-30b-a3b", false)] {
        let told = answer(&format!(r#"{{"hardware":"rtx_5090","model":"{model}"}}"#));
        assert!(told.contains("W4A16"), "{told}");
        let recipe = r#"\"re:.*(visual|vision|audio|multi_modal_projector).*\""#;
        assert_eq!(told.contains(recipe), is_ignored, "{told}");
    }
}

#[test]
fn the_file_of_a_tower_is_loaded_where_it_counts_in_memory() {
    let without = r#","language_model_only":true"#;
    for (more, is_loaded) in [(r#","image":"1024x768""#, true), ("", true), (without, false)] {
        let told = answer(&format!(
            r#"{{"hardware":"dgx spark","model":"gemma-4-26b-a4b","prompt":4096,"new_tokens":256{more}}}"#
        ));
        assert_eq!(
            told.contains("--mmproj --outtype f16 --outfile gemma-4-26B-A4B"),
            is_loaded,
            "{told}"
        );
        assert_eq!(told.contains(" --mmproj mmproj-gemma-4-26B-A4B"), is_loaded);
    }
}
