//! The number of weights in a tensor whose elements pack several.

use crate::tensor::Tensor;

/// How many bits a packed weight has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Packing {
    /// Bits by the quantization of the config.json; `None` if that says nothing.
    pub bits: Option<u64>,
}

/// Last parts of names that scale or place other weights, and are none.
const COMPANIONS: [&str; 15] = [
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
    "biases",
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
        // A byte holds two weights of four bits: MXFP4, NVFP4, NF4.
        "U8" => elements.checked_mul(2),
        "I32" | "U32" => packing
            .bits
            .filter(|&bits| bits > 0)
            .and_then(|bits| elements.checked_mul(32).map(|all| all / bits)),
        _ => Some(elements),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::SAFETENSORS_TYPES;

    #[test]
    fn packed_elements_hold_several_weights_and_scales_none() {
        let four = Packing { bits: Some(4) };
        for (name, kind, packing, expected) in [
            ("q_proj.qweight", "I32", four, Some(16 * 8)),
            ("q_proj.qweight", "I32", Packing { bits: Some(3) }, Some(16 * 32 / 3)),
            ("q_proj.qweight", "I32", Packing::default(), None),
            ("q_proj.qweight", "I32", Packing { bits: Some(0) }, None),
            ("q_proj.qzeros", "I32", four, Some(0)),
            ("q_proj.weight_scale_inv", "F32", four, Some(0)),
            ("experts.down_proj_scales", "U8", four, Some(0)),
            ("experts.down_proj_blocks", "U8", four, Some(32)),
            ("q_proj.weight.absmax", "F32", four, Some(0)),
            ("q_proj.weight", "F8_E4M3", four, Some(16)),
        ] {
            let of_type = SAFETENSORS_TYPES.iter().find(|known| known.name == kind);
            let kind = of_type.expect("a known type");
            let tensor = Tensor { name: name.into(), shape: vec![2, 8], kind, bytes: 0, offset: 0 };
            assert_eq!(weights_of(&tensor, packing), expected, "{name} {packing:?}");
        }
    }
}
