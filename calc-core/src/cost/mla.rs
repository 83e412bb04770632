//! The absorbed projections of multi-head latent attention in decode. Derivation: `docs/theory/mla.md`.
//! The other MLA operators are plain GEMMs and attention.

use crate::op::{OpCost, ProductShape, Traffic};
use crate::precision::Precision;
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// One absorbed projection of `heads` heads: `rows` x `cols` elements stored, `inputs` read and `outputs` written per token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absorbed {
    /// Number of tokens (T).
    pub tokens: u64,
    /// Rows of the stored matrix over all heads.
    pub rows: u64,
    /// Columns of the stored matrix.
    pub cols: u64,
    /// Elements read per token.
    pub inputs: u64,
    /// Elements written per token.
    pub outputs: u64,
}

impl Absorbed {
    /// The kernel's shape: all heads as one matrix multiplication over the rank.
    pub const fn product(&self, weights: &'static QuantFormat) -> ProductShape {
        ProductShape {
            rows: self.tokens as f64,
            outputs: self.rows as f64,
            inputs: self.cols as f64,
            weights,
        }
    }
}

/// Work and traffic of an absorbed projection.
///
/// ```text
/// w_uk: flops = 2 T h nope r       bytes = T h nope b_a + W(h nope, r) + T h r b_o
/// w_uv: flops = 2 T h r v_head     bytes = T h r b_a + W(h v_head, r) + T h v_head b_o
/// ```
pub fn absorbed(shape: &Absorbed, precision: &Precision) -> OpCost {
    let tokens = shape.tokens as f64;
    let elements = shape.rows as f64 * shape.cols as f64;
    let in_bytes = tokens * shape.inputs as f64 * precision.layer_inputs().row_bytes_per_element();
    let out_bytes = tokens * shape.outputs as f64 * precision.carrier.bytes_per_element();
    OpCost {
        flops: Flops::new(2.0 * tokens * elements),
        traffic: Traffic {
            weights: precision.weights.stored_bytes(shape.rows, shape.cols),
            kv_cache: Bytes::ZERO,
            activations: Bytes::new(in_bytes + out_bytes),
        },
    }
}
