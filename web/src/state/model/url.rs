//! Keys of the Model view in the address, for values that differ from the default. A model from a file is included as a whole.

use std::sync::Arc;

use calc_core::calibration::Engine;
use calc_core::catalog::{self, schemes};
use calc_core::error::Error;
use calc_core::provenance::Provenance;
use report::input::model_file::word::{self, FileGeometry, FileModel};
use report::input::request::link;
use report::output::address::key;

use super::beside;
use super::fields::Field;
use super::file_name::LONGEST_NAME;
use super::inputs::{ModelInputs, ModelSource};
use super::roles::Role;
use crate::state::claim::{CLAIM, ClaimUnit, UNIT};
use crate::state::trust::FILTER_KEYS;

/// Source of a geometry that was read from an address.
const SOURCE: &str = "the address of this page";

pub use report::output::address::KeyedValue as Pair;

/// Keys of a custom model, which are in the fragment and not in the query.
const CARRIED: [&str; 4] = ["file", "geometry", "stored", "bytes"];

/// Whether a key belongs to a custom model.
pub fn is_in_fragment(key: &str) -> bool {
    CARRIED.contains(&key)
}

/// The pairs that differ from the default.
pub fn pairs(inputs: &ModelInputs) -> Vec<Pair> {
    let mut pairs = Vec::new();
    write(inputs, &mut pairs);
    pairs
}

/// Sets the value of a key; an invalid one is shown by its field.
pub fn put(inputs: &mut ModelInputs, key: &str, value: &str) {
    let _known = read(inputs, key, value);
}

fn write(inputs: &ModelInputs, pairs: &mut Vec<Pair>) {
    let usual = ModelInputs::default();
    match &inputs.base {
        ModelSource::Catalog(model) if inputs.base != usual.base => {
            pairs.push((key::MODEL, model.key.to_owned()));
        }
        ModelSource::Catalog(_) => {}
        ModelSource::File(model) => {
            pairs.push(("file", model.name.chars().take(LONGEST_NAME).collect()));
            pairs.push(("geometry", model.geometry.word().to_owned()));
            pairs.push(("stored", word::stored(&model.stored)));
            let bytes = model.weights.as_ref();
            pairs.extend(bytes.map(|weights| ("bytes", weights.word().to_owned())));
        }
    }
    for field in Field::ALL {
        let text = inputs.text(field).trim();
        if text != usual.text(field) {
            pairs.push((field.spec().id, text.to_owned()));
        }
    }
    pairs.extend(inputs.link.as_ref().map(|link| (key::LINK, link.key.to_string())));
    if let Some(beside) = &inputs.beside {
        beside.write(pairs);
    }
    pairs.extend(inputs.engine.map(|engine| (key::ENGINE, engine.key().to_owned())));
    pairs.extend(inputs.scheme.map(|scheme| (key::SCHEME, scheme.key.to_owned())));
    pairs.extend(inputs.drafter.map(|model| (key::DRAFT_MODEL, model.key.to_owned())));
    let claimed = CLAIM.into_iter().zip(&inputs.claim).filter(|(_, text)| !text.trim().is_empty());
    pairs.extend(claimed.map(|(key, text)| (key, text.trim().to_owned())));
    let filter = FILTER_KEYS.into_iter().zip(&inputs.filter).filter(|(_, text)| !text.is_empty());
    pairs.extend(filter.map(|(key, text)| (key, text.clone())));
    pairs.extend(inputs.tied.map(|tied| ("tied", u8::from(tied).to_string())));
    for role in Role::ALL {
        pairs.extend(inputs.formats.get(role).map(|format| (role.id(), format.key.to_owned())));
    }
}

