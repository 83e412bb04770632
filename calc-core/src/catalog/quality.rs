//! Published quality losses of quantized models, and the range derived from them for each kind of scheme. Rows have their
//! sources; none were measured in this project.

use crate::provenance::Provenance;
use crate::quality::{Metric, QualityLoss};

/// Published score of a model before and after quantization.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedLoss {
    /// The model that was quantized.
    pub model: &'static str,
    /// Format and method.
    pub scheme: &'static str,
    /// Metric and data set.
    pub metric: &'static str,
    /// Score in 16 bits.
    pub baseline: f64,
    /// Score after quantization.
    pub quantized: f64,
    pub source: &'static str,
}

const LLAMA_CPP: &str = "llama.cpp tools/perplexity README, rev f364eb6f";
const TORCHAO: &str = "torchao AWQ README, groups of 64";
const AUTOROUND: &str = "Intel AutoRound docs/acc.md, W4G128";
const AWQ_PAPER: &str = "AWQ paper (arXiv 2306.00978), transcribed";
const R1_CARD: &str = "nvidia/DeepSeek-R1-FP4 model card";
const WIKITEXT: &str = "WikiText-2 perplexity";
const TASKS: &str = "mean of 11 tasks";

/// Perplexity of Llama-3-8B in FP16, the baseline of llama.cpp's table.
const LLAMA_3_8B: f64 = 6.2332;

const fn row(
    model: &'static str,
    scheme: &'static str,
    metric: &'static str,
    scores: (f64, f64),
    source: &'static str,
) -> PublishedLoss {
    PublishedLoss { model, scheme, metric, baseline: scores.0, quantized: scores.1, source }
}

const fn llama_cpp(scheme: &'static str, rise: f64) -> PublishedLoss {
    row("Llama-3-8B", scheme, WIKITEXT, (LLAMA_3_8B, LLAMA_3_8B + rise), LLAMA_CPP)
}

