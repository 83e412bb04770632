//! Sentences about a claim: the verdict, the rates behind it, and possible explanations.

use calc_core::check::{Check, ClaimVerdict, Drafts, Explanation, HostBandwidth, Pace, RoofOrigin};
use calc_core::plan::Span;
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;

use super::{advice, context_note};
use crate::input::request::{CheckInputs, Done};
use crate::number_text as n;
use crate::output::verdict::class_name;

/// ClaimVerdict as a word for scripts.
pub const fn verdict(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Possible => "possible",
        ClaimVerdict::NearTheRoof => "near the roof",
        ClaimVerdict::AboveTheRoof => "above the roof",
    }
}

/// Verdict as a sentence with its shares, the answer to "is this possible?" first.
///
/// `Possible: 45 % of the datasheet's roof, and 48 % of the sustained roof. It takes 1.9 times as long as expected.`
pub fn sentence(answer: &Check) -> String {
    let share = answer.share;
    let judged = match answer.verdict {
        ClaimVerdict::AboveTheRoof => {
            let roof = match (&answer.host, answer.limiting_origin()) {
                (Some(_), _) => "card and host allow".to_owned(),
                (None, origin) if is_of_datasheet(origin) => "the datasheet allows".to_owned(),
                (None, origin) => format!("{} allows", roof_of(origin)),
            };
            format!("{} times as fast as {roof}.", n::short(share.of_datasheet, 3))
        }
        ClaimVerdict::NearTheRoof | ClaimVerdict::Possible => format!(
            "{} of {}, and {} of the sustained roof.",
            n::percent(share.of_datasheet),
            if answer.host.is_some() {
                "the roof of card and host"
            } else {
                roof_of(answer.limiting_origin())
            },
            n::percent(share.of_sustained)
        ),
    };
    let times = answer.time / answer.expected.time;
    let paced = match answer.pace {
        Pace::AboveTheRoof | Pace::AsExpected => String::new(),
        Pace::Fast => format!(" It is {} times as fast as expected.", n::short(1.0 / times, 3)),
        Pace::Slow => format!(" It takes {} times as long as expected.", n::short(times, 3)),
    };
    let said = match answer.verdict {
        ClaimVerdict::Possible => "possible",
        ClaimVerdict::NearTheRoof => "possible, but near the roof",
        ClaimVerdict::AboveTheRoof => "not possible",
    };
    let judged = format!("{said}: {judged}{paced}");
    match answer.memory {
        Some(memory) if !memory.verdict().may_fit() => {
            let fit = super::memory::fit(&memory, answer.devices);
            let rest = fit.trim_start_matches("Does not fit: ");
            format!("Not possible: does not fit, {rest} By the roofs alone {judged}")
        }
        Some(_) | None => advice::capital(&judged),
    }
}

/// Whether a roof is stated by a datasheet, or follows from one.
const fn is_of_datasheet(origin: Provenance) -> bool {
    match origin {
        Provenance::Read | Provenance::Derived | Provenance::Recalled | Provenance::Mixed => true,
        Provenance::Reported | Provenance::Fitted | Provenance::Measured | Provenance::Assumed => {
            false
        }
    }
}

/// A roof by where it comes from.
const fn roof_of(origin: Provenance) -> &'static str {
    match origin {
        Provenance::Read | Provenance::Derived | Provenance::Recalled | Provenance::Mixed => {
            "the datasheet's roof"
        }
        Provenance::Measured => "the roof measured on this device",
        Provenance::Reported => "the roof that others measured",
        Provenance::Fitted => "the roof fitted on measurements",
        Provenance::Assumed => "the assumed roof",
    }
}

/// Head of the column of the roofs beside [`rates`].
pub const fn roofs_head(answer: &Check) -> &'static str {
    let RoofOrigin { bandwidth, peak } = answer.origin;
    match (bandwidth, peak) {
        (Provenance::Measured, Provenance::Measured) => "measured roof",
        _ if is_of_datasheet(bandwidth) && is_of_datasheet(peak) => "datasheet",
        _ => "roof",
    }
}

/// Row of [`rates`]: quantity, claim, datasheet, sustained ceiling, and the source of the ceiling.
pub type Rates = [String; 5];

/// Rates implied by the claim beside the ceilings.
pub fn rates(answer: &Check) -> [Rates; 2] {
    let class = answer.class;
    let (datasheet, sustained) = (answer.datasheet, answer.sustained);
    [
        [
            "DRAM".to_owned(),
            n::bandwidth_in_giga(answer.implied.bandwidth),
            n::published_bandwidth(datasheet.bandwidth),
            n::bandwidth_in_giga(sustained.bandwidth.value),
            sustained.bandwidth.provenance.key().to_owned(),
        ],
        [
            class_name(class),
            n::rate_in_tera(answer.implied.rate, class),
            n::published_rate(datasheet.peak, class),
            n::rate_in_tera(sustained.peak.value, class),
            sustained.peak.provenance.key().to_owned(),
        ],
    ]
}

