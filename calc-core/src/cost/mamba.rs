//! The scan of Mamba-2. Derivation: `docs/theory/mamba.md`. Its two projections are plain GEMMs.

use crate::model_arch::Mamba;
use crate::op::{OpCost, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// Convolution and state update of one layer for T tokens of B sequences.
///
/// ```text
/// flops = T (5 d_i s + 2 f C)
/// bytes = b_o T (2 d_i + C + n) + 2 b_o B Z          Z = d_i s + (f - 1) C, read and written once per step
/// ```
pub fn scan(mamba: &Mamba, tokens: u64, batch: u64, carrier: &QuantFormat) -> OpCost {
    let (inner, channels) = (mamba.inner() as f64, mamba.channels() as f64);
    let (t, b_o) = (tokens as f64, carrier.bytes_per_element());
    let per_token = 5.0 * inner * mamba.state as f64 + 2.0 * mamba.conv_kernel as f64 * channels;
    OpCost {
        flops: Flops::new(t * per_token),
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: Bytes::new(2.0 * b_o * batch as f64 * mamba.state_elements() as f64),
            activations: Bytes::new(b_o * t * (2.0 * inner + channels + mamba.n_heads as f64)),
        },
    }
}
