//! Bounds that a scheme must meet, and the reasons for dropping one.

use crate::calibration::Engine;
use crate::error::{Error, real_in_range};
use crate::parallel::NoSplit;
use crate::quality::QualityLoss;
use crate::quant_format::QuantFormat;
use crate::scheme::{BadShape, NoKernel};
use crate::units::{Bytes, Seconds, TokensPerSec};

/// Limits on quality, times and rate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Largest quality loss [%]; compared with the larger end of a scheme's range.
    pub quality: f64,
    /// Longest time per output token, both at the stated context and in the mean over the generation.
    pub tpot: Option<Seconds>,
    /// Longest time to first token.
    pub ttft: Option<Seconds>,
    /// Lowest token rate over the batch, at the slower of the two.
    pub rate: Option<TokensPerSec>,
}

/// Default limit on the perplexity increase [%].
pub const USUAL_QUALITY: f64 = 5.0;

impl Default for Bounds {
    fn default() -> Self {
        Self { quality: USUAL_QUALITY, tpot: None, ttft: None, rate: None }
    }
}

/// Reason for dropping a scheme.
#[derive(Debug, Clone, PartialEq)]
pub enum Drop {
    /// No kernel supports the scheme on this device.
    Kernel(NoKernel),
    /// The engine that runs the scheme does not split a model in the way of the request.
    Split(Engine, NoSplit),
    /// The engine that runs the scheme has no KV cache in the format of the request.
    Cache(Engine, &'static QuantFormat),
    /// The experts are published in this format, and no command is known that makes the scheme from them.
    Source(&'static QuantFormat),
    /// A matrix has a shape that the scheme does not support.
    Shape(BadShape),
    /// The quality loss may exceed the bound.
    Quality {
        /// Largest allowed loss [%].
        bound: f64,
    },
    /// It does not fit in memory.
    Memory {
        needs: Bytes,
        /// Usable memory of one device.
        limit: Bytes,
    },
    /// The time per output token is too long.
    Tpot {
        /// Expected time.
        takes: Seconds,
        bound: Seconds,
    },
    /// The time to first token is too long.
    Ttft {
        /// Expected time.
        takes: Seconds,
        bound: Seconds,
    },
    /// The token rate over the batch is too low.
    Rate {
        /// Expected rate.
        gives: TokensPerSec,
        bound: TokensPerSec,
    },
    /// The estimate refuses the combination.
    Refused(Error),
}

impl Drop {
    /// The key in JSON.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
            Self::Split(..) => "split",
            Self::Cache(..) => "kv_cache",
            Self::Source(_) => "source",
            Self::Shape(_) => "shape",
            Self::Quality { .. } => "quality",
            Self::Memory { .. } => "memory",
            Self::Tpot { .. } => "tpot",
            Self::Ttft { .. } => "ttft",
            Self::Rate { .. } => "rate",
            Self::Refused(_) => "refused",
        }
    }
}

/// Tolerance: values minimally above a bound still meet it, because percentages are sums of rounded figures.
const SLACK: f64 = 1.0 + 1e-9;

impl Bounds {
    /// Checks every bound against its range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first bound that is outside.
    pub(super) fn check(&self) -> Result<(), Error> {
        real_in_range("max_quality_loss", self.quality, 0.0, 1e6)?;
        if let Some(rate) = self.rate {
            real_in_range("min_tokens_per_s", rate.get(), 1e-9, 1e12)?;
        }
        for (what, time) in [("max_tpot_ms", self.tpot), ("max_ttft_ms", self.ttft)] {
            if let Some(time) = time {
                real_in_range(what, time.get() * 1e3, 1e-6, 1e12)?;
            }
        }
        Ok(())
    }

    pub(crate) fn admit_quality(&self, loss: &QualityLoss) -> Result<(), Drop> {
        if loss.high <= self.quality * SLACK {
            Ok(())
        } else {
            Err(Drop::Quality { bound: self.quality })
        }
    }

    /// Whether a time per token violates a bound on it or on the rate of its batch.
    pub(crate) fn refuses_token(&self, batch: u64, tpot: Seconds) -> bool {
        self.admit_times(batch, || tpot, || Seconds::ZERO).is_err()
    }

    /// Checks the times against the bounds; each time is computed only if a bound needs it.
    pub(super) fn admit_times(
        &self,
        batch: u64,
        tpot: impl Fn() -> Seconds,
        ttft: impl Fn() -> Seconds,
    ) -> Result<(), Drop> {
        if let Some(bound) = self.tpot
            && tpot() > bound
        {
            return Err(Drop::Tpot { takes: tpot(), bound });
        }
        if let Some(bound) = self.ttft
            && ttft() > bound
        {
            return Err(Drop::Ttft { takes: ttft(), bound });
        }
        if let Some(bound) = self.rate {
            let gives = TokensPerSec::new(batch as f64 / tpot().get());
            if gives < bound {
                return Err(Drop::Rate { gives, bound });
            }
        }
        Ok(())
    }
}
