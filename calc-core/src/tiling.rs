//! How a GEMM falls into tiles and waves, and between which bounds its DRAM traffic lies.
//! Derivation: `docs/theory/tiling.md`.

use alloc::vec::Vec;

use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::device::Device;
use crate::error::{Error, in_range};
use crate::order::sort_short;
use crate::precision::Precision;
use crate::roofline::Roofs;
use crate::units::Bytes;

/// A tile of the output with its depth, and how many stages of operands are in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Rows.
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Depth of one stage.
    pub k: u64,
    /// Stages.
    pub stages: u64,
}

/// Tiles that GEMM libraries ship, from the smallest to the largest.
pub const TILES: [Tile; 9] = [
    Tile { m: 16, n: 64, k: 64, stages: 4 },
    Tile { m: 32, n: 64, k: 64, stages: 4 },
    Tile { m: 64, n: 64, k: 32, stages: 4 },
    Tile { m: 64, n: 64, k: 64, stages: 3 },
    Tile { m: 64, n: 128, k: 64, stages: 3 },
    Tile { m: 128, n: 64, k: 64, stages: 3 },
    Tile { m: 128, n: 128, k: 32, stages: 4 },
    Tile { m: 128, n: 128, k: 64, stages: 3 },
    Tile { m: 128, n: 256, k: 64, stages: 3 },
];

/// Whether a tile runs on the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Feasibility {
    /// Its stages fit the shared memory of an SM.
    Fits {
        /// What they need.
        shared: Bytes,
    },
    /// They do not.
    TooLarge {
        /// What they need.
        shared: Bytes,
        /// What an SM has.
        available: Bytes,
    },
    /// Nobody has published the shared memory of this device.
    Unknown {
        /// What they need.
        shared: Bytes,
    },
}

/// What L2 keeps of the operands that neighboring tiles share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// The working set of a wave fits: traffic is near the lower bound.
    InL2,
    /// It does not: traffic is between the bounds.
    Spills,
    /// Nobody has published the L2 or SM count of this device.
    Unknown,
}

/// A tiling of a GEMM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tiling {
    /// Tile.
    pub tile: Tile,
    /// Whether it runs.
    pub feasibility: Feasibility,
    /// Tiles of the output.
    pub tiles: u64,
    /// Rounds in which the SMs work them off; `None` without a known SM count.
    pub waves: Option<u64>,
    /// Share of SM slots in those rounds that have a tile.
    pub wave_efficiency: Option<f64>,
    /// Share of the tiles' area that is output.
    pub quantization_efficiency: f64,
    /// Compulsory traffic: everything moves once.
    pub bytes_low: Bytes,
    /// Traffic without any reuse between tiles.
    pub bytes_high: Bytes,
    /// Operands and outputs of one wave.
    pub wave_working_set: Option<Bytes>,
    /// Where between the bounds.
    pub reuse: Reuse,
}

impl Tiling {
    /// Share of the device's arithmetic that goes into the output: wave times quantization efficiency.
    pub fn efficiency(&self) -> f64 {
        self.wave_efficiency.unwrap_or(1.0) * self.quantization_efficiency
    }

    /// True unless it is known not to run.
    pub fn feasible(&self) -> bool {
        !matches!(self.feasibility, Feasibility::TooLarge { .. })
    }
}

/// All tilings of a GEMM on a device, best first: those that run, then by efficiency, then by least traffic without reuse.
///
/// ```text
/// tiles = ceil(M/m) ceil(N/n)         waves = ceil(tiles / SMs)
/// wave efficiency = tiles / (waves SMs)
/// quantization efficiency = M N / (ceil(M/m) m ceil(N/n) n)
/// ```
///
/// # Errors
/// A dimension out of range.
pub fn tilings(
    device: &Device,
    roofs: &Roofs,
    shape: GemmShape,
    precision: &Precision,
) -> Result<Vec<Tiling>, Error> {
    for (what, value) in [("m", shape.m), ("n", shape.n), ("k", shape.k)] {
        in_range(what, value, 1, crate::analysis::MAX_DIMENSION)?;
    }
    let mut all: Vec<Tiling> =
        TILES.iter().map(|tile| tiling(device, roofs.active_sm, shape, precision, *tile)).collect();
    sort_short(&mut all, |a, b| {
        let key = |t: &Tiling| (t.feasible(), t.efficiency(), -t.bytes_high.get());
        key(a) > key(b)
    });
    Ok(all)
}

