//! Encoders of images and sound beside the decoder, and the projectors that join them. Derivation: `docs/theory/towers.md`.

use super::{MlpKind, ModelArch};
use crate::image::ImageRule;
use crate::text::List;
use crate::units::Bytes;

/// Kind of input of a tower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TowerKind {
    Vision,
    Audio,
}

/// An encoder with its projector.
#[derive(Debug, Clone, PartialEq)]
pub struct Tower {
    pub kind: TowerKind,
    /// Layers of the encoder, grouped by geometry.
    pub layers: List<TowerLayers>,
    /// Matrices before and after the layers: patches, downsampling, projector.
    pub ends: List<TowerEnd>,
    /// Number of parameters in biases, norms and tables of positions beside the layers.
    pub vectors: u64,
    /// Tokens of an image; [`ImageRule::Unknown`] for sound.
    pub images: ImageRule,
    /// Bytes of the weights, if the files state them; otherwise they have 16 bits.
    pub stored: Option<Bytes>,
}

/// Layers of an encoder with the same geometry. Attention is in both directions; layers without it have no heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TowerLayers {
    pub layers: u64,
    /// Hidden size (H).
    pub hidden_size: u64,
    /// Number of heads (h).
    pub n_heads: u64,
    /// Number of heads of keys and of values (g).
    pub n_kv_heads: u64,
    /// Width of a head (d).
    pub head_dim: u64,
    /// Intermediate size of the MLP (I).
    pub width: u64,
    pub mlp: MlpKind,
    /// Number of positions that a position attends to; `None` for the whole image or tile.
    pub window: Option<u64>,
    /// Number of elements per layer of further matrices: a second MLP or convolutions of a conformer.
    pub other_matrices: u64,
    /// Number of biases and norm weights per layer.
    pub vectors: u64,
}

/// A matrix beside the layers of an encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TowerEnd {
    /// Number of outputs.
    pub rows: u64,
    /// Number of inputs.
    pub cols: u64,
    /// Number of positions of the encoder that are one row of its input.
    pub merge: u64,
}

/// Bytes per weight of a tower: engines and quantizers leave towers in 16 bits, and so do `mmproj` files.
const BYTES_PER_WEIGHT: f64 = 2.0;

impl TowerLayers {
    /// Number of outputs of the projection to queries.
    pub const fn inner(&self) -> u64 {
        self.n_heads * self.head_dim
    }

    /// Number of outputs of the projections to keys and to values, each.
    pub const fn kv_inner(&self) -> u64 {
        self.n_kv_heads * self.head_dim
    }

    /// Number of outputs of the first matrix of the MLP, with the gate.
    pub const fn mlp_inputs(&self) -> u64 {
        match self.mlp {
            MlpKind::Gated => 2 * self.width,
            MlpKind::Plain => self.width,
        }
    }

    /// Number of parameters of all layers of the group.
    ///
    /// ```text
    /// params = layers (2 H (h + g) d + (1 + m) I H + others + vectors)        m = 2 with a gate, else 1
    /// ```
    fn params(&self) -> u128 {
        let hidden = u128::from(self.hidden_size);
        let attention = 2 * hidden * u128::from(self.inner() + self.kv_inner());
        let mlp = hidden * u128::from(self.mlp_inputs() + self.width);
        let others = u128::from(self.other_matrices) + u128::from(self.vectors);
        u128::from(self.layers) * (attention + mlp + others)
    }
}

impl Tower {
    /// A tower whose files state its bytes and whose geometry is unknown.
    pub const fn of_bytes(kind: TowerKind, bytes: Bytes) -> Self {
        Self {
            kind,
            layers: List::Borrowed(&[]),
            ends: List::Borrowed(&[]),
            vectors: 0,
            images: ImageRule::Unknown { merge: 1 },
            stored: Some(bytes),
        }
    }

    /// Number of parameters of encoder and projector.
    pub fn n_params(&self) -> u64 {
        u64::try_from(self.count_params()).unwrap_or(u64::MAX)
    }

    fn count_params(&self) -> u128 {
        let layers: u128 = self.layers.iter().map(TowerLayers::params).sum();
        let ends = self.ends.iter().map(|end| u128::from(end.rows) * u128::from(end.cols));
        layers + ends.sum::<u128>() + u128::from(self.vectors)
    }

    /// Bytes of its weights in memory.
    pub fn weight_bytes(&self) -> Bytes {
        self.stored.unwrap_or_else(|| Bytes::new(BYTES_PER_WEIGHT * self.n_params() as f64))
    }

    /// True if its layers are known, so that the time of an image can be computed.
    pub fn has_layers(&self) -> bool {
        self.layers.iter().any(|group| group.layers > 0)
    }
}

impl ModelArch {
    /// Number of parameters of all towers, which [`ModelArch::n_params`] leaves out.
    pub fn n_tower_params(&self) -> u64 {
        self.towers.iter().map(Tower::n_params).sum()
    }

    /// Bytes of all towers in memory.
    pub fn tower_bytes(&self) -> Bytes {
        self.towers.iter().map(Tower::weight_bytes).sum()
    }

    /// The tower that reads images.
    pub fn vision_tower(&self) -> Option<&Tower> {
        self.towers.iter().find(|tower| tower.kind == TowerKind::Vision)
    }
}
