//! Bytes of matrices that a file stores in several formats, by operator: relative to the same matrices in one format.

use crate::math;
use crate::model_arch::{Matrix, ModelArch};
use crate::op::OpKind;
use crate::quant_format::QuantFormat;
use crate::units::Bytes;

/// Number of operators whose matrices have a ratio of their own.
pub const SLOTS: usize = 14;

const fn slot(kind: OpKind) -> Option<usize> {
    match kind {
        OpKind::Qkv | OpKind::QkvA => Some(0),
        OpKind::QB => Some(1),
        OpKind::KvB => Some(2),
        OpKind::WUk => Some(3),
        OpKind::WUv => Some(4),
        OpKind::OProj => Some(5),
        OpKind::GateUp | OpKind::Up => Some(6),
        OpKind::Down => Some(7),
        OpKind::ExpertGateUp | OpKind::ExpertUp => Some(8),
        OpKind::ExpertDown => Some(9),
        OpKind::InProj => Some(10),
        OpKind::OutProj => Some(11),
        OpKind::IndexProj => Some(12),
        OpKind::Projection => Some(13),
        OpKind::Embedding
        | OpKind::AddNorm
        | OpKind::Norm
        | OpKind::KvAppend
        | OpKind::Rotary
        | OpKind::Attention
        | OpKind::IndexScores
        | OpKind::Activation
        | OpKind::Router
        | OpKind::Scan
        | OpKind::LmHead
        | OpKind::Gemm
        | OpKind::FeedForward
        | OpKind::MixtureOfExperts
        | OpKind::Step
        | OpKind::Links => None,
    }
}

/// Ratios that a model file states, in steps of 1/65,536, as a link holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratios {
    /// Means over all layers, by operator.
    means: [u32; SLOTS],
    /// Operators whose ratio differs between layers.
    differing: Differing,
}

/// Operators whose ratio differs between layers, and the extremes among these layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differing {
    /// A bit for each operator.
    pub operators: u16,
    /// Least ratio of a layer.
    pub least: u32,
    /// Largest ratio of a layer.
    pub most: u32,
}

impl Differing {
    /// All layers are alike.
    pub const NONE: Self = Self { operators: 0, least: Ratios::ONE, most: Ratios::ONE };

    const fn has(&self, slot: usize) -> bool {
        self.operators & (1 << slot) != 0
    }
}

impl Ratios {
    /// Steps of a ratio of 1.
    pub const ONE: u32 = 1 << 16;
    /// Largest ratio: 64 bits beside 1.
    const LARGEST: u32 = 64 * Self::ONE;

    /// These ratios; `None` where one is beyond what formats can differ by, or all are 1.
    pub fn new(means: [u32; SLOTS], differing: Differing) -> Option<Self> {
        let Differing { operators, least, most } = differing;
        let is_alike = operators == 0 && differing == Differing::NONE;
        let is_range = 1 <= least && least < most && most <= Self::LARGEST;
        let is_known = operators != 0 && operators >> SLOTS == 0;
        let is_possible = |(slot, mean): (usize, &u32)| {
            let inside = !differing.has(slot) || (least..=most).contains(mean);
            inside && (1..=Self::LARGEST).contains(mean)
        };
        let is_plain = is_alike && means == [Self::ONE; SLOTS];
        let is_stated = !is_plain && (is_alike || (is_known && is_range));
        let all = means.iter().enumerate().all(is_possible);
        (is_stated && all).then_some(Self { means, differing })
    }

    /// The ratios of all `layers`, rounded to whole steps away from what would be too small; `None` if all are 1.
    pub(crate) fn of(all: &MixedBytes, layers: &[MixedBytes]) -> Option<Self> {
        let mut differing = Differing::NONE;
        let (mut least, mut most) = (u32::MAX, 0);
        let means = core::array::from_fn(|slot| {
            let own = || layers.iter().filter_map(|layer| layer.ratio(slot));
            let mean = all.ratio(slot).unwrap_or(1.0);
            let (low, high) = (own().fold(mean, f64::min), own().fold(mean, f64::max));
            if high - low >= ALIKE * mean {
                differing.operators |= 1 << slot;
                least = least.min(steps(low, math::floor));
                most = most.max(steps(high, math::ceil));
            }
            steps(mean, math::ceil)
        });
        if differing.operators != 0 {
            (differing.least, differing.most) = (least, most);
        }
        Self::new(means, differing)
    }

