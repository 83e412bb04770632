//! Reasons why the adviser drops a scheme, as sentences.

use calc_core::order::sort_short;
use calc_core::quality::QualityLoss;
use calc_core::recommend::{Drop, Dropped};
use calc_core::scheme::{BadShape, NoKernel};

use super::quality;
use crate::number_text as n;
use crate::refusal_text::core_error;

/// Reason for rejecting a scheme.
pub fn dropped(reason: &Drop, loss: &QualityLoss) -> String {
    match reason {
        Drop::Kernel(NoKernel::NoPeak(class)) => {
            format!("this device has no units for {} arithmetic", class.key().to_ascii_uppercase())
        }
        Drop::Kernel(NoKernel::OldArchitecture) => {
            "fused kernels of vLLM and torchao start at compute capability 7.5".into()
        }
        Drop::Kernel(NoKernel::NoTorchKernels) => {
            "vLLM and torchao have no fused kernels for this kind of device".into()
        }
        Drop::Kernel(NoKernel::OtherVendor) => {
            "no software has kernels for it on this vendor's devices".into()
        }
        Drop::Kernel(NoKernel::NoBuild(engine)) => {
            format!("{} has no build for this device", engine.key())
        }
        Drop::Kernel(NoKernel::OtherEngine(engine)) => {
            format!("{} has no kernels for it", engine.key())
        }
        Drop::Kernel(NoKernel::NoUsualEngine) => {
            "neither llama.cpp nor vLLM has kernels for it on this device".into()
        }
        Drop::Kernel(NoKernel::NoLlamaCpp) => "llama.cpp does not run on this device".into(),
        Drop::Split(engine, reason) => {
            format!(
                "{} {}",
                crate::output::words::apply::engine_name(*engine),
                crate::output::words::apply::no_split(*reason)
            )
        }
        Drop::Source(format) => format!(
            "the experts are published in {}; another scheme needs a copy in 16 bits, for which no command is known here",
            format.name
        ),
        Drop::Cache(engine, format) => {
            format!(
                "{} has no KV cache in {}",
                crate::output::words::apply::engine_name(*engine),
                format.name
            )
        }
        Drop::Shape(BadShape { kind, inputs, count, multiple }) => {
            let side = if *inputs { "K" } else { "N" };
            format!("{side} = {count} of {} is not a multiple of {multiple}", kind.key())
        }
        Drop::Quality { bound } => {
            let bound = n::short(*bound, 3);
            format!("{}, {bound}{}% allowed", quality(loss), n::SPACE)
        }
        Drop::Memory { needs, limit } => {
            format!(
                "needs {}, {}",
                n::bytes(*needs),
                crate::output::words::memory::shortage(*needs - *limit, *limit)
            )
        }
        Drop::Tpot { takes, bound } => {
            format!("{} per token, {} allowed", n::time(*takes), n::time(*bound))
        }
        Drop::Ttft { takes, bound } => {
            format!("first token after {}, {} allowed", n::time(*takes), n::time(*bound))
        }
        Drop::Rate { gives, bound } => {
            format!("{}, {} required", n::token_rate(*gives), n::token_rate(*bound))
        }
        Drop::Refused(error) => core_error(error),
    }
}

/// How many schemes each bound drops where all are dropped: `Of 16 schemes, 12 do not fit, 3 lose more than 5 %, 1 cannot run here.`
pub fn drop_counts(dropped: &[Dropped]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for row in dropped {
        let cause = drop_cause(&row.reason);
        match counts.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, count)) => *count += 1,
            None => counts.push((cause, 1)),
        }
    }
    sort_short(&mut counts, |(_, a), (_, b)| a > b);
    let parts: Vec<String> =
        counts.into_iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    format!("Of {} schemes, {}.", dropped.len(), parts.join(", "))
}

/// The bound that drops a scheme, after a number of schemes.
fn drop_cause(reason: &Drop) -> String {
    match reason {
        Drop::Memory { .. } => "cannot fit".to_owned(),
        Drop::Quality { bound } => {
            format!("may lose more than {}{}%", n::short(*bound, 3), n::SPACE)
        }
        Drop::Tpot { bound, .. } => format!("cannot make a token in {}", n::time(*bound)),
        Drop::Ttft { bound, .. } => format!("cannot make the first token in {}", n::time(*bound)),
        Drop::Rate { bound, .. } => format!("cannot reach {}", n::token_rate(*bound)),
        Drop::Kernel(_)
        | Drop::Split(..)
        | Drop::Cache(..)
        | Drop::Source(_)
        | Drop::Shape(_)
        | Drop::Refused(_) => "cannot run here".to_owned(),
    }
}
