//! JSON Schemas of the tools: arguments from the flags of the command line, answers from the tables here. A test calls every tool and
//! compares its answer with its table.

use report::input::request::is_count;
use serde_json::{Map, Value, json};

use super::tool::{Argument, Arguments, Tool};
use crate::verbs::answer_keys::{
    self, AnswerKey, FLAG, FLAG_OR_NULL, HARDWARE, LIST, NOTES, NUMBER, NUMBER_OR_NULL, OBJECT,
    OBJECT_OR_NULL, SCHEMA, TEXT, TEXT_OR_NULL, object, typed,
};
use crate::verbs::api;

const COUNT: &[&str] = &["integer"];

/// Keys of every answer.
const COMMON: &[AnswerKey] = &[
    ("sentence", TEXT, "The answer in plain sentences: numbers with interval and origin"),
    (
        "link",
        TEXT_OR_NULL,
        "Address that opens the page with this question; null if the page does not have its model, device or operator",
    ),
    ("link_lacks", LIST, "Arguments that the page does not have, so that the link leaves them out"),
];

const LEFT_OUT: AnswerKey = ("left_out", NUMBER, "Rows that the limit left out");

/// The keys of a model, and what its name means.
pub(super) const MODEL: &[&[AnswerKey]] = &[
    answer_keys::MODEL.always,
    &[("stored_as", TEXT, "Format of the weights that the name means")],
];

pub(super) const DEVICES: &[&[AnswerKey]] = &[&[
    SCHEMA,
    ("devices", LIST, "Devices; values have an origin, and a single device has all of them"),
    LEFT_OUT,
]];

pub(super) const ESTIMATE: &[&[AnswerKey]] = &[answer_keys::ESTIMATE.always];

pub(super) const RECOMMEND: &[&[AnswerKey]] = &[answer_keys::RECOMMEND.always, &[LEFT_OUT]];

pub(super) const CHECK: &[&[AnswerKey]] = &[&[
    SCHEMA,
    HARDWARE,
    ("subject", OBJECT, "What the claimed time is of"),
    ("verdict", TEXT, "possible, near the roof, or above the roof"),
    ("time_s", NUMBER, "The claimed time [s]"),
    ("ideal_s", NUMBER, "Time at the roof [s]"),
    ("expected", OBJECT, "Expected time: time_s, low_s, high_s, basis"),
    ("bound", TEXT, "memory or compute"),
    ("flops", NUMBER, "Work [FLOP]"),
    ("bytes", NUMBER, "DRAM traffic [byte]"),
    ("implied", OBJECT, "Rates that the claim implies"),
    ("datasheet", OBJECT, "Rates of the datasheet"),
    ("sustained", OBJECT, "Rates that practice sustains, with basis"),
    ("share", OBJECT, "Share of the datasheet's roof and of the sustained one"),
    ("fits", FLAG_OR_NULL, "Whether the model fits; null for an operator or an unknown memory"),
    ("explanations", LIST, "What could explain the time: kind, text and numbers"),
    NOTES,
]];

pub(super) const COMPARE: &[&[AnswerKey]] = &[&[
    SCHEMA,
    (
        "scenarios",
        LIST,
        "The answer of `estimate` for each scenario, without its phases, and the scheme that is the scenario",
    ),
]];

pub(super) const FIT: &[&[AnswerKey]] = &[&[
    SCHEMA,
    HARDWARE,
    ("model", TEXT, "Key of the model"),
    (
        "asked",
        OBJECT,
        "The formats of the request, or as stored: weights, memory_bytes and usable_bytes of the device, those of its host, fits",
    ),
    (
        "largest",
        OBJECT_OR_NULL,
        "Largest batch and context with the first scheme, and what limits them",
    ),
    (
        "fits",
        LIST,
        "Schemes that fit and meet the bounds, the best first: memory_bytes (of card and host together), card_memory_bytes, host_memory_bytes, ttft and mean with intervals, quality",
    ),
    ("changes", LIST, "Where nothing fits: arguments to set, and the first scheme then"),
    ("devices", LIST, "Where nothing fits: the smallest devices with room"),
    ("least_memory_bytes", NUMBER_OR_NULL, "Where nothing fits: memory of the smallest scheme"),
    LEFT_OUT,
]];

pub(super) const EXPLAIN: &[&[AnswerKey]] = &[&[
    SCHEMA,
    HARDWARE,
    (
        "formulas",
        LIST,
        "Formulas: title, formula, values, origin, source, and the page that explains it",
    ),
]];

/// Keys that only some answers of a tool have.
fn sometimes(tool: &Tool) -> Vec<AnswerKey> {
    match tool.name {
        "recommend" => answer_keys::RECOMMEND.sometimes.concat(),
        "estimate" => answer_keys::ESTIMATE.sometimes.concat(),
        "resolve_model" => answer_keys::MODEL.sometimes.concat(),
        "explain" => {
            vec![("cards", LIST, "Unlike cards that share the model: layers, memory, time of each")]
        }
        "check" => vec![(
            "host",
            OBJECT,
            "Bandwidth of the host's memory: implied by the claim, of its modules, and sustained",
        )],
        _ => Vec::new(),
    }
}

/// The definition of a tool for `tools/list` and for the published schemas.
pub(super) fn definition(tool: &Tool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input(tool),
        "outputSchema": output(tool),
        "annotations": {
            "title": tool.title, "readOnlyHint": true, "destructiveHint": false,
            "idempotentHint": true, "openWorldHint": false,
        },
    })
}

/// The schema of a tool's arguments.
fn input(tool: &Tool) -> Value {
    let properties = match tool.arguments {
        Arguments::Own(own) => own.iter().map(property).collect(),
        Arguments::Verb(verb, own) => {
            let mut all = fields(verb);
            all.extend(own.iter().map(property));
            all
        }
        Arguments::Scenarios => scenarios(),
    };
    json!({
        "type": "object",
        "properties": properties,
        "required": tool.required,
        "additionalProperties": false,
    })
}

fn property(argument: &Argument) -> (String, Value) {
    (argument.key.to_owned(), typed(argument.json_types, argument.help))
}

/// The fields of a verb. A number may be a text such as 8k, too, but the schema has one type: not all language models take several.
fn fields(verb: &str) -> Map<String, Value> {
    let fields = api::fields(verb).into_iter().map(|field| {
        let types: &[&str] = match field.json_type {
            Some("number") if is_count(field.key) => COUNT,
            Some("number") => NUMBER,
            Some("boolean") => FLAG,
            _ => TEXT,
        };
        (field.key.to_owned(), typed(types, field.help))
    });
    fields.collect()
}

fn scenarios() -> Map<String, Value> {
    let (least, most) = report::input::request::SCENARIOS;
    let mut all = Map::new();
    all.insert(
        "scenarios".to_owned(),
        json!({
            "type": "array", "minItems": least, "maxItems": most,
            "description": "The scenarios, each an object with fields of `estimate`, which are those beside this one",
            "items": { "type": "object" },
        }),
    );
    all.extend(fields("estimate"));
    all
}

/// The schema of a tool's answer.
fn output(tool: &Tool) -> Value {
    let always: Vec<&AnswerKey> =
        COMMON.iter().chain(tool.data.iter().copied().flatten()).collect();
    object(always.iter().copied(), &sometimes(tool))
}

#[cfg(test)]
mod tests;
