//! Verdict on an analysis, in a sentence that a newcomer understands and an expert can check: the bound, changes that would
//! move it, and the sources of the numbers. The recommendation is not here.

pub mod explain;
pub mod model;

use calc_core::analysis::Analysis;
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::{Bound, KernelTime};
use calc_core::units::{FlopsPerSec, Seconds};

use crate::number_text as text;

/// Up to this ratio of memory and compute time, the verdict is "balanced".
const BALANCED: f64 = 1.15;
/// From this share of the expected time, the verdict is about the fixed cost of the kernel.
const FLOOR_DOMINATES: f64 = 0.5;
/// Share of the expected time that half the bytes must save to be called the only way: nearly half of it.
const ONLY_BYTES: f64 = 0.4;

/// Short name of a compute class: `FP16`.
pub fn class_name(class: ComputeClass) -> String {
    class.key().to_ascii_uppercase()
}

/// Provenance as a one-word badge.
pub const fn badge(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Read => "datasheet",
        Provenance::Reported => "reported",
        Provenance::Derived => "derived",
        Provenance::Recalled => "from memory",
        Provenance::Fitted => "fitted",
        Provenance::Measured => "measured here",
        Provenance::Assumed => "assumed",
        Provenance::Mixed => "mixed",
    }
}

/// Meaning of a badge.
pub const fn badge_meaning(provenance: Provenance) -> &'static str {
    match provenance {
        Provenance::Read => "read in the named source",
        Provenance::Reported => "measured by others, as the named source reports",
        Provenance::Derived => "computed from other facts",
        Provenance::Recalled => "from memory; no source was opened",
        Provenance::Fitted => "fitted on measurements",
        Provenance::Measured => "measured on this device",
        Provenance::Assumed => "assumed until something better is known",
        Provenance::Mixed => "parts of different origin",
    }
}

/// The bound, and by how much it exceeds the other one.
///
/// ```
/// # use calc_core::{analysis::{analyze, AnalyzeRequest, Operator}, calibration::Calibration, catalog};
/// # use calc_core::{cost::gemm::GemmShape, precision::PrecisionChoice};
/// # let answer = analyze(&AnalyzeRequest {
/// #     device: catalog::device("jetson_orin_nano_8gb_super").unwrap(),
/// #     mode: None,
/// #     operator: Operator::Gemm(GemmShape { m: 1, n: 4096, k: 4096 }),
/// #     precision: PrecisionChoice::weights(catalog::format("int4_g128").unwrap()),
/// #     engine: None,
/// #     calibration: &Calibration::FITTED,
/// # }).unwrap();
/// let sentence = report::output::verdict::sentence(&answer);
/// assert_eq!(sentence, "Memory-bound: arithmetic waits for DRAM 98\u{202f}% of the time.");
/// ```
pub fn sentence(answer: &Analysis) -> String {
    let (ideal, time) = (answer.ideal, answer.time);
    let waits = |busy: Seconds| text::percent(1.0 - busy / ideal);
    if let Some(differs) = differing(answer) {
        return differs;
    }
    match time.bound() {
        _ if moves_only(answer) => "Memory-bound: it moves bytes and computes nothing.".to_owned(),
        _ if ratio(&answer.time) <= BALANCED => {
            "Balanced: DRAM and arithmetic are both nearly always busy.".to_owned()
        }
        Bound::Memory => {
            format!("Memory-bound: arithmetic waits for DRAM {} of the time.", waits(time.compute))
        }
        Bound::Compute => {
            format!("Compute-bound: DRAM idles {} of the time.", waits(time.memory))
        }
    }
}

/// The verdict where the bound of the expected time differs from that of the ideal time.
fn differing(answer: &Analysis) -> Option<String> {
    if moves_only(answer) || floor_share(answer) > FLOOR_DOMINATES {
        return None;
    }
    let balanced = ratio(&answer.time) <= BALANCED;
    let (ideal, expected) = (answer.time.bound(), expected_bound(answer));
    if (ideal == expected && !balanced) || ratio(&answer.reached()) <= BALANCED {
        return None;
    }
    let at_the_roof = match ideal {
        _ if balanced => "Balanced",
        Bound::Memory => "Memory-bound",
        Bound::Compute => "Compute-bound",
    };
    let waits_for = match expected {
        Bound::Memory => "DRAM",
        Bound::Compute => "arithmetic",
    };
    let saves = text::percent(answer.half_bytes_save());
    Some(format!(
        "{at_the_roof} at the roof, but kernels here wait for {waits_for}: half the bytes save {saves} of the expected time."
    ))
}

/// The bound at the shares of the roofs that kernels reach.
fn expected_bound(answer: &Analysis) -> Bound {
    answer.reached().bound()
}