/// Row of the rates of a host's memory.
pub fn host_rates(host: &HostBandwidth) -> Rates {
    [
        "DRAM of the host".to_owned(),
        n::bandwidth_in_giga(host.implied),
        n::bandwidth_in_giga(host.datasheet.value),
        n::bandwidth_in_giga(host.sustained.value),
        host.sustained.provenance.key().to_owned(),
    ]
}

/// Possible explanations of the claim, one sentence each; a single sentence when no attempted explanation fits.
pub fn explanations(answer: &Check) -> Vec<String> {
    let found = answer.explanations.iter().map(|found| explanation(found, answer));
    found.chain(not_computed(answer)).collect()
}

/// From this ratio of claimed to expected time, causes outside the model are listed too.
const FAR: f64 = 2.0;

/// Causes outside the model, where no number explains a claim.
fn not_computed(answer: &Check) -> Option<String> {
    let nothing = answer.explanations.is_empty();
    match answer.pace {
        Pace::AboveTheRoof | Pace::Fast => nothing.then(|| {
            "No tested cause explains it: no format, batch, draft model, cache or power mode reaches this time.".to_owned()
        }),
        Pace::Slow if nothing || answer.time / answer.expected.time >= FAR => Some(
            "Not computed, but common causes of such slow runs: weights that were left unquantized, layers left on the CPU, \
             weights read from disk, a first run that still compiles, another program on the device, or two of the causes here at once."
                .to_owned(),
        ),
        Pace::AsExpected | Pace::Slow => None,
    }
}

/// Notes to a judgment.
pub fn notes(inputs: &CheckInputs, answer: &Check) -> Vec<String> {
    let disturbed = super::roofs::disturbed(inputs.device());
    let (Done::Token(model) | Done::Answer(model)) = &inputs.done else {
        return disturbed.into_iter().collect();
    };
    let usable = answer.memory.map(|memory| memory.usable);
    let installed = usable.map(|usable| super::memory::notes(&model.device, usable));
    let request = super::model_request_notes(model);
    let workload = &model.workload;
    let is_rate = matches!(inputs.done, Done::Token(_)) && workload.new_tokens > 1;
    let first = is_rate.then(|| {
        format!(
            "the rate is judged at a context of {} tokens, where the answer begins; a claim in seconds is judged over the whole answer",
            n::count(workload.context)
        )
    });
    request
        .into_iter()
        .chain(disturbed)
        .chain(first)
        .chain(context_note(model))
        .chain(installed.unwrap_or_default())
        .collect()
}

/// Explanation with its numbers.
pub fn explanation(found: &Explanation, answer: &Check) -> String {
    let above = answer.pace == Pace::AboveTheRoof;
    match found {
        Explanation::AsExpected => format!("As expected: {}.", advice::expected(&answer.expected)),
        Explanation::DoesNotFit { needs, usable } => format!(
            "It does not fit: {}. Another model was run, or a part of it on another device.",
            super::memory::shortage(*needs - *usable, *usable)
        ),
        Explanation::Format { format, activations, bits, span } if above => format!(
            "Another format: of the tried ones, {} is the widest that makes it possible, at {}.",
            stored(format, *activations, *bits),
            time(span, above)
        ),
        Explanation::Format { format, activations, bits, span } => format!(
            "Another format: with {} it is {}.",
            stored(format, *activations, *bits),
            time(span, above)
        ),
        Explanation::Drafts { shortest, easiest } => drafts(shortest, easiest.as_ref()),
        Explanation::Batch { batch, reaches, below } => format!(
            "The rate of several users together: batch {} reaches {}, and batch {} only {}.",
            n::count(*batch),
            n::token_rate(*reaches),
            n::count(batch - 1),
            n::token_rate(*below)
        ),
        Explanation::OneOf { batch, span } => format!(
            "The rate of one of several users: at batch {} a token is {}.",
            n::count(*batch),
            time(span, above)
        ),
        Explanation::Mode { name, budget, span } => {
            let watts = budget.map_or(String::new(), |watts| format!(" ({})", n::power(watts)));
            let name = name.as_ref().map_or_else(
                || "At datasheet peaks".to_owned(),
                |name| format!("Power mode {name}{watts}"),
            );
            format!("{name}: {}.", time(span, above))
        }
        Explanation::Cache { l2, resident, left } => format!(
            "The L2 cache: it has {} and the operator reads {} of it again and again in a warm loop; at least {} are left.",
            n::capacity(*l2),
            n::bytes(*resident),
            n::time(*left)
        ),
        Explanation::Prompt { prompt, rest } => format!(
            "The prompt was in the cache or not timed: without its {} it is {}.",
            n::time(if above { prompt.ideal } else { prompt.expected.time }),
            time(rest, above)
        ),
        Explanation::Units { class, peak, span } => format!(
            "Other units: with the matmuls in {} at {} it is {}.",
            class_name(*class),
            n::published_rate(*peak, *class),
            time(span, above)
        ),
        Explanation::Cpu { device, span } => format!(
            "It ran on a CPU: on {} with {} it is {}, and the claim implies {}.",
            device.name,
            n::published_bandwidth(device.bandwidth.value),
            time(span, above),
            n::bandwidth(answer.implied.bandwidth)
        ),
        Explanation::Engine { engine, span } => {
            format!("Another engine: with {} it is {}.", engine.key(), time(span, above))
        }
        Explanation::Offload { device, share, span } => format!(
            "A part on the CPU: {} of the layers on {}, which alone is {}.",
            n::percent(*share),
            device.name,
            time(span, above)
        ),
        Explanation::Bandwidth { expected, needed } => format!(
            "Less bandwidth, because of a lower memory clock, heat or another program: {} reached instead of {}.",
            n::bandwidth(*needed),
            n::bandwidth(*expected)
        ),
        Explanation::Overhead { kernels, floor, needed } => format!(
            "Overhead of the engine: {} kernels cost {} each however small they are; {} each would explain it.",
            n::short(*kernels, 6),
            n::time(*floor),
            n::time(*needed)
        ),
        Explanation::Clock { full, needed } => format!(
            "A lower clock, because of heat or a power limit: {} instead of {}.",
            n::clock(*needed),
            n::clock(*full)
        ),
    }
}

