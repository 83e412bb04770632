//! What must hold, and why a scheme is dropped.

use crate::error::{Error, real_in_range};
use crate::quality::QualityLoss;
use crate::scheme::{BadShape, NoKernel};
use crate::units::{Bytes, Seconds, TokensPerSec};

/// What must hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Largest loss of quality [%]; the larger end of a scheme's range must not exceed it.
    pub quality: f64,
    /// Longest time per output token.
    pub tpot: Option<Seconds>,
    /// Longest time to first token.
    pub ttft: Option<Seconds>,
    /// Fewest tokens per second over the batch.
    pub rate: Option<TokensPerSec>,
}

/// Largest rise of the perplexity when nobody says otherwise [%].
pub const USUAL_QUALITY: f64 = 5.0;

impl Default for Bounds {
    fn default() -> Self {
        Self { quality: USUAL_QUALITY, tpot: None, ttft: None, rate: None }
    }
}

/// Why a scheme is dropped.
#[derive(Debug, Clone, PartialEq)]
pub enum Drop {
    /// No kernel runs it here.
    Kernel(NoKernel),
    /// A matrix has a shape that it does not take.
    Shape(BadShape),
    /// It may lose more quality than allowed.
    Quality {
        /// Allowed [%].
        bound: f64,
    },
    /// It does not fit.
    Memory {
        /// What it needs.
        needs: Bytes,
        /// What there is.
        limit: Bytes,
    },
    /// A token takes too long.
    Tpot {
        /// What it takes.
        takes: Seconds,
        /// Allowed.
        bound: Seconds,
    },
    /// The first token takes too long.
    Ttft {
        /// What it takes.
        takes: Seconds,
        /// Allowed.
        bound: Seconds,
    },
    /// The batch gets too few tokens per second.
    Rate {
        /// Expected.
        gives: TokensPerSec,
        /// Asked for.
        bound: TokensPerSec,
    },
    /// The model refuses the combination.
    Refused(Error),
}

impl Drop {
    /// The key in JSON.
    pub const fn key(&self) -> &'static str {
        match self {
            Self::Kernel(_) => "kernel",
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

/// A hair above a bound still meets it: percentages are sums of rounded figures.
const SLACK: f64 = 1.0 + 1e-9;

impl Bounds {
    /// Checks every bound against its range.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] with the first that is outside.
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

    /// Whether the times meet the bounds; each is asked for only where a bound needs it.
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