/// All published rows, grouped by source.
pub static PUBLISHED: [PublishedLoss; 48] = [
    llama_cpp("Q8_0", 0.0027),
    llama_cpp("Q6_K", 0.0217),
    llama_cpp("Q5_K_M", 0.0570),
    llama_cpp("Q5_0", 0.1316),
    llama_cpp("Q4_K_M, imatrix", 0.1513),
    llama_cpp("Q4_K_M", 0.1755),
    llama_cpp("Q4_K_S, imatrix", 0.1781),
    llama_cpp("Q4_K_S", 0.2689),
    llama_cpp("IQ4_XS, imatrix", 0.2281),
    llama_cpp("Q4_1", 0.451),
    llama_cpp("Q4_0", 0.469),
    llama_cpp("Q3_K_M, imatrix", 0.503),
    llama_cpp("Q3_K_M", 0.657),
    llama_cpp("IQ3_XXS, imatrix", 1.227),
    llama_cpp("Q2_K, imatrix", 2.42),
    llama_cpp("Q2_K", 3.52),
    llama_cpp("IQ1_S", 52.0),
    row("Llama-2-7B-chat", "INT4 RTN", WIKITEXT, (5.031, 5.280), TORCHAO),
    row("Llama-2-7B-chat", "INT4 HQQ", WIKITEXT, (5.031, 5.342), TORCHAO),
    row("Llama-2-7B-chat", "INT4 AWQ", WIKITEXT, (5.031, 5.239), TORCHAO),
    row("Llama-3-8B", "INT4 RTN", WIKITEXT, (4.627, 5.043), TORCHAO),
    row("Llama-3-8B", "INT4 HQQ", WIKITEXT, (4.627, 5.128), TORCHAO),
    row("Llama-3-8B", "INT4 AWQ", WIKITEXT, (4.627, 4.968), TORCHAO),
    row("Llama-3.1-8B", "INT4 RTN", WIKITEXT, (4.697, 5.041), TORCHAO),
    row("Llama-3.1-8B", "INT4 HQQ", WIKITEXT, (4.697, 5.144), TORCHAO),
    row("Llama-3.1-8B", "INT4 AWQ", WIKITEXT, (4.697, 4.982), TORCHAO),
    row("Mistral-7B", "INT4 g128 RTN", TASKS, (63.30, 62.36), AUTOROUND),
    row("Mistral-7B", "INT4 g128 GPTQ", TASKS, (63.30, 62.32), AUTOROUND),
    row("Mistral-7B", "INT4 g128 AWQ", TASKS, (63.30, 62.16), AUTOROUND),
    row("Llama-2-7B", "INT4 g128 RTN", TASKS, (57.98, 56.92), AUTOROUND),
    row("Llama-2-7B", "INT4 g128 GPTQ", TASKS, (57.98, 56.85), AUTOROUND),
    row("Llama-2-7B", "INT4 g128 AWQ", TASKS, (57.98, 57.35), AUTOROUND),
    row("Llama-2-70B", "INT4 g128 RTN", TASKS, (66.12, 65.87), AUTOROUND),
    row("Llama-2-70B", "INT4 g128 GPTQ", TASKS, (66.12, 66.22), AUTOROUND),
    row("Llama-2-70B", "INT4 g128 AWQ", TASKS, (66.12, 66.23), AUTOROUND),
    row("LLaMA-7B", "INT4 g128 RTN", WIKITEXT, (5.68, 5.96), AWQ_PAPER),
    row("LLaMA-7B", "INT4 g128 GPTQ", WIKITEXT, (5.68, 6.22), AWQ_PAPER),
    row("LLaMA-7B", "INT4 g128 AWQ", WIKITEXT, (5.68, 5.78), AWQ_PAPER),
    row("LLaMA-65B", "INT4 g128 RTN", WIKITEXT, (3.53, 3.67), AWQ_PAPER),
    row("LLaMA-65B", "INT4 g128 GPTQ", WIKITEXT, (3.53, 3.66), AWQ_PAPER),
    row("LLaMA-65B", "INT4 g128 AWQ", WIKITEXT, (3.53, 3.62), AWQ_PAPER),
    row("Llama-2-70B", "INT3 g128 RTN", WIKITEXT, (3.32, 3.98), AWQ_PAPER),
    row("Llama-2-70B", "INT3 g128 AWQ", WIKITEXT, (3.32, 3.74), AWQ_PAPER),
    row("DeepSeek-R1", "NVFP4", "MMLU", (90.8, 90.7), R1_CARD),
    row("DeepSeek-R1", "NVFP4", "GSM8K", (96.3, 96.1), R1_CARD),
    row("DeepSeek-R1", "NVFP4", "GPQA Diamond", (69.7, 69.2), R1_CARD),
    row("DeepSeek-R1", "NVFP4", "MATH-500", (95.4, 94.2), R1_CARD),
    row(
        "Llama-3.1-8B",
        "Q8_0 to NVFP4 in llama.cpp",
        WIKITEXT,
        (5.325, 5.383),
        "llama.cpp PR 25446",
    ),
];

/// A range of perplexity increase for a model of 8 billion parameters.
const fn perplexity(
    low: f64,
    high: f64,
    provenance: Provenance,
    source: &'static str,
) -> QualityLoss {
    QualityLoss { metric: Metric::Perplexity, low, high, source, provenance }
}

/// The reference without quantization.
pub const NONE: QualityLoss =
    perplexity(0.0, 0.0, Provenance::Derived, "the format that the others are compared with");
/// The model in its published formats.
pub const AS_PUBLISHED: QualityLoss =
    perplexity(0.0, 0.0, Provenance::Derived, "the weights as their makers publish them");
