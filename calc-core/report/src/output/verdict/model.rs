//! Verdict on an estimate: whether the model fits, its speed, the bound and the remedies; and explanations of its numbers.

use calc_core::calibration::Basis;
use calc_core::estimate::{Estimate, PhaseEstimate};
use calc_core::expected::Expected;
use calc_core::footprint::{DraftMemory, MemoryFootprint, MemoryVerdict};
use calc_core::plan::{Limit, OpRow};
use calc_core::provenance::Provenance;
use calc_core::units::{Bytes, Seconds};
use calc_core::workload::Workload;

use super::explain::{Explanation, NumberSource};
use crate::number_text as text;
use crate::output::lesson::{self, Lesson};
use crate::output::words;

/// Below this saved share of the expected time, the verdict states the saving of half the bytes instead of advising fewer bytes.
const LITTLE: f64 = 0.2;

/// Verdict: whether the model fits, the bound and the speed.
pub fn sentence(answer: &Estimate, workload: &Workload) -> String {
    if let MemoryVerdict::DoesNotFit { missing } = answer.memory.verdict() {
        let weights = answer.precision.weights.key.to_ascii_uppercase().replace('_', " ");
        let short = words::memory::shortage(missing, answer.memory.both().1.bytes);
        return format!("Does not fit in {weights}: {short}.");
    }
    let fits = match answer.memory.verdict() {
        MemoryVerdict::Unknown { .. } => {
            format!("Needs {} of an unknown memory", text::bytes(answer.memory.total()))
        }
        MemoryVerdict::Fits { .. } | MemoryVerdict::DoesNotFit { .. } => "Fits".to_owned(),
    };
    let limit = match answer.middle.totals.limit() {
        Limit::Links => "the links between devices limit decode",
        Limit::Host => "the memory of the host limits decode",
        Limit::Launch => "launching its operators limits decode",
        Limit::Memory => "DRAM limits decode",
        Limit::Compute => "arithmetic limits decode",
    };
    let other = words::other_limit(&answer.middle);
    if answer.link_unknown {
        return format!("{fits}, and {limit}{other}: {}.", words::without_link(answer));
    }
    let all = if workload.batch > 1 { " in all" } else { "" };
    let over = words::mean_over(workload);
    format!(
        "{fits}, and {limit}{other}: {} expected{all}{over}{}.",
        text::token_rate(answer.mean.throughput()),
        words::rate_at_context(workload, answer)
    )
}

/// Numbers behind the verdict, and remedies; those of the step in the middle of the generation.
pub fn line(answer: &Estimate) -> String {
    let decode = &answer.middle.totals;
    let traffic = &decode.cost.traffic;
    let (largest, share, help) = largest_part(&[
        ("weights", traffic.weights, "Fewer bits per weight help most."),
        ("the KV cache", traffic.kv_cache, "A narrower KV cache or a shorter context helps most."),
        ("activations", traffic.activations, "Fusing operators helps most."),
    ]);
    let moved = text::bytes(traffic.total());
    let saves = answer.middle.half_bytes_save();
    let share_of = |part: Seconds| text::percent(part / decode.expected.time);
    let help = match decode.limit() {
        Limit::Links => format!(
            "The links between devices take {} of the expected time; fewer devices or faster links help.",
            share_of(decode.links)
        ),
        Limit::Host => format!(
            "The host takes {} of the expected time: more of the model on the card, fewer bits or faster memory help.",
            share_of(decode.host)
        ),
        Limit::Launch => format!(
            "The fixed cost of kernels takes {} of the expected time; a larger batch amortizes it.",
            share_of(decode.floors)
        ),
        Limit::Memory if saves < LITTLE => {
            format!("Half the bytes save only {} of the expected time.", text::percent(saves))
        }
        Limit::Memory => help.to_owned(),
        Limit::Compute => format!(
            "Faster arithmetic helps; half the bytes save {} of the expected time.",
            text::percent(saves)
        ),
    };
    format!("A step moves {moved}, {} of it {largest}. {help}", text::percent(share))
}

fn largest_part<'a>(parts: &[(&'a str, Bytes, &'a str); 3]) -> (&'a str, f64, &'a str) {
    let total: Bytes = parts.iter().map(|part| part.1).sum();
    let [first, others @ ..] = parts;
    let largest = others.iter().fold(first, |best, part| if part.1 > best.1 { part } else { best });
    (largest.0, largest.1 / total, largest.2)
}