    /// The means over all layers, by operator.
    pub const fn means(&self) -> [u32; SLOTS] {
        self.means
    }

    /// The operators whose ratio differs between layers.
    pub const fn differing(&self) -> Differing {
        self.differing
    }

    /// These ratios with experts in one format; `None` if all are 1 then.
    pub(crate) fn without_experts(mut self) -> Option<Self> {
        for slot in [OpKind::ExpertGateUp, OpKind::ExpertDown].into_iter().filter_map(slot) {
            self.means[slot] = Self::ONE;
            self.differing.operators &= !(1 << slot);
        }
        if self.differing.operators == 0 {
            self.differing = Differing::NONE;
        }
        Self::new(self.means, self.differing)
    }

    /// The mixture with these ratios.
    pub(crate) fn mixture(&self) -> Mixture {
        Mixture { means: self.means.map(share), differing: self.differing }
    }
}

/// Relative difference of ratios that are alike but for rounding.
const ALIKE: f64 = 1e-9;

fn share(steps: u32) -> f64 {
    f64::from(steps) / f64::from(Ratios::ONE)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "formats have from 1 to 64 bits"
)]
fn steps(ratio: f64, rounded: fn(f64) -> f64) -> u32 {
    let exact = ratio * f64::from(Ratios::ONE);
    let nearest = math::round(exact);
    let is_whole = (exact - nearest).abs() < 1e-6;
    (if is_whole { nearest } else { rounded(exact) }) as u32
}

/// Bytes of the layers' matrices in a file, as ratios to the same matrices in one format: that which names a GGUF file, or in
/// which a model file has most of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixture {
    /// Means over the layers.
    means: [f64; SLOTS],
    /// Operators whose ratio differs between the layers of a model file.
    differing: Differing,
}

impl Mixture {
    /// All matrices in one format.
    pub const UNIFORM: Self = Self { means: [1.0; SLOTS], differing: Differing::NONE };

    /// The ratio for an operator's matrices, as a mean over the layers.
    pub fn ratio(&self, kind: OpKind) -> f64 {
        slot(kind).map_or(1.0, |slot| self.means[slot])
    }

    /// True for a model file whose layers differ.
    pub const fn differs_by_layer(&self) -> bool {
        self.differing.operators != 0
    }

    /// The mixture of a tensor-parallel shard, which has whole heads of keys and values where there are fewer heads than devices: at
    /// most that of a file whose wider formats are all in keys and values.
    ///
    /// ```text
    /// ratio = 1 + (mean - 1) W / (w min(t, g))        W, w: bytes of an operator in one format, of the model and of the shard
    /// ```
    pub(crate) fn of_shard(
        &self,
        stored: (&QuantFormat, &QuantFormat),
        (whole, shard): (&ModelArch, &ModelArch),
        tensor: u64,
    ) -> Self {
        let kv_heads = whole.attention.iter().map(|group| group.n_kv_heads).min().unwrap_or(1);
        let divided = tensor.min(kv_heads) as f64;
        let (all, here) = (plain_bytes(stored, whole), plain_bytes(stored, shard));
        let mut more = 1.0_f64;
        let means = core::array::from_fn(|slot| {
            let (mean, repeated) = (self.means[slot], all[slot] / here[slot] / divided);
            let is_partly =
                here[slot] < all[slot] && here[slot] * tensor as f64 > all[slot] * WHOLE;
            if !is_partly || mean <= 1.0 || repeated <= 1.0 {
                return mean;
            }
            more = more.max(repeated);
            1.0 + (mean - 1.0) * repeated
        });
        let most = f64::from(self.differing.most.max(Ratios::ONE) - Ratios::ONE) * more;
        let most = (most + f64::from(Ratios::ONE)) / f64::from(Ratios::ONE);
        let most = if more > 1.0 { steps(most, math::ceil) } else { self.differing.most };
        Self { means, differing: Differing { most, ..self.differing } }
    }

