//! Operators of both phases as points on the roofline.

use calc_core::estimate::{Estimate, PhaseEstimate};
use calc_core::plan::{OpRow, Resource};
use calc_core::quant_format::ComputeClass;
use chart::mark::{Mark, Shape, hue_of_class};
use chart::roofline::{PointInput, Roofline};
use chart::scene::OperatorPanel;
use chart::theme::Hue;
use report::number_text as text;
use report::output::words;

use super::question::ModelQuestion;

/// Key and name of each phase.
pub const PHASES: [(&str, &str); 2] = [("prefill", "Prefill"), ("decode", "Decode")];

/// Prefill and decode.
pub fn phases(answer: &Estimate) -> [&PhaseEstimate; 2] {
    [&answer.prefill, &answer.decode]
}

/// Key of an operator's point: `decode-qkv`.
pub fn point_key(phase: &str, operator: &OpRow) -> String {
    format!("{phase}-{}", operator.kind.key())
}

/// Color of the peak that an operator runs on.
pub fn hue(operator: &OpRow) -> Hue {
    hue_of_class(operator.path.class)
}

/// Share of the expected time of the step.
pub fn share(phase: &PhaseEstimate, operator: &OpRow) -> f64 {
    operator.totals.expected.time / phase.totals.expected.time
}

/// The name of a resource in tables and sentences of the page, which says DRAM for the memory of the device.
pub const fn limiter_name(resource: Resource) -> &'static str {
    match resource {
        Resource::Memory => "DRAM",
        _ => words::resource(resource),
    }
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
    let mut named = PHASES.into_iter();
    Some(phases(answer).map(|phase| {
        let (key, name) = named.next().unwrap_or_default();
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

/// An operator in words, for keyboard users of the chart.
pub fn spoken(answer: &Estimate, key: Option<&str>) -> String {
    let Some(key) = key else { return String::new() };
    for ((phase_key, name), phase) in PHASES.into_iter().zip(phases(answer)) {
        let mut rows = phase.operators.iter();
        let Some(row) = rows.find(|row| point_key(phase_key, row) == key) else { continue };
        let totals = &row.totals;
        return format!(
            "{}, {name}: {}, {} FLOP/B, {} of the time, limited by {}",
            row.kind.key(),
            text::flops(totals.cost.flops),
            text::plain(totals.cost.intensity().get()),
            text::percent(share(phase, row)),
            limiter_name(totals.expected_resource())
        );
    }
    String::new()
}
