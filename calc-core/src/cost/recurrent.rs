//! The state update of recurrent layers. Derivation: `docs/theory/mamba.md`, `docs/theory/delta-net.md`. Their projections are
//! plain GEMMs.

use crate::model_arch::Recurrent;
use crate::op::{OpCost, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// Convolution and state update of one layer for T tokens of B sequences.
///
/// ```text
/// flops = T (FLOP of a token)
/// bytes = b_o T (inputs + inner) + 2 B Z          Z = bytes of state and convolution, read and written once per step
/// ```
pub fn scan(group: &Recurrent, tokens: u64, batch: u64, carrier: &QuantFormat) -> OpCost {
    let (t, b_o) = (tokens as f64, carrier.bytes_per_element());
    OpCost {
        flops: Flops::new(t * group.flops_per_token()),
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: group.state_bytes(carrier) * (2.0 * batch as f64),
            activations: Bytes::new(b_o * t * group.streamed_per_token() as f64),
        },
    }
}