/// Short name of formats: `FP8 E4M3 weights and activations (8 bits)`.
fn stored(format: &QuantFormat, activations: Option<&QuantFormat>, bits: f64) -> String {
    let both = if activations.is_some() { " weights and activations" } else { "" };
    format!("{}{both} ({} bits)", format.short_name, n::short(bits, 4))
}

/// Text of a time, ideal or expected, whichever the claim is compared with.
fn time(span: &Span, above: bool) -> String {
    if above { format!("{} or more", n::time(span.ideal)) } else { expected(span) }
}

fn expected(span: &Span) -> String {
    format!("{} expected", advice::expected(&span.expected))
}

fn drafts(shortest: &Drafts, easiest: Option<&Drafts>) -> String {
    let accepted = |drafts: &Drafts| {
        format!(
            "drafts of {} with {} accepted ({} tokens a round)",
            drafts.draft_tokens,
            n::percent(drafts.acceptance),
            n::short(drafts.tokens_per_round, 3)
        )
    };
    let or = easiest.map_or(String::new(), |drafts| format!(", or {}", accepted(drafts)));
    format!("Speculative decoding: {}{or}.", accepted(shortest))
}

#[cfg(test)]
mod tests {
    use calc_core::analysis::{AnalyzeRequest, Operator};
    use calc_core::calibration::Calibration;
    use calc_core::catalog;
    use calc_core::check::{CheckRequest, Claim, Work, check};
    use calc_core::cost::gemm::GemmShape;
    use calc_core::device::Device;
    use calc_core::precision::PrecisionChoice;
    use calc_core::units::Seconds;

    use super::*;

    /// A product of `m` tokens in FP16 in a time [s].
    fn judged(device: &Device, m: u64, time: f64) -> Check {
        let fp16 = catalog::format("fp16").expect("catalog key");
        let work = Work::Operator(AnalyzeRequest {
            device,
            mode: None,
            operator: Operator::Gemm(GemmShape { m, n: 4096, k: 4096 }),
            precision: PrecisionChoice::weights(fp16),
            engine: None,
            calibration: &Calibration::FITTED,
        });
        check(&CheckRequest { work, claim: Claim::Time(Seconds::new(time)) }).expect("a judgment")
    }

    #[test]
    fn the_sentence_says_where_the_limiting_roof_comes_from() {
        let t4 = catalog::device("t4").expect("catalog key");
        let mut measured = t4.clone();
        measured.bandwidth.provenance = Provenance::Measured;
        for (device, m, time, said, head) in [
            (t4, 1, 1.0, "of the datasheet's roof, and ", "datasheet"),
            (t4, 1, 1e-9, "times as fast as the datasheet allows.", "datasheet"),
            (&measured, 1, 1.0, "of the roof measured on this device, and ", "roof"),
            (
                &measured,
                1,
                1e-9,
                "times as fast as the roof measured on this device allows.",
                "roof",
            ),
            // The peak is still that of the datasheet, and it limits a long prompt.
            (&measured, 4096, 1.0, "of the datasheet's roof, and ", "roof"),
        ] {
            let answer = judged(device, m, time);
            assert!(sentence(&answer).contains(said), "{m} {time}: {}", sentence(&answer));
            assert_eq!(roofs_head(&answer), head);
        }
    }
}
