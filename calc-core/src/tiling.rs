//! Divides a GEMM into tiles and waves, and computes bounds on its DRAM traffic.
//! Derivation: `docs/theory/tiling.md`.

use alloc::vec::Vec;

use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::device::Device;
use crate::error::{Error, in_range};
use crate::order::sort_short;
use crate::precision::Precision;
use crate::roofline::Roofs;
use crate::units::{Bytes, BytesPerSec, Flops, FlopsPerSec, Seconds};

/// A tile of the output with the depth of a stage and the number of stages in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tile {
    /// Rows of the output.
    pub m: u64,
    /// Columns of the output.
    pub n: u64,
    /// Depth of one stage along K.
    pub k: u64,
    /// Number of stages of operands in flight.
    pub stages: u64,
}

/// Tiles that GEMM libraries ship, smallest first.
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

/// Whether a tile fits in the shared memory of an SM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Feasibility {
    /// All stages fit in the shared memory of an SM.
    Fits {
        /// Shared memory needed by all stages.
        shared: Bytes,
    },
    /// The stages need more than the shared memory of an SM.
    TooLarge {
        /// Shared memory needed by all stages.
        shared: Bytes,
        /// Shared memory of an SM.
        available: Bytes,
    },
    /// No shared memory size is published for this device.
    Unknown {
        /// Shared memory needed by all stages.
        shared: Bytes,
    },
}

/// Whether L2 keeps the operands that neighboring tiles share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// The working set of a wave fits: traffic is near the lower bound.
    InL2,
    /// It does not fit: traffic is between the bounds.
    Spills,
    /// No L2 size or SM count is published for this device.
    Unknown,
}

/// A GEMM divided into tiles of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tiling {
    pub tile: Tile,
    pub feasibility: Feasibility,
    /// Number of tiles of the output.
    pub tiles: u64,
    /// Number of waves over the SMs; `None` if the SM count is unknown.
    pub waves: Option<u64>,
    /// Fraction of the SM slots of all waves that have a tile.
    pub wave_efficiency: Option<f64>,
    /// Fraction of the tiles' area that belongs to the output.
    pub quantization_efficiency: f64,
    /// Compulsory traffic: all data move once.
    pub bytes_low: Bytes,
    /// Traffic without any reuse between tiles.
    pub bytes_high: Bytes,
    /// Bytes of the operands and outputs of one wave.
    pub wave_working_set: Option<Bytes>,
    /// Estimates where the traffic is between its bounds.
    pub reuse: Reuse,
    /// Lower bound on the time with this tile; `None` if SM count or clock is unknown.
    pub time: Option<TileTime>,
}

/// Lower bounds on the time of a tiled matmul.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TileTime {
    /// Time of the DRAM traffic.
    pub dram: Seconds,
    /// Time to load the operands of all waves from L2.
    pub operands: Seconds,
    /// Time of the arithmetic of all waves, including idle and padded parts.
    pub arithmetic: Seconds,
}

impl TileTime {
    /// The longest of the three, which overlap.
    pub fn total(self) -> Seconds {
        self.dram.max(self.operands).max(self.arithmetic)
    }

    /// The sum of the three without overlap.
    fn sum(self) -> Seconds {
        self.dram + self.operands + self.arithmetic
    }
}

/// Share of the shorter parts that is assumed not to overlap with the longest. For the ranking only: of two tiles with nearly
/// equal bounds, the one that loads less is first.
const NOT_HIDDEN: f64 = 0.1;

/// Bytes that an SM loads from L2 per clock. Assumed for all GPUs: the whitepaper of the A100 states 5120 B per clock over 108
/// SMs, 47 each, and 9.6 to 10.5 TB/s were measured on 132 SMs of an H200 at 1.98 GHz, 37 to 40 each.
const L2_BYTES_PER_CLOCK: f64 = 40.0;

impl Tiling {
    /// False only if the tile is known not to fit.
    pub fn feasible(&self) -> bool {
        !matches!(self.feasibility, Feasibility::TooLarge { .. })
    }
}

