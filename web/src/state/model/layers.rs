//! The layers of a model: a picture of their order, and the operators of both phases by the part of the layers that they
//! belong to.

use calc_core::estimate::{Estimate, PhaseEstimate};
use calc_core::model_arch::{LayerGroup, LayerPart, ModelArch};
use calc_core::plan::{LayerRow, OpRow, StepTotals};
use calc_core::units::Bytes;
use calc_core::workload::Workload;
use chart::theme::Hue;
use report::number_text as text;
use report::output::verdict::explain::Explanation;
use report::output::verdict::model as say;
use report::output::words;

use super::answer::ModelShown;
use super::geometry;
use super::inputs::ModelInputs;
use super::operators::{PHASES, hue, limiter_name, phases, point_key, share};
use super::question::ModelQuestion;
use crate::state::place::Place;

/// The order of the layers, drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerPicture {
    /// Number of layers and their order in words.
    pub sentence: String,
    /// Number of layers: the width of the picture. 0 if the order is unknown.
    pub width: u64,
    pub parts: Vec<DrawnPart>,
}

/// A part of layers in the picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnPart {
    /// Class name of its shade.
    pub class: String,
    /// Name, and the number of layers that have it.
    pub name: String,
    /// Outline of its bars in all layers, 2 high; empty if the order is unknown.
    pub outline: String,
}

/// The table of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTable {
    pub name: &'static str,
    pub caption: String,
    /// The model outside its layers comes last.
    pub parts: Vec<PartTable>,
}

/// The operators of a part of the layers.
#[derive(Debug, Clone, PartialEq)]
pub struct PartTable {
    pub name: String,
    /// Sums over the operators; the count is the number of layers.
    pub sum: Numbers,
    /// Rows, in the order of a layer.
    pub rows: Vec<OperatorRow>,
}

/// Operators of one kind in one part of the layers.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorRow {
    /// Key of its point on the chart, such as `decode-qkv`.
    pub key: String,
    /// The key, different in each row of a table.
    pub id: String,
    pub name: &'static str,
    /// Color of the peak that it runs on.
    pub hue: Hue,
    pub numbers: Numbers,
    pub explanation: Explanation,
}

/// The cells of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers {
    pub count: String,
    pub flops: String,
    /// Bytes of weights, KV cache and activations.
    pub bytes: [String; 3],
    /// Arithmetic intensity in FLOP per byte.
    pub intensity: String,
    /// Share of the expected time of the step.
    pub share: String,
    /// Limiting resource.
    pub bound: &'static str,
}

/// The order of the layers; `None` where a field of the geometry is invalid.
pub fn picture_of(inputs: &ModelInputs) -> Option<LayerPicture> {
    geometry::changed(inputs).ok().map(|model| picture(&model))
}

/// The operators of a phase, 0 for prefill and 1 for decode; `None` where the answer belongs to earlier inputs.
pub fn table_of(
    inputs: &ModelInputs,
    place: Place<'_>,
    shown: &ModelShown,
    phase: usize,
) -> Option<PhaseTable> {
    let question = ModelQuestion::read(inputs, place).ok().filter(|_| !shown.is_stale())?;
    let estimate = &shown.answer.estimate;
    let [prefill, decode] = captions(&question.workload, estimate);
    let caption = if phase == 0 { prefill } else { decode };
    let phases = phases(estimate);
    Some(table(&question.arch, (*PHASES.get(phase)?, *phases.get(phase)?), caption))
}

fn captions(w: &Workload, answer: &Estimate) -> [String; 2] {
    let tokens = match w.batch {
        1 => "one token".to_owned(),
        batch => format!("{} tokens", text::count(batch)),
    };
    [
        format!(
            "{} tokens at once{}",
            text::count(w.batch.saturating_mul(w.prompt)),
            other_first_token(w, answer).unwrap_or_default()
        ),
        format!("{tokens} at {} cached tokens", text::count(w.context)),
    ]
}

