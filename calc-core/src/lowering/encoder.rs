//! Lowers the encoder of a tower to operators: everything that an image takes before its tokens enter the prompt.
//! Derivation: `docs/theory/towers.md`.

use crate::cost::attention::{BothWays, both_ways};
use crate::cost::elementwise::{add_norm, gated_activation, plain_activation};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::image::ImageWork;
use crate::lowering::OpInstances;
use crate::model_arch::{MlpKind, Tower, TowerLayers};
use crate::op::{OpKind, Path, Shape};
use crate::quant_format::QuantFormat;

/// Lowers a tower. Its weights are in the carrier.
#[derive(Debug, Clone, Copy)]
pub struct Encoder<'a> {
    pub tower: &'a Tower,
    pub carrier: &'static QuantFormat,
}

impl Encoder<'_> {
    /// Visits the operators for `images` equal images.
    pub fn images(&self, work: &ImageWork, images: u64, visit: &mut impl FnMut(OpInstances)) {
        let parts = work.tiles * images;
        let positions = parts * work.positions;
        for group in self.tower.layers.iter().filter(|group| group.layers > 0) {
            self.layers(group, (parts, work.positions), visit);
        }
        for end in self.tower.ends.iter() {
            let m = positions.div_ceil(end.merge);
            visit(self.product(OpKind::Projection, 1, GemmShape { m, n: end.rows, k: end.cols }));
        }
    }

    fn layers(
        &self,
        group: &TowerLayers,
        (parts, positions): (u64, u64),
        visit: &mut impl FnMut(OpInstances),
    ) {
        let (rows, hidden, inner) = (parts * positions, group.hidden_size, group.inner());
        let (heads, head_dim, window) = (group.n_heads, group.head_dim, group.window);
        let mut product = |kind, n, k| {
            visit(self.product(kind, group.layers, GemmShape { m: rows, n, k }));
        };
        product(OpKind::Qkv, 3 * inner, hidden);
        product(OpKind::OProj, hidden, inner);
        let first = match group.mlp {
            MlpKind::Gated => OpKind::GateUp,
            MlpKind::Plain => OpKind::Up,
        };
        product(first, group.mlp_inputs(), hidden);
        product(OpKind::Down, hidden, group.width);
        let shape = BothWays { parts, positions, heads, head_dim, window };
        let activation = match group.mlp {
            MlpKind::Gated => gated_activation(rows, group.width, self.carrier),
            MlpKind::Plain => plain_activation(rows, group.width, self.carrier),
        };
        let streams = [
            (
                OpKind::AddNorm,
                2 * group.layers,
                add_norm(rows, hidden, self.carrier),
                Shape::Stream,
            ),
            (OpKind::Attention, group.layers, both_ways(&shape, self.carrier), shape.kernel()),
            (OpKind::Activation, group.layers, activation, Shape::Stream),
        ];
        for (kind, count, cost, shape) in streams {
            let (path, format) = (Path::Carrier, self.carrier);
            visit(OpInstances { kind, count, path, cost, format, shape });
        }
    }

    fn product(&self, kind: OpKind, count: u64, shape: GemmShape) -> OpInstances {
        let format = self.carrier;
        let cost = gemm(shape, GemmFormats { weights: format, input: format, output: format });
        let shape = Shape::Product(shape.product(format));
        OpInstances { kind, count, path: Path::Carrier, cost, format, shape }
    }
}