/// Applies a pair. `None` for an unknown key; the error states what is wrong and which value is used instead. Numbers are
/// stored unchecked, because their fields show their errors.
pub fn read(inputs: &mut ModelInputs, key: &str, value: &str) -> Option<Result<(), String>> {
    if let Some(field) = Field::ALL.into_iter().find(|field| field.spec().id == key) {
        inputs.set_text(field, value.chars().take(LONGEST_NAME).collect());
        return Some(Ok(()));
    }
    if let Some(place) = CLAIM.iter().position(|claim| *claim == key) {
        if key == UNIT && !ClaimUnit::ALL.iter().any(|unit| unit.key() == value) {
            return Some(Err(
                "which is neither user nor s. The page takes token/s in all.".to_owned()
            ));
        }
        inputs.claim[place] = value.chars().take(LONGEST_NAME).collect();
        return Some(Ok(()));
    }
    if let Some(place) = FILTER_KEYS.iter().position(|known| *known == key) {
        inputs.filter[place] = value.chars().take(LONGEST_NAME).collect();
        return Some(Ok(())); // the Trust view reports invalid values
    }
    if let Some(role) = Role::ALL.into_iter().find(|role| role.id() == key) {
        return Some(format(role, value).map(|format| inputs.formats.set(role, Some(format))));
    }
    if beside::put(&mut inputs.beside, key, value) {
        return Some(Ok(())); // the fields report invalid values
    }
    Some(match key {
        key::MODEL => model(value).map(|base| inputs.base = base),
        key::DRAFT_MODEL => match catalog::model(value) {
            Ok(model) => {
                inputs.drafter = Some(model);
                Ok(())
            }
            Err(error) => Err(format!(
                "which is no model of the catalog{}. The page counts no draft model.",
                nearest(&error)
            )),
        },
        key::ENGINE => match Engine::of(value) {
            Some(engine) => {
                inputs.engine = Some(engine);
                Ok(())
            }
            None => Err(format!(
                "which is no engine; there are {}. The page uses the usual one of the device.",
                Engine::ALL.map(|(key, _)| key).join(", ")
            )),
        },
        key::LINK => match link::read(value) {
            Ok(link) => {
                inputs.link = Some(Arc::new(link));
                Ok(())
            }
            Err(error) => Err(format!("but {error}. The page uses the device's own link.")),
        },
        key::SCHEME => match schemes::scheme(value) {
            Some(scheme) => {
                inputs.scheme = Some(scheme);
                Ok(())
            }
            None => Err("which is no scheme. The page takes the recommended one.".to_owned()),
        },
        "file" => {
            value.clone_into(&mut file(inputs).name);
            Ok(())
        }
        "geometry" => match FileGeometry::read(value.to_owned()) {
            Some(geometry) => {
                file(inputs).geometry = geometry;
                Ok(())
            }
            None => Err("which is no geometry that this page wrote. The page uses the one above."
                .to_owned()),
        },
        "stored" => match word::read_stored(value) {
            Some(stored) => {
                file(inputs).stored = stored;
                Ok(())
            }
            None => {
                Err("which are no formats that this page wrote. The page uses those of the model."
                    .to_owned())
            }
        },
        "bytes" => match word::read_file_weights(value) {
            Some(weights) => {
                file(inputs).weights = Some(weights);
                Ok(())
            }
            None => Err(
                "which are no bytes that this page wrote. The page computes them from the formats."
                    .to_owned(),
            ),
        },
        "tied" => match value {
            "0" | "1" => {
                inputs.tied = Some(value == "1");
                Ok(())
            }
            _ => Err("but it is 0 or 1. The page leaves it to the model.".to_owned()),
        },
        _ => return None,
    })
}

/// The custom model of the address, which starts as a copy of the current model.
fn file(inputs: &mut ModelInputs) -> &mut FileModel {
    if let ModelSource::Catalog(model) = inputs.base {
        inputs.base = ModelSource::File(Arc::new(FileModel {
            name: model.name.to_owned(),
            source: SOURCE.to_owned(),
            provenance: Provenance::Assumed,
            geometry: FileGeometry::of(&model.arch),
            stored: model.stored.choice(),
            notes: Vec::new(),
            weights: None,
        }));
    }
    match &mut inputs.base {
        ModelSource::File(model) => Arc::make_mut(model),
        ModelSource::Catalog(_) => unreachable!("it was made a file above"),
    }
}

fn model(value: &str) -> Result<ModelSource, String> {
    catalog::model(value).map(ModelSource::Catalog).map_err(|error| {
        format!("which is no model of the catalog{}. The page uses Llama-3.1-8B.", nearest(&error))
    })
}