/// Explanation of a latency at the roof.
pub fn ideal_latency(title: &str, ideal: Seconds, device: &str) -> Explanation {
    Explanation {
        title: format!("{title}, ideal"),
        formula: "sum over operators of the longer of bytes ÷ bandwidth and FLOP ÷ peak".to_owned(),
        values: format!("{}; no overlap between operators", text::time(ideal)),
        provenance: Provenance::Derived,
        source: format!("the roofs of {device}").into(),
        lesson: lesson::STEP,
    }
}

/// Explanation of an expected latency.
pub fn expected_latency(
    title: &str,
    expected: &Expected,
    phase: &PhaseEstimate,
    basis: &Basis,
) -> Explanation {
    let kernels = phase.operators.iter().filter(|row| row.kind.is_kernel());
    let kernels: u64 = kernels.map(|row| row.count).sum();
    Explanation {
        title: format!("{title}, expected"),
        formula:
            "sum over operators of max(DRAM time ÷ η_mem, arithmetic time ÷ η_comp) + fixed time, and a fixed time of the step"
                .to_owned(),
        values: format!(
            "{} kernels in a step, {} of it fixed; {}, interval {}",
            text::count(kernels),
            text::time(phase.totals.floors),
            text::time(expected.time),
            text::time_range(expected.low, expected.high)
        ),
        provenance: expected.provenance,
        source: NumberSource::Factors(expected.provenance, *basis),
        lesson: lesson::EXPECTED,
    }
}

/// Explanation of a derived number: a rate, a share, an energy.
pub fn derived(
    title: &str,
    formula: &str,
    values: String,
    provenance: Provenance,
    basis: &Basis,
    lesson: Lesson,
) -> Explanation {
    Explanation {
        title: title.to_owned(),
        formula: formula.to_owned(),
        values,
        provenance,
        source: if provenance == Provenance::Derived {
            "the roofs of the device".into()
        } else {
            NumberSource::Factors(provenance, *basis)
        },
        lesson,
    }
}

/// A part of the memory that a model needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryRole {
    /// Key in the document of the page.
    pub key: &'static str,
    pub name: &'static str,
    pub bytes: Bytes,
    pub formula: &'static str,
    pub provenance: Provenance,
}

/// The parts of the memory that a model needs, those of the draft model included.
pub fn memory_roles(memory: &MemoryFootprint) -> [MemoryRole; 5] {
    let drafts = |part: fn(&DraftMemory) -> Bytes| memory.draft.as_ref().map_or(Bytes::ZERO, part);
    let role = |key, name, bytes, formula| MemoryRole {
        key,
        name,
        bytes,
        formula,
        provenance: Provenance::Derived,
    };
    let weights = memory.weights + drafts(|draft| draft.weights);
    let activations = memory.activations + drafts(|draft| draft.activations);
    [
        role(
            "weights",
            "Weights",
            weights,
            "every matrix in its format with its scales, embedding, LM head and draft model included",
        ),
        role(
            "towers",
            "Towers",
            memory.towers,
            "parameters of the encoders for images and sound × 2 B, or as their files have them, if this device has them",
        ),
        role(
            "kv",
            "KV cache",
            memory.kv_caches(),
            "batch × longest sequence × what a token keeps in every layer, in the blocks and windows of the engine",
        ),
        role(
            "acts",
            "Activations",
            activations,
            "the largest working set of one operator of the prompt",
        ),
        MemoryRole {
            provenance: Provenance::Assumed,
            ..role("reserve", "Reserve", memory.reserve, "runtime, driver and workspaces")
        },
    ]
}

/// Explanation of a part of the memory.
pub fn memory_part(
    title: &str,
    formula: &str,
    value: Bytes,
    provenance: Provenance,
) -> Explanation {
    Explanation {
        title: title.to_owned(),
        formula: formula.to_owned(),
        values: text::bytes(value),
        provenance,
        source: match provenance {
            Provenance::Assumed => "typical of runtimes on this kind of device".into(),
            _ => "the geometry and the formats of the model".into(),
        },
        lesson: lesson::MEMORY,
    }
}

