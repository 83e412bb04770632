//! Root component of the Model view.

use leptos::prelude::*;

use super::ModelContext;
use super::care::Care;
use super::curves_chart::CurvesChart;
use super::figures::Figures;
use super::inputs_panel::ModelInputsPanel;
use super::layers::LayerOrder;
use super::memory::Memory;
use super::operator_chart::OperatorChart;
use super::operator_table::OperatorTable;
use super::placed::Placed;
use crate::charts::paper;
use crate::components::erased::{derived, flag, memo, text};
use crate::components::explanation::ExplanationPopover;
use crate::components::notes::Notes;
use crate::components::stale::Stale;
use crate::components::startup::{Startup, in_turn};
use crate::state::model::answer::{next, verdict};
use crate::state::model::curves::CurveAxis;
use crate::state::session::Session;

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
    let stale = Stale::provide(session, shown, flag(|| false));
    expect_context::<Startup>().prepare(shown);
    let said = memo(move |_| {
        shown.with(|shown| inputs.with(|inputs| verdict(&inputs.model, inputs.place(), shown)))
    });
    let sentence = text(move || said.with(|said| said.sentence.clone()));
    let line = text(move || said.with(|said| said.line.clone()));
    let both = text(move || said.with(|said| format!("{} {}", said.sentence, said.line)));
    in_turn(move || {
        view! {
                <main class="kernel model">
                    {in_turn(|| view! { <ModelInputsPanel/> }.into_any())}
                    <section
                        class="answer"
                        class:stale=stale.flag()
                        aria-label=stale.label()
                    >
                        <div class="said">
                            <Notes/>
                            {stale.reason()}
                            <div class="verdict" aria-live="polite">
                                <h1>{sentence}</h1>
                                <p>{line}</p>
                            </div>
                        </div>
                        {in_turn(|| view! { <Placed/> }.into_any())}
                        {in_turn(|| view! { <Memory/> }.into_any())}
                        {in_turn(|| view! { <Figures/> }.into_any())}
                        {in_turn(move || view! { <OperatorChart verdict=both/> }.into_any())}
                        {in_turn(|| view! { <LayerOrder/> }.into_any())}
                        {in_turn(|| view! { <OperatorTable phase=0/> }.into_any())}
                        {in_turn(|| view! { <OperatorTable phase=1/> }.into_any())}
                        {CurveAxis::ALL.map(|against| in_turn(move || view! { <CurvesChart against=against/> }.into_any())).collect_view()}
                    </section>
                    {in_turn(|| view! { <Care/> }.into_any())}
                    <ExplanationPopover/>
                </main>
        }
            .into_any()
    })
}
