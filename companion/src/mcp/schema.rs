//! JSON Schemas of the tools: arguments from the flags of the command line, answers from the tables here. A test calls every tool and
//! compares its answer with its table.

use report::input::request::is_count;
use serde_json::{Map, Value, json};

use super::tool::{AnswerKey, Argument, Arguments, Tool};
use crate::verbs::api;

const OBJECT: &[&str] = &["object"];
const COUNT: &[&str] = &["integer"];
const LIST: &[&str] = &["array"];
const NUMBER: &[&str] = &["number"];
const TEXT: &[&str] = &["string"];
const FLAG: &[&str] = &["boolean"];
const OBJECT_OR_NULL: &[&str] = &["object", "null"];
const NUMBER_OR_NULL: &[&str] = &["number", "null"];
const FLAG_OR_NULL: &[&str] = &["boolean", "null"];
const TEXT_OR_NULL: &[&str] = &["string", "null"];

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

const SCHEMA: AnswerKey = ("schema", NUMBER, "Version of the published JSON");
const HARDWARE: AnswerKey = ("hardware", OBJECT, "Device: key, name, power_mode");
const NOTES: AnswerKey =
    ("notes", LIST, "What was assumed, or left open by the request, one sentence each");
const LEFT_OUT: AnswerKey = ("left_out", NUMBER, "Rows that the limit left out");

pub(super) const MODEL: &[AnswerKey] = &[
    SCHEMA,
    ("key", TEXT, "Key of the catalog, or name of the file"),
    ("name", TEXT, "Name"),
    ("parameters", OBJECT, "Number of parameters, with provenance"),
    ("active_parameters", OBJECT, "Parameters that a token uses, with provenance"),
    ("geometry", OBJECT, "Fields of the config.json, each with provenance"),
    ("stored_weights", OBJECT, "Format in which the catalog's model is published, with provenance"),
    ("stored_as", TEXT, "Format of the weights that the name means"),
    ("source", TEXT, "Source of the geometry"),
];

pub(super) const DEVICES: &[AnswerKey] = &[
    SCHEMA,
    ("devices", LIST, "Devices; values have an origin, and a single device has all of them"),
    LEFT_OUT,
];

pub(super) const ESTIMATE: &[AnswerKey] = &[
    SCHEMA,
    HARDWARE,
    ("model", OBJECT, "Model: key, parameters, active_parameters, basis"),
    ("precision", OBJECT, "Format of each role, and the compute class"),
    ("workload", OBJECT, "Batch, tokens and split over devices, defaults included"),
    (
        "prefill",
        OBJECT,
        "The step of the prompt: flops, bytes, ideal_s, expected{time_s,low_s,high_s,basis}, bound, mfu, mbu",
    ),
    ("decode", OBJECT, "The step of a token at the stated context: the same"),
    ("first_token", OBJECT, "Chunks of the prompt behind ttft_s"),
    ("ttft_s", NUMBER_OR_NULL, "Expected time to first token [s]"),
    ("tpot_s", NUMBER_OR_NULL, "Expected time per output token at the stated context [s]"),
    ("generation_s", NUMBER_OR_NULL, "Expected time of the tokens after the first [s]"),
    ("end_to_end_s", NUMBER_OR_NULL, "Expected time of the whole answer [s]"),
    (
        "throughput_token_per_s",
        NUMBER_OR_NULL,
        "Expected rate over the batch at the stated context [token/s]; that over all new tokens is mean.throughput_token_per_s",
    ),
    (
        "mean",
        OBJECT_OR_NULL,
        "Means per output token over all new tokens: tpot{time_s,low_s,high_s,basis}, ideal_s, throughput_token_per_s, joule_per_token",
    ),
    (
        "expected",
        OBJECT_OR_NULL,
        "Intervals of ttft, tpot, generation and end_to_end: time_s, low_s, high_s, basis",
    ),
    ("factors", OBJECT, "Engine and measurements behind the expected times"),
    ("memory", OBJECT, "Bytes on one device by role, total, usable, fits"),
    ("energy", OBJECT, "Energy per token and power, with basis"),
    NOTES,
];

