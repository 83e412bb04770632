//! User measurements, which take precedence over the model.

use crate::device::Device;
use crate::op::{OpKind, Shape};
use crate::provenance::Provenance;
use crate::quant_format::ComputeClass;
use crate::text::Text;
use crate::units::Seconds;

use super::machine::{Kernel, Setting};
use super::{Engine, Factors, Interval, Tuned, WaveTile};

/// Measured factors for a part of the possible kernels; an open field matches everything, and unmeasured factors stay the
/// model's.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRow {
    pub device: Option<Text>,
    pub engine: Option<Engine>,
    /// Key of the format that is streamed.
    pub format: Option<Text>,
    /// The operator; `gemm` matches every matrix multiplication.
    pub op: Option<OpKind>,
    /// The peak in use after fallbacks; `eta_compute` refers to it.
    pub compute: Option<ComputeClass>,
    /// Number of tokens that share the weights.
    pub tokens: Option<Tokens>,
    /// True if measured within the steps of a model; false if measured on kernels alone, whose fixed time differs.
    pub in_step: bool,
    /// Share of the bandwidth.
    pub eta_memory: Option<f64>,
    /// Share of the compute peak.
    pub eta_compute: Option<f64>,
    /// Extra tokens that a matmul computes: padding, and weights that are rearranged first. Used with `eta_compute`.
    pub extra_tokens: Option<f64>,
    /// The tile in whose waves products are computed; `eta_compute` is then the share that full waves reach, and no tokens are extra.
    pub tile: Option<WaveTile>,
    /// Fixed time per kernel.
    pub floor: Option<Seconds>,
    pub interval: Option<Interval>,
}

/// Number of input rows: vectors and matrices have separate kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tokens {
    /// One row of input.
    One,
    /// 2 to [`Tokens::MOST_PACKED`] rows of input.
    Few,
    /// Several rows of input.
    Several,
}

impl Tokens {
    /// Most tokens of a kernel that reads packed weights and keeps sums in registers; more are multiplied as matrices.
    pub const MOST_PACKED: u32 = 16;

    /// The key in calibration files.
    pub const fn key(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Few => "few",
            Self::Several => "several",
        }
    }

    /// Whether it is said of a product of so many rows.
    fn holds(self, rows: f64) -> bool {
        match self {
            Self::One => rows <= 1.0,
            Self::Few => rows > 1.0 && rows <= f64::from(Self::MOST_PACKED),
            Self::Several => rows > 1.0,
        }
    }

    /// Finds the value with the given key.
    pub fn of_key(key: &str) -> Option<Self> {
        [Self::One, Self::Few, Self::Several].into_iter().find(|tokens| tokens.key() == key)
    }
}

impl FactorRow {
    /// A row that matches every kernel and has no factor.
    pub const OPEN: Self = Self {
        device: None,
        engine: None,
        format: None,
        op: None,
        compute: None,
        tokens: None,
        in_step: false,
        eta_memory: None,
        eta_compute: None,
        extra_tokens: None,
        tile: None,
        floor: None,
        interval: None,
    };

    /// Whether the row is about a device.
    pub(super) fn is_of(&self, device: &Device) -> bool {
        self.device.as_ref().is_none_or(|key| *key == device.key)
    }

    /// Specificity of a matching row; `None` if it does not match. The device has the largest weight, then the engine. A few tokens are
    /// more specific than several, and waves of tiles than a share alone.
    fn specificity(&self, tuned: &Tuned<'_>, op: OpKind, kernel: &Kernel<'_>) -> Option<u32> {
        let rows = rows(kernel.shape);
        let asked = [
            (256, self.device.as_ref().map(|device| *device == tuned.device.key)),
            (128, self.engine.map(|engine| engine == tuned.engine)),
            (64, self.format.as_ref().map(|format| format == kernel.format.key)),
            (32, self.op.map(|known| known == op || (known == OpKind::Gemm && rows.is_some()))),
            (16, self.compute.map(|class| class == kernel.path.class)),
            (
                if self.tokens == Some(Tokens::Few) { 12 } else { 8 },
                self.tokens.map(|tokens| rows.is_some_and(|rows| tokens.holds(rows))),
            ),
            (2, self.is_about(kernel.setting).then_some(true)),
            (1, self.tile.map(|_| rows.is_some() && tuned.machine.knows_sm)),
        ];
        let mut score = 0;
        for (weight, matches) in asked {
            match matches {
                Some(true) => score += weight,
                Some(false) => return None,
                None => {}
            }
        }
        Some(score)
    }

