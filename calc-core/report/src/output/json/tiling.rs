//! JSON answer of `tiling`.

use calc_core::cost::gemm::GemmShape;
use calc_core::precision::Precision;
use calc_core::tiling::{Feasibility, Reuse, Tiling};
use serde_json::{Value, json};

use super::{HardwareJson, SCHEMA};
use crate::number_text;

/// All tilings of a GEMM, best first.
pub fn tilings(
    hardware: &HardwareJson,
    shape: GemmShape,
    precision: &Precision,
    compute: &str,
    all: &[Tiling],
) -> Value {
    json!({
        "schema": SCHEMA,
        "hardware": hardware,
        "shape": {"m": shape.m, "n": shape.n, "k": shape.k},
        "precision": {
            "weights": precision.weights.key,
            "activations": precision.activations.key,
            "compute": compute,
        },
        "tiles": all.iter().map(tile).collect::<Vec<_>>(),
    })
}

fn tile(tiling: &Tiling) -> Value {
    let tile = tiling.tile;
    json!({
        "m": tile.m, "n": tile.n, "k": tile.k, "stages": tile.stages,
        "feasible": feasible(tiling.feasibility),
        "why": why(tiling),
        "tiles": tiling.tiles,
        "waves": tiling.waves,
        "wave_efficiency": tiling.wave_efficiency,
        "quantization_efficiency": tiling.quantization_efficiency,
        "time_s": tiling.time.map(|time| time.total().get()),
        "bytes_low": tiling.bytes_low.get(),
        "bytes_high": tiling.bytes_high.get(),
        "wave_working_set_bytes": tiling.wave_working_set.map(calc_core::units::Bytes::get),
    })
}

/// True when the tiling fits; `None` (null) for a device with unknown shared memory.
const fn feasible(feasibility: Feasibility) -> Option<bool> {
    match feasibility {
        Feasibility::Fits { .. } => Some(true),
        Feasibility::TooLarge { .. } => Some(false),
        Feasibility::Unknown { .. } => None,
    }
}

/// Sentence about the feasibility of a tiling and the memory level that serves its traffic.
pub fn why(tiling: &Tiling) -> String {
    let fits = match tiling.feasibility {
        Feasibility::Fits { shared } => {
            format!("stages need {} of shared memory", number_text::bytes(shared))
        }
        Feasibility::TooLarge { shared, available } => format!(
            "stages need {} of shared memory, an SM has {}",
            number_text::bytes(shared),
            number_text::bytes(available)
        ),
        Feasibility::Unknown { shared } => {
            format!(
                "stages need {}; the shared memory of this device is unknown",
                number_text::bytes(shared)
            )
        }
    };
    let reuse = match tiling.reuse {
        Reuse::InL2 => "the operands of a wave fit L2: traffic is near the lower bound",
        Reuse::Spills => "the operands of a wave exceed L2: traffic lies between the bounds",
        Reuse::Unknown => "L2 or SM count is unknown, and so is the traffic between the bounds",
    };
    format!("{fits}; {reuse}")
}
