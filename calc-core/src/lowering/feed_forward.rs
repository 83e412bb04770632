//! Operators of dense MLPs and of experts.

use super::group::tag;
use super::{Lowering, OpInstances, stream};
use crate::cost::elementwise::{gated_activation, plain_activation};
use crate::cost::gemm::GemmShape;
use crate::cost::moe::{Routing, expert_product, router};
use crate::model_arch::{LayerGroup, MlpKind, Moe};
use crate::op::{OpCost, OpKind, Path, Shape};

impl Lowering<'_> {
    pub(super) fn mlps(&self, tokens: u64, emit: &mut impl FnMut(OpInstances)) {
        for (index, group) in self.model.dense.iter().enumerate() {
            let mut emit = tag(LayerGroup::Dense(index), emit);
            self.mlp(group.layers, group.width, tokens, &mut emit);
        }
        for (index, moe) in self.model.moe.iter().enumerate() {
            self.experts(moe, tokens, &mut tag(LayerGroup::Experts(index), emit));
        }
    }

    fn mlp(&self, layers: u64, width: u64, m: u64, emit: &mut impl FnMut(OpInstances)) {
        let hidden = self.model.hidden_size;
        let kind = match self.model.mlp {
            MlpKind::Gated => OpKind::GateUp,
            MlpKind::Plain => OpKind::Up,
        };
        emit(self.matmul(
            kind,
            layers,
            GemmShape { m, n: self.model.mlp_inputs() * width, k: hidden },
        ));
        emit(stream(OpKind::Activation, layers, self.activation(m, width), self.precision.carrier));
        emit(self.matmul(OpKind::Down, layers, GemmShape { m, n: hidden, k: width }));
    }

    fn activation(&self, rows: u64, width: u64) -> OpCost {
        match self.model.mlp {
            MlpKind::Gated => gated_activation(rows, width, self.precision.carrier),
            MlpKind::Plain => plain_activation(rows, width, self.precision.carrier),
        }
    }

    fn experts(&self, moe: &Moe, tokens: u64, emit: &mut impl FnMut(OpInstances)) {
        let (p, hidden, count) = (self.precision, self.model.hidden_size, moe.layers);
        let width = moe.latent.unwrap_or(hidden);
        let cost = router(tokens, moe.choices(), hidden, p.carrier);
        let shape = GemmShape { m: tokens, n: moe.choices(), k: hidden }.product(p.carrier);
        let op = stream(OpKind::Router, count, cost, p.carrier);
        emit(OpInstances { shape: Shape::Product(shape), ..op });
        if let Some(latent) = moe.latent {
            for (n, k) in [(latent, hidden), (hidden, latent)] {
                emit(self.matmul(OpKind::Projection, count, GemmShape { m: tokens, n, k }));
            }
        }
        let share = moe.busy_share() / self.expert_parallel as f64;
        let pairs = tokens * moe.experts_per_token;
        let routing = Routing { tokens, experts: moe.choices(), per_token: moe.experts_per_token };
        let kind = match self.model.mlp {
            MlpKind::Gated => OpKind::ExpertGateUp,
            MlpKind::Plain => OpKind::ExpertUp,
        };
        let product = |kind, outputs, inputs| {
            let product = routing.product(share, outputs, inputs);
            OpInstances {
                kind,
                group: LayerGroup::Whole,
                windowed: None,
                count,
                path: Path::Expert,
                cost: self
                    .mixed(kind, expert_product(&product, p.experts, p.activations, p.carrier)),
                format: p.experts,
                shape: product.shape(p.experts),
            }
        };
        emit(product(kind, self.model.mlp_inputs() * moe.expert_width, width));
        emit(stream(
            OpKind::Activation,
            count,
            self.activation(pairs, moe.expert_width).times(share),
            p.carrier,
        ));
        emit(product(OpKind::ExpertDown, width, moe.expert_width));
        if moe.shared_width > 0 {
            self.mlp(count, moe.shared_width, tokens, emit);
        }
    }
}