    const fn is_about(&self, setting: Setting) -> bool {
        self.in_step == matches!(setting, Setting::Step { .. })
    }
}

/// The most specific row that has a factor; among equally specific rows the last.
#[derive(Default)]
struct Best<'a> {
    score: u32,
    row: Option<&'a FactorRow>,
}

impl<'a> Best<'a> {
    fn take(&mut self, score: u32, row: &'a FactorRow, has: bool) {
        if has && (self.row.is_none() || score >= self.score) {
            (self.score, self.row) = (score, Some(row));
        }
    }
}

/// Replaces the model's factors by measured ones, each from the most specific row that has it. `None` if no row has
/// any.
pub(super) fn over(
    tuned: &Tuned<'_>,
    op: OpKind,
    kernel: &Kernel<'_>,
    model: Factors,
) -> Option<Factors> {
    let mut memory = Best::default();
    let mut compute = Best::default();
    let mut floor = Best::default();
    for row in tuned.calibration.rows.iter() {
        let Some(score) = row.specificity(tuned, op, kernel) else { continue };
        memory.take(score, row, row.eta_memory.is_some());
        compute.take(score, row, row.eta_compute.is_some());
        floor.take(score, row, row.floor.is_some() && row.is_about(kernel.setting));
    }
    let (memory, compute, floor) = (memory.row, compute.row, floor.row);
    let mut factors = Factors {
        eta_memory: memory.and_then(|row| row.eta_memory).unwrap_or(model.eta_memory),
        eta_compute: compute
            .map_or(model.eta_compute, |row| share(row, kernel.shape, tuned.machine.sm)),
        floor: floor.and_then(|row| row.floor).unwrap_or(model.floor),
        ..model
    };
    if memory.is_none() && compute.is_none() && floor.is_none() {
        return None;
    }
    if compute.is_some_and(|row| row.extra_tokens.is_some() || row.tile.is_some()) {
        factors.eta_compute = factors.eta_compute.max(one_by_one(kernel, factors.eta_memory));
    }
    // Interval and provenance follow the resource that takes longest: the model's if its factor is the model's.
    let slow = [
        (kernel.time.memory / factors.eta_memory, memory),
        (kernel.time.compute / factors.eta_compute, compute),
        (factors.floor, floor),
    ];
    let mut longest = slow[0];
    for term in slow {
        if term.0 >= longest.0 {
            longest = term;
        }
    }
    if let Some(row) = longest.1 {
        if let Some(Interval { low, high }) = row.interval {
            (factors.low, factors.high) = (low, high);
        }
        factors.provenance = Provenance::Measured;
    }
    Some(factors)
}

/// The share of the peak that is reached with the kernel's number of tokens.
///
/// ```text
/// eta = eta_compute · M / (M + extra)        or, with a tile, eta_compute / loss
/// ```
/// For the loss see [`WaveTile::loss`].
fn share(row: &FactorRow, shape: &Shape, multiprocessors: f64) -> f64 {
    let eta = row.eta_compute.unwrap_or(1.0);
    let matrices = match shape {
        Shape::Experts { distinct, .. } => *distinct,
        Shape::Product(_) | Shape::Attention { .. } | Shape::Scan | Shape::Stream => 1.0,
    };
    match (row.tile, row.extra_tokens, rows(shape), shape.product()) {
        (Some(tile), _, Some(rows), Some(product)) => {
            eta / tile.loss(rows, product.outputs, matrices, multiprocessors)
        }
        (None, Some(extra), Some(rows), _) => eta * rows / (rows + extra),
        _ => eta,
    }
}

/// The share of the peak at which the arithmetic of M tokens takes as long as M products of one token, each of which streams the
/// weights. A kernel for few tokens is no slower than that, while a share that was fitted to large products tells nothing of them.
///
/// ```text
/// eta = t_comp · eta_memory / (M · t_mem)
/// ```
fn one_by_one(kernel: &Kernel<'_>, eta_memory: f64) -> f64 {
    let (memory, compute) = (kernel.time.memory, kernel.time.compute);
    match rows(kernel.shape) {
        Some(rows) if memory > Seconds::ZERO => compute / memory * eta_memory / rows,
        _ => 0.0,
    }
}

/// Number of tokens of a matmul; of an expert its mean number, at least one.
fn rows(shape: &Shape) -> Option<f64> {
    match shape {
        Shape::Product(product) => Some(product.rows),
        Shape::Experts { product, distinct } => Some((product.rows / distinct).max(1.0)),
        Shape::Attention { .. } | Shape::Scan | Shape::Stream => None,
    }
}
