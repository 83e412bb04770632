//! How engines allot the KV cache: whole blocks of tokens, and more than the window for a layer with one.
//! The bytes that a step reads are in `cost::attention`. Derivation: `docs/theory/memory.md`.

use crate::calibration::Engine;
use crate::device::Device;
use crate::model_arch::{Attention, ModelArch};

/// The rule by which an engine allots the KV cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheRule {
    /// Number of tokens per block: a sequence has whole blocks.
    pub block: u64,
    pub windows: WindowRule,
    pub pool: PoolRule,
    pub states: StateRule,
}

/// How layers of different kinds share the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolRule {
    /// Each layer has its own.
    Apart,
    /// In pages of one size, which belong to groups of equally many layers of a kind.
    EqualGroups,
}

/// States of a recurrent layer that each sequence has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateRule {
    /// Number of states without speculative decoding.
    pub copies: u64,
    /// One more for each draft token, so that a rejected one can be undone.
    pub per_draft: bool,
    /// All in FP32, whatever the carrier.
    pub wide: bool,
}

impl StateRule {
    /// The present state alone.
    const ONE: Self = Self { copies: 1, per_draft: false, wide: false };

    /// Number of states of a sequence with `drafts` draft tokens per round.
    pub const fn states(&self, drafts: u64) -> u64 {
        if self.per_draft { self.copies + drafts } else { self.copies }
    }
}

/// Tokens of a layer with a window or with chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowRule {
    /// The window alone.
    Alone,
    /// As many as in a layer without a window.
    AllTokens,
    /// For each sequence the window and the tokens of one step.
    WithStep {
        /// Largest number of prompt tokens per step.
        step: u64,
    },
    /// For each sequence the window and `spare` tokens, `least` or more; for all sequences together the tokens of one step.
    SharedStep {
        /// Largest number of prompt tokens per step.
        step: u64,
        /// Smallest number of tokens per sequence.
        least: u64,
        /// Number of tokens beside the window, because it may begin in the middle of a block.
        spare: u64,
    },
}

/// Tokens per block in vLLM, with plain and with latent attention, whose kernels have 64 or 128.
const VLLM_BLOCK: u64 = 16;
const VLLM_LATENT_BLOCK: u64 = 128;
/// Tokens to which llama.cpp and Ollama round a cache up.
const GGML_BLOCK: u64 = 256;
/// Smallest number of tokens that Ollama keeps in layers with a window.
const OLLAMA_LEAST: u64 = 4096;

impl CacheRule {
    /// Whole tokens, and no more than the window: what a model has to keep, whatever the engine.
    pub const IDEAL: Self = Self {
        block: 1,
        windows: WindowRule::Alone,
        pool: PoolRule::Apart,
        states: StateRule::ONE,
    };

    /// The rule of an engine with its default settings.
    ///
    /// Read in 2026: `SlidingWindowSpec` of vLLM, `llama_kv_cache_iswa` and `llama_context` of llama.cpp, `Causal.Init` of
    /// Ollama, `BlockManager` and `tokens_per_block` of TensorRT-LLM, `swa_full_tokens_ratio` of SGLang, `setup_caches` of gpt-fast.
    /// Recalled: the blocks of SGLang, `ExLlamaV2` and MLC, and 128 tokens in vLLM with latent attention. Assumed: that engines about which nothing is known keep all tokens.
    pub fn of(engine: Engine, device: &Device, model: &ModelArch) -> Self {
        let all = |block| Self { block, windows: WindowRule::AllTokens, ..Self::IDEAL };
        let rule = match engine {
            Engine::IdealKernels => return Self::IDEAL,
            Engine::Vllm => {
                let block = if model.is_latent() { VLLM_LATENT_BLOCK } else { VLLM_BLOCK };
                Self { pool: PoolRule::EqualGroups, ..all(block) }
            }
            Engine::LlamaCpp | Engine::Ollama => all(GGML_BLOCK),
            // 0.8 of all tokens for some families, all of them for the others.
            Engine::Sglang => all(64),
            Engine::TensorRtLlm => all(32),
            Engine::GptFast => all(8),
            Engine::ExLlamaV2 => all(256),
            Engine::Mlc => all(16),
            Engine::TensorRtEdgeLlm => all(1),
        };
        let step = engine.chunk(device).tokens.unwrap_or(0);
        let (windows, states) = (window_rule(engine, step, model, rule.block), state_rule(engine));
        Self { windows, states, ..rule }
    }

