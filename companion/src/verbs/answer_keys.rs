//! The keys of the answers in JSON, each with its types and its content: the OpenAPI document of the daemon and the schemas of the tools
//! for programs are written from these tables. Tests ask every address and every tool, and compare.

use serde_json::{Map, Value, json};

/// A key of an answer: its name, its types in JSON and its content.
pub(crate) type AnswerKey = (&'static str, &'static [&'static str], &'static str);

pub(crate) const OBJECT: &[&str] = &["object"];
pub(crate) const LIST: &[&str] = &["array"];
pub(crate) const NUMBER: &[&str] = &["number"];
pub(crate) const TEXT: &[&str] = &["string"];
pub(crate) const FLAG: &[&str] = &["boolean"];
const WHOLE: &[&str] = &["integer"];
pub(crate) const OBJECT_OR_NULL: &[&str] = &["object", "null"];
pub(crate) const NUMBER_OR_NULL: &[&str] = &["number", "null"];
pub(crate) const FLAG_OR_NULL: &[&str] = &["boolean", "null"];
pub(crate) const TEXT_OR_NULL: &[&str] = &["string", "null"];

pub(crate) const SCHEMA: AnswerKey = ("schema", NUMBER, "Version of the published JSON");
pub(crate) const HARDWARE: AnswerKey = ("hardware", OBJECT, "Device: key, name, power_mode");
pub(crate) const NOTES: AnswerKey =
    ("notes", LIST, "What was assumed, or left open by the request, one sentence each");

/// An answer: the keys that it always has, and those that it has sometimes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnswerKeys {
    pub(crate) always: &'static [AnswerKey],
    pub(crate) sometimes: &'static [&'static [AnswerKey]],
}

impl AnswerKeys {
    const fn of(always: &'static [AnswerKey]) -> Self {
        Self { always, sometimes: &[] }
    }

    /// The JSON Schema of the answer.
    pub(crate) fn schema(self) -> Value {
        object(self.always, self.sometimes.iter().copied().flatten())
    }
}

/// The JSON Schema of an object with these keys. Answers may grow, so further keys are allowed.
pub(crate) fn object<'a>(
    always: impl IntoIterator<Item = &'a AnswerKey> + Clone,
    sometimes: impl IntoIterator<Item = &'a AnswerKey>,
) -> Value {
    let required: Vec<&str> = always.clone().into_iter().map(|(key, ..)| *key).collect();
    let properties: Map<String, Value> = always
        .into_iter()
        .chain(sometimes)
        .map(|(key, types, content)| ((*key).to_owned(), typed(types, content)))
        .collect();
    json!({ "type": "object", "properties": properties, "required": required })
}

/// The JSON Schema of a value.
pub(crate) fn typed(types: &[&str], description: &str) -> Value {
    match types {
        [one] => json!({ "type": one, "description": description }),
        several => json!({ "type": several, "description": description }),
    }
}

pub(crate) const ANALYZE: AnswerKeys = AnswerKeys {
    always: &[
        SCHEMA,
        HARDWARE,
        ("op", TEXT, "Operator"),
        ("shape", OBJECT, "Its sizes, with the keys of the request"),
        ("precision", OBJECT, "Format of each role, and the compute class"),
        ("flops", NUMBER, "Work [FLOP]"),
        ("bytes", NUMBER, "DRAM traffic [byte]"),
        ("bytes_by_role", OBJECT, "The same by role"),
        ("intensity_flop_per_byte", NUMBER, "Arithmetic intensity"),
        ("ridge_flop_per_byte", NUMBER, "Intensity at which the bounds meet"),
        ("peak_flop_per_s", NUMBER, "Peak of the compute class"),
        ("bandwidth_byte_per_s", NUMBER, "Bandwidth of the memory"),
        ("time_memory_s", NUMBER, "Time of the traffic at the roof [s]"),
        ("time_compute_s", NUMBER, "Time of the work at the roof [s]"),
        ("ideal_s", NUMBER, "Time at the roof [s]"),
        ("expected", OBJECT, "Expected time: time_s, low_s, high_s, basis"),
        ("factors", OBJECT, "Engine and measurements behind the expected time"),
        ("bound", TEXT, "memory or compute"),
        ("expected_bound", TEXT, "The same of the expected time"),
        ("half_the_bytes_save", NUMBER, "Share of the expected time that half of the bytes save"),
        ("attainable_flop_per_s", NUMBER, "Rate at the roof"),
        NOTES,
    ],
    sometimes: &[&[("parts", LIST, "Kernels of a composite operator")]],
};

