//! Root component of the Model view, and the state that its components share.

use leptos::prelude::*;

use super::care::Care;
use super::curves_chart::CurvesChart;
use super::figures::Figures;
use super::inputs_panel::ModelInputsPanel;
use super::memory::Memory;
use super::operator_chart::OperatorChart;
use super::operator_table::OperatorTable;
use crate::charts::paper;
use crate::components::erased::{block, derived, flag, memo, text};
use crate::components::explanation::ExplanationPopover;
use crate::components::notes::Notes;
use crate::state::inputs::Inputs;
use crate::state::model::answer::{ModelShown, next};
use crate::state::model::curves::Against;
use crate::state::session::Session;

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct ModelContext {
    /// Inputs of the answer: in the Plan view with the formats of the scheme that it shows.
    pub inputs: Signal<Inputs>,
    /// Answer derived from the inputs.
    pub shown: Memo<ModelShown>,
    /// Key of the operator at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
}

/// Errors that concern no single field.
#[component]
pub fn GeneralFaults(
    /// State with the errors.
    shown: Memo<ModelShown>,
) -> impl IntoView {
    let faults = block(move || {
        let faults = shown.with(ModelShown::general_faults);
        let line = |fault| view! { <p class="message">{fault}</p> };
        faults.into_iter().map(line).collect_view().into_any()
    });
    view! { <div role="alert">{faults}</div> }
}

/// A model on a device: inputs, answer and recommendation.
#[component]
pub fn ModelView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let shown = memo(move |before| {
        session.inputs.with(|inputs| next(before, &inputs.model, inputs.place()))
    });
    let inputs = derived(move || session.inputs.get());
    provide_context(ModelContext { inputs, shown, pointed: RwSignal::new(None) });
    let sentence = text(move || shown.with(|shown| shown.answer.sentence.clone()));
    let line = text(move || shown.with(|shown| shown.answer.line.clone()));
    view! {
        <main class="kernel model">
            <ModelInputsPanel/>
            <section class="answer" class:stale=flag(move || shown.with(ModelShown::is_stale)) aria-label="Answer">
                <div class="said">
                    <Notes/>
                    <GeneralFaults shown=shown/>
                    <div class="verdict" aria-live="polite">
                        <h1>{sentence}</h1>
                        <p>{line}</p>
                    </div>
                </div>
                <Memory/>
                <Figures/>
                <OperatorChart/>
                <OperatorTable phase=0/>
                <OperatorTable phase=1/>
                {Against::ALL.map(|against| view! { <CurvesChart against=against/> }).collect_view()}
            </section>
            <Care/>
            <ExplanationPopover/>
        </main>
    }
}
