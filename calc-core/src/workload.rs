//! The workload of a model: sequences, prompt, context, new tokens, parallel split and speculative decoding.

use crate::error::{Error, in_range, real_in_range};
use crate::lowering::{Images, Step};
use crate::parallel::{Parallel, Pipeline};

/// Speculative decoding: the model verifies several draft tokens in one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speculation {
    /// Number of draft tokens per round (n).
    pub draft_tokens: u64,
    /// Probability that a draft token is accepted (a).
    pub acceptance: f64,
    /// The model's own layers for multi-token prediction draft, which share its embedding and LM head.
    pub own_layers: bool,
}

impl Speculation {
    /// Mean number of tokens generated per round.
    ///
    /// ```text
    /// tokens = (1 - a^(n+1)) / (1 - a)        n + 1 at a = 1
    /// ```
    ///
    /// ```
    /// let speculation = calc_core::workload::Speculation {
    ///     draft_tokens: 3, acceptance: 0.5, own_layers: false,
    /// };
    /// assert!((speculation.tokens_per_round() - 1.875).abs() < 1e-12); // 1 + 1/2 + 1/4 + 1/8
    /// ```
    pub fn tokens_per_round(&self) -> f64 {
        // Summing the series itself is exact at a = 1 and has no cancellation near it.
        let mut power = 1.0;
        let mut sum = 1.0;
        for _ in 0..self.draft_tokens {
            power *= self.acceptance;
            sum += power;
        }
        sum
    }
}

/// The work that is requested of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Workload {
    /// Number of concurrent sequences (B).
    pub batch: u64,
    /// Prompt length per sequence, in tokens (p), those of images included.
    pub prompt: u64,
    /// Images in each prompt.
    pub images: Option<Images>,
    /// Tokens per sequence that are cached before the prompt, such as a shared prefix.
    pub cached_prefix: u64,
    /// The prompt is an inner chunk of a longer one, so its step has no LM head.
    pub inner_chunk: bool,
    /// Number of cached tokens at the reported decode step.
    pub context: u64,
    /// Number of tokens to generate per sequence.
    pub new_tokens: u64,
    pub parallel: Parallel,
    pub speculation: Option<Speculation>,
    /// All prompts are computed together, as in a benchmark with a static batch. Otherwise one request joins the others, which
    /// are decoding, and its prompt is computed in chunks.
    pub static_batch: bool,
}

/// Largest batch.
pub const MAX_BATCH: u64 = 1_000_000;
/// Largest number of tokens of a prompt or context.
pub const MAX_TOKENS: u64 = 100_000_000;
/// Largest number of tokens to generate per sequence.
pub const MAX_NEW_TOKENS: u64 = 10_000_000;
/// Largest draft length.
pub const MAX_DRAFT: u64 = 1_000;

impl Workload {
    /// One prompt and its first token; the reported decode step is the one after the prompt.
    pub fn new(batch: u64, prompt: u64) -> Self {
        Self {
            batch,
            prompt,
            images: None,
            cached_prefix: 0,
            inner_chunk: false,
            context: prompt,
            new_tokens: 1,
            parallel: Parallel::default(),
            speculation: None,
            static_batch: false,
        }
    }

    /// Checks every count against its range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first value that is outside.
    pub fn check(&self) -> Result<(), Error> {
        in_range("batch", self.batch, 1, MAX_BATCH)?;
        in_range("prompt", self.prompt, 1, MAX_TOKENS)?;
        in_range("cached_prefix", self.cached_prefix, 0, MAX_TOKENS)?;
        in_range("context", self.context, 0, MAX_TOKENS)?;
        in_range("new_tokens", self.new_tokens, 1, MAX_NEW_TOKENS)?;
        if let Some(speculation) = &self.speculation {
            in_range("draft_tokens", speculation.draft_tokens, 1, MAX_DRAFT)?;
            real_in_range("acceptance", speculation.acceptance, 0.0, 1.0)?;
        }
        Ok(())
    }

    /// Number of prompt tokens per sequence that images are.
    pub fn in_images(&self) -> u64 {
        self.images.map_or(0, |images| images.tokens())
    }

    /// Prompt length per sequence without the tokens of images, as a request names it.
    pub fn text(&self) -> u64 {
        self.prompt.saturating_sub(self.in_images())
    }

    /// This workload with another prompt; a context that ends with the prompt still does.
    #[must_use]
    pub const fn with_prompt(self, prompt: u64) -> Self {
        let context =
            if self.context == self.filled() { self.cached_prefix + prompt } else { self.context };
        Self { prompt, context, ..self }
    }

    /// This workload on one device and without drafts, as a draft model has it.
    #[must_use]
    pub const fn alone(self) -> Self {
        let parallel = Parallel { tensor: 1, pipeline: Pipeline::ONE, expert: 1 };
        Self { parallel, speculation: None, images: None, ..self }
    }

    /// The step that computes the whole prompt after the cached prefix.
    pub const fn prefill_step(&self) -> Step {
        let whole = Step::prefill(self.batch, self.prompt);
        Step { cached: self.cached_prefix, has_logits: !self.inner_chunk, ..whole }
    }

    /// Number of cached tokens per sequence after the prompt.
    pub const fn filled(&self) -> u64 {
        self.cached_prefix + self.prompt
    }

    /// Number of cached tokens in the middle of the generation; of a single token, the stated context.
    pub const fn middle(&self) -> u64 {
        if self.new_tokens > 1 { self.filled() + (self.new_tokens - 2) / 2 } else { self.context }
    }

    /// Number of draft tokens per round; 0 without speculative decoding.
    pub fn draft_tokens(&self) -> u64 {
        self.speculation.map_or(0, |speculation| speculation.draft_tokens)
    }

    /// Longest sequence that the cache must hold, in tokens.
    pub fn longest(&self) -> u64 {
        self.context.max(self.filled() + self.new_tokens - 1)
    }
}
