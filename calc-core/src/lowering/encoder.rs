//! Lowers the encoder of a tower to operators: everything that an image takes before its tokens enter the prompt.
//! Derivation: `docs/theory/towers.md`.

use crate::cost::attention::{BothWays, both_ways};
use crate::cost::elementwise::{add_norm, gated_activation, plain_activation};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::error::{Error, in_range};
use crate::image::{AskedImages, ImageWork, MAX_IMAGE_TOKENS};
use crate::lowering::OpInstances;
use crate::model_arch::{LayerGroup, MlpKind, ModelArch, Tower, TowerLayers};
use crate::op::{OpKind, Path, Shape};
use crate::quant_format::QuantFormat;

/// Images in each prompt of a workload, all of the same size; their tokens are part of the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Images {
    /// Number of images per sequence.
    count: u32,
    tiles: u32,
    positions: u32,
    tokens: u32,
    lower: LowerImages,
}

/// Visits the operators of the encoder for a number of equal images.
type LowerWork = fn(&Encoder<'_>, &ImageWork, u64, &mut dyn FnMut(OpInstances));

/// The function that lowers the encoder. A program whose workloads have no images leaves it out, as the page does.
#[derive(Debug, Clone, Copy)]
struct LowerImages(LowerWork);

/// Every workload with images has the same function.
impl PartialEq for LowerImages {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for LowerImages {}

impl Images {
    /// The images that a request names, for a model.
    ///
    /// # Errors
    /// [`Error::Inapplicable`] for a model without a tower for images, and the errors of [`crate::image::ImageRule::work`].
    pub fn new(model: &ModelArch, asked: &AskedImages) -> Result<Self, Error> {
        let Some(tower) = model.vision_tower() else {
            let part = "a model without a tower for images";
            return Err(Error::Inapplicable { input: "image", part });
        };
        let work = tower.images.work(asked)?;
        let small = |what, value: u64| {
            let value = in_range(what, value, 1, 1000 * MAX_IMAGE_TOKENS)?;
            Ok::<_, Error>(u32::try_from(value).unwrap_or(u32::MAX))
        };
        Ok(Self {
            count: small("images", asked.count)?,
            tiles: small("tiles of an image", work.tiles)?,
            positions: small("positions of an image", work.positions)?,
            tokens: small("tokens of an image", work.tokens)?,
            lower: LowerImages(|encoder, work, images, visit| encoder.images(work, images, visit)),
        })
    }

    /// The work of one image.
    pub fn work(&self) -> ImageWork {
        let [tiles, positions, tokens] = [self.tiles, self.positions, self.tokens].map(u64::from);
        ImageWork { tiles, positions, tokens }
    }

    /// Number of images per sequence.
    pub fn count(&self) -> u64 {
        self.count.into()
    }

    /// Number of tokens of all images of a sequence.
    pub fn tokens(&self) -> u64 {
        self.count() * self.work().tokens
    }

    /// Visits the operators of the encoder for the images of this many prompts.
    pub fn lower(&self, encoder: &Encoder<'_>, prompts: u64, visit: &mut dyn FnMut(OpInstances)) {
        (self.lower.0)(encoder, &self.work(), self.count() * prompts, visit);
    }
}

/// Lowers a tower. Its weights are in the carrier.
#[derive(Debug, Clone, Copy)]
pub struct Encoder<'a> {
    pub tower: &'a Tower,
    pub carrier: &'static QuantFormat,
}

impl Encoder<'_> {
    /// Visits the operators for `images` equal images.
    fn images(&self, work: &ImageWork, images: u64, visit: &mut dyn FnMut(OpInstances)) {
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
        visit: &mut dyn FnMut(OpInstances),
    ) {
        let (rows, hidden) = (parts * positions, group.hidden_size);
        let (heads, head_dim, window) = (group.n_heads, group.head_dim, group.window);
        let mut product = |kind, n, k| {
            visit(self.product(kind, group.layers, GemmShape { m: rows, n, k }));
        };
        if group.n_heads > 0 {
            product(OpKind::Qkv, group.inner() + 2 * group.kv_inner(), hidden);
            product(OpKind::OProj, hidden, group.inner());
        }
        if group.other_matrices > 0 {
            product(OpKind::Projection, group.other_matrices.div_ceil(hidden), hidden);
        }
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
            (
                OpKind::Attention,
                if heads > 0 { group.layers } else { 0 },
                both_ways(&shape, self.carrier),
                shape.kernel(),
            ),
            (OpKind::Activation, group.layers, activation, Shape::Stream),
        ];
        for (kind, count, cost, shape) in streams.into_iter().filter(|(_, count, ..)| *count > 0) {
            let (path, format) = (Path::Carrier, self.carrier);
            let group = LayerGroup::Whole;
            visit(OpInstances { kind, group, windowed: None, count, path, cost, format, shape });
        }
    }

    fn product(&self, kind: OpKind, count: u64, shape: GemmShape) -> OpInstances {
        let format = self.carrier;
        let cost = gemm(shape, GemmFormats { weights: format, input: format, output: format });
        let shape = Shape::Product(shape.product(format));
        let (group, path) = (LayerGroup::Whole, Path::Carrier);
        OpInstances { kind, group, windowed: None, count, path, cost, format, shape }
    }
}