/// Keys of a ranking of schemes, or of devices for hardware `any`.
pub(super) const RECOMMEND: &[AnswerKey] = &[
    SCHEMA,
    ("workload", OBJECT, "Model or product, and tokens"),
    ("goal", OBJECT, "Objective, phase and bounds"),
    NOTES,
    LEFT_OUT,
];

/// Keys of a ranking of schemes only.
const RANKING: &[AnswerKey] = &[
    HARDWARE,
    (
        "link_unknown",
        FLAG,
        "Whether all times leave out the link between the devices, which nobody published",
    ),
    ("baseline", OBJECT, "The same in 16 bits"),
    ("best", OBJECT, "Best schemes of prefill and of decode"),
    ("first_by", TEXT_OR_NULL, "What put the first scheme first"),
    (
        "ranked",
        LIST,
        "Schemes, the best first: speedup, ttft and tpot with intervals, memory_bytes, quality, largest batch and context, commands; behind a host memory_bytes is that of card and host, with card_memory_bytes, host_memory_bytes and placement",
    ),
    ("dropped", LIST, "Schemes that are left out, each with its reason"),
    ("memory_steps", LIST, "Schemes that no other beats in memory and quality"),
];

/// Keys of a ranking of devices only.
const RANKED_DEVICES: &[AnswerKey] = &[(
    "devices",
    LIST,
    "Devices that meet the bounds, the smallest first, each with its first scheme",
)];

pub(super) const CHECK: &[AnswerKey] = &[
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
];

pub(super) const COMPARE: &[AnswerKey] = &[
    SCHEMA,
    (
        "scenarios",
        LIST,
        "The answer of `estimate` for each scenario, without its phases, and the scheme that is the scenario",
    ),
];

pub(super) const FIT: &[AnswerKey] = &[
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
];

pub(super) const EXPLAIN: &[AnswerKey] = &[
    SCHEMA,
    HARDWARE,
    (
        "formulas",
        LIST,
        "Formulas: title, formula, values, origin, source, and the page that explains it",
    ),
];

/// Keys that only some answers of a tool have.
fn sometimes(tool: &Tool) -> Vec<AnswerKey> {
    match tool.name {
        "recommend" => [RANKING, RANKED_DEVICES].concat(),
        "estimate" => vec![
            (
                "host",
                OBJECT,
                "Machine around the card: bandwidth, installed and usable memory [byte], link, SSD",
            ),
            (
                "placement",
                OBJECT,
                "What lies on the host, and the options of llama.cpp that put it there",
            ),
            ("cards", LIST, "Unlike cards that share the model: layers, memory, time of each"),
            ("cards_options", LIST, "Options of the engine that put the layers on these cards"),
            (
                "fits_with",
                LIST,
                "Changes after which a model that does not fit does, with the rate then",
            ),
        ],
        "explain" => {
            vec![("cards", LIST, "Unlike cards that share the model: layers, memory, time of each")]
        }
        "check" => vec![(
            "host",
            OBJECT,
            "Bandwidth of the host's memory: implied by the claim, of its modules, and sustained",
        )],
        "resolve_model" => vec![
            ("hf_id", TEXT, "Repository on Hugging Face"),
            ("other_names", LIST, "Other releases with this geometry"),
            ("family", TEXT, "Family"),
            ("architecture", TEXT, "Class in transformers"),
            ("release_year", OBJECT, "Year of release, with provenance"),
            ("official_parameters", OBJECT, "Number that its makers state, with provenance"),
            ("stored_experts", OBJECT, "Format of the experts, with provenance"),
            ("assumed", LIST, "Fields that a file leaves out, with what is assumed"),
            ("remarks", LIST, "What of a file is left out or rounded"),
            ("notes", TEXT, "Notes"),
        ],
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

/// The schema of a tool's answer. Answers may grow, so further keys are allowed.
fn output(tool: &Tool) -> Value {
    let always = COMMON.iter().chain(tool.data);
    let required: Vec<&str> = always.clone().map(|(key, ..)| *key).collect();
    let all = always.copied().chain(sometimes(tool));
    let properties: Map<String, Value> =
        all.map(|(key, types, content)| (key.to_owned(), typed(types, content))).collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

fn typed(types: &[&str], description: &str) -> Value {
    match types {
        [one] => json!({ "type": one, "description": description }),
        several => json!({ "type": several, "description": description }),
    }
}

#[cfg(test)]
mod tests;
