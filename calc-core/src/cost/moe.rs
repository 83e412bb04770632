//! Mixture of experts with uniform routing. Derivation: `docs/theory/moe.md`.

use crate::math;
use crate::op::{OpCost, ProductShape, Shape, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// Mean number of distinct experts that `tokens` tokens select when each picks k of E at random.
///
/// ```text
/// D = E (1 - (1 - k/E)^T)
/// ```
///
/// D = k at T = 1, and E for large T.
///
/// ```
/// use calc_core::cost::moe::distinct_experts;
/// assert!((distinct_experts(128, 8, 1) - 8.0).abs() < 1e-12);
/// assert!((distinct_experts(128, 8, 2) - 15.5).abs() < 1e-12); // 128 (1 - (120/128)^2)
/// ```
pub fn distinct_experts(experts: u64, per_token: u64, tokens: u64) -> f64 {
    let (e, k) = (experts as f64, per_token as f64);
    if tokens == 1 {
        return k; // exactly, not to a rounding
    }
    e * (1.0 - math::pow(1.0 - k / e, tokens as f64))
}

/// The number of tokens, experts and choices per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Routing {
    /// Number of tokens (T).
    pub tokens: u64,
    /// Number of experts (E).
    pub experts: u64,
    /// Experts per token (k).
    pub per_token: u64,
}

impl Routing {
    /// The matrix multiplications of the selected experts on one device that holds a `share` of them.
    pub fn product(&self, share: f64, outputs: u64, inputs: u64) -> ExpertProduct {
        let rows = (self.tokens * self.per_token) as f64 * share;
        let distinct = distinct_experts(self.experts, self.per_token, self.tokens) * share;
        ExpertProduct { rows, distinct, outputs, inputs }
    }
}

/// One of the two matmuls of the selected experts: `rows` = T k token-expert pairs, each `inputs` wide in and `outputs` out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpertProduct {
    /// Number of token-expert pairs on this device.
    pub rows: f64,
    /// Number of distinct experts on this device (D).
    pub distinct: f64,
    /// Outputs per expert.
    pub outputs: u64,
    /// Inputs per expert.
    pub inputs: u64,
}

impl ExpertProduct {
    /// The shape from which the expected time of the kernel follows.
    pub const fn shape(&self, weights: &'static QuantFormat) -> Shape {
        Shape::Experts {
            product: ProductShape {
                rows: self.rows,
                outputs: self.outputs as f64,
                inputs: self.inputs as f64,
                weights,
            },
            distinct: self.distinct,
        }
    }
}

/// Work and traffic of one matmul of the selected experts.
///
/// ```text
/// flops = 2 T k n_in n_out
/// bytes = T k n_in b_in + D W(n_out, n_in) + T k n_out b_o
/// ```
pub fn expert_product(
    product: &ExpertProduct,
    weights: &QuantFormat,
    input: &QuantFormat,
    carrier: &QuantFormat,
) -> OpCost {
    let (outputs, inputs) = (product.outputs as f64, product.inputs as f64);
    let in_bytes = product.rows * inputs * input.row_bytes_per_element();
    let out_bytes = product.rows * outputs * carrier.bytes_per_element();
    OpCost {
        flops: Flops::new(2.0 * product.rows * inputs * outputs),
        traffic: Traffic {
            weights: weights.stored_bytes(product.outputs, product.inputs) * product.distinct,
            kv_cache: Bytes::ZERO,
            activations: Bytes::new(in_bytes + out_bytes),
        },
    }
}

/// The router, in the carrier: 2 T E H FLOP, T H b_o + E H b_o + T E b_o bytes.
pub fn router(tokens: u64, experts: u64, hidden: u64, carrier: &QuantFormat) -> OpCost {
    let (t, e, h) = (tokens as f64, experts as f64, hidden as f64);
    let b_o = carrier.bytes_per_element();
    OpCost {
        flops: Flops::new(2.0 * t * e * h),
        traffic: Traffic {
            weights: Bytes::new(e * h * b_o),
            kv_cache: Bytes::ZERO,
            activations: Bytes::new((t * h + t * e) * b_o),
        },
    }
}