/// The time of the whole prompt in one step, and why the first token takes another one; `None` where they are the same.
fn other_first_token(w: &Workload, answer: &Estimate) -> Option<String> {
    let how = words::first_token(w, answer).filter(|_| !w.static_batch && !answer.link_unknown)?;
    let [whole, first] = [answer.prefill.totals.expected.time, answer.ttft.time].map(text::time);
    let copies = answer.placement.is_some_and(|placement| placement.is_split() && placement.copies);
    let again = if copies && answer.chunks.steps > 1 {
        "; each chunk copies the weights on the host to the card again"
    } else {
        ""
    };
    Some(format!(": {whole}. The first token takes {first}, the time {how}{again}."))
}

fn table(
    model: &ModelArch,
    ((key, name), phase): ((&str, &'static str), &PhaseEstimate),
    caption: String,
) -> PhaseTable {
    let mut kinds = Vec::new();
    let is_whole = |row: &&LayerRow| row.part == LayerPart::WHOLE;
    let in_layers = phase.layers.iter().filter(|row| !is_whole(row));
    let parts = in_layers.chain(phase.layers.iter().filter(is_whole));
    let parts = parts.map(|row| {
        let rows = row.operators.iter().map(|operator| {
            kinds.push(operator.kind);
            let again = kinds.iter().filter(|kind| **kind == operator.kind).count();
            self::row((key, again), phase, operator)
        });
        let layers = match row.part {
            LayerPart::WHOLE => text::NO_NUMBER.to_owned(),
            part => text::count(part.layers(model)),
        };
        PartTable {
            name: words::layers::part(model, row.part),
            rows: rows.collect(),
            sum: numbers(
                layers,
                &row.totals,
                row.totals.expected.time / phase.totals.expected.time,
                true,
            ),
        }
    });
    PhaseTable { name, caption, parts: parts.collect() }
}

/// `again` counts the rows of one kind of operator in a table, from 1.
fn row((phase_key, again): (&str, usize), phase: &PhaseEstimate, operator: &OpRow) -> OperatorRow {
    let share = share(phase, operator);
    let key = point_key(phase_key, operator);
    let id = if again == 1 { key.clone() } else { format!("{key}-{again}") };
    OperatorRow {
        key,
        id,
        name: operator.kind.key(),
        hue: hue(operator),
        numbers: numbers(
            text::count(operator.count),
            &operator.totals,
            share,
            operator.kind.is_kernel(),
        ),
        explanation: say::operator(operator, phase.totals.ideal, share),
    }
}

fn numbers(count: String, totals: &StepTotals, share: f64, is_kernel: bool) -> Numbers {
    let traffic = &totals.cost.traffic;
    let size = |value: Bytes| {
        if value == Bytes::ZERO { text::NO_NUMBER.to_owned() } else { text::bytes(value) }
    };
    let has_work = totals.cost.flops.get() > 0.0;
    let worked = |shown: String| if has_work { shown } else { text::NO_NUMBER.to_owned() };
    Numbers {
        count,
        flops: worked(text::flops(totals.cost.flops)),
        bytes: [size(traffic.weights), size(traffic.kv_cache), size(traffic.activations)],
        intensity: worked(text::plain(totals.cost.intensity().get())),
        share: text::percent(share),
        bound: if is_kernel { limiter_name(totals.expected_resource()) } else { text::NO_NUMBER },
    }
}

/// Width of a bar in a layer that is 1 wide.
const BAR: f64 = 0.8;
/// Most shades above and below the middle; further parts have the last one.
const SHADES: usize = 4;

/// Bars above the middle are attention and recurrent layers, those below it MLPs and experts.
fn picture(model: &ModelArch) -> LayerPicture {
    let sections = model.sections();
    let mut order: Vec<Vec<LayerPart>> = Vec::new();
    for section in sections.iter().flatten() {
        for _ in 0..section.repeat {
            for run in &section.runs {
                order.extend((0..run.count).map(|_| run.parts.clone()));
            }
        }
    }
    let (mut above, mut below) = (0, 0);
    let drawn = |(part, count): (LayerPart, u64)| {
        let side = if is_above(part) { &mut above } else { &mut below };
        let shade = (*side).min(SHADES - 1);
        *side += 1;
        let plural = if count == 1 { "" } else { "s" };
        DrawnPart {
            class: format!("{}-{shade}", if is_above(part) { "mixer" } else { "mlp" }),
            name: format!(
                "{}: {} layer{plural}",
                words::layers::part(model, part),
                text::count(count)
            ),
            outline: outline(part, &order),
        }
    };
    LayerPicture {
        sentence: match words::layers::pattern(model) {
            Some(pattern) => format!("{} in this order: {pattern}", text::count(model.n_layers)),
            None => format!("{}; their order is unknown", text::count(model.n_layers)),
        },
        width: order.len() as u64,
        parts: model.layer_parts().into_iter().map(drawn).collect(),
    }
}

const fn is_above(part: LayerPart) -> bool {
    matches!(part.group, LayerGroup::Attention(_) | LayerGroup::Recurrent(_))
}

/// The bars of a part. What looks back at every token and what has experts is high; a window, a state and an MLP are less.
/// Parts of one layer that work side by side share its width.
fn outline(part: LayerPart, order: &[Vec<LayerPart>]) -> String {
    let high = match part.group {
        LayerGroup::Attention(_) if part.windowed => 0.6,
        LayerGroup::Recurrent(_) => 0.36,
        LayerGroup::Dense(_) => 0.6,
        LayerGroup::Attention(_) | LayerGroup::Experts(_) | LayerGroup::Whole => 0.96,
    };
    let above = is_above(part);
    let (top, bottom) = if above { (0.98 - high, 0.98) } else { (1.02, 1.02 + high) };
    let bar = |(layer, parts): (usize, &Vec<LayerPart>)| {
        let beside = || parts.iter().filter(|other| is_above(**other) == above);
        let place = beside().position(|other| *other == part)?;
        let width = BAR / beside().count() as f64;
        let left = layer as f64 + place as f64 * width;
        Some(format!("M{left:.2} {top:.2}h{width:.2}V{bottom:.2}h-{width:.2}z"))
    };
    order.iter().enumerate().filter_map(bar).collect()
}

#[cfg(test)]
mod tests {
    use calc_core::catalog::{self, models};

    use super::*;
    use crate::state::inputs::Inputs;
    use crate::state::model::answer::next;
    use crate::state::model::beside::with;
    use crate::state::model::inputs::ModelSource;

    fn tables(key: &str) -> [PhaseTable; 2] {
        let mut inputs = Inputs::default();
        inputs.model.set_base(ModelSource::Catalog(catalog::model(key).expect("catalog key")));
        inputs.device =
            std::borrow::Cow::Borrowed(catalog::device("h200_sxm").expect("catalog key"));
        let shown = next(None, &inputs.model, inputs.place());
        [0, 1]
            .map(|phase| table_of(&inputs.model, inputs.place(), &shown, phase).expect("an answer"))
    }

    /// Left and right end of each bar.
    fn bars(outline: &str) -> Vec<(f64, f64)> {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let bar = |text: &str| {
            let (left, rest) = text.split_once(' ').expect("a corner");
            let (_, rest) = rest.split_once('h').expect("a width");
            let (width, _) = rest.split_once('V').expect("a height");
            (number(left), number(left) + number(width))
        };
        outline.split('M').skip(1).map(bar).collect()
    }

    /// The inputs of gpt-oss-120b on one RTX 4090 with a host, the most experts of which lie on the host.
    fn beside_host() -> Inputs {
        let mut inputs = Inputs::default();
        let device = catalog::device("rtx_4090").expect("catalog key");
        let model = catalog::model("gpt-oss-120b").expect("catalog key");
        inputs.set_device(std::borrow::Cow::Borrowed(device));
        inputs.model.set_base(ModelSource::Catalog(model));
        inputs.model.beside = with(None, "host", "96 GB of DDR5", device);
        inputs
    }

    #[test]
    fn what_runs_on_the_host_is_limited_by_host_memory() {
        let inputs = beside_host();
        let shown = next(None, &inputs.model, inputs.place());
        let limits = |phase: usize| -> Vec<(&'static str, &'static str)> {
            let table = table_of(&inputs.model, inputs.place(), &shown, phase).expect("an answer");
            let rows = table.parts.iter().flat_map(|part| &part.rows);
            rows.map(|row| (row.name, row.numbers.bound)).collect()
        };
        let decode = limits(1);
        assert!(decode.contains(&("expert_gate_up", "host memory")), "{decode:?}");
        assert!(decode.contains(&("qkv", "DRAM")), "{decode:?}");
        let prefill = limits(0);
        assert!(prefill.contains(&("expert_gate_up", "host link")), "{prefill:?}");
    }

    #[test]
    fn a_first_token_in_chunks_says_why_it_takes_longer_than_the_prompt_at_once() {
        let inputs = beside_host();
        let shown = next(None, &inputs.model, inputs.place());
        let table = table_of(&inputs.model, inputs.place(), &shown, 0).expect("an answer");
        let estimate = &shown.answer.estimate;
        let [whole, first] =
            [estimate.prefill.totals.expected.time, estimate.ttft.time].map(text::time);
        assert_eq!(
            table.caption,
            format!(
                "4\u{202f}096 tokens at once: {whole}. The first token takes {first}, the time of one request, in 8 chunks of 512 tokens; each chunk copies the weights on the host to the card again."
            )
        );
        let caption = tables("llama-3.1-8b")[0].caption.clone();
        assert!(caption.starts_with("4\u{202f}096 tokens at once"), "{caption}");
    }

    #[test]
    fn every_layer_of_every_model_is_drawn_in_its_own_width() {
        for model in models::all() {
            let picture = picture(&model.arch);
            let Some(_) = model.arch.sections() else {
                assert!(picture.sentence.ends_with("unknown"), "{}", model.key);
                continue;
            };
            assert_eq!(picture.width, model.arch.n_layers, "{}", model.key);
            for side in ["mixer", "mlp"] {
                let own = picture.parts.iter().filter(|part| part.class.starts_with(side));
                let mut bars: Vec<(f64, f64)> = own.flat_map(|part| bars(&part.outline)).collect();
                bars.sort_by(|a, b| a.0.total_cmp(&b.0));
                let apart = bars.windows(2).all(|two| two[0].1 < two[1].0 + 1e-9);
                assert!(apart, "{} {side}", model.key);
            }
            let bars: usize =
                picture.parts.iter().map(|part| part.outline.matches('M').count()).sum();
            assert!(bars as u64 >= model.arch.n_layers, "{}", model.key);
        }
    }

    #[test]
    fn tables_have_each_part_of_the_layers_and_every_id_once() {
        for (key, parts) in [("llama-3.1-8b", 3), ("gpt-oss-120b", 4), ("qwen3.5-35b-a3b", 4)] {
            for table in tables(key) {
                assert_eq!(table.parts.len(), parts, "{key}");
                let last = table.parts.last().map(|part| part.name.clone()).unwrap_or_default();
                assert!(last.starts_with("all else"), "{key}: {last}");
                let mut ids: Vec<&str> =
                    table.parts.iter().flat_map(|part| &part.rows).map(|row| &*row.id).collect();
                let all = ids.len();
                ids.sort_unstable();
                ids.dedup();
                assert_eq!(ids.len(), all, "{key}");
            }
        }
    }
}
