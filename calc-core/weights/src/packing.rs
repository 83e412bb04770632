//! The number of weights in a tensor whose elements pack several.

use crate::tensor::Tensor;

/// How many bits a packed weight has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packing {
    /// Bits by the quantization of the config.json; `None` if that says nothing.
    pub bits: Option<u64>,
}

/// Last parts of names that scale or place other weights, and are none.
const COMPANIONS: [&str; 14] = [
    "scales",
    "qzeros",
    "g_idx",
    "weight_scale",
    "weight_scale_2",
    "weight_scale_inv",
    "weight_global_scale",
    "weight_zero_point",
    "weight_shape",
    "input_scale",
    "input_global_scale",
    "absmax",
    "quant_map",
    "nested_absmax",
];

/// Number of weights in a tensor: elements, or what they pack. Scales and zero points count none. `None` if the packing is not
/// known.
pub(crate) fn weights_of(tensor: &Tensor, packing: Packing) -> Option<u64> {
    let leaf = tensor.name.rsplit('.').next().unwrap_or_default();
    let in_state = tensor.name.contains(".weight.") || tensor.name.contains(".quant_state.");
    if COMPANIONS.contains(&leaf) || leaf.ends_with("_scales") || in_state {
        return Some(0);
    }
    let elements = tensor.elements();
    match tensor.kind.name {
        // Whatever packs into bytes has four bits: MXFP4, NVFP4, NF4.
        "U8" => elements.checked_mul(2),
        "I32" | "U32" => packing
            .bits
            .filter(|&bits| bits > 0)
            .and_then(|bits| elements.checked_mul(32).map(|all| all / bits)),
        _ => Some(elements),
    }
}
