//! Which format each role is stored in, and how the roles that the user leaves open are filled.

use crate::estimate::WeightSize;
use crate::quant_format::QuantFormat;
use crate::roofline::Roofs;

/// What the user chose; `None` is left to the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrecisionChoice {
    /// Layer weights.
    pub weights: &'static QuantFormat,
    /// In which a matmul with weights reads its input; default: the weights' if it can carry, else half.
    pub activations: Option<&'static QuantFormat>,
    /// KV cache; default: the carrier.
    pub kv_cache: Option<&'static QuantFormat>,
    /// Embedding and LM head; default: the carrier, because most quantizers skip them.
    pub embedding: Option<&'static QuantFormat>,
    /// Expert matrices; default: the weights'.
    pub experts: Option<&'static QuantFormat>,
}

impl PrecisionChoice {
    /// Weights in one format, everything else by the rule.
    pub const fn weights(weights: &'static QuantFormat) -> Self {
        Self { weights, activations: None, kv_cache: None, embedding: None, experts: None }
    }

    /// The size of the file that the name of the weights means: a GGUF name is a mixture with a mean of bits per weight,
    /// embeddings included. `None` for other formats, and where embedding or experts have a format of their own.
    pub fn file_size(&self) -> Option<WeightSize> {
        let is_one =
            |role: Option<&QuantFormat>| role.is_none_or(|own| own.key == self.weights.key);
        let bits = self.weights.file_bits.filter(|_| self.embedding.is_none());
        bits.filter(|_| is_one(self.experts)).map(WeightSize::BitsPerWeight)
    }

    /// Fills what was left open, on a device.
    pub fn resolve(&self, roofs: &Roofs) -> Precision {
        let carries = self.weights.class.is_some_and(crate::quant_format::ComputeClass::is_carrier);
        let activations =
            self.activations.unwrap_or_else(|| if carries { self.weights } else { roofs.half() });
        let carrier = roofs.carrier(activations);
        Precision {
            weights: self.weights,
            activations,
            kv_cache: self.kv_cache.unwrap_or(carrier),
            embedding: self.embedding.unwrap_or(carrier),
            experts: self.experts.unwrap_or(self.weights),
            carrier,
        }
    }
}

/// The format of every role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Layer weights.
    pub weights: &'static QuantFormat,
    /// In which a matmul with weights reads its input.
    pub activations: &'static QuantFormat,
    /// KV cache.
    pub kv_cache: &'static QuantFormat,
    /// Embedding and LM head.
    pub embedding: &'static QuantFormat,
    /// Expert matrices.
    pub experts: &'static QuantFormat,
    /// Everything that flows between matmuls.
    pub carrier: &'static QuantFormat,
}
