//! JSON answer of `schedule`.

use calc_core::recommend::Outcome;
use calc_core::schedule::{Schedule, Slot, SlotFlip};
use serde_json::{Value, json};

use super::recommend::{
    add_places, goal, quality, scheme_precision, subject_notes, usual_notes, workload,
};
use super::{HardwareJson, MeanJson, SCHEMA};
use crate::input::request::{RecommendInputs, ScheduleInputs};
use crate::output::words::{advice, memory};

/// JSON answer of `schedule`.
pub fn schedule(inputs: &ScheduleInputs, answer: &Schedule) -> Value {
    let recommend = &inputs.recommend;
    let mut goal = goal(recommend);
    goal["power_cap_w"] = json!(inputs.power_cap.map(calc_core::units::Watts::get));
    goal["max_batch"] = json!(inputs.max_batch);
    json!({
        "schema": SCHEMA,
        "hardware": HardwareJson::new(&recommend.device, None),
        "workload": workload(recommend),
        "goal": goal,
        "first_by": answer.ranked.first().map(|_| answer.first_by.key()),
        "ranked": answer.ranked.iter().map(|row| slot(recommend, row)).collect::<Vec<_>>(),
        "flips": answer.flips.iter().map(slot_flip).collect::<Vec<_>>(),
        "notes": schedule_notes(inputs, answer),
    })
}

/// Notes to a schedule.
pub fn schedule_notes(inputs: &ScheduleInputs, answer: &Schedule) -> Vec<String> {
    let best = answer.ranked.first();
    let installed = best.map(|slot| memory::notes(&inputs.recommend.device, slot.outcome.usable));
    let modes = answer.unknown_modes.iter();
    let modes = modes.map(|mode| format!("the clocks of mode {mode} are unknown: it is left out"));
    let subject = subject_notes(&inputs.recommend.subject);
    let usual = usual_notes(&inputs.recommend).into_iter();
    usual.chain(installed.unwrap_or_default()).chain(subject).chain(modes).collect()
}

fn slot(inputs: &RecommendInputs, slot: &Slot) -> Value {
    let Outcome { ttft, decode, token, memory, precision, .. } = &slot.outcome;
    let mut told = json!({
        "power_mode": slot.mode,
        "budget_w": slot.budget.map(calc_core::units::Watts::get),
        "scheme": scheme_precision(slot.scheme, precision),
        "quality": quality(&slot.quality),
        "batch": slot.batch,
        "tpot_s": decode.expected.time.get(),
        "ttft_s": ttft.time.get(),
        "throughput_token_per_s": slot.throughput().get(),
        "ranked_token_per_s": advice::ranked_rate(inputs, slot).map(calc_core::units::TokensPerSec::get),
        "ranked_joule_per_token": advice::ranked_energy(inputs, slot).map(calc_core::units::Joules::get),
        "watt": slot.power.map(calc_core::units::Watts::get),
        "joule_per_token": decode.energy.map(calc_core::units::Joules::get),
        "mean": MeanJson::new(token, slot.mean_throughput(), None),
        "memory_bytes": memory.get(),
        "fits": slot.outcome.verdict().fits(),
    });
    add_places(&mut told, inputs, &slot.outcome);
    told
}

fn slot_flip(flip: &SlotFlip) -> Value {
    let to = match flip {
        SlotFlip::Cap(_, slot) | SlotFlip::LossAllowed(_, slot) | SlotFlip::LossBelow(_, slot) => {
            Some(slot)
        }
        SlotFlip::Context(_, slot) => slot.as_ref(),
    };
    json!({
        "when": advice::slot_change(flip),
        "to": to.map(|slot| json!({
            "power_mode": slot.mode, "scheme": slot.scheme.key, "batch": slot.batch,
        })),
        "text": advice::slot_flip(flip),
    })
}
