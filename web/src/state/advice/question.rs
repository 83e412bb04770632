//! Requests to the adviser, built from the inputs of either view and the goal.

use calc_core::analysis::Operator;
use calc_core::estimate::EstimateRequest;
use calc_core::lowering::Phase;
use calc_core::recommend::{ModelTask, RankedPart, RecommendRequest, ShapeTask, Task, run_shape};
use calc_core::units::Bytes;
use report::input::named_model::is_half;
use report::output::words::apply::Repositories;

use super::{Advice, advise};
use crate::state::inputs::Inputs;
use crate::state::model::inputs::ModelInputs;
use crate::state::model::question::ModelQuestion;

/// Smallest number of rows (M) at which a matrix product counts as prefill.
const PROMPT_ROWS: u64 = 256;

/// Advice on the operator of the Kernel view; `None` if it is not a matrix product or an input is invalid.
pub fn of_operator(inputs: &Inputs) -> Option<Result<Advice, String>> {
    let Operator::Gemm(shape) = inputs.operator().ok()? else { return None };
    let phase = match inputs.goal.part {
        Some(RankedPart::Prefill) => Phase::Prefill,
        Some(RankedPart::Whole) | None if shape.m >= PROMPT_ROWS => Phase::Prefill,
        Some(RankedPart::Decode | RankedPart::Whole) | None => Phase::Decode,
    };
    let part = match phase {
        Phase::Prefill => RankedPart::Prefill,
        Phase::Decode => RankedPart::Decode,
    };
    let limit = Some(inputs.model.memory_limit()?).filter(|limit| *limit > 0.0);
    let task = Task::Shape(ShapeTask {
        device: &inputs.device,
        mode: inputs.power_mode(),
        memory_limit: limit.map(Bytes::from_gb),
        shape,
        phase,
        engine: None,
        calibration: inputs.place().calibration(),
        run: run_shape,
    });
    let bounds = inputs.goal.bounds()?;
    let request = RecommendRequest { task, objective: inputs.goal.objective, part, bounds };
    Some(advise(&request, Repositories::STAND_IN))
}

/// Advice on the model; `None` while an input is invalid.
pub fn of_model(inputs: &Inputs) -> Option<Result<Advice, String>> {
    with_model(inputs, |request| advise(request, repositories(&inputs.model)))
}

/// Repositories of the model and its draft, for commands.
pub fn repositories(inputs: &ModelInputs) -> Repositories<'_> {
    let model = inputs.base.repository();
    let formats = inputs.base.stored();
    Repositories {
        model,
        published: model,
        stored: Some(formats),
        has_half: is_half(&formats),
        tag: None,
        draft: inputs.drafter.map(|draft| draft.hf_id),
        file: inputs.base.gguf_file(),
    }
}

/// Calls `ask` with a request about the model under the goal; `None` while an input is invalid.
pub fn with_model<R>(inputs: &Inputs, ask: impl FnOnce(&RecommendRequest<'_>) -> R) -> Option<R> {
    let question = ModelQuestion::read(&inputs.model, inputs.place()).ok()?;
    let part = counted(inputs, &question);
    let request =
        EstimateRequest { precision: question.named(), ..question.request(question.workload) };
    let task = ModelTask::new(request, inputs.model.base.stored());
    let task = Task::Model(task.with_files(question.files.as_ref()));
    let bounds = inputs.goal.bounds()?;
    Some(ask(&RecommendRequest { task, objective: inputs.goal.objective, part, bounds }))
}

/// Phase that the ranking is by: the user's choice, else the command line's default for this workload.
pub fn counted(inputs: &Inputs, question: &ModelQuestion<'_>) -> RankedPart {
    inputs.goal.part.unwrap_or(RankedPart::usual(&question.workload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::goal::Bound;
    use crate::state::model::fields::Field;
    use crate::state::model::inputs::ModelSource;

    #[test]
    fn both_views_get_advice_and_the_goal_counts() {
        let mut inputs = Inputs::default();
        let first =
            |inputs: &Inputs| of_operator(inputs).expect("a product").expect("advice").title;
        assert_eq!(first(&inputs), "GGUF Q4_K_M");
        inputs.goal.set_text(Bound::Loss, "0.5".to_owned());
        assert_eq!(first(&inputs), "GGUF Q6_K");
        inputs.model.set_text(Field::Memory, "6.5".to_owned());
        inputs.goal.set_text(Bound::Loss, String::new());
        let model = of_model(&inputs).expect("readable").expect("advice");
        assert_eq!(model.title, "GGUF Q4_K_M", "{model:?}");
        inputs.goal.set_text(Bound::Loss, "x".to_owned());
        assert!(of_model(&inputs).is_none() && of_operator(&inputs).is_none());
    }

    #[test]
    fn the_default_advice_is_that_of_the_command_line() {
        use report::input::request::{Fields, Library, RecommendInputs};
        let mut inputs = Inputs::default();
        let device = calc_core::catalog::device("h100_sxm").expect("key");
        inputs.set_device(std::borrow::Cow::Borrowed(device));
        let model = calc_core::catalog::model("llama-3.1-70b").expect("key");
        inputs.model.set_base(ModelSource::Catalog(model));
        inputs.model.set_text(Field::Prompt, "4096".to_owned());
        inputs.model.set_text(Field::Context, String::new());
        inputs.model.set_text(Field::Generate, "128".to_owned());
        let first = |request: &RecommendRequest<'_>| {
            let answer = calc_core::recommend::recommend(request).expect("valid");
            let row = answer.ranked.first().expect("something meets the bounds");
            (row.scheme.key, row.outcome.whole)
        };
        let page = with_model(&inputs, first).expect("readable");
        let line = r#"{"hardware":"h100_sxm","model":"llama-3.1-70b","batch":1,"prompt":4096,"new_tokens":128}"#;
        let fields = Fields::from_line(line).expect("JSON");
        let asked = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
        assert_eq!(page, first(&asked.request().expect("valid")));
        assert_eq!(page.0, "fp8_w8a8");
    }

    #[test]
    fn what_is_taken_over_is_calculated_as_it_was_recommended() {
        for (device, model, loss) in [
            ("jetson_orin_nano_8gb_super", "llama-3.1-8b", ""),
            ("h100_sxm", "llama-3.1-70b", ""),
            ("gb10", "qwen3-30b-a3b", "20"),
            ("rtx_4090", "gpt-oss-20b", "0.5"),
        ] {
            let mut inputs = Inputs::default();
            inputs.set_device(std::borrow::Cow::Borrowed(
                calc_core::catalog::device(device).expect("key"),
            ));
            let base = ModelSource::Catalog(calc_core::catalog::model(model).expect("key"));
            inputs.model.set_base(base);
            inputs.goal.set_text(Bound::Loss, loss.to_owned());
            // The advice covers the longest context, which equals the stated one when no tokens are added.
            inputs.model.set_text(crate::state::model::fields::Field::Generate, "1".to_owned());
            let told = with_model(&inputs, |request| {
                let answer = calc_core::recommend::recommend(request).expect("valid");
                answer
                    .ranked
                    .first()
                    .map(|row| (row.outcome.decode.expected.time, row.outcome.precision))
            });
            let (time, precision) = told.expect("readable").expect("something meets the bounds");
            let advice = of_model(&inputs).expect("readable").expect("advice");
            advice.formats_taken.expect("a first").of_model(&mut inputs);
            let question = ModelQuestion::read(&inputs.model, inputs.place()).expect("valid");
            let now = question.estimate().expect("valid");
            assert_eq!(
                (now.decode.totals.expected.time, now.precision),
                (time, precision),
                "{model}"
            );
        }
    }
}