/// True for operators without arithmetic.
fn moves_only(answer: &Analysis) -> bool {
    answer.cost.flops.get() == 0.0
}

/// Ratio of the longer to the shorter of memory and compute time.
fn ratio(time: &KernelTime) -> f64 {
    let (memory, compute) = (time.memory.get(), time.compute.get());
    if memory > compute { memory / compute } else { compute / memory }
}

/// Numbers behind the verdict, and remedies.
pub fn line(answer: &Analysis) -> String {
    if moves_only(answer) {
        let bytes = text::bytes(answer.cost.traffic.total());
        let help = if floor_share(answer) > FLOOR_DOMINATES {
            format!(
                "Most of the expected time is the fixed {} of a kernel.",
                text::time(floors(answer))
            )
        } else {
            "Fewer bytes are the only way to be faster here.".to_owned()
        };
        return format!("{bytes} and no FLOP. {help}");
    }
    let intensity = text::plain(answer.cost.intensity().get());
    let class = class_name(answer.path.class);
    let times = text::short(ratio(&answer.time), 2);
    let (place, help) = match answer.time.bound() {
        _ if ratio(&answer.time) <= BALANCED => (
            format!("at the {class} ridge"),
            "To be faster it needs fewer bytes and faster arithmetic.",
        ),
        Bound::Memory => (
            format!("{times} times below the {class} ridge"),
            "Fewer bytes are the only way to be faster here.",
        ),
        Bound::Compute => {
            (format!("{times} times above the {class} ridge"), "Only faster arithmetic helps here.")
        }
    };
    let saves = answer.half_bytes_save();
    let help = if floor_share(answer) > FLOOR_DOMINATES {
        let (floor, kernels) = (text::time(floors(answer)), kernels(answer));
        let what = if kernels == 1 { "a kernel".to_owned() } else { format!("{kernels} kernels") };
        format!("Most of the expected time is the fixed {floor} of {what}.")
    } else if differing(answer).is_some()
        || (answer.time.bound() == Bound::Memory
            && ratio(&answer.time) > BALANCED
            && saves < ONLY_BYTES)
    {
        let rest = match expected_bound(answer) {
            Bound::Compute => "arithmetic at the speed of real kernels takes the rest",
            Bound::Memory => "arithmetic and the fixed cost of kernels take the rest",
        };
        format!("Half the bytes save {} of the expected time; {rest}.", text::percent(saves))
    } else {
        help.to_owned()
    };
    format!("{intensity} FLOP per byte, {place}. {help}")
}

/// Share of the fixed cost of kernels in the expected time.
pub fn floor_share(answer: &Analysis) -> f64 {
    floors(answer) / answer.expected.time
}

/// Fixed cost of all kernels of an operator.
pub fn floors(answer: &Analysis) -> Seconds {
    if answer.parts.is_empty() {
        return answer.factors.floor;
    }
    answer.parts.iter().map(|part| part.factors.floor).sum()
}

/// Comment on a measurement `times` as fast as the roof; `None` up to 2 % above it, the error of measurement.
pub fn above_roof(times: f64) -> Option<String> {
    (times > 1.02).then(|| {
        format!(
            "{} the roof, which no kernel can be. Likely reasons: the timed loop reads from cache instead of DRAM; a roof that was \
             measured was disturbed; device, clocks or power mode are not the ones chosen; FLOP or bytes are counted in another way; \
             sparse arithmetic; the timer stops early.",
            text::ratio(times)
        )
    })
}

/// Number of kernels run in sequence.
pub fn kernels(answer: &Analysis) -> usize {
    answer.parts.len().max(1)
}

/// Changes that would move the verdict, found by evaluating the model again.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Flips {
    /// Name of the growing dimension: `M`, or tokens in words.
    pub size: &'static str,
    /// The size at which the other roof limits: the first above for a memory-bound shape, the last below for a compute-bound
    /// one. `None` when no size in range does.
    pub other_bound_at: Option<u64>,
    /// The device's fastest class of at most the weights' width, if faster than the one used.
    pub faster: Option<(ComputeClass, FlopsPerSec)>,
}

