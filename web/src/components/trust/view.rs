//! Root component of the Trust view.

use leptos::prelude::*;

use super::TrustContext;
use super::error_table::ErrorTable;
use super::filters::Filters;
use super::row_table::RowTable;
use super::scatter_chart::ScatterChart;
use super::wrong::Wrong;
use crate::charts::paper;
use crate::components::erased::{memo, text};
use crate::components::notes::Notes;
use crate::components::startup::in_turn;
use crate::state::session::Session;
use crate::state::trust::answer::TrustAnswer;
use crate::state::trust::filter;

/// Accuracy of expected times: filter, answer, and cases where they are wrong.
#[component]
pub fn TrustView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let pairs = memo(move |_| session.inputs.with(filter::pairs));
    let wrong = pairs.with_untracked(|pairs| filter::notes(pairs));
    if !wrong.is_empty() {
        session.notes.update(|notes| notes.extend(wrong));
    }
    let answer = memo(move |_| pairs.with(|pairs| TrustAnswer::of(pairs)));
    provide_context(TrustContext { pairs, answer, pointed: RwSignal::new(None) });
    view! {
        <main class="kernel model trust">
            {in_turn(|| view! { <Filters/> }.into_any())}
            <section class="answer" aria-label="Answer">
                <div class="said">
                    <Notes/>
                    <div class="verdict" aria-live="polite">
                        <h1>{text(move || answer.with(|answer| answer.sentence.clone()))}</h1>
                        <p>{text(move || answer.with(|answer| answer.line.clone()))}</p>
                    </div>
                </div>
                {in_turn(|| view! { <ScatterChart/> }.into_any())}
                {in_turn(|| view! { <ErrorTable/> }.into_any())}
                {in_turn(|| view! { <RowTable/> }.into_any())}
            </section>
            {in_turn(|| view! { <Wrong/> }.into_any())}
        </main>
    }
}
