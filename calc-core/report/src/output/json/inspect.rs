//! JSON of the weight files of a model.

use serde_json::{Map, Value, json};
use weights::files::{Group, sum};
use weights::header::Container;
use weights::role::Role;
use weights::stored::file_type;

use super::SCHEMA;
use crate::input::named_model::NamedModel;
use crate::input::weight_file::{ModelWeights, stated_formats};
use crate::output::words::weights as words;

/// Weight files and what was read of them.
#[derive(Debug, Clone, Copy)]
pub struct Inspected<'a> {
    pub path: &'a str,
    pub weights: &'a ModelWeights,
    /// The model, or the sentence that refuses its geometry.
    pub model: Result<&'a NamedModel, &'a str>,
    /// Every tensor is listed.
    pub with_tensors: bool,
}

impl Inspected<'_> {
    /// The format of the files: `GGUF version 3, big-endian`.
    pub fn container(&self) -> String {
        let containers = self.weights.weights.files.iter().map(|file| file.header.container);
        match containers.into_iter().next() {
            Some(Container::Gguf { version, big_endian }) => {
                format!(
                    "GGUF version {version}, {}-endian",
                    if big_endian { "big" } else { "little" }
                )
            }
            Some(Container::Safetensors) | None => "safetensors".to_owned(),
        }
    }

    /// `general.architecture` of GGUF, or the `model_type` of the config.json, for a terminal; `None` if neither says it.
    pub fn architecture(&self) -> Option<String> {
        let metadata = &self.weights.weights.metadata;
        let stated = metadata.get("general.architecture").and_then(|value| value.text());
        let config = || {
            let config: Value = serde_json::from_str(self.weights.config.as_deref()?).ok()?;
            config["model_type"].as_str().map(str::to_owned)
        };
        let name = stated.map(str::to_owned).or_else(config)?;
        Some(name.replace(char::is_control, "\u{fffd}"))
    }

    /// Sentences on what differs between header, config.json and geometry.
    pub fn notes(&self) -> Vec<String> {
        let stored = self.model.ok().map(|model| &model.stored);
        let stated = stated_formats(self.weights, stored);
        let mut notes: Vec<String> = stated.iter().filter_map(words::disagreement).collect();
        match self.model {
            Ok(model) => notes.extend(words::model_notes(model)),
            Err(why) => notes.push(format!("the geometry is not read: {why}")),
        }
        notes
    }
}

/// JSON of the files, bytes by role and type, and what header and config.json state.
pub fn inspect(inspected: &Inspected<'_>) -> Value {
    let weights = &inspected.weights.weights;
    let groups = inspected.weights.groups();
    let files: Vec<Value> = weights
        .files
        .iter()
        .map(|file| json!({ "name": file.name, "bytes": file.bytes, "header_bytes": file.header.bytes }))
        .collect();
    let all = sum(&groups, |_| true);
    let mut answer = json!({
        "schema": SCHEMA,
        "path": inspected.path,
        "format": inspected.container(),
        "architecture": inspected.architecture(),
        "file_type": file_type(weights).map(|nominal| nominal.name),
        "files": files,
        "tensors": all.tensors,
        "parameters": all.parameters,
        "bytes": all.bytes,
        "roles": by_role(&groups),
        "types": by_type(&groups),
        "stated": stated(inspected),
        "geometry_parameters": inspected.model.ok().map(|model| model.arch.n_params()),
        "notes": inspected.notes(),
    });
    if inspected.with_tensors {
        answer["tensor_list"] = tensor_list(inspected);
    }
    answer
}

/// The roles that the files have, each with its types.
fn by_role(groups: &[Group]) -> Vec<Value> {
    let one = |role: Role| {
        let all = sum(groups, |group| group.role == role);
        let types: Map<String, Value> = groups
            .iter()
            .filter(|group| group.role == role)
            .map(|group| (group.kind.name.to_owned(), json!(group.sum.bytes)))
            .collect();
        (all.tensors > 0).then(|| {
            json!({
                "role": role.key(),
                "tensors": all.tensors,
                "parameters": all.parameters,
                "bytes": all.bytes,
                "bytes_by_type": types,
            })
        })
    };
    Role::ALL.into_iter().filter_map(one).collect()
}

fn by_type(groups: &[Group]) -> Vec<Value> {
    let mut names: Vec<&str> = groups.iter().map(|group| group.kind.name).collect();
    names.sort_unstable();
    names.dedup();
    let one = |name: &str| {
        let all = sum(groups, |group| group.kind.name == name);
        json!({ "type": name, "tensors": all.tensors, "parameters": all.parameters, "bytes": all.bytes })
    };
    names.into_iter().map(one).collect()
}

fn stated(inspected: &Inspected<'_>) -> Vec<Value> {
    let stored = inspected.model.ok().map(|model| &model.stored);
    let rows = stated_formats(inspected.weights, stored).into_iter();
    rows.map(|row| {
        json!({
            "role": row.role.key(),
            "header": row.header,
            "header_bits": row.header_bits,
            "stated": row.stated,
            "stated_bits": row.stated_bits,
            "agrees": row.agrees,
        })
    })
    .collect()
}

fn tensor_list(inspected: &Inspected<'_>) -> Value {
    let tensors = inspected.weights.weights.tensors();
    tensors
        .map(|(tensor, role)| {
            json!({
                "name": tensor.name,
                "role": role.key(),
                "shape": tensor.shape,
                "type": tensor.kind.name,
                "bytes": tensor.bytes,
                "offset": tensor.offset,
            })
        })
        .collect()
}