/// Sentences about changes that would move the verdict.
pub fn changes(answer: &Analysis, flips: &Flips) -> Vec<String> {
    let class = class_name(answer.path.class);
    let ridge = text::short(answer.roofline.ridge().get(), 3);
    let size = flips.size;
    let mut changes = Vec::new();
    match answer.time.bound() {
        Bound::Memory => {
            let saves = answer.half_bytes_save();
            changes.push(if saves < ONLY_BYTES {
                format!("Half the bytes save {} of the expected time.", text::percent(saves))
            } else {
                format!("Every byte saved is time saved, up to {ridge} FLOP/B.")
            });
            changes.push(match flips.other_bound_at {
                Some(m) => {
                    format!("From {size} = {} on, {class} arithmetic limits.", text::count(m))
                }
                None => {
                    format!("No {size} makes this compute-bound: inputs and outputs grow with it.")
                }
            });
            if expected_bound(answer) == Bound::Memory {
                changes.push(format!("Faster arithmetic than {class} changes nothing."));
            }
        }
        Bound::Compute => {
            changes.push(match flips.other_bound_at {
                Some(m) => format!("Up to {size} = {}, DRAM limits.", text::count(m)),
                None => format!("No {size} makes this memory-bound."),
            });
            changes.push(format!("Weights in fewer bits change nothing while {class} computes."));
            changes.extend(flips.faster.map(|(faster, peak)| {
                let times = text::short(peak / answer.roofline.peak, 2);
                format!("{} arithmetic is {times} times as fast; weights and activations must be in it.", class_name(faster))
            }));
        }
    }
    if floor_share(answer) > 0.1 {
        let share = text::percent(floor_share(answer));
        let what = if answer.parts.is_empty() { "a kernel" } else { "the kernels" };
        changes.push(format!("{share} of the expected time is the fixed cost of {what}; fused or larger ones amortize it."));
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::analysis::{AnalyzeRequest, Operator, analyze};
    use calc_core::calibration::Calibration;
    use calc_core::catalog;
    use calc_core::cost::gemm::GemmShape;
    use calc_core::precision::PrecisionChoice;

    fn answer(m: u64, n: u64) -> Analysis {
        analyze(&AnalyzeRequest {
            device: catalog::device("jetson_orin_nano_8gb_super").expect("catalog key"),
            mode: None,
            operator: Operator::Gemm(GemmShape { m, n, k: 4096 }),
            precision: PrecisionChoice::weights(catalog::format("fp16").expect("catalog key")),
            engine: None,
            calibration: &Calibration::FITTED,
        })
        .expect("a valid request")
    }

    fn check(answer: &Analysis, start: &str, place: &str) {
        let sentence = sentence(answer).replace(text::SPACE, " ");
        let line = line(answer).replace(text::SPACE, " ");
        assert!(sentence.starts_with(start), "{sentence}");
        assert!(line.contains(place), "{line}");
    }

    #[test]
    fn the_verdict_names_the_side_of_the_ridge() {
        check(&answer(1, 4096), "Memory-bound: arithmetic waits for DRAM 99 %", "160 times below");
        check(&answer(2048, 4096), "Compute-bound: DRAM idles 84 %", "6.3 times above");
        check(&answer(177, 4096), "Balanced at the roof, but", "at the FP16 ridge");
    }

    #[test]
    fn a_tiny_kernel_is_told_that_its_floor_dominates() {
        check(&answer(1, 1), "Memory-bound", "Most of the expected time is the fixed");
    }

    #[test]
    fn fewer_bytes_are_the_only_way_only_where_they_help() {
        let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        for (mode, only) in [(None, true), (Some(device.power_mode("7W").expect("a mode")), false)]
        {
            let answer = analyze(&AnalyzeRequest {
                device,
                mode,
                operator: Operator::Gemm(GemmShape { m: 1, n: 4096, k: 4096 }),
                precision: PrecisionChoice::weights(catalog::format("fp16").expect("catalog key")),
                engine: None,
                calibration: &Calibration::FITTED,
            })
            .expect("a valid request");
            let said = format!("{} {}", sentence(&answer), line(&answer));
            assert_eq!(said.contains("Fewer bytes are the only way"), only, "{said}");
            assert_eq!(
                answer.half_bytes_save() >= ONLY_BYTES,
                only,
                "{}",
                answer.half_bytes_save()
            );
            let all = changes(&answer, &Flips { size: "M", ..Flips::default() }).join(" ");
            assert_eq!(all.contains("Every byte saved is time saved"), only, "{all}");
        }
    }

    #[test]
    fn changes_follow_the_bound() {
        let flips = Flips {
            size: "M",
            other_bound_at: Some(178),
            faster: Some((ComputeClass::Int8, FlopsPerSec::from_tera(33.4))),
        };
        let text = |m| changes(&answer(m, 4096), &flips).join(" ");
        assert!(text(1).contains("From M = 178 on") && !text(1).contains("INT8"));
        assert!(
            text(2048).contains("Up to M = 178")
                && text(2048).contains("INT8 arithmetic is 2 times")
        );
        let none = changes(&answer(1, 1), &Flips { size: "M", ..Flips::default() }).join(" ");
        assert!(none.contains("No M makes"), "{none}");
    }
}
