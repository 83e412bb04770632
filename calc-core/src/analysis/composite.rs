//! Operators of several kernels in sequence: the feed-forward part of a layer, and a mixture of experts.
//! FLOP, bytes and ideal times are sums over the kernels, so the ideal time is a sum of maxima.

use alloc::vec::Vec;

use crate::cost::elementwise::{gated_activation, plain_activation};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::cost::moe::{Routing, expert_product, router};
use crate::error::{Error, in_range};
use crate::op::{OpCost, OpKind, Path, Shape};
use crate::precision::Precision;
use crate::quant_format::QuantFormat;

use super::MAX_DIMENSION;

/// Largest number of experts of a layer.
pub const MAX_EXPERTS: u64 = 65_536;

/// A feed-forward part: gate and up (or up alone), activation, down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedForwardShape {
    /// Number of tokens (T).
    pub tokens: u64,
    pub hidden: u64,
    /// Intermediate size (I).
    pub intermediate: u64,
    pub gated: bool,
}

/// A mixture of experts: router, experts, and a shared expert if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoeShape {
    /// Number of tokens (T).
    pub tokens: u64,
    pub hidden: u64,
    /// Intermediate size of one expert (I_e).
    pub expert_width: u64,
    /// Number of experts (E).
    pub experts: u64,
    /// Number of experts per token (k).
    pub per_token: u64,
    pub gated: bool,
    /// Intermediate size of the shared expert; 0 if there is none.
    pub shared_width: u64,
}

/// One kernel of a composite operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct CompositeKernel {
    pub(super) kind: OpKind,
    /// The operands that select its peak.
    pub(super) path: Path,
    /// Total work and traffic.
    pub(super) cost: OpCost,
    /// Format of its weights, or of the data it moves.
    pub(super) format: &'static QuantFormat,
    pub(super) shape: Shape,
}

impl FeedForwardShape {
    pub(super) fn check(&self) -> Result<(), Error> {
        for (what, value) in
            [("tokens", self.tokens), ("hidden", self.hidden), ("width", self.intermediate)]
        {
            in_range(what, value, 1, MAX_DIMENSION)?;
        }
        Ok(())
    }

    pub(super) fn kernels(&self, p: &Precision) -> Vec<CompositeKernel> {
        let Self { tokens, hidden, intermediate, gated } = *self;
        let formats = GemmFormats { weights: p.weights, input: p.activations, output: p.carrier };
        let product = |kind, n, k| {
            let shape = GemmShape { m: tokens, n, k };
            CompositeKernel {
                kind,
                path: Path::Layer,
                cost: gemm(shape, formats),
                format: p.weights,
                shape: Shape::Product(shape.product(p.weights)),
            }
        };
        let up = if gated { OpKind::GateUp } else { OpKind::Up };
        alloc::vec![
            product(up, inputs(gated) * intermediate, hidden),
            activation(tokens, intermediate, gated, p),
            product(OpKind::Down, hidden, intermediate),
        ]
    }
}

impl MoeShape {
    pub(super) fn check(&self) -> Result<(), Error> {
        for (what, value, min, max) in [
            ("tokens", self.tokens, 1, MAX_DIMENSION),
            ("hidden", self.hidden, 1, MAX_DIMENSION),
            ("width", self.expert_width, 1, MAX_DIMENSION),
            ("n_experts", self.experts, 1, MAX_EXPERTS),
            ("per_token", self.per_token, 1, self.experts),
            ("shared_width", self.shared_width, 0, MAX_DIMENSION),
        ] {
            in_range(what, value, min, max)?;
        }
        Ok(())
    }

    pub(super) fn kernels(&self, p: &Precision) -> Vec<CompositeKernel> {
        let Self { tokens, hidden, expert_width: width, experts, per_token, gated, .. } = *self;
        let rows = tokens * per_token;
        let routing = Routing { tokens, experts, per_token };
        let product = |kind, outputs, inputs| {
            let product = routing.product(1.0, outputs, inputs);
            CompositeKernel {
                kind,
                path: Path::Expert,
                cost: expert_product(&product, p.experts, p.activations, p.carrier),
                format: p.experts,
                shape: product.shape(p.experts),
            }
        };
        let choice = GemmShape { m: tokens, n: experts, k: hidden };
        let up = if gated { OpKind::ExpertGateUp } else { OpKind::ExpertUp };
        let mut kernels = alloc::vec![
            CompositeKernel {
                kind: OpKind::Router,
                path: Path::Carrier,
                cost: router(tokens, experts, hidden, p.carrier),
                format: p.carrier,
                shape: Shape::Product(choice.product(p.carrier)),
            },
            product(up, inputs(gated) * width, hidden),
            activation(rows, width, gated, p),
            product(OpKind::ExpertDown, hidden, width),
        ];
        if self.shared_width > 0 {
            let shared =
                FeedForwardShape { tokens, hidden, intermediate: self.shared_width, gated };
            kernels.extend(shared.kernels(p));
        }
        kernels
    }
}

/// Number of matrices that read the input of an MLP.
const fn inputs(gated: bool) -> u64 {
    if gated { 2 } else { 1 }
}

fn activation(rows: u64, width: u64, gated: bool, p: &Precision) -> CompositeKernel {
    let cost = if gated {
        gated_activation(rows, width, p.carrier)
    } else {
        plain_activation(rows, width, p.carrier)
    };
    CompositeKernel {
        kind: OpKind::Activation,
        path: Path::Carrier,
        cost,
        format: p.carrier,
        shape: Shape::Stream,
    }
}
