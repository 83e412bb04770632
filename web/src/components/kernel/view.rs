//! Root component of the Kernel view.

use leptos::prelude::*;

use super::KernelContext;
use super::format_table::FormatTable;
use super::inputs_panel::InputsPanel;
use super::limits_panel::LimitsPanel;
use super::roofline_chart::RooflineChart;
use super::show_work::ShowWork;
use super::verdict::Verdict;
use crate::charts::paper;
use crate::components::chunk::LazyPart;
use crate::components::device_facts::DeviceFacts;
use crate::components::erased::{block, flag, memo};
use crate::components::explanation::ExplanationPopover;
use crate::components::fetched::Folded;
use crate::components::inspected::InspectedPanel;
use crate::components::notes::Notes;
use crate::components::startup::{Startup, in_turn};
use crate::state::check::typed;
use crate::state::claim::TIME;
use crate::state::derived::{KernelShown, next, why_stale};
use crate::state::inputs::Inputs;
use crate::state::model::inputs::ModelInputs;
use crate::state::session::Session;

/// One operator on a device: inputs, answer, limits and facts.
#[component]
pub fn KernelView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    // Inputs of other views only do not trigger this view's computation.
    let asked = memo(move |_| {
        session.inputs.with(|inputs| Inputs { model: ModelInputs::default(), ..inputs.clone() })
    });
    let shown = memo(move |before| asked.with(|inputs| next(before, inputs)));
    provide_context(KernelContext { shown, pointed: RwSignal::new(None) });
    let stale = flag(move || shown.with(KernelShown::is_stale));
    let why = move || match shown.with(why_stale) {
        why if why.is_empty() => ().into_any(),
        why => view! { <p class="why-stale">{why}</p> }.into_any(),
    };
    let claimed = session.inputs.with_untracked(|inputs| !typed(inputs, TIME).is_empty());
    expect_context::<Startup>().prepare(shown);
    in_turn(move || {
        view! {
                <main class="kernel">
                    {in_turn(|| view! { <InputsPanel/> }.into_any())}
                    <section class="answer" class:stale=stale aria-label="Answer">
                        <Notes/>
                        <div class="said" role="status">{block(why)}</div>
                        {in_turn(|| view! { <Verdict/> }.into_any())}
                        {in_turn(|| view! { <RooflineChart/> }.into_any())}
                        {in_turn(|| view! { <FormatTable/> }.into_any())}
                        <Folded class="own-points" title="Your own points" part=LazyPart::OwnPoints open=false/>
                    </section>
                    // The right column, most important panel first.
                    <aside class="limits" aria-label="Limits and facts">
                        <InspectedPanel/>
                        {in_turn(|| view! { <LimitsPanel/> }.into_any())}
                        <Folded class="fold" title="Is this possible?" part=LazyPart::Check open=claimed/>
                        {in_turn(|| view! { <ShowWork/> }.into_any())}
                        {in_turn(|| view! { <DeviceFacts/> }.into_any())}
                    </aside>
                    <ExplanationPopover/>
                </main>
        }
            .into_any()
    })
}
