//! The list of files in a repository of the hub, and which of them are the model that was asked for.

use serde_json::Value;
use weights::files::{of_one_model, siblings};

use super::{CONFIG, GGUF, INDEX, ReadableFile, SAFETENSORS};
use crate::state::files::Refused;
use crate::state::model::hub;

/// Most models that are offered.
const MOST_OFFERED: usize = 40;

/// The files of a model on the hub.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Files(Vec<ReadableFile>),
    /// Several models, each by its first file; one has to be chosen.
    Several(Vec<String>),
}

/// The model in a repository's list of files: the only one, or the one that `wanted` names by a file or a part of its name.
///
/// # Errors
/// Returns a sentence if there is none.
pub fn find(id: &str, text: &str, wanted: Option<&str>) -> Result<Found, Refused> {
    let refused = |why: &str| Refused::from(format!("{id}: {why}"));
    let files = listed(text).ok_or_else(|| refused("the list of its files cannot be read"))?;
    let has_wanted = |name: &str| {
        let lower = |text: &str| text.to_ascii_lowercase();
        wanted.is_none_or(|wanted| lower(name).contains(&lower(wanted)))
    };
    let models = matching(&files, wanted, has_wanted);
    let safetensors = of_safetensors(&files);
    let takes_safetensors = !safetensors.is_empty() && has_wanted(SAFETENSORS);
    if let Err(firsts) = of_one_model(&models) {
        let all = firsts.into_iter().map(str::to_owned);
        let whole = takes_safetensors.then(|| SAFETENSORS.trim_start_matches('.').to_owned());
        return Ok(Found::Several(all.chain(whole).take(MOST_OFFERED).collect()));
    }
    if !models.is_empty() {
        let is_of_it = |file: &ReadableFile| models.contains(&file.name);
        return Ok(Found::Files(files.into_iter().filter(is_of_it).collect()));
    }
    match (takes_safetensors, wanted) {
        (true, _) => Ok(Found::Files(safetensors)),
        (false, None) => Err(refused("it has neither GGUF nor safetensors files")),
        (false, Some(wanted)) => {
            Err(refused(&format!("no file of a model there has `{wanted}` in its name")))
        }
    }
}

/// Names of the GGUF files that are asked for, without those of towers alone.
fn matching(
    files: &[ReadableFile],
    wanted: Option<&str>,
    has_wanted: impl Fn(&str) -> bool,
) -> Vec<String> {
    let is_tower = |file: &ReadableFile| file.name.to_ascii_lowercase().contains("mmproj");
    let gguf = || files.iter().filter(|file| file.has_end(GGUF) && !is_tower(file));
    match gguf().find(|file| wanted == Some(file.name.as_str())) {
        Some(file) => siblings(&file.name).unwrap_or_else(|| vec![file.name.clone()]),
        None => {
            gguf().filter(|file| has_wanted(&file.name)).map(|file| file.name.clone()).collect()
        }
    }
}

/// The files of safetensors at the top with config and index; without a second copy beside files with the usual names.
fn of_safetensors(files: &[ReadableFile]) -> Vec<ReadableFile> {
    let top = || files.iter().filter(|file| !file.name.contains('/'));
    let is_weights = |file: &&ReadableFile| file.has_end(SAFETENSORS);
    let is_usual = |file: &ReadableFile| file.name.starts_with("model");
    let has_usual = top().filter(is_weights).any(is_usual);
    let weights = top().filter(is_weights).filter(|file| !has_usual || is_usual(file));
    let weights: Vec<ReadableFile> = weights.cloned().collect();
    if weights.is_empty() {
        return weights;
    }
    let is_text = |file: &&ReadableFile| file.name == CONFIG || file.has_end(INDEX);
    top().filter(is_text).cloned().chain(weights).collect()
}

/// Files whose names can stand in an address.
fn listed(text: &str) -> Option<Vec<ReadableFile>> {
    let entries: Value = serde_json::from_str(text).ok()?;
    let one = |entry: &Value| {
        let (name, bytes) = (entry["path"].as_str()?, entry["size"].as_u64()?);
        let is_file = entry["type"] == "file" && hub::is_path(name);
        is_file.then(|| ReadableFile { name: name.to_owned(), bytes })
    };
    Some(entries.as_array()?.iter().filter_map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> String {
        let one = |name: &&str| format!(r#"{{"type":"file","path":"{name}","size":5}}"#);
        format!("[{}]", names.iter().map(one).collect::<Vec<_>>().join(","))
    }

    fn names(found: Result<Found, Refused>) -> Vec<String> {
        match found.expect("a model") {
            Found::Files(files) => files.into_iter().map(|file| file.name).collect(),
            Found::Several(models) => panic!("{models:?}"),
        }
    }

    #[test]
    fn one_model_is_taken_and_several_are_offered() {
        let text = list(&["README.md", "m-Q4_K_M.gguf", "m-Q8_0.gguf", "mmproj-F16.gguf"]);
        let several = vec!["m-Q4_K_M.gguf".to_owned(), "m-Q8_0.gguf".to_owned()];
        assert_eq!(find("a/b", &text, None), Ok(Found::Several(several)));
        for wanted in ["q4_k_m", "m-Q4_K_M.gguf"] {
            assert_eq!(names(find("a/b", &text, Some(wanted))), ["m-Q4_K_M.gguf"]);
        }
        let refused = find("a/b", &text, Some("IQ2")).expect_err("none");
        assert!(refused.reason.contains("`IQ2`"), "{refused:?}");
    }

    #[test]
    fn a_split_is_one_model() {
        let parts = ["Q8/m-00001-of-00002.gguf", "Q8/m-00002-of-00002.gguf"];
        let text = list(&[parts[0], parts[1], "m-Q4_K_M.gguf"]);
        assert_eq!(names(find("a/b", &text, Some(parts[0]))), parts);
        assert_eq!(names(find("a/b", &text, Some("q8"))), parts);
    }

    #[test]
    fn safetensors_come_with_their_texts_and_no_second_copy() {
        let index = "model.safetensors.index.json";
        let text = list(&[
            "config.json",
            "tokenizer.json",
            index,
            "model-00001-of-00001.safetensors",
            "consolidated.safetensors",
            "original/model.safetensors",
        ]);
        let all = ["config.json", index, "model-00001-of-00001.safetensors"];
        assert_eq!(names(find("a/b", &text, None)), all);
        let both = list(&["model.safetensors", "a.gguf", "b.gguf"]);
        let Ok(Found::Several(offered)) = find("a/b", &both, None) else { panic!("several") };
        assert_eq!(offered, ["a.gguf", "b.gguf", "safetensors"]);
        assert_eq!(names(find("a/b", &both, Some("safetensors"))), ["model.safetensors"]);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for text in ["", "{}", "<html>", r#"{"error":"x"}"#] {
            assert!(find("a/b", text, None).is_err(), "{text}");
        }
        let escapes = list(&["../x.gguf", "a b.gguf", "a?.gguf", "/x.gguf"]);
        assert!(find("a/b", &escapes, None).is_err());
    }
}
