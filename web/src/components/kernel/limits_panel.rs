//! Right column of the Kernel view: the recommendation, and the limits of the chosen format.

use leptos::prelude::*;

use super::KernelContext;
use crate::components::chunk::{Chunk, LazyPart};
use crate::components::erased::{block, flag, memo, on, text};
use crate::components::fetched::Fetched;
use crate::state::inputs::Inputs;
use crate::state::operator::Op;
use crate::state::session::Session;

/// Recommendation, and the limits of the chosen format, which are collapsed where there is a recommendation.
#[component]
pub fn LimitsPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    let runs = move || kernel.shown.with(|shown| shown.kernel.runs);
    let stale = move || kernel.shown.with(crate::state::derived::KernelShown::is_stale);
    let advice = Fetched::of(Chunk::OperatorAdvice);
    let advised = memo(move |_| session.inputs.with(|inputs: &Inputs| inputs.op == Op::Gemm));
    let name = text(move || session.inputs.with(|inputs| inputs.format().short_name.to_owned()));
    let limits = Fetched::new(LazyPart::Limits);
    // After a failed load each change of the inputs tries again.
    Effect::new(move || {
        session.settled.track();
        if advised.get() {
            request_animation_frame(move || advice.ask()); // after the first drawing
        }
    });
    view! {
        <div class:stale=flag(stale)>
            {block(move || if advised.get() { advice.show() } else { ().into_any() })}
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
