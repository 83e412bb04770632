//! Mutants of attention and of the operators that stream.

use calc_core::math::{exp, sqrt};

/// A mistake in attention of one query head, computed in f64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionMutant {
    /// Scores are not divided by √d.
    NoScale,
    /// The first key is left out.
    SkippedFirst,
    /// The last key is left out.
    SkippedLast,
    /// One key more than there is.
    OneTooMany,
    /// Sums are not scaled again when the largest score rises.
    NoFading,
    /// Two parts of the context are joined as if their largest scores were equal.
    EqualParts,
    /// The second half of the context is lost.
    LostPart,
    /// Weights are not divided by their sum.
    NoMean,
    /// Keys and values are swapped.
    Swapped,
    /// Weights are BF16.
    NarrowWeights,
    /// All results are zero.
    Zero,
    /// One result is NaN.
    NotANumber,
}

impl AttentionMutant {
    /// All mutations.
    pub const ALL: [Self; 12] = [
        Self::NoScale,
        Self::SkippedFirst,
        Self::SkippedLast,
        Self::OneTooMany,
        Self::NoFading,
        Self::EqualParts,
        Self::LostPart,
        Self::NoMean,
        Self::Swapped,
        Self::NarrowWeights,
        Self::Zero,
        Self::NotANumber,
    ];

    /// Attention to the first `seen` keys with this mutation; keys and values have at least one row more.
    pub fn attend(self, query: &[f64], keys: &[f64], values: &[f64], seen: usize) -> Vec<f32> {
        let d = query.len();
        let (keys, values) = if self == Self::Swapped { (values, keys) } else { (keys, values) };
        let range = match self {
            Self::SkippedFirst => 1..seen,
            Self::SkippedLast => 0..seen - 1,
            Self::OneTooMany => 0..seen + 1,
            Self::LostPart => 0..seen / 2,
            _ => 0..seen,
        };
        let scale = if self == Self::NoScale { 1.0 } else { 1.0 / sqrt(d as f64) };
        let row = |of: &'_ [f64], t: usize| of[t * d..][..d].to_vec();
        let score =
            |t: usize| row(keys, t).iter().zip(query).map(|(k, q)| k * q).sum::<f64>() * scale;
        let halves = [range.start..seen / 2, seen / 2..range.end];
        let parts = if self == Self::EqualParts { halves.to_vec() } else { vec![range] };
        let (mut total, mut sums) = (0.0, vec![0.0; d]);
        for part in parts {
            let most = part.clone().map(score).fold(f64::NEG_INFINITY, f64::max);
            let mut so_far = f64::NEG_INFINITY;
            for t in part {
                so_far = so_far.max(score(t));
                let weight = exp(score(t) - if self == Self::NoFading { so_far } else { most });
                let weight = if self == Self::NarrowWeights {
                    half::bf16::from_f64(weight).to_f64()
                } else {
                    weight
                };
                total += weight;
                sums.iter_mut().zip(row(values, t)).for_each(|(sum, v)| *sum += weight * v);
            }
        }
        let total = if self == Self::NoMean { 1.0 } else { total };
        let mut out: Vec<f32> = sums.iter().map(|sum| narrow(sum / total)).collect();
        match self {
            Self::Zero => out.fill(0.0),
            Self::NotANumber => out[d / 2] = f32::NAN,
            _ => {}
        }
        out
    }
}

/// A mistake in an operator on the numbers of one token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowMutant {
    /// Norm: the residual is left out.
    NoResidual,
    /// Norm: the mean is subtracted first, as LayerNorm does.
    MeanSubtracted,
    /// Norm: the sum of squares is not divided by the width.
    NoWidth,
    /// Norm: without ε.
    NoEpsilon,
    /// Norm: without weights.
    NoWeights,
    /// Norm: one of sixteen sums of squares is lost.
    LostSum,
    /// Rotation in the other direction.
    Backward,
    /// Rotation of neighbors instead of halves.
    Neighbors,
    /// Rotation by the angles of the next pair.
    NextAngle,
    /// Gate: gate and up are swapped.
    SwappedGate,
    /// Gate: ReLU instead of SiLU.
    Relu,
    /// Gate: the curve of GELU, x · σ(1.702 x).
    Gelu,
}

impl RowMutant {
    /// Mutations of add and norm.
    pub const NORM: [Self; 6] = [
        Self::NoResidual,
        Self::MeanSubtracted,
        Self::NoWidth,
        Self::NoEpsilon,
        Self::NoWeights,
        Self::LostSum,
    ];
    /// Mutations of the rotation.
    pub const ROPE: [Self; 3] = [Self::Backward, Self::Neighbors, Self::NextAngle];
    /// Mutations of the gate.
    pub const GATE: [Self; 3] = [Self::SwappedGate, Self::Relu, Self::Gelu];

    /// Norm of residual plus branch with this mutation.
    pub fn norm(self, (x, b): (&[f64], &[f64]), weights: &[f64], epsilon: f64) -> Vec<f32> {
        let keep = f64::from(u8::from(self != Self::NoResidual));
        let mut sum: Vec<f64> = x.iter().zip(b).map(|(x, b)| keep * x + b).collect();
        if self == Self::MeanSubtracted {
            let mean = sum.iter().sum::<f64>() / sum.len() as f64;
            for x in &mut sum {
                *x -= mean;
            }
        }
        let counts = |i: usize| self != Self::LostSum || !i.is_multiple_of(16);
        let squares = sum.iter().enumerate().filter(|(i, _)| counts(*i)).map(|(_, x)| x * x);
        let width = if self == Self::NoWidth { 1.0 } else { sum.len() as f64 };
        let epsilon = if self == Self::NoEpsilon { 0.0 } else { epsilon };
        let factor = 1.0 / sqrt(squares.sum::<f64>() / width + epsilon);
        let weight = |w: &f64| if self == Self::NoWeights { 1.0 } else { *w };
        sum.iter().zip(weights).map(|(x, w)| narrow(x * factor * weight(w))).collect()
    }

    /// Rotation of a head with this mutation.
    pub fn rope(self, head: &[f64], cosines: &[f64], sines: &[f64]) -> Vec<f32> {
        let half = cosines.len();
        let sign = if self == Self::Backward { -1.0 } else { 1.0 };
        let mut out = vec![0.0; 2 * half];
        for i in 0..half {
            let (a, b) = if self == Self::Neighbors { (2 * i, 2 * i + 1) } else { (i, i + half) };
            let at = if self == Self::NextAngle { (i + 1) % half } else { i };
            let (cos, sin) = (cosines[at], sign * sines[at]);
            out[a] = narrow(head[a] * cos - head[b] * sin);
            out[b] = narrow(head[b] * cos + head[a] * sin);
        }
        out
    }

    /// Gated activation with this mutation.
    pub fn gate(self, gate: &[f64], up: &[f64]) -> Vec<f32> {
        let silu = |x: f64, steep: f64| x / (1.0 + exp(-steep * x));
        let each = |(g, u): (&f64, &f64)| match self {
            Self::SwappedGate => silu(*u, 1.0) * g,
            Self::Relu => g.max(0.0) * u,
            Self::Gelu => silu(*g, 1.702) * u,
            _ => silu(*g, 1.0) * u,
        };
        gate.iter().zip(up).map(|pair| narrow(each(pair))).collect()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a kernel's result is an f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}
