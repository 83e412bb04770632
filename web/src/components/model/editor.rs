//! Editor for the geometry of a model.

use leptos::prelude::*;

use super::number::ModelNumber;
use crate::components::erased::{block, flag, memo, on, text};
use crate::state::model::geometry::fields;
use crate::state::session::{Session, Step};

/// Fields for the model's geometry, a checkbox for tied embeddings, and a button that restores the model's own values.
#[component]
pub fn Editor() -> impl IntoView {
    let session = expect_context::<Session>();
    let shape = memo(move |_| session.inputs.with(|inputs| fields(inputs.model.base.arch())));
    let is_tied = move || {
        session
            .inputs
            .with(|inputs| inputs.model.tied.unwrap_or(inputs.model.base.arch().tied_embeddings))
    };
    let on_tied = move |event| {
        let tied = event_target_checked(&event);
        session.edit(Step::Choice, |inputs| {
            let own = inputs.model.base.arch().tied_embeddings;
            inputs.model.tied = (tied != own).then_some(tied);
        });
    };
    let on_reset = move |_| session.edit(Step::Choice, |inputs| inputs.model.reset_geometry());
    let numbers = block(move || {
        let fields = shape.get().into_iter();
        fields.map(|field| view! { <ModelNumber field=field/> }).collect_view().into_any()
    });
    view! {
        <details class="more-fields">
            <summary>"Change its numbers"</summary>
            <div class="twin">{numbers}</div>
            <label class="check">
                <input type="checkbox" id="tied" prop:checked=flag(is_tied) on:change=on(on_tied)/>
                "Embedding and LM head are one"
            </label>
            <button
                type="button"
                class="chip"
                disabled=flag(move || !session.inputs.with(|inputs| inputs.model.is_custom()))
                on:click=on(on_reset)
            >
                {text(move || format!("Back to {}", session.inputs.with(|inputs| inputs.model.base.name().to_owned())))}
            </button>
        </details>
    }
}
