//! The tools in one table, from which calls are answered, `tools/list` is written, and the published schemas are.

use report::input::request::MODEL_UPPER_BOUND;

use super::answers;
use super::schema;
use super::tool::{Argument, Arguments, Tool};

const TEXT: &[&str] = &["string"];
const SWITCH: &[&str] = &["boolean"];
const COUNT: &[&str] = &["integer"];

const ROWS: Argument =
    Argument { key: "limit", json_types: COUNT, help: "Most rows of the list; default 5" };

/// All tools.
pub(super) static TOOLS: [Tool; 8] = [
    Tool {
        name: "resolve_model",
        title: "Find a model",
        description: "The catalog's model that a name means: a key, a Hugging Face id or a tag of Ollama, with parameters, geometry \
            and stored format, each with its origin. An unknown name is answered with the nearest keys.",
        arguments: Arguments::Own(&[
            Argument {
                key: "name",
                json_types: TEXT,
                help: "Key, Hugging Face id, tag of Ollama; over stdio also a config.json",
            },
            Argument {
                key: MODEL_UPPER_BOUND,
                json_types: SWITCH,
                help: "Model file: unknown geometry at its upper bound",
            },
        ]),
        required: &["name"],
        data: schema::MODEL,
        answer: answers::resolve_model,
    },
    Tool {
        name: "list_devices",
        title: "List devices",
        description: "Devices of the catalog with memory, bandwidth and power, each with its origin; a single match comes with all values: \
            peaks, power modes, published measurements. The keys are the values of `hardware` in the other tools.",
        arguments: Arguments::Own(&[
            Argument {
                key: "filter",
                json_types: TEXT,
                help: "Text that key or name contains, or a name as people write it",
            },
            Argument { key: "limit", json_types: COUNT, help: "Most rows of the list; default 20" },
        ]),
        required: &[],
        data: schema::DEVICES,
        answer: answers::list_devices,
    },
    Tool {
        name: "estimate",
        title: "Speed and memory of a model on a device",
        description: "How fast a model runs on a device, what limits it, and whether it fits: time to first token, time per token, rate, \
            memory and energy. Times have an interval (low_s, high_s) and a basis. Without weights the model is taken as it is stored.",
        arguments: Arguments::Verb("estimate", &[]),
        required: &["hardware", "model"],
        data: schema::ESTIMATE,
        answer: answers::estimate,
    },
    Tool {
        name: "recommend",
        title: "Which quantization to use",
        description: "Quantization schemes for a model on a device, ranked for a goal and within bounds, each with speedup, loss of quality, \
            memory and commands to apply it; dropped ones have a reason. With hardware `any`: the devices that meet the bounds, the smallest first.",
        arguments: Arguments::Verb("recommend", &[ROWS]),
        required: &["hardware"],
        data: schema::RECOMMEND,
        answer: answers::recommend,
    },
    Tool {
        name: "check",
        title: "Is this speed possible?",
        description: "Judges a measured or claimed speed against the roofs of the device, and lists what could explain it. Give one claim: \
            tokens_per_s, seconds with new_tokens, or time_us of an operator.",
        arguments: Arguments::Verb("check", &[]),
        required: &["hardware"],
        data: schema::CHECK,
        answer: answers::check,
    },
    Tool {
        name: "compare",
        title: "Scenarios side by side",
        description: "Two to four scenarios side by side: devices, models, formats or workloads. Each scenario has fields of `estimate`; \
            fields beside `scenarios` are shared by all of them. Says which is the fastest, and whether the intervals tell them apart.",
        arguments: Arguments::Scenarios,
        required: &["scenarios"],
        data: schema::COMPARE,
        answer: answers::compare,
    },
    Tool {
        name: "fit_plan",
        title: "What fits on this device",
        description: "Whether a model fits on a device, in which quantization schemes, with how much room for batch and context. Where nothing \
            fits: the changes after which something does (`set` has the arguments to use), and the smallest devices with room.",
        arguments: Arguments::Verb("recommend", &[ROWS]),
        required: &["hardware", "model"],
        data: schema::FIT,
        answer: answers::fit_plan,
    },
    Tool {
        name: "explain",
        title: "The formulas behind the numbers",
        description: "The formulas behind an estimate (with model) or behind one operator (with op, m, n, k and others), each with its values, \
            its origin and the page that derives it.",
        arguments: Arguments::Verb("explain", &[]),
        required: &["hardware"],
        data: schema::EXPLAIN,
        answer: answers::explain,
    },
];
