//! Lines about a device whose roofs were measured: those that were disturbed, and factors that are still of other machines.

use leptos::prelude::*;

use super::erased::{flag, memo, text};
use crate::state::place::{disturbed_roofs, factors_of_others};
use crate::state::session::Session;

/// Says what is doubtful about a measured device, for as long as it is the device; hidden for all others.
#[component]
pub fn MeasuredRoofs() -> impl IntoView {
    let session = expect_context::<Session>();
    let said = memo(move |_| {
        session.inputs.with(|inputs| {
            [disturbed_roofs(&inputs.device), factors_of_others(inputs.place()).to_owned()]
        })
    });
    let line = move |at: usize| text(move || said.with(|said| said[at].clone()));
    let none = move |at: usize| flag(move || said.with(|said| said[at].is_empty()));
    view! {
        <p class="message" hidden=none(0)>{line(0)}</p>
        <p class="brief" hidden=none(1)>{line(1)}</p>
    }
}
