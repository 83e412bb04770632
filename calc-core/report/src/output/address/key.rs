//! Keys of the page's address that a question of the command line uses, too. They are chosen by hand, so that an old link keeps its
//! meaning.

/// Place of the page.
pub const VIEW: &str = "view";
/// Version of the catalogs.
pub const VERSION: &str = "v";
/// A scenario of a comparison; once for each.
pub const SCENARIO: &str = "c";

/// Device.
pub const DEVICE: &str = "d";
/// Power mode of the device.
pub const POWER_MODE: &str = "pm";
/// Model of the catalog.
pub const MODEL: &str = "model";
/// Draft model of the catalog.
pub const DRAFT_MODEL: &str = "dm";
/// Engine of the expected times.
pub const ENGINE: &str = "engine";
/// Quantization scheme.
pub const SCHEME: &str = "scheme";

/// Concurrent sequences.
pub const BATCH: &str = "batch";
/// Tokens of a prompt.
pub const PROMPT: &str = "prompt";
/// Cached tokens at the decode step shown.
pub const CONTEXT: &str = "context";
/// Tokens to generate.
pub const NEW_TOKENS: &str = "generate";
/// Devices over which every layer is split.
pub const TENSOR_PARALLEL: &str = "tp";
/// Devices over which layers are distributed.
pub const PIPELINE_PARALLEL: &str = "pp";
/// Devices over which experts are distributed.
pub const EXPERT_PARALLEL: &str = "ep";
/// Link between the devices: a preset, or GB/s and µs.
pub const LINK: &str = "link";
/// Limit on the memory in use [GB].
pub const MEMORY_LIMIT: &str = "memory";
/// Fields of a request about the host of a card, other programs and images, each with its key.
pub const BESIDE: [(&str, &str); 8] = [
    ("host", "host"),
    ("host_memory_gb", "hostgb"),
    ("host_link", "hostlink"),
    ("ssd_gb_s", "ssd"),
    ("reserve_gb", "reserve"),
    ("image", "image"),
    ("image_tokens", "imagetok"),
    ("language_model_only", "textonly"),
];
/// Mean bits per weight.
pub const WEIGHT_BITS: &str = "wbits";
/// Tokens drafted per round.
pub const DRAFT_TOKENS: &str = "draft";
/// Acceptance probability of a draft token.
pub const ACCEPTANCE: &str = "accept";

/// Format of a model's weights.
pub const WEIGHTS: &str = "weights";
/// Format of a model's activations.
pub const ACTIVATIONS: &str = "acts";
/// Format of a model's KV cache.
pub const KV_CACHE: &str = "kv";
/// Format of embedding and LM head.
pub const EMBEDDING: &str = "emb";
/// Format of the experts.
pub const EXPERTS: &str = "experts";

/// Goal of the ranking.
pub const OBJECTIVE: &str = "obj";
/// Part of the request that the ranking counts.
pub const PHASE: &str = "part";
/// Largest loss of quality [%].
pub const LOSS: &str = "loss";
/// Longest time per output token [ms].
pub const TPOT: &str = "tpot";
/// Longest time to first token [ms].
pub const TTFT: &str = "ttft";
/// Lowest throughput over the batch [token/s].
pub const RATE: &str = "rate";

/// Claimed time of the operator [µs].
pub const CLAIMED_TIME: &str = "us";
/// Claimed number for the model, in the unit under [`CLAIMED_UNIT`].
pub const CLAIMED_AMOUNT: &str = "ts";
/// Unit of [`CLAIMED_AMOUNT`]; absent for tokens per second over the batch.
pub const CLAIMED_UNIT: &str = "tk";
/// Value of [`CLAIMED_UNIT`]: tokens per second of one sequence.
pub const UNIT_USER: &str = "user";
/// Value of [`CLAIMED_UNIT`]: seconds for the prompt and all new tokens.
pub const UNIT_SECONDS: &str = "s";

/// Kind of an operator.
pub const OPERATOR: &str = "op";
/// Format of an operator's weights.
pub const OPERATOR_WEIGHTS: &str = "w";
/// Format of an operator's input.
pub const OPERATOR_ACTIVATIONS: &str = "a";
/// Format of an operator's KV cache.
pub const OPERATOR_KV_CACHE: &str = "ak";
/// With value 1: attention writes its scores to memory.
pub const UNFUSED: &str = "uf";
/// With value 1: the MLP has no gate.
pub const PLAIN: &str = "pl";

/// Rows of a GEMM.
pub const M: &str = "m";
/// Columns of a GEMM.
pub const N: &str = "n";
/// Depth of a GEMM.
pub const K: &str = "k";
/// Tokens of an operator.
pub const TOKENS: &str = "t";
/// Sequences of attention.
pub const ATTENTION_BATCH: &str = "ab";
/// New tokens of each sequence.
pub const ATTENTION_NEW: &str = "an";
/// Cached tokens of each sequence.
pub const ATTENTION_CACHED: &str = "ac";
/// Query heads.
pub const HEADS: &str = "ah";
/// Key and value heads.
pub const KV_HEADS: &str = "ag";
/// Elements of a head.
pub const HEAD_SIZE: &str = "ad";
/// Hidden size.
pub const HIDDEN: &str = "hs";
/// Intermediate size.
pub const WIDTH: &str = "iw";
/// Experts of a mixture.
pub const OPERATOR_EXPERTS: &str = "xe";
/// Experts that a token uses.
pub const PER_TOKEN: &str = "xk";
/// Intermediate size of an expert.
pub const EXPERT_WIDTH: &str = "xw";
/// Intermediate size of the shared expert.
pub const SHARED_WIDTH: &str = "xs";

#[cfg(test)]
mod tests {
    #[test]
    fn the_description_for_models_lists_every_key() {
        let description = include_str!("../../../../../docs/llms.txt");
        let (_, links) = description.split_once("## Links").expect("a section");
        let lines = include_str!("key.rs").lines();
        let own = lines.filter_map(|line| line.split_once(": &str = \"")?.1.strip_suffix("\";"));
        let keys: Vec<&str> = own.chain(super::BESIDE.map(|(_, key)| key)).collect();
        assert!(keys.len() > 50, "{keys:?}");
        for key in keys {
            assert!(links.contains(&format!("`{key}`")), "{key}");
        }
    }
}