    /// The largest mixture that some of the layers can have: all that a mean says beyond the least ratio lies in these layers, as far
    /// as the largest ratio allows.
    ///
    /// ```text
    /// ratio = min(most, least + (mean - least) / p)
    /// ```
    ///
    /// p: their share of an operator's bytes in one format.
    pub(crate) fn of_part(
        &self,
        stored: (&QuantFormat, &QuantFormat),
        part: &ModelArch,
        whole: &ModelArch,
    ) -> Self {
        let Differing { least, most, .. } = self.differing;
        if !self.differs_by_layer() {
            return *self;
        }
        let (here, all) = (plain_bytes(stored, part), plain_bytes(stored, whole));
        let [least, most] = [least, most].map(share);
        let means = core::array::from_fn(|slot| {
            let mean = self.means[slot];
            if self.differing.has(slot) && here[slot] > Bytes::ZERO {
                (least + (mean - least) * (all[slot] / here[slot])).min(most)
            } else {
                mean
            }
        });
        Self { means, ..*self }
    }

    /// The mixture of a model in a format other than those of GGUF: some rows of small matrices stay in the format of `kept`.
    pub(crate) fn with_kept_rows(
        weights: &'static QuantFormat,
        kept: &'static QuantFormat,
        model: &ModelArch,
    ) -> Self {
        if weights.bits_per_element() >= kept.bits_per_element() {
            return Self::UNIFORM;
        }
        let mut sums = MixedBytes::NONE;
        model.matrices(&mut |matrix| {
            let Matrix { kind, count, rows, cols, expert, .. } = matrix;
            if !expert {
                let (own, count) = (matrix.parts.kept_rows(), count as f64);
                let mixed = weights.stored_bytes(rows - own, cols) + kept.stored_bytes(own, cols);
                sums.add(kind, mixed * count, weights.stored_bytes(rows, cols) * count);
            }
        });
        sums.mixture()
    }
}

/// Factor within which a shard has its even part of an operator: tiles and scales at the ends of rows are a little more.
const WHOLE: f64 = 1.001;

/// Bytes of a model's matrices by operator, layers and experts each in one format.
fn plain_bytes(
    (weights, experts): (&QuantFormat, &QuantFormat),
    model: &ModelArch,
) -> [Bytes; SLOTS] {
    let mut sums = MixedBytes::NONE;
    model.matrices(&mut |Matrix { kind, count, rows, cols, expert, .. }| {
        let base = if expert { experts } else { weights };
        sums.add(kind, Bytes::ZERO, base.stored_bytes(rows, cols) * count as f64);
    });
    sums.0.map(|(_, base)| base)
}

/// Bytes by operator: as mixed, and in one format.
#[derive(Debug, Clone)]
pub(crate) struct MixedBytes([(Bytes, Bytes); SLOTS]);

impl MixedBytes {
    pub(crate) const NONE: Self = Self([(Bytes::ZERO, Bytes::ZERO); SLOTS]);

    /// Adds the matrices of an operator, in decode, too.
    pub(crate) fn add(&mut self, kind: OpKind, mixed: Bytes, one: Bytes) {
        let decode: &[OpKind] = if kind == OpKind::KvB { &[OpKind::WUk, OpKind::WUv] } else { &[] };
        for kind in decode.iter().copied().chain([kind]) {
            self.add_to(kind, mixed, one);
        }
    }

    /// Adds a matrix to the sums of one operator.
    pub(crate) fn add_to(&mut self, kind: OpKind, mixed: Bytes, one: Bytes) {
        if let Some(slot) = slot(kind) {
            self.0[slot].0 += mixed;
            self.0[slot].1 += one;
        }
    }

    /// The mixture with these sums in each layer.
    pub(crate) fn mixture(&self) -> Mixture {
        let means = core::array::from_fn(|slot| self.ratio(slot).unwrap_or(1.0));
        Mixture { means, differing: Differing::NONE }
    }

    fn ratio(&self, slot: usize) -> Option<f64> {
        let (mixed, base) = self.0[slot];
        (base > Bytes::ZERO).then(|| mixed / base)
    }
}
