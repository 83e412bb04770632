//! Right column of the Kernel view: the recommendation, and the limits of the chosen format.

use leptos::prelude::*;

use super::advice::{AdvicePanel, advice_of};
use super::erased::{block, flag, memo, on, text};
use super::fetched::Fetched;
use crate::lazy::Part;
use crate::state::advice::Taken;
use crate::state::advice::question::of_operator;
use crate::state::inputs::Inputs;
use crate::state::operator::Op;
use crate::state::session::Session;

/// Recommendation, and the limits of the chosen format, which are collapsed where there is a recommendation.
#[component]
pub fn LimitsPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let runs = move || session.shown.with(|shown| shown.kernel.runs);
    let stale = move || session.shown.with(crate::state::derived::Shown::is_stale);
    let advice = advice_of(session, of_operator);
    let advised = memo(move |_| session.inputs.with(|inputs: &Inputs| inputs.op == Op::Gemm));
    let name = text(move || session.inputs.with(|inputs| inputs.format().short_name.to_owned()));
    let limits = Fetched::new(Part::Limits);
    view! {
        <div class:stale=flag(stale)>
            {block(move || advised.get().then(|| view! { <AdvicePanel advice=advice stale=flag(stale) take=Taken::of_operator/> }).into_any())}
            <details
                class="fold"
                hidden=flag(move || !runs())
                prop:open=flag(move || !advised.get())
                on:toggle=on(move |_| limits.ask())
            >
                <summary>"What limits " {name}</summary>
                {block(move || limits.show())}
            </details>
        </div>
    }
}
