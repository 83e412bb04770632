//! Answer of `analyze` for people.

use calc_core::analysis::{Analysis, Operator};

use super::Document;
use crate::input::request::AnalyzeInputs;
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::verdict;
use crate::output::words;

/// Document of an analysis.
pub fn analyze(inputs: &AnalyzeInputs, answer: &Analysis) -> Document {
    let mut out = Document::default();
    let mode = inputs.power_mode.as_ref().map_or(String::new(), |mode| format!(" in mode {mode}"));
    out.heading(format!("{} on {}{mode}", shape(&inputs.operator), inputs.device.name));
    out.line(verdict::sentence(answer));
    out.line("");
    let (cost, time) = (&answer.cost, &answer.time);
    out.line(format!("precision   {}", formats(inputs, answer)));
    out.line(format!("work        {}", n::flops(cost.flops)));
    out.line(format!(
        "traffic     {}  (weights {}, activations {}, KV cache {})",
        n::bytes(cost.traffic.total()),
        n::bytes(cost.traffic.weights),
        n::bytes(cost.traffic.activations),
        n::bytes(cost.traffic.kv_cache),
    ));
    out.line(format!(
        "intensity   {}  = work / traffic; the ridge is at {}",
        n::intensity(cost.intensity()),
        n::intensity(answer.roofline.ridge())
    ));
    out.line(format!(
        "memory      {}  = traffic / {}",
        n::time(time.memory),
        n::published_bandwidth(answer.roofline.bandwidth)
    ));
    out.line(format!(
        "compute     {}  = work / {} ({}, dense)",
        n::time(time.compute),
        n::published_rate(answer.roofline.peak, answer.path.class),
        answer.path.class.key()
    ));
    out.line(format!(
        "ideal       {}  = {}: {}",
        n::time(answer.ideal),
        if answer.parts.is_empty() {
            "the longer of the two"
        } else {
            "the longer of the two, kernel by kernel"
        },
        words::bound(time.bound())
    ));
    out.line(format!("expected    {}", expected(&answer.expected)));
    let provenance = answer.expected.provenance;
    out.line(format!("factors     {}", words::factors_source(provenance, &answer.basis)));
    super::measured_how(&mut out, inputs.calibration.as_deref());
    out.table(parts(answer));
    out.notes(words::request_notes(inputs, answer));
    out
}

/// Table of the kernels of a composite operator.
fn parts(answer: &Analysis) -> Table {
    let mut table = Table::new(&[
        ("part", Align::Left),
        ("FLOP", Align::Right),
        ("bytes", Align::Right),
        ("FLOP/B", Align::Right),
        ("ideal", Align::Right),
        ("expected", Align::Right),
        ("bound", Align::Left),
    ]);
    for part in &answer.parts {
        table.push(vec![
            part.kind.key().into(),
            n::flops(part.cost.flops),
            n::bytes(part.cost.traffic.total()),
            n::plain(part.cost.intensity().get()),
            n::time(part.time.ideal()),
            n::time(part.expected.time),
            words::bound(part.time.bound()).into(),
        ]);
    }
    table
}

/// Text of an expected time with its interval and provenance.
pub(super) fn expected(expected: &calc_core::expected::Expected) -> String {
    format!(
        "{}  ({} to {}; factors {})",
        n::time(expected.time),
        n::time(expected.low),
        n::time(expected.high),
        expected.provenance.key()
    )
}

fn formats(inputs: &AnalyzeInputs, answer: &Analysis) -> String {
    let p = &answer.precision;
    match inputs.operator {
        Operator::MixtureOfExperts(_) => format!(
            "experts {}, shared expert {}, activations {}, output {}",
            p.experts.name, p.weights.name, p.activations.name, p.carrier.name
        ),
        Operator::Gemm(_) | Operator::FeedForward(_) => {
            format!(
                "weights {}, activations {}, output {}",
                p.weights.name, p.activations.name, p.carrier.name
            )
        }
        Operator::Attention { .. } | Operator::KvAppend { .. } => {
            format!("KV cache {}, everything else {}", p.kv_cache.name, p.carrier.name)
        }
        Operator::AddNorm { .. } | Operator::Norm { .. } | Operator::Activation { .. } => {
            p.carrier.name.into()
        }
    }
}

/// Text of an operator with its shape.
pub fn shape(operator: &Operator) -> String {
    match operator {
        Operator::Gemm(s) if s.m == 1 => format!("GEMV 1 × {} × {}", s.n, s.k),
        Operator::Gemm(s) => format!("GEMM {} × {} × {}", s.m, s.n, s.k),
        Operator::Attention { shape: s, .. } => format!(
            "Attention of {} new over {} cached tokens, batch {}, {} heads on {} of {}",
            s.new, s.cached, s.batch, s.heads, s.kv_heads, s.qk_dim
        ),
        Operator::KvAppend { elements, tokens } => {
            format!("KV append of {tokens} tokens of {elements} elements")
        }
        Operator::AddNorm { tokens, hidden } => format!("Add and norm of {tokens} × {hidden}"),
        Operator::Norm { tokens, hidden } => format!("Norm of {tokens} × {hidden}"),
        Operator::Activation { tokens, width, gated } => {
            let kind = if *gated { "Gated" } else { "Plain" };
            format!("{kind} activation of {tokens} × {width}")
        }
        Operator::FeedForward(s) => {
            let kind = if s.gated { "Gated" } else { "Plain" };
            format!("{kind} feed-forward of {} × {} × {}", s.tokens, s.hidden, s.intermediate)
        }
        Operator::MixtureOfExperts(s) => format!(
            "Mixture of experts of {} × {}: {} of {} experts of {} per token",
            s.tokens, s.hidden, s.per_token, s.experts, s.expert_width
        ),
    }
}
