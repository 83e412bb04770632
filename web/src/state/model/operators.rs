//! Operators of both phases as rows of a table, and as points on the roofline.

use calc_core::estimate::{Estimate, PhaseEstimate};
use calc_core::plan::OpRow;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Bound;
use calc_core::units::Bytes;
use chart::mark::{Mark, Shape, hue_of_class};
use chart::roofline::{PointInput, Roofline};
use chart::scene::OperatorPanel;
use chart::theme::Hue;
use report::number_text as text;
use report::output::verdict::explain::Explanation;
use report::output::verdict::model as say;

use super::question::ModelQuestion;

/// Operators of one kind in one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorRow {
    /// Internal key, such as `decode-qkv`.
    pub key: String,
    pub name: &'static str,
    /// Color of the peak that it runs on.
    pub hue: Hue,
    /// Number of instances.
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

/// The table of a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct PhaseTable {
    pub name: &'static str,
    pub caption: String,
    /// Rows, in the order of a layer.
    pub rows: Vec<OperatorRow>,
}

/// Key and name of each phase.
const PHASES: [(&str, &str); 2] = [("prefill", "Prefill"), ("decode", "Decode")];

/// The tables of prefill and decode.
pub fn tables(question: &ModelQuestion<'_>, answer: &Estimate) -> [PhaseTable; 2] {
    let w = &question.workload;
    let captions = [
        format!("{} tokens at once", text::count(w.batch.saturating_mul(w.prompt))),
        format!(
            "{} at {} cached tokens",
            if w.batch == 1 {
                "one token".to_owned()
            } else {
                format!("{} tokens", text::count(w.batch))
            },
            text::count(w.context)
        ),
    ];
    let mut captions = captions.into_iter();
    phases(answer).map(|((key, name), phase)| PhaseTable {
        name,
        caption: captions.next().unwrap_or_default(),
        rows: phase.operators.iter().map(|operator| row(key, phase, operator)).collect(),
    })
}

fn phases(answer: &Estimate) -> [((&'static str, &'static str), &PhaseEstimate); 2] {
    let [prefill, decode] = PHASES;
    [(prefill, &answer.prefill), (decode, &answer.decode)]
}

fn point_key(phase: &str, operator: &OpRow) -> String {
    format!("{phase}-{}", operator.kind.key())
}

fn hue(operator: &OpRow) -> Hue {
    hue_of_class(operator.path.class)
}

/// Share of the expected time of the step.
fn share(phase: &PhaseEstimate, operator: &OpRow) -> f64 {
    operator.totals.expected.time / phase.totals.expected.time
}

fn row(key: &str, phase: &PhaseEstimate, operator: &OpRow) -> OperatorRow {
    let (totals, share) = (&operator.totals, share(phase, operator));
    let traffic = &totals.cost.traffic;
    let size = |value: Bytes| {
        if value == Bytes::ZERO { text::NO_NUMBER.to_owned() } else { text::bytes(value) }
    };
    let has_work = totals.cost.flops.get() > 0.0;
    let worked = |shown: String| if has_work { shown } else { text::NO_NUMBER.to_owned() };
    OperatorRow {
        key: point_key(key, operator),
        name: operator.kind.key(),
        hue: hue(operator),
        count: text::count(operator.count),
        flops: worked(text::flops(totals.cost.flops)),
        bytes: [size(traffic.weights), size(traffic.kv_cache), size(traffic.activations)],
        intensity: worked(text::plain(totals.cost.intensity().get())),
        share: text::percent(share),
        bound: match totals.time.bound() {
            _ if !operator.kind.is_kernel() => text::NO_NUMBER,
            Bound::Memory => "DRAM",
            Bound::Compute => "compute",
        },
    }
}

/// Explanation of a row's numbers; `phase` is 0 for prefill and 1 for decode.
pub fn explain(answer: &Estimate, phase: usize, index: usize) -> Option<Explanation> {
    let (_, phase) = phases(answer).into_iter().nth(phase)?;
    let operator = phase.operators.get(index)?;
    Some(say::operator(operator, phase.totals.ideal, share(phase, operator)))
}

/// The roofs that the operators run on, and for each phase a point for each operator that computes, with its share of the time.
pub fn chart(question: &ModelQuestion<'_>, answer: &Estimate) -> Option<[OperatorPanel; 2]> {
    let paths = &answer.paths;
    let mut classes: Vec<ComputeClass> = Vec::new();
    for path in [paths.layer, paths.expert, paths.lm_head, paths.carrier] {
        if !classes.contains(&path.class) {
            classes.push(path.class);
        }
    }
    let mut roofs =
        Roofline::of_device(question.place.device, question.place.mode, &classes).ok()?;
    roofs.main = Some(paths.layer.class);
    Some(phases(answer).map(|((key, name), phase)| {
        let (mut chart, mut shares) = (roofs.clone(), Vec::new());
        for operator in phase.operators.iter().filter(|row| row.totals.cost.flops.get() > 0.0) {
            let totals = &operator.totals;
            let attained = totals.cost.flops / totals.ideal;
            chart.points.push(PointInput {
                key: point_key(key, operator),
                mark: Mark { shape: Shape::Circle, hue: hue(operator) },
                label: format!("{}, {key}", operator.kind.key()),
                intensity: totals.cost.intensity(),
                attained,
                expected: Some(attained * (totals.ideal / totals.expected.time)),
                filled: true,
            });
            shares.push(share(phase, operator));
        }
        OperatorPanel { name, chart, shares }
    }))
}

/// A row in words, for keyboard users of the chart.
pub fn spoken(tables: &[PhaseTable], key: Option<&str>) -> String {
    let rows = || tables.iter().flat_map(|table| table.rows.iter().map(move |row| (table, row)));
    let found = key.and_then(|key| rows().find(|(_, row)| row.key == key));
    found.map_or_else(String::new, |(table, row)| {
        format!(
            "{}, {}: {}, {} FLOP/B, {} of the time, limited by {}",
            row.name, table.name, row.flops, row.intensity, row.share, row.bound
        )
    })
}