/// All tilings of a GEMM on a device, best first: those that fit, then by time with a tenth of the overlapping parts added,
/// then by least traffic without reuse.
///
/// ```text
/// tiles = ceil(M/m) ceil(N/n)         waves = ceil(tiles / SMs)
/// wave efficiency = tiles / (waves SMs)
/// quantization efficiency = M N / (ceil(M/m) m ceil(N/n) n)
/// time >= max(DRAM bytes / bandwidth, waves K (m b_a + n b_w) / L2 rate of an SM, waves 2 m n K / peak of an SM)
/// ```
///
/// # Errors
/// A dimension out of range, or formats without a compute path.
pub fn tilings(
    device: &Device,
    roofs: &Roofs,
    shape: GemmShape,
    precision: &Precision,
) -> Result<Vec<Tiling>, Error> {
    for (what, value) in [("m", shape.m), ("n", shape.n), ("k", shape.k)] {
        in_range(what, value, 1, crate::analysis::MAX_DIMENSION)?;
    }
    let rates = Rates::new(device, roofs, precision)?;
    let mut all: Vec<Tiling> =
        TILES.iter().map(|tile| tiling(device, &rates, shape, precision, *tile)).collect();
    sort_short(&mut all, |a, b| rank(a) < rank(b));
    Ok(all)
}

/// Sort key, ascending. Without a known time, tiles are ranked by traffic without reuse over the fraction that is output.
fn rank(tiling: &Tiling) -> (bool, f64, f64) {
    let traffic = tiling.bytes_high.get();
    let time = tiling.time.map_or(traffic / tiling.quantization_efficiency, |time| {
        let (longest, all) = (time.total().get(), time.sum().get());
        longest + NOT_HIDDEN * (all - longest)
    });
    (!tiling.feasible(), time, traffic)
}

/// Rates of all active SMs together.
#[derive(Debug, Clone, Copy)]
struct Rates {
    sms: Option<u32>,
    peak: FlopsPerSec,
    bandwidth: BytesPerSec,
    /// Rate at which all SMs read L2; `None` if the clock is unknown.
    l2: Option<BytesPerSec>,
}

impl Rates {
    fn new(device: &Device, roofs: &Roofs, precision: &Precision) -> Result<Self, Error> {
        let path = roofs.compute_path(precision.weights, precision.activations)?;
        let measured = device.measured.l2_bandwidth.map(|fact| fact.value);
        let by_clock = device.sm_count.zip(device.tensor_clock).map(|(sms, clock)| {
            BytesPerSec::new(L2_BYTES_PER_CLOCK * f64::from(sms.value) * clock.value.get())
        });
        // SMs and clock of a power mode scale this rate as they scale the peak.
        let own = device.peaks.get(path.class).map_or(path.peak, |peak| peak.value);
        let l2 = measured.or(by_clock).map(|rate| rate * (path.peak / own));
        Ok(Self { sms: roofs.active_sm, peak: path.peak, bandwidth: roofs.bandwidth, l2 })
    }

    /// The time of a tiling whose tiles load `operands` bytes each.
    fn time(
        &self,
        tile_flops: Flops,
        operands: Bytes,
        waves: u64,
        dram: Bytes,
    ) -> Option<TileTime> {
        let (sms, l2) = self.sms.zip(self.l2)?;
        let at_once = waves as f64 * f64::from(sms);
        Some(TileTime {
            dram: dram / self.bandwidth,
            operands: operands * at_once / l2,
            arithmetic: tile_flops * at_once / self.peak,
        })
    }
}

fn tiling(device: &Device, rates: &Rates, shape: GemmShape, p: &Precision, tile: Tile) -> Tiling {
    let sms = rates.sms;
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
    let reuse = match (wave_working_set, device.l2) {
        (Some(set), Some(l2)) if set <= l2.value => Reuse::InL2,
        (Some(_), Some(_)) => Reuse::Spills,
        (_, None) | (None, _) => Reuse::Unknown,
    };
    let (low, high) = (once.total(), Bytes::new(high));
    let dram = match (reuse, wave_working_set, sms) {
        (Reuse::Spills, Some(set), Some(sms)) => {
            (set * (tiles as f64 / u64::from(sms).min(tiles) as f64)).max(low).min(high)
        }
        (Reuse::InL2 | Reuse::Spills | Reuse::Unknown, ..) => low,
    };
    let flops = Flops::new(2.0 * tile.m as f64 * tile.n as f64 * k);
    let operands = stage(p, tile) * (k / tile.k as f64);
    Tiling {
        tile,
        feasibility: feasibility(device, p, tile),
        tiles,
        waves,
        wave_efficiency: slots.map(|slots| tiles as f64 / slots),
        quantization_efficiency: m * n / covered,
        bytes_low: low,
        bytes_high: high,
        wave_working_set,
        reuse,
        time: waves.and_then(|waves| rates.time(flops, operands, waves, dram)),
    }
}

