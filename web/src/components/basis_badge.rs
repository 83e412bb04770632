//! Badge of an expected time that opens the published measurements behind it.

use calc_core::provenance::Provenance;
use leptos::ev::MouseEvent;
use leptos::prelude::*;
use report::output::verdict::{badge, badge_meaning};

use super::erased::on;
use super::model_context::ModelContext;
use crate::state::session::{Session, Step};
use crate::state::trust::filter::behind;

/// Badge of an expected time: a link to the rows of its device, engine and format in the Trust view, where the answer of a model
/// is shown.
#[component]
pub fn BasisBadge(
    /// Origin of the number.
    provenance: Provenance,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let Some(ModelContext { shown, .. }) = use_context() else {
        return view! { <span class="badge" title=badge_meaning(provenance)>{badge(provenance)}</span> }
            .into_any();
    };
    let target = move || {
        shown.with_untracked(|shown| {
            let estimate = &shown.answer.estimate;
            session.inputs.with_untracked(|inputs| {
                behind(inputs, &estimate.basis, estimate.precision.weights.key)
            })
        })
    };
    let on_click = move |event: MouseEvent| {
        // With a modifier key the browser opens the link in another tab.
        if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
            event.prevent_default();
            let behind = target();
            session.edit(Step::Choice, |inputs| {
                inputs.view = behind.view;
                inputs.model.filter = behind.model.filter;
            });
        }
    };
    view! {
        <a
            class="badge"
            href=session.address(&target())
            title="The published measurements behind it"
            on:click=on(on_click)
        >
            {badge(provenance)}
        </a>
    }
    .into_any()
}