    /// The rule with blocks of another size.
    #[must_use]
    pub fn with_block(self, block: u64) -> Self {
        let windows = match self.windows {
            WindowRule::SharedStep { step, least, spare } if spare > 0 => {
                WindowRule::SharedStep { step, least, spare: block }
            }
            other => other,
        };
        Self { block, windows, ..self }
    }

    /// Number of tokens in whole blocks.
    pub const fn rounded(&self, tokens: u64) -> u64 {
        tokens.div_ceil(self.block).saturating_mul(self.block)
    }

    /// Number of tokens of one sequence of `tokens` in a layer with a window, at most all of them; 0 without one.
    ///
    /// ```text
    /// w, L, w + step, or max(w + spare, least), in whole blocks and at most L in whole blocks
    /// ```
    ///
    /// ```
    /// use calc_core::software::{CacheRule, WindowRule};
    /// let windows = WindowRule::WithStep { step: 512 };
    /// let rule = CacheRule { block: 256, windows, ..CacheRule::IDEAL };
    /// assert_eq!(rule.own(1024, 131_072), 1536); // llama.cpp with Gemma 3
    /// assert_eq!(rule.own(1024, 1000), 1024); // 4 blocks for 1,000 tokens
    /// ```
    pub fn own(&self, window: u64, tokens: u64) -> u64 {
        if window == 0 {
            return 0;
        }
        let wanted = match self.windows {
            WindowRule::Alone => window,
            WindowRule::AllTokens => tokens,
            WindowRule::WithStep { step } => window.saturating_add(step),
            WindowRule::SharedStep { least, spare, .. } => {
                self.rounded(window).saturating_add(spare).max(least)
            }
        };
        self.rounded(wanted).min(self.rounded(tokens))
    }

    /// Number of tokens that `batch` sequences of `tokens` share in a layer with a window, beside their own: those of a step, at
    /// most as many as the sequences still lack.
    pub fn shared(&self, window: u64, batch: u64, tokens: u64) -> u64 {
        let WindowRule::SharedStep { step, .. } = self.windows else { return 0 };
        if window == 0 {
            return 0;
        }
        let lacking = self.rounded(tokens) - self.own(window, tokens);
        self.rounded(step).min(lacking.saturating_mul(batch))
    }
}

fn window_rule(engine: Engine, step: u64, model: &ModelArch, block: u64) -> WindowRule {
    match engine {
        Engine::Vllm => WindowRule::SharedStep { step, least: 0, spare: block },
        // They read no window of models whose layers all have one: Phi-3, the first Mistral, StarCoder2.
        Engine::LlamaCpp | Engine::Ollama if only_windows(model) => WindowRule::AllTokens,
        Engine::LlamaCpp => WindowRule::WithStep { step },
        Engine::Ollama => WindowRule::SharedStep { step, least: OLLAMA_LEAST, spare: 0 },
        Engine::IdealKernels => WindowRule::Alone,
        Engine::Sglang
        | Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc => WindowRule::AllTokens,
    }
}

