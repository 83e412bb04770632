//! The verbs as functions from JSON fields to JSON, for REST: the same answers as `-o json`, from the catalogs only, because a
//! request over the network must not name a file.

use report::input::request::{Fields, Library};
use serde_json::{Map, Value};

use super::flags::{self, Kind};
use super::requests::Verb;
use super::{catalog, recommend, sweep, tiling};
use crate::failure::Failure;

pub(crate) type Given = Map<String, Value>;

/// Largest number of points of a sweep in one REST answer.
pub(crate) const SWEEP_POINTS: u64 = 4096;

pub(crate) fn analyze(given: Given) -> Result<Vec<u8>, Failure> {
    Ok(Verb::Analyze.json(Fields::new(given), &Library::CATALOGS)?)
}

pub(crate) fn estimate(given: Given) -> Result<Vec<u8>, Failure> {
    Ok(Verb::Estimate.json(Fields::new(given), &Library::CATALOGS)?)
}

pub(crate) fn recommend(given: Given) -> Result<Vec<u8>, Failure> {
    let answer = recommend::answer(Fields::new(given), &Library::CATALOGS)?;
    Ok(answer.value.to_string().into_bytes())
}

pub(crate) fn tiling(given: Given) -> Result<Vec<u8>, Failure> {
    let answer = tiling::answer(Fields::new(given), &Library::CATALOGS)?;
    Ok(answer.value.to_string().into_bytes())
}

/// Rows of a sweep. The values of a field are a JSON list, or a text as on the command line.
pub(crate) fn sweep(given: Given) -> Result<Vec<u8>, Failure> {
    let as_text = |value: Value| match value {
        Value::Array(items) => Value::String(items.iter().map(text).collect::<Vec<_>>().join(",")),
        other => Value::String(text(&other)),
    };
    let given = given.into_iter().map(|(key, value)| (key, as_text(value))).collect();
    sweep::json(&given, &Library::CATALOGS, SWEEP_POINTS)
}

/// Keys of the figures in a row of a sweep.
pub(crate) fn sweep_figures() -> impl Iterator<Item = &'static str> {
    [Verb::Analyze, Verb::Estimate].into_iter().flat_map(sweep::figure_keys)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// All rows of a catalog, or one row of it.
pub(crate) fn catalog(name: &str, key: Option<&str>) -> Result<Vec<u8>, Failure> {
    Ok(catalog::json(name, key)?.to_string().into_bytes())
}

/// The description of a request field for the OpenAPI document and the schemas of tools.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) help: &'static str,
    /// Type in JSON; `None` if the field takes several types.
    pub(crate) json_type: Option<&'static str>,
}

/// The request fields of a verb; of a name that is no verb, those of a model and of an operator. Those of a sweep may be lists, so they
/// have no type.
pub(crate) fn fields(verb: &str) -> Vec<Field> {
    let several: Vec<&str>;
    let keys: &[&str] = match verb {
        "analyze" => flags::ANALYZE,
        "estimate" => flags::ESTIMATE,
        "recommend" => flags::RECOMMEND,
        "tiling" => flags::PRODUCT,
        "check" => {
            several = flags::check();
            &several
        }
        _ => {
            several = [flags::ESTIMATE, flags::ANALYZE].concat();
            &several
        }
    };
    let field = |flag: &'static flags::Flag| Field {
        key: flag.key,
        help: flag.help,
        json_type: match flag.kind {
            _ if verb == "sweep" => None,
            Kind::Number => Some("number"),
            Kind::Switch => Some("boolean"),
            Kind::Hardware
            | Kind::Model
            | Kind::Format
            | Kind::Engine
            | Kind::File
            | Kind::Word => Some("string"),
        },
    };
    // This module must not read files.
    flags::of(keys).filter(|flag| flag.kind != Kind::File).map(field).collect()
}
