//! Inverse questions as tables: the room for a larger workload, the quality lost with less memory, and the
//! power mode and batch to use. Devices are compared in the Explore view.

use calc_core::recommend::{Axis, Largest, RecommendRequest, memory_steps, rank, room};
use calc_core::schedule::{Objective, ScheduleRequest, schedule};
use calc_core::units::Watts;
use report::number_text as text;
use report::output::words::{advice, core_error};

/// An answer as a sentence and a table of texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct InverseAnswer {
    pub sentence: String,
    /// Column headings; empty without a table.
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

/// Most rows (power mode, scheme and batch) of the schedule table.
const MOST_SLOTS: usize = 10;

/// Largest batch and largest context with the best scheme.
pub fn room_answer(request: &RecommendRequest<'_>) -> InverseAnswer {
    let grown = || {
        let answer = rank(request)?;
        let first = answer.ranked.first().map(|row| row.scheme);
        first.map(|scheme| room(request, scheme).map(|room| (scheme, room))).transpose()
    };
    let sentence = match grown() {
        Err(error) => core_error(&error),
        Ok(None) => smaller(request),
        Ok(Some((scheme, room))) => {
            let count =
                |most: Option<Largest>| most.map_or_else(|| "none".to_owned(), advice::largest);
            format!(
                "With {} the largest batch is {} at this context, and the largest context {} at this batch.",
                advice::scheme_name(scheme),
                count(room.batch),
                count(room.context)
            )
        }
    };
    InverseAnswer { sentence, ..InverseAnswer::default() }
}

/// The largest batch with any scheme, where the user's batch is too large for all.
fn smaller(request: &RecommendRequest<'_>) -> String {
    let single = RecommendRequest { task: request.task.at(Axis::Batch, 1), ..*request };
    let first = rank(&single).ok().and_then(|answer| answer.ranked.into_iter().next());
    let found = first.and_then(|row| {
        let batch = room(&single, row.scheme).ok()?.batch?.value;
        Some((row.scheme, batch))
    });
    match found {
        Some((scheme, batch)) => format!(
            "No scheme meets the bounds at batch {}. At this context the largest batch is {}, with {}.",
            text::count(request.task.get(Axis::Batch)),
            text::count(batch),
            advice::scheme_name(scheme)
        ),
        None => "No scheme meets the bounds, not even for a single sequence.".to_owned(),
    }
}

/// Quality loss of the schemes that need less memory.
pub fn memory_answer(request: &RecommendRequest<'_>) -> InverseAnswer {
    let steps = match memory_steps(request) {
        Ok(steps) => steps,
        Err(error) => {
            return InverseAnswer { sentence: core_error(&error), ..InverseAnswer::default() };
        }
    };
    InverseAnswer {
        sentence: "Each needs less memory than all above it, and loses more.".to_owned(),
        columns: vec!["scheme", "memory", "loss", "per token"],
        rows: steps
            .iter()
            .map(|step| {
                vec![
                    advice::scheme_name(step.scheme),
                    text::bytes(step.memory),
                    advice::quality(&step.quality),
                    text::time(step.mean_tpot),
                ]
            })
            .collect(),
    }
}

/// Best power mode, scheme and batch for an objective under a power cap.
pub fn schedule_answer(
    request: &RecommendRequest<'_>,
    objective: Objective,
    power_cap: Option<Watts>,
) -> InverseAnswer {
    let RecommendRequest { task, part, bounds, .. } = *request;
    let asked = ScheduleRequest { task, objective, part, bounds, power_cap, max_batch: 256 };
    let answer = match schedule(&asked) {
        Ok(answer) => answer,
        Err(error) => {
            return InverseAnswer { sentence: core_error(&error), ..InverseAnswer::default() };
        }
    };
    let mut sentences = match answer.ranked.first() {
        None => vec!["No power mode, scheme and batch meet the bounds.".to_owned()],
        Some(best) => {
            let reason = advice::first_by(answer.first_by, &best.standing);
            [format!("Use {}.", advice::slot_name(best))].into_iter().chain(reason).collect()
        }
    };
    sentences.extend(answer.flips.iter().map(advice::slot_flip));
    InverseAnswer {
        sentence: sentences.join(" "),
        columns: vec!["mode", "scheme", "batch", "per token", "rate", "energy per token"],
        rows: answer
            .ranked
            .iter()
            .take(MOST_SLOTS)
            .map(|slot| {
                let energy = slot.outcome.token.energy.map(|energy| energy.per_token);
                vec![
                    slot.mode
                        .as_ref()
                        .map_or_else(|| "datasheet peaks".to_owned(), ToString::to_string),
                    advice::scheme_name(slot.scheme),
                    text::count(slot.batch),
                    text::time(slot.outcome.token.expected.time),
                    text::token_rate(slot.mean_throughput()),
                    energy.map_or_else(|| "unknown".to_owned(), text::energy),
                ]
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::calibration::Calibration;
    use calc_core::catalog;
    use calc_core::estimate::EstimateRequest;
    use calc_core::precision::PrecisionChoice;
    use calc_core::recommend::{Bounds, ModelTask, RankedPart, Task};
    use calc_core::workload::Workload;

    fn request() -> RecommendRequest<'static> {
        let model = catalog::model("llama-3.1-8b").expect("catalog key");
        let task = Task::Model(ModelTask::new(
            EstimateRequest {
                device: catalog::device("jetson_orin_nano_8gb_super").expect("catalog key"),
                mode: None,
                memory_limit: None,
                model: &model.arch,
                precision: PrecisionChoice::weights(&catalog::formats::FP16),
                workload: Workload { context: 4096, ..Workload::new(1, 512) },
                weight_size: None,
                draft: None,
                engine: None,
                calibration: &Calibration::FITTED,
                host: None,
                cards: None,
            },
            model.stored.choice(),
        ));
        let (objective, part, bounds) = (Objective::Latency, RankedPart::Decode, Bounds::default());
        RecommendRequest { task, objective, part, bounds }
    }

    #[test]
    fn the_reversed_questions_have_answers() {
        let room = room_answer(&request()).sentence;
        assert!(room.contains("the largest batch is 4 at this context"), "{room}");
        let mut large = request();
        large.task = large.task.at(Axis::Batch, 16);
        let room = room_answer(&large).sentence;
        assert!(room.contains("at batch 16") && room.contains("the largest batch is 4"), "{room}");
        let memory = memory_answer(&request());
        assert!(memory.rows.len() >= 5 && memory.rows[0][0] == "16 bits", "{memory:?}");
        let schedule = schedule_answer(&request(), Objective::Latency, Some(Watts::new(15.0)));
        assert!(schedule.sentence.starts_with("Use 15W, GGUF Q4_K_M, batch 1."), "{schedule:?}");
        let broken = schedule_answer(&request(), Objective::Memory, None);
        assert!(broken.rows.is_empty() && broken.sentence.contains("exclude"), "{broken:?}");
    }
}
