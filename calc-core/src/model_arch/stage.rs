//! The part of a model that one stage of a pipeline holds: consecutive layers, and the ends of the model.
//! How engines cut a model into stages is in `parallel::stages`.

use core::ops::Range;

use super::{LayerGroup, LayerPart, LayerSection, ModelArch};
use crate::text::Text;

/// The ends of a model that a part of it has: embedding and further tables at the first, norm and LM head at the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub first: bool,
    pub last: bool,
}

impl Ends {
    /// Those of a whole model.
    pub const BOTH: Self = Self { first: true, last: true };
}

impl ModelArch {
    /// The part of the model with some consecutive layers. Embedding and LM head are said by `ends` alone, since sizes of the
    /// vocabulary do not tell them apart.
    ///
    /// ```text
    /// known order     layers of each group among these
    /// unknown order   min(n, l ceil(n / N)) of the n layers of a group, for l of N layers: a bound for any place of the stage
    /// ```
    ///
    /// ```
    /// let model = &calc_core::catalog::model("deepseek-v3.2").unwrap().arch; // 3 dense layers, then 58 with experts
    /// let part = model.stage(0..8, calc_core::model_arch::Ends { first: true, last: false });
    /// assert_eq!((part.dense[0].layers, part.moe[0].layers), (3, 5));
    /// ```
    #[must_use]
    pub fn stage(&self, layers: Range<u64>, ends: Ends) -> Self {
        let cut = Cut { model: self, sections: self.sections_of_all(), layers };
        let mut part = self.clone();
        part.n_layers = cut.layers.end - cut.layers.start;
        part.order = Text::default();
        for (index, group) in part.attention.to_mut().iter_mut().enumerate() {
            let full = LayerPart::of(LayerGroup::Attention(index));
            let windowed = LayerPart { windowed: true, ..full };
            if let Some(indexer) = &mut group.indexer {
                indexer.layers = cut.among(indexer.layers, &[full, windowed]);
            }
            group.full_layers = cut.layers_of(full);
            group.windowed_layers = cut.layers_of(windowed);
        }
        for (index, group) in part.recurrent.to_mut().iter_mut().enumerate() {
            *group.layers_mut() = cut.layers_of(LayerPart::of(LayerGroup::Recurrent(index)));
        }
        for (index, group) in part.dense.to_mut().iter_mut().enumerate() {
            group.layers = cut.layers_of(LayerPart::of(LayerGroup::Dense(index)));
        }
        for (index, moe) in part.moe.to_mut().iter_mut().enumerate() {
            moe.layers = cut.layers_of(LayerPart::of(LayerGroup::Experts(index)));
        }
        for matrix in part.projections.to_mut() {
            matrix.count = cut.spread(matrix.count);
        }
        for count in [&mut part.other_vectors, &mut part.add_norms, &mut part.post_norms] {
            *count = cut.spread(*count);
        }
        part.final_norm &= ends.last;
        part.lm_head_bias &= ends.last;
        if !ends.first {
            part.position_rows = 0;
            part.tables.to_mut().clear();
        }
        part
    }

    /// The order of the layers, if it names each of them.
    fn sections_of_all(&self) -> Option<alloc::vec::Vec<LayerSection>> {
        let sections = self.sections()?;
        let named: u64 = sections
            .iter()
            .map(|section| section.repeat * section.runs.iter().map(|run| run.count).sum::<u64>())
            .sum();
        (named == self.n_layers).then_some(sections)
    }
}

/// Consecutive layers of a model.
struct Cut<'a> {
    model: &'a ModelArch,
    /// `None` if the order of the layers is unknown.
    sections: Option<alloc::vec::Vec<LayerSection>>,
    layers: Range<u64>,
}

impl Cut<'_> {
    /// Number of these layers that have a part.
    fn layers_of(&self, part: LayerPart) -> u64 {
        match &self.sections {
            Some(sections) => {
                among_first(sections, part, self.layers.end)
                    - among_first(sections, part, self.layers.start)
            }
            None => self.bound(part.layers(self.model)),
        }
    }

    /// The share of `count` that belongs to these layers, if it is spread evenly over the layers with some parts.
    fn among(&self, count: u64, parts: &[LayerPart]) -> u64 {
        let Some(sections) = &self.sections else { return self.bound(count) };
        let of =
            |layers| -> u64 { parts.iter().map(|part| among_first(sections, *part, layers)).sum() };
        between(count, of(self.model.n_layers), of(self.layers.start)..of(self.layers.end))
    }

    /// The share of `count` that belongs to these layers, if it is spread evenly over all.
    fn spread(&self, count: u64) -> u64 {
        match &self.sections {
            Some(_) => between(count, self.model.n_layers, self.layers.clone()),
            None => self.bound(count),
        }
    }

    /// The most of `count` that as many layers may have.
    fn bound(&self, count: u64) -> u64 {
        let layers = self.layers.end - self.layers.start;
        count.min(layers.saturating_mul(count.div_ceil(self.model.n_layers.max(1))))
    }
}

/// The part of `count`, spread over `of` places, that lies in a range of places. The parts of ranges that follow each other add
/// up to `count`.
fn between(count: u64, of: u64, places: Range<u64>) -> u64 {
    let until = |place| {
        let whole = u128::from(count) * u128::from(place);
        u64::try_from(whole.div_ceil(u128::from(of.max(1)))).unwrap_or(count)
    };
    until(places.end) - until(places.start)
}

/// Number of layers with a part among the first `layers`.
fn among_first(sections: &[LayerSection], part: LayerPart, layers: u64) -> u64 {
    let (mut left, mut found) = (layers, 0);
    for section in sections {
        for run in (0..section.repeat).flat_map(|_| &section.runs) {
            let here = run.count.min(left);
            left -= here;
            found += if run.parts.contains(&part) { here } else { 0 };
        }
    }
    found
}