pub(crate) const ESTIMATE: AnswerKeys = AnswerKeys {
    always: &[
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
    ],
    sometimes: &[&[
        (
            "device_link",
            OBJECT_OR_NULL,
            "Link between the devices: bandwidth and latency; null where nobody published it",
        ),
        (
            "without_link",
            OBJECT,
            "Where nobody published the link: the intervals of `expected` without what the devices exchange",
        ),
        ("images", OBJECT, "Tokens of the images, and time of their encoder"),
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
    ]],
};

/// Keys of a ranking of schemes, or of devices for hardware `any`.
pub(crate) const RECOMMEND: AnswerKeys = AnswerKeys {
    always: &[
        SCHEMA,
        ("workload", OBJECT, "Model or product, and tokens"),
        ("goal", OBJECT, "Objective, phase and bounds"),
        NOTES,
    ],
    sometimes: &[RANKING, RANKED_DEVICES],
};

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

pub(crate) const TILING: AnswerKeys = AnswerKeys::of(&[
    SCHEMA,
    HARDWARE,
    ("shape", OBJECT, "M, N and K"),
    ("precision", OBJECT, "Format of each role, and the compute class"),
    (
        "tiles",
        LIST,
        "Tile sizes, the best first: whether they are possible, waves, use of the device",
    ),
]);

/// Position of a row in its sweep. The fields of the request and the figures follow; a point that is refused has `error` in their place.
pub(crate) const SWEEP_ROW: AnswerKeys = AnswerKeys {
    always: &[
        ("sweep", TEXT, "Digest of the sweep"),
        ("point", WHOLE, "Number of the point, from 0"),
        ("points", WHOLE, "Points of the sweep"),
    ],
    sometimes: &[&[("error", TEXT, "Why the point has no figures")]],
};

pub(crate) const DEVICE: AnswerKeys = AnswerKeys::of(&[
    SCHEMA,
    ("key", TEXT, "Key of the catalog"),
    ("name", TEXT, "Name"),
    ("aliases", LIST, "Other keys"),
    ("vendor", TEXT, "Vendor"),
    ("architecture", TEXT, "Architecture"),
    ("compute_capability", TEXT_OR_NULL, "Compute capability of CUDA; null for others"),
    ("form_factor", TEXT, "Form factor"),
    ("class", TEXT, "discrete_gpu, unified_gpu or cpu"),
    ("release_year", NUMBER_OR_NULL, "Year of release"),
    ("memory_bytes", OBJECT, "Capacity, with provenance"),
    ("memory_type", TEXT, "Kind of memory"),
    ("unified_memory", FLAG, "Whether the host shares the memory"),
    ("memory_platform", TEXT, "How much of the memory a model may use"),
    ("usable_memory_bytes", OBJECT, "Memory that a model may use, with provenance"),
    ("bandwidth_byte_per_s", OBJECT, "Bandwidth of the memory, with provenance"),
    ("dense_peaks_flop_per_s", OBJECT, "Peak of each compute class, with provenance"),
    ("fp16_accumulate_fp16_flop_per_s", OBJECT, "Peak with FP16 accumulation, with provenance"),
    ("fp8_accumulate_fp16_flop_per_s", OBJECT, "The same of FP8"),
    ("sparse_multiplier", OBJECT, "Gain of structured sparsity, with provenance"),
    ("sm_count", OBJECT, "Multiprocessors, with provenance"),
    ("boost_clock_hz", OBJECT, "Boost clock, with provenance"),
    ("tensor_clock_hz", OBJECT, "Clock of the peaks, with provenance"),
    ("l2_bytes", OBJECT, "L2 cache, with provenance"),
    ("l2_bandwidth_byte_per_s", OBJECT, "Bandwidth of the L2 cache, with provenance"),
    ("shared_memory_per_sm_bytes", OBJECT, "Shared memory of a multiprocessor, with provenance"),
    ("registers_per_sm", OBJECT, "Registers of a multiprocessor, with provenance"),
    ("tdp_w", OBJECT, "Power, with provenance"),
    ("interconnect", TEXT, "Links in words"),
    ("link", OBJECT, "Link between devices: bandwidth and latency, with provenance"),
    ("power_modes", LIST, "Power modes of a board"),
    ("measured", LIST, "Rates that others measured, each with its source"),
    ("alternates", LIST, "Other figures that were published"),
    ("source", TEXT, "Source of the row"),
    ("notes", TEXT, "Notes"),
]);