fn format(
    role: Role,
    value: &str,
) -> Result<&'static calc_core::quant_format::QuantFormat, String> {
    let format = catalog::format(value).map_err(|error| {
        format!("which is no format{}. The page uses what is stored, or the rule.", nearest(&error))
    })?;
    if role.takes(format) {
        Ok(format)
    } else {
        Err("a format that stores weights only. Activations need one that is computed in, such as fp16, fp8_e4m3 or int8. The page uses the rule.".to_owned())
    }
}

fn nearest(error: &Error) -> String {
    match error {
        Error::UnknownKey { nearest, .. } if !nearest.is_empty() => {
            format!("; near it are {}", nearest.join(", "))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::{formats::FORMATS, models};
    use report::input::named_model::NamedModel;

    fn round_trip(inputs: &ModelInputs) -> String {
        let mut pairs = Vec::new();
        write(inputs, &mut pairs);
        let mut back = ModelInputs::default();
        for (key, value) in &pairs {
            assert_eq!(read(&mut back, key, value), Some(Ok(())), "{key}={value}");
        }
        if let ModelSource::File(model) = &inputs.base {
            back.remember(model);
        }
        assert_eq!(&back, inputs, "{pairs:?}");
        pairs.iter().map(|(key, _)| format!("{key} ")).collect()
    }

    #[test]
    fn the_default_writes_nothing() {
        assert_eq!(round_trip(&ModelInputs::default()), "");
    }

    #[test]
    fn every_model_comes_back_by_key_and_as_a_file() {
        for model in models::all() {
            let mut inputs = ModelInputs::default();
            inputs.set_base(ModelSource::Catalog(model));
            round_trip(&inputs);
            let named = NamedModel { name: "a b&c.json".into(), ..NamedModel::from_catalog(model) };
            let file = FileModel::of(&named).expect("a geometry");
            inputs.set_base(ModelSource::File(Arc::new(file)));
            assert_eq!(round_trip(&inputs), "file geometry stored ");
        }
    }

    #[test]
    fn every_field_role_and_wrong_text_comes_back() {
        let mut inputs = ModelInputs::default();
        inputs.tied = Some(true);
        inputs.engine = Some(Engine::Vllm);
        inputs.link = link::read("12.5,8").ok().map(Arc::new);
        inputs.scheme = schemes::scheme("half");
        inputs.claim = ["60", "50", "user"].map(str::to_owned);
        for (index, field) in Field::ALL.into_iter().enumerate() {
            inputs.set_text(field, (index + 3).to_string());
        }
        for (index, role) in Role::ALL.into_iter().enumerate() {
            inputs
                .formats
                .set(role, FORMATS.iter().copied().filter(|format| role.takes(format)).nth(index));
        }
        assert_eq!(
            round_trip(&inputs).split_whitespace().count(),
            Field::ALL.len() + Role::ALL.len() + CLAIM.len() + 4
        );
        inputs.set_text(Field::Batch, "many".into());
        inputs.set_text(Field::Prompt, String::new());
        round_trip(&inputs);
    }

    #[test]
    fn garbage_is_named_and_the_default_holds() {
        for (key, value, says) in [
            ("model", "llama-3.1-9b", "llama-3.1-8b"),
            ("model", "", "no model"),
            ("weights", "int4_g", "int4_g128"),
            ("scheme", "int5", "no scheme"),
            ("link", "infiniband", "pcie_4_x16"),
            ("engine", "vllm2", "tensorrt-llm, tensorrt-edge-llm, vllm"),
            ("acts", "nf4", "weights only"),
            ("geometry", "1.2.3", "no geometry"),
            ("stored", "bf17", "no formats"),
            ("bytes", "1.0-Q4", "no bytes"),
            ("tied", "yes", "0 or 1"),
            ("tk", "minutes", "neither user nor s"),
        ] {
            let mut inputs = ModelInputs::default();
            let refusal =
                read(&mut inputs, key, value).expect("a key of this view").expect_err(value);
            assert!(refusal.contains(says), "{refusal}");
            assert_eq!(inputs, ModelInputs::default());
        }
        assert_eq!(read(&mut ModelInputs::default(), "q", "1"), None);
    }
}