/// Explanation of the operators of one name in a step.
pub fn operator(row: &OpRow, step_ideal: Seconds, share: f64) -> Explanation {
    let totals = &row.totals;
    if !row.kind.is_kernel() {
        return outside_kernels(row, share);
    }
    Explanation {
        title: row.kind.describe().to_owned(),
        formula: "instances × max(bytes ÷ bandwidth, FLOP ÷ peak)".to_owned(),
        values: format!(
            "{} instances, DRAM {} and arithmetic {}: ideal {} of {}, expected {} or {} of the step",
            text::count(row.count),
            text::time(totals.time.memory),
            text::time(totals.time.compute),
            text::time(totals.ideal),
            text::time(step_ideal),
            text::time(totals.expected.time),
            text::percent(share)
        ),
        provenance: totals.expected.provenance,
        source: format!("{}-bound; bytes are DRAM traffic", words::bound(totals.time.bound()))
            .into(),
        lesson: lesson::STEP,
    }
}

/// Explanation of a row that is not a kernel: the time of a step outside its kernels, or on links.
fn outside_kernels(row: &OpRow, share: f64) -> Explanation {
    let time = text::time(row.totals.expected.time);
    Explanation {
        title: row.kind.describe().to_owned(),
        formula: "a fixed time of every step, or bytes ÷ link bandwidth + latency".to_owned(),
        values: format!(
            "{time}, or {} of the step; no work, no DRAM traffic",
            text::percent(share)
        ),
        provenance: row.totals.expected.provenance,
        source: "part of expected times only, not of the roofs".into(),
        lesson: lesson::STEP,
    }
}

/// Sentence about the memory footprint.
pub fn memory(memory: &MemoryFootprint, devices: u64) -> String {
    let all = match devices {
        1 => String::new(),
        many => {
            format!(" Per device: {many} devices hold {}.", text::bytes(memory.group_total(many)))
        }
    };
    let (total, usable) = (text::bytes(memory.total()), text::bytes(memory.usable.bytes));
    match memory.verdict() {
        MemoryVerdict::Fits { headroom } => {
            format!(
                "{total} of {usable} that a model may use; {} are left.{all}",
                text::bytes(headroom)
            )
        }
        MemoryVerdict::DoesNotFit { missing } => {
            format!("{total} needed, {usable} usable; {} short.{all}", text::bytes(missing))
        }
        MemoryVerdict::Unknown { .. } => format!(
            "{total} needed; the installed memory is unknown, at most {usable} usable.{all}"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::calibration::Calibration;
    use calc_core::catalog;
    use calc_core::estimate::{EstimateRequest, estimate};
    use calc_core::precision::PrecisionChoice;

    fn answer(device: &str, weights: &str, workload: Workload) -> Estimate {
        estimate(EstimateRequest {
            device: catalog::device(device).expect("catalog key"),
            mode: None,
            memory_limit: None,
            model: &catalog::model("llama-3.1-8b").expect("catalog key").arch,
            precision: PrecisionChoice::weights(catalog::format(weights).expect("catalog key")),
            workload,
            weight_size: None,
            draft: None,
            engine: None,
            calibration: &Calibration::FITTED,
            host: None,
            cards: None,
        })
        .expect("a valid request")
    }

    #[test]
    fn the_verdict_names_fit_and_bound() {
        let orin = "jetson_orin_nano_8gb_super";
        for (device, weights, workload, starts, helps) in [
            (
                orin,
                "fp16",
                Workload::new(1, 4096),
                "Does not fit in FP16: ",
                "Fewer bits per weight",
            ),
            (
                orin,
                "int4_g128",
                Workload::new(1, 4096),
                "Fits, and DRAM limits decode: ",
                "Fewer bits",
            ),
            (
                "h100_sxm",
                "fp16",
                Workload::new(32, 8192),
                "Fits, and DRAM limits decode: ",
                "KV cache",
            ),
            (
                "h100_sxm",
                "int4_g128",
                Workload::new(2048, 16),
                "Fits, and arithmetic limits",
                "Faster arithmetic",
            ),
        ] {
            let answer = answer(device, weights, workload);
            let (sentence, line) = (sentence(&answer, &workload), line(&answer));
            assert!(sentence.starts_with(starts), "{device} {weights}: {sentence}");
            assert!(line.contains(helps), "{device} {weights}: {line}");
        }
    }

    #[test]
    fn the_floor_is_the_limit_of_a_small_model_on_a_fast_device() {
        let mut request = answer("h100_sxm", "int4_g128", Workload::new(1, 16));
        request.middle.totals.expected = Expected::assumed(Seconds::new(1e-4));
        assert!(line(&request).contains("fixed cost of kernels"), "{}", line(&request));
    }
}