pub(crate) const MODEL: AnswerKeys = AnswerKeys {
    always: &[
        SCHEMA,
        ("key", TEXT, "Key of the catalog, or name of the file"),
        ("name", TEXT, "Name"),
        ("parameters", OBJECT, "Number of parameters, with provenance"),
        ("active_parameters", OBJECT, "Parameters that a token uses, with provenance"),
        ("geometry", OBJECT, "Fields of the config.json, each with provenance"),
        (
            "stored_weights",
            OBJECT,
            "Format in which the catalog's model is published, with provenance",
        ),
        ("source", TEXT, "Source of the geometry"),
    ],
    sometimes: &[&[
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
    ]],
};

pub(crate) const FORMAT: AnswerKeys = AnswerKeys::of(&[
    SCHEMA,
    ("key", TEXT, "Key of the catalog"),
    ("name", TEXT, "Name"),
    ("aliases", LIST, "Other names"),
    ("encoding", TEXT, "Kind of number"),
    ("bits_per_element", OBJECT, "Bits with scales, with provenance"),
    ("block", OBJECT, "Elements of a block, with provenance"),
    ("block_bits", OBJECT, "Bits beside the elements of a block, with provenance"),
    ("channel_bits", OBJECT, "Bits per channel, with provenance"),
    ("tensor_bits", OBJECT, "Bits per tensor, with provenance"),
    ("tile", OBJECT, "Rows, columns and bits of a tile, with provenance"),
    ("compute_class", OBJECT, "Class in which it computes, with provenance"),
    ("layout", OBJECT, "Layout in memory, with provenance"),
    ("scale", OBJECT, "Scales, with provenance"),
    ("method", OBJECT, "Methods that write it, with provenance"),
    ("accuracy", OBJECT, "Published loss, with provenance"),
    ("nvidia_compute_capabilities", OBJECT, "GPUs of NVIDIA that compute in it, with provenance"),
    ("other_native", OBJECT, "Other devices that do, with provenance"),
    ("torchao", OBJECT, "Name in torchao, with provenance"),
    ("file_bits_per_weight", OBJECT, "Bits in files of llama.cpp, with provenance"),
    ("source", TEXT, "Source of the row"),
    ("notes", TEXT, "Notes"),
]);

pub(crate) const TELEMETRY: AnswerKeys = AnswerKeys::of(&[
    ("at_ms", WHOLE, "Wall clock [ms since 1970]"),
    ("readings", LIST, "Sensors: name with its unit, value, and the reason where it is null"),
]);

pub(crate) const HEALTH: AnswerKeys = AnswerKeys {
    always: &[
        ("status", TEXT, "ok, or why no job is started"),
        ("version", TEXT, "Version of the program"),
    ],
    sometimes: &[&[("protocol", WHOLE, "Version of the socket's messages")]],
};

pub(crate) const ERROR: AnswerKeys =
    AnswerKeys::of(&[("error", TEXT, "What is wrong, and what is allowed, in one line")]);
