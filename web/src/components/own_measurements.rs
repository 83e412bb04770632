//! Line about the user's own calibration of the device.

use leptos::prelude::*;

use super::erased::{flag, on, text};
use crate::state::session::{Session, Step};

/// States that own measurements are used, with their date and method in the tooltip; a button removes them.
#[component]
pub fn OwnMeasurementsLine() -> impl IntoView {
    let session = expect_context::<Session>();
    let about = move || {
        session
            .inputs
            .with(|inputs| inputs.own.as_ref().map_or_else(String::new, |own| own.about.clone()))
    };
    let none = flag(move || session.inputs.with(|inputs| inputs.own.is_none()));
    let forget = on(move |_| session.edit(Step::Choice, |inputs| inputs.own = None));
    view! {
        <p class="brief" hidden=none title=text(about)>
            <span class="badge">"measured here"</span>
            " Your measurements come first. "
            <button type="button" class="link" on:click=forget>"Leave them out"</button>
        </p>
    }
}