fn tiling(
    device: &Device,
    sms: Option<u32>,
    shape: GemmShape,
    p: &Precision,
    tile: Tile,
) -> Tiling {
    let (across, down) = (shape.n.div_ceil(tile.n), shape.m.div_ceil(tile.m));
    let tiles = across * down;
    let waves = sms.map(|sms| tiles.div_ceil(u64::from(sms)));
    let slots = sms.zip(waves).map(|(sms, waves)| u64::from(sms) as f64 * waves as f64);
    let (m, n, k) = (shape.m as f64, shape.n as f64, shape.k as f64);
    let covered = (down * tile.m) as f64 * (across * tile.n) as f64;
    let once =
        gemm(shape, GemmFormats { weights: p.weights, input: p.activations, output: p.carrier })
            .traffic;
    let input = m * k * p.activations.row_bytes_per_element();
    let output = m * n * p.carrier.bytes_per_element();
    let high = across as f64 * input + down as f64 * once.weights.get() + output;
    let wave_working_set = sms.map(|sms| working_set(shape, p, tile, u64::from(sms).min(tiles)));
    Tiling {
        tile,
        feasibility: feasibility(device, p, tile),
        tiles,
        waves,
        wave_efficiency: slots.map(|slots| tiles as f64 / slots),
        quantization_efficiency: m * n / covered,
        bytes_low: once.total(),
        bytes_high: Bytes::new(high),
        wave_working_set,
        reuse: match (wave_working_set, device.l2) {
            (Some(set), Some(l2)) if set <= l2.value => Reuse::InL2,
            (Some(_), Some(_)) => Reuse::Spills,
            (_, None) | (None, _) => Reuse::Unknown,
        },
    }
}

/// Operands and outputs that the tiles of one wave touch. A wave walks along the rows of the output, so it takes as many
/// full rows of tiles as fit and the rest of the next.
fn working_set(shape: GemmShape, p: &Precision, tile: Tile, tiles_in_wave: u64) -> Bytes {
    let across = shape.n.div_ceil(tile.n);
    let columns = tiles_in_wave.min(across);
    let rows = tiles_in_wave.div_ceil(across);
    let k = shape.k as f64;
    let (m, n) = ((rows * tile.m).min(shape.m) as f64, (columns * tile.n).min(shape.n) as f64);
    let input = m * k * p.activations.row_bytes_per_element();
    let weights = n * k * p.weights.bytes_per_element();
    Bytes::new(input + weights + m * n * p.carrier.bytes_per_element())
}

/// Shared memory of all stages against that of an SM: `stages * k * (m b_a + n bits_per_element(w) / 8)`.
fn feasibility(device: &Device, p: &Precision, tile: Tile) -> Feasibility {
    let (m, n, k) = (tile.m as f64, tile.n as f64, tile.k as f64);
    let stage = k * (m * p.activations.row_bytes_per_element() + n * p.weights.bytes_per_element());
    let shared = Bytes::new(stage * tile.stages as f64);
    match device.shared_memory_per_sm {
        None => Feasibility::Unknown { shared },
        Some(available) if shared <= available.value => Feasibility::Fits { shared },
        Some(available) => Feasibility::TooLarge { shared, available: available.value },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::precision::PrecisionChoice;

    fn on(device: &str, m: u64, n: u64, k: u64) -> Vec<Tiling> {
        let device = catalog::device(device).expect("catalog key");
        let roofs = Roofs::new(device, None).expect("no mode");
        let precision = PrecisionChoice::weights(&catalog::formats::FP16).resolve(&roofs);
        tilings(device, &roofs, GemmShape { m, n, k }, &precision).expect("in range")
    }

    #[test]
    fn one_tile_too_many_costs_a_wave() {
        // A100: 108 SMs. 108 tiles of 128x128 fill one wave exactly; one more column of tiles starts a second.
        let find = |tilings: Vec<Tiling>| {
            tilings.into_iter().find(|t| t.tile == TILES[7]).expect("128x128x64")
        };
        let full = find(on("a100_80gb_sxm", 128, 108 * 128, 4096));
        let more = find(on("a100_80gb_sxm", 128, 109 * 128, 4096));
        assert_eq!((full.waves, full.wave_efficiency), (Some(1), Some(1.0)));
        assert_eq!((more.waves, more.wave_efficiency), (Some(2), Some(109.0 / 216.0)));
    }

    #[test]
    fn a_tile_that_does_not_fit_says_so_and_comes_last() {
        let all = on("t4", 4096, 4096, 4096); // 64 KiB of shared memory
        assert!(all.iter().any(|t| !t.feasible()));
        assert!(all.is_sorted_by_key(|t| !t.feasible()));
        for tiling in on("gaudi2", 64, 64, 64) {
            assert_eq!((tiling.waves, tiling.reuse), (None, Reuse::Unknown));
        }
    }

    #[test]
    fn traffic_bounds_are_ordered() {
        for (m, n, k) in [(1, 1, 1), (1, 4096, 4096), (127, 129, 4097), (4096, 4096, 4096)] {
            for tiling in on("h100_sxm", m, n, k) {
                assert!(tiling.bytes_low <= tiling.bytes_high * (1.0 + 1e-12), "{tiling:?}");
            }
        }
    }
}