/// Read in 2026: `MambaSpec` of vLLM in its mode `align`, which prefix caching sets and which keeps the state at the last block
/// beside the present one; `llama_memory_recurrent` of llama.cpp, all in FP32; `MAMBA_CACHE_SIZE_MAX_RUNNING_REQUESTS_RATIO` of
/// SGLang with its radix cache. Assumed: one state in the other engines.
const fn state_rule(engine: Engine) -> StateRule {
    let drafting = StateRule { per_draft: true, ..StateRule::ONE };
    match engine {
        Engine::IdealKernels => StateRule::ONE,
        Engine::Vllm => StateRule { copies: 2, ..drafting },
        Engine::Sglang => StateRule { copies: 3, ..drafting },
        Engine::LlamaCpp | Engine::Ollama => StateRule { wide: true, ..drafting },
        Engine::TensorRtLlm
        | Engine::TensorRtEdgeLlm
        | Engine::GptFast
        | Engine::ExLlamaV2
        | Engine::Mlc => drafting,
    }
}

/// True if every layer has a window and nothing else to attend to.
fn only_windows(model: &ModelArch) -> bool {
    let windowed = |group: &Attention| group.full_layers == 0 && group.compression.is_none();
    model.recurrent.is_empty() && model.attention.iter().all(windowed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;

    fn rule(engine: Engine, device: &str, model: &str) -> CacheRule {
        let device = catalog::device(device).expect("catalog key");
        CacheRule::of(engine, device, &catalog::model(model).expect("catalog key").arch)
    }

    #[test]
    fn vllm_has_the_window_of_each_sequence_and_one_step_for_all() {
        let rule = rule(Engine::Vllm, "h100", "gemma-3-27b");
        // 1,024 tokens in 64 blocks and one more; a step of 8,192 tokens on 80 GB.
        assert_eq!((rule.own(1024, 131_072), rule.shared(1024, 1, 131_072)), (1040, 8192));
        // vLLM's own bound for one sequence: 1,024 - 1 + 8,192 tokens in 576 blocks, and one more.
        assert_eq!(1040 + 8192, (576 + 1) * 16);
        assert_eq!(rule.shared(1024, 64, 131_072), 8192);
        // A short sequence has no more than its tokens, in whole blocks.
        assert_eq!((rule.own(1024, 1000), rule.shared(1024, 1, 1000)), (1008, 0));
        assert_eq!((rule.own(1024, 1050), rule.shared(1024, 2, 1050)), (1040, 32));
    }

    #[test]
    fn engines_differ_in_what_they_keep_of_a_window() {
        for (engine, own) in [
            (Engine::IdealKernels, 1024),
            (Engine::LlamaCpp, 1536),
            (Engine::Ollama, 4096),
            (Engine::Vllm, 1040),
            (Engine::TensorRtLlm, 10_016),
            (Engine::Sglang, 10_048),
            (Engine::GptFast, 10_000),
        ] {
            let rule = rule(engine, "rtx_4090", "gemma-3-27b");
            assert_eq!(rule.own(1024, 10_000), own, "{engine:?}");
        }
        let all = rule(Engine::LlamaCpp, "rtx_4090", "mistral-7b-v0.1");
        assert_eq!(all.own(4096, 10_000), 10_240, "its window is not read");
    }

    #[test]
    fn allotted_is_never_less_than_kept_and_grows_with_context_and_batch() {
        let device = catalog::device("rtx_4090").expect("catalog key");
        for model in catalog::models::all() {
            for (name, engine) in Engine::ALL {
                let rule = CacheRule::of(engine, device, &model.arch);
                for (window, tokens) in [(1, 1), (128, 127), (4096, 9000), (1024, 1 << 20)] {
                    let at = |batch, tokens| {
                        let own = rule.own(window, tokens) * batch;
                        own + rule.shared(window, batch, tokens)
                    };
                    let kept = window.min(tokens);
                    assert!(at(1, tokens) >= kept && at(3, tokens) >= 3 * kept, "{name}");
                    assert!(at(1, tokens + 1) >= at(1, tokens), "{name} {window} {tokens}");
                    assert!(at(4, tokens) >= at(3, tokens), "{name} {window} {tokens}");
                    assert!(at(3, tokens) <= 3 * rule.rounded(tokens), "{name}");
                }
            }
        }
    }
}
