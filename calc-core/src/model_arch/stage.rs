//! The part of a model that one stage of a pipeline holds: consecutive layers, and the ends of the model.
//! How engines cut a model into stages is in `parallel::stages`.

use alloc::vec::Vec;
use core::ops::Range;

use super::{LayerGroup, LayerPart, ModelArch};
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
        Sliced::of(self).stage(layers, ends)
    }
}

/// A model of which many stages are taken: the order of its layers is read once.
#[derive(Debug)]
pub(crate) struct Sliced<'m> {
    model: &'m ModelArch,
    /// The model without the text of its order, which no stage has.
    bare: ModelArch,
    /// `None` if the order of the layers is unknown.
    order: Option<Positions>,
}

impl<'m> Sliced<'m> {
    pub(crate) fn of(model: &'m ModelArch) -> Self {
        let bare = ModelArch { order: Text::default(), ..model.clone() };
        Self { model, bare, order: Positions::of(model) }
    }

    /// [`ModelArch::stage`].
    pub(crate) fn stage(&self, layers: Range<u64>, ends: Ends) -> ModelArch {
        let cut = Cut { model: self.model, order: self.order.as_ref(), layers };
        let mut part = self.bare.clone();
        part.n_layers = cut.layers.end - cut.layers.start;
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

    /// Number of layers with a part among the first `layers`; `None` if the order of the layers is unknown.
    pub(crate) fn among_first(&self, part: LayerPart, layers: u64) -> Option<u64> {
        self.order.as_ref().map(|order| order.among_first(part, layers))
    }
}

/// Where the layers with each part are.
#[derive(Debug)]
struct Positions(Vec<(LayerPart, Vec<Stretch>)>);

/// Consecutive layers with a part.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    start: u64,
    count: u64,
    /// Number of layers with the part before them.
    before: u64,
}

impl Stretch {
    const fn end(&self) -> u64 {
        self.start + self.count
    }
}

impl Positions {
    /// The layers of a model in their order, if it names each of them.
    fn of(model: &ModelArch) -> Option<Self> {
        let (mut found, mut start) = (Self(Vec::new()), 0);
        for section in &model.sections()? {
            for run in (0..section.repeat).flat_map(|_| &section.runs) {
                for part in &run.parts {
                    found.add(*part, start, run.count);
                }
                start += run.count;
            }
        }
        (start == model.n_layers).then_some(found)
    }

    fn add(&mut self, part: LayerPart, start: u64, count: u64) {
        let index = self.0.iter().position(|(known, _)| *known == part).unwrap_or_else(|| {
            self.0.push((part, Vec::new()));
            self.0.len() - 1
        });
        let stretches = &mut self.0[index].1;
        match stretches.last_mut() {
            // A part that the text names twice is one part.
            Some(last) if last.end() > start => {}
            Some(last) if last.end() == start => last.count += count,
            last => {
                let before = last.map_or(0, |last| last.before + last.count);
                stretches.push(Stretch { start, count, before });
            }
        }
    }

    /// Number of layers with a part among the first `layers`.
    fn among_first(&self, part: LayerPart, layers: u64) -> u64 {
        let Some((_, stretches)) = self.0.iter().find(|(known, _)| *known == part) else {
            return 0;
        };
        let begun = stretches.partition_point(|stretch| stretch.start < layers);
        let last = begun.checked_sub(1).and_then(|index| stretches.get(index));
        last.map_or(0, |last| last.before + last.count.min(layers - last.start))
    }
}

/// Consecutive layers of a model.
struct Cut<'a> {
    model: &'a ModelArch,
    /// `None` if the order of the layers is unknown.
    order: Option<&'a Positions>,
    layers: Range<u64>,
}

impl Cut<'_> {
    /// Number of these layers that have a part.
    fn layers_of(&self, part: LayerPart) -> u64 {
        let among = |order: &Positions| {
            order.among_first(part, self.layers.end) - order.among_first(part, self.layers.start)
        };
        self.order.map_or_else(|| self.bound(part.layers(self.model)), among)
    }

    /// The share of `count` that belongs to these layers, if it is spread evenly over the layers with some parts.
    fn among(&self, count: u64, parts: &[LayerPart]) -> u64 {
        let Some(order) = self.order else { return self.bound(count) };
        let of =
            |layers| -> u64 { parts.iter().map(|part| order.among_first(*part, layers)).sum() };
        between(count, of(self.model.n_layers), of(self.layers.start)..of(self.layers.end))
    }

    /// The share of `count` that belongs to these layers, if it is spread evenly over all.
    fn spread(&self, count: u64) -> u64 {
        match self.order {
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