/// Bytes of the operands and outputs of the tiles of one wave. A wave proceeds along the rows of the output, so it covers as
/// many full rows of tiles as fit and part of the next.
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

/// Operand bytes of one stage: `k (m b_a + n bits_per_element(w) / 8)`.
fn stage(p: &Precision, tile: Tile) -> Bytes {
    let (m, n, k) = (tile.m as f64, tile.n as f64, tile.k as f64);
    Bytes::new(k * (m * p.activations.row_bytes_per_element() + n * p.weights.bytes_per_element()))
}

/// Compares the shared memory of all stages with that of an SM.
fn feasibility(device: &Device, p: &Precision, tile: Tile) -> Feasibility {
    let shared = stage(p, tile) * tile.stages as f64;
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

    fn names(tilings: &[Tiling]) -> Vec<(u64, u64)> {
        tilings.iter().map(|t| (t.tile.m, t.tile.n)).collect()
    }

    #[test]
    fn large_products_take_the_tiles_that_libraries_pick() {
        // 16x64 tiles fill the waves of 4096^3 to 99.8 %, 128x256 to 94.8 %; but they load 0.078 bytes per FLOP, not 0.012.
        for device in ["a100_80gb_sxm", "h100_sxm", "rtx_4090", "l4", "gb300"] {
            for size in [4096, 8192] {
                let first = names(&on(device, size, size, size))[0];
                assert!([(128, 256), (128, 128)].contains(&first), "{device} {size}: {first:?}");
            }
        }
        let all = on("a100_80gb_sxm", 4096, 4096, 4096);
        let place = |m, n| names(&all).iter().position(|&tile| tile == (m, n));
        assert!(place(16, 64) > place(128, 64) && place(128, 64) > place(128, 128), "{all:?}");
        // 5 waves of 2 x 128 x 256 x 4096 FLOP on each of 108 SMs, at 312 TFLOP/s together: 465 us.
        let time = all[0].time.expect("known").total().get();
        assert!((time - 465e-6).abs() < 1e-6, "{time}");
    }

    #[test]
    fn few_rows_take_the_tile_with_the_fewest() {
        for device in ["a100_80gb_sxm", "h100_sxm", "gb300"] {
            for m in 1..=16 {
                for (n, k) in [(4096, 4096), (28_672, 8192), (1024, 8192)] {
                    assert_eq!(on(device, m, n, k)[0].tile.m, 16, "{device} {m} {n} {k}");
                }
            }
        }
    }

    #[test]
    fn no_time_is_below_the_roofline() {
        for device in crate::catalog::devices::all() {
            let roofs = Roofs::new(device, None).expect("no mode");
            let precision = PrecisionChoice::weights(&catalog::formats::FP16).resolve(&roofs);
            let Ok(path) = roofs.compute_path(precision.weights, precision.activations) else {
                continue;
            };
            for (m, n, k) in [(1, 4096, 4096), (127, 129, 4097), (4096, 4096, 4096)] {
                let shape = GemmShape { m, n, k };
                let flops = Flops::new(2.0 * m as f64 * n as f64 * k as f64);
                for tiling in tilings(device, &roofs, shape, &precision).expect("in range") {
                    let ideal = (flops / path.peak).max(tiling.bytes_low / roofs.bandwidth);
                    let time = tiling.time.map(TileTime::total);
                    assert!(
                        time.is_none_or(|time| time >= ideal * (1.0 - 1e-12)),
                        "{}",
                        device.key
                    );
                }
            }
        }
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
