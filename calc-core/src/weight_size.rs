//! The size of all weights of a model where it is known better than from the formats alone.

use crate::op::{OpKind, Path};
use crate::units::Bytes;

/// Allowed range of the size of all weights [GB].
pub const WEIGHT_GB: (f64, f64) = (1e-6, 1e6);
/// Allowed range of the mean bits per weight.
pub const WEIGHT_BITS: (f64, f64) = (0.1, 64.0);

/// Size of the weights, when it is known better than from the formats alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WeightSize {
    /// All weights including embeddings; the size of a file.
    Total(Bytes),
    /// Mean bits per weight over all parameters.
    BitsPerWeight(f64),
    /// Weights that the decode step of the request reads, as stated by a source; all weights are scaled alike.
    Streamed(Bytes),
    /// The sizes of the parts in the files of the model; each part is scaled by itself.
    Parts(PartBytes),
}

/// Bytes of the weights by part, as the headers of their files state them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PartBytes {
    pub embedding: Bytes,
    /// Zero if the embedding is the LM head, too.
    pub lm_head: Bytes,
    /// Everything in layers except experts, and all that belongs to no other part.
    pub layers: Bytes,
    pub experts: Bytes,
}

impl PartBytes {
    /// The sum of all parts.
    pub fn total(&self) -> Bytes {
        self.embedding + self.lm_head + self.layers + self.experts
    }
}

/// Factors on the bytes of weights that follow from formats, by part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightScale {
    /// Factor on the sum of all weights.
    pub whole: f64,
    pub embedding: f64,
    pub lm_head: f64,
    /// Factor on the matrix that an LM head reads, which may be the embedding.
    pub head_reads: f64,
    pub layers: f64,
    pub experts: f64,
}

impl WeightScale {
    /// The sizes that follow from formats.
    pub const NONE: Self = Self::alike(1.0);

    /// One factor for all parts.
    pub const fn alike(factor: f64) -> Self {
        Self {
            whole: factor,
            embedding: factor,
            lm_head: factor,
            head_reads: factor,
            layers: factor,
            experts: factor,
        }
    }

    /// The factor on the weights that an operator reads.
    pub const fn of(&self, kind: OpKind, path: Path) -> f64 {
        match (kind, path) {
            (OpKind::Embedding, _) => self.embedding,
            (OpKind::LmHead, _) => self.head_reads,
            (_, Path::Expert) => self.experts,
            (_, Path::Layer | Path::LmHead | Path::Carrier) => self.layers,
        }
    }

    /// The factors that make the `computed` sizes those of files. `head` is the computed size of the matrix of the LM head,
    /// also if it is the embedding. One factor for all where a part is on one side only, because names of tensors that are not
    /// known go to the layers.
    pub fn of_parts(files: &PartBytes, computed: &PartBytes, head: Bytes) -> Self {
        let whole = files.total() / computed.total();
        let is_on_one_side = |a: Bytes, b: Bytes| (a > Bytes::ZERO) != (b > Bytes::ZERO);
        if is_on_one_side(files.experts, computed.experts)
            || is_on_one_side(files.layers, computed.layers)
            || is_on_one_side(files.embedding, computed.embedding)
        {
            return Self::alike(whole);
        }
        let ratio = |of: Bytes, to: Bytes| if to > Bytes::ZERO { of / to } else { 1.0 };
        let (file_head, computed_head) = (files.lm_head, computed.lm_head);
        let table = ratio(files.embedding, computed.embedding);
        // A head that one side lacks is counted with the embedding, so that the sum is that of the files.
        let (embedding, lm_head) = if is_on_one_side(file_head, computed_head) {
            let ends = (files.embedding + file_head) / (computed.embedding + computed_head);
            (ends, ends)
        } else {
            (table, ratio(file_head, computed_head))
        };
        let head_reads = if file_head > Bytes::ZERO { ratio(file_head, head) } else { table };
        let (layers, experts) =
            (ratio(files.layers, computed.layers), ratio(files.experts, computed.experts));
        Self { whole, embedding, lm_head, head_reads, layers, experts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(of: [f64; 4]) -> PartBytes {
        let [embedding, lm_head, layers, experts] = of.map(Bytes::new);
        PartBytes { embedding, lm_head, layers, experts }
    }

    #[test]
    fn every_part_becomes_that_of_the_files() {
        let (files, computed) = (parts([2.0, 3.0, 10.0, 40.0]), parts([4.0, 4.0, 20.0, 20.0]));
        let scale = WeightScale::of_parts(&files, &computed, Bytes::new(4.0));
        let expected = WeightScale {
            whole: 55.0 / 48.0,
            embedding: 0.5,
            lm_head: 0.75,
            head_reads: 0.75,
            layers: 0.5,
            experts: 2.0,
        };
        assert_eq!(scale, expected);
        assert_eq!(scale.of(OpKind::ExpertDown, Path::Expert).to_bits(), 2.0_f64.to_bits());
    }

    #[test]
    fn a_head_that_one_side_lacks_keeps_the_sum() {
        for (files, computed) in [
            ([2.0, 2.0, 5.0, 0.0], [4.0, 0.0, 5.0, 0.0]),
            ([4.0, 0.0, 5.0, 0.0], [4.0, 4.0, 5.0, 0.0]),
        ] {
            let (files, computed) = (parts(files), parts(computed));
            let scale = WeightScale::of_parts(&files, &computed, Bytes::new(4.0));
            let sum = computed.embedding * scale.embedding + computed.lm_head * scale.lm_head;
            assert_eq!(sum, files.embedding + files.lm_head);
        }
    }

    #[test]
    fn a_part_under_unknown_names_scales_all_alike() {
        let (files, computed) = (parts([2.0, 2.0, 50.0, 0.0]), parts([2.0, 2.0, 5.0, 45.0]));
        let scale = WeightScale::of_parts(&files, &computed, Bytes::new(2.0));
        assert_eq!(scale, WeightScale::alike(1.0));
    }
}