/// FP8 weights, with or without FP8 activations.
pub const FP8: QualityLoss = perplexity(
    0.1,
    0.3,
    Provenance::Assumed,
    "assumed for 8B models; FP8 is effectively lossless in arXiv 2411.02355",
);
/// FP8 weights of a model that is published in FP8, in another layout of scales. Its activations are FP8 as published.
pub const FP8_AGAIN: QualityLoss = perplexity(
    0.0,
    FP8.low,
    Provenance::Assumed,
    "none where the scales differ by powers of 2; else the published weights are rounded once more, at most as FP8 loses from 16 bits",
);
/// INT8 weights only, with 16-bit activations.
pub const INT8_WEIGHTS: QualityLoss = perplexity(
    0.05,
    0.05,
    Provenance::Assumed,
    "assumed for 8B models, near llama.cpp's Q8_0 (0.04 %)",
);
/// INT8 weights and activations.
pub const INT8: QualityLoss = QualityLoss {
    metric: Metric::TaskScore,
    low: 1.0,
    high: 3.0,
    source: "arXiv 2411.02355: 1 to 3 % of task scores when well tuned",
    provenance: Provenance::Read,
};
/// INT4 in groups of 128, rounded to nearest, with or without a search for the scale.
pub const INT4_RTN: QualityLoss = perplexity(
    5.0,
    8.0,
    Provenance::Assumed,
    "assumed for 8B models: 5 to 6 % with a search for the scale, 6 to 8 % without; torchao AWQ README has 5 to 9 % (g64)",
);
/// INT4 in groups of 128 with AWQ or GPTQ.
pub const INT4_CALIBRATED: QualityLoss = perplexity(
    3.0,
    5.0,
    Provenance::Assumed,
    "assumed for 8B models; AWQ paper 1.8 % (LLaMA-7B), torchao AWQ README 4 to 7 % (g64)",
);
/// INT4 in groups of 32 with zero points.
pub const INT4_G32: QualityLoss = perplexity(
    7.2,
    7.2,
    Provenance::Derived,
    "llama.cpp's Q4_1, the same 5 bits with scale and offset per 32: +0.451 on 6.2332, Llama-3-8B",
);
/// INT3 in groups of 128 with AWQ.
pub const INT3: QualityLoss = perplexity(
    14.0,
    22.0,
    Provenance::Recalled,
    "AWQ paper (arXiv 2306.00978) table 4, Llama-2-7B: 5.47 to 6.24 (AWQ) and 6.66 (RTN)",
);
/// INT2 in groups of 64.
pub const INT2: QualityLoss = perplexity(
    56.5,
    834.0,
    Provenance::Derived,
    "between llama.cpp's Q2_K (+56 % at 3.2 bits) and IQ1_S (+834 % at 1.9 bits), Llama-3-8B",
);
/// NVFP4.
pub const NVFP4: QualityLoss = perplexity(
    3.0,
    5.0,
    Provenance::Assumed,
    "assumed for 8B models, rounded to nearest; DeepSeek-R1's NVFP4 card loses 0.1 to 1.3 % of task scores",
);
/// MXFP4.
pub const MXFP4: QualityLoss =
    perplexity(6.0, 9.0, Provenance::Assumed, "assumed for 8B models, rounded to nearest");
/// NF4.
pub const NF4: QualityLoss = perplexity(
    4.9,
    9.0,
    Provenance::Assumed,
    "as INT4 in groups of 64, whose weight error is the same: torchao AWQ README, 4.9 % (Llama-2-7B) to 9.0 % (Llama-3-8B)",
);

/// A published row of llama.cpp's table: from `low` (with an importance matrix) to `high` (without), as increases of 6.2332.
const fn gguf(low: f64, high: f64) -> QualityLoss {
    perplexity(
        low / LLAMA_3_8B * 100.0,
        high / LLAMA_3_8B * 100.0,
        Provenance::Read,
        "llama.cpp tools/perplexity README, rev f364eb6f: Llama-3-8B, WikiText-2, FP16 6.2332",
    )
}

/// GGUF Q8_0.
pub const Q8_0: QualityLoss = gguf(0.0027, 0.0027);
/// GGUF Q6_K.
pub const Q6_K: QualityLoss = gguf(0.0217, 0.0217);
/// GGUF Q5_K_M.
pub const Q5_K: QualityLoss = gguf(0.0570, 0.0570);
/// GGUF Q4_K_M.
pub const Q4_K: QualityLoss = gguf(0.1513, 0.1755);
/// GGUF Q4_0.
pub const Q4_0: QualityLoss = gguf(0.469, 0.469);
/// GGUF Q3_K_M.
pub const Q3_K: QualityLoss = gguf(0.503, 0.657);
/// GGUF Q2_K.
pub const Q2_K: QualityLoss = gguf(2.42, 3.52);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_rows_name_their_source_once() {
        for (index, row) in PUBLISHED.iter().enumerate() {
            assert!(!row.source.is_empty() && row.baseline > 0.0 && row.quantized > 0.0, "{row:?}");
            let same = |other: &&PublishedLoss| {
                (other.model, other.scheme, other.metric, other.source)
                    == (row.model, row.scheme, row.metric, row.source)
            };
            assert_eq!(PUBLISHED.iter().filter(same).count(), 1, "row {index}");
        }
    }

    #[test]
    fn the_rise_of_q2_k_is_more_than_half() {
        assert!((Q2_K.high - 56.5).abs() < 0.1, "{}", Q2_K.high);
        assert!((Q4_K.high - 2.8).abs() < 0.05, "{}", Q4_K.high);
    }
}
