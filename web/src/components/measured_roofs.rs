//! Line about roofs that were disturbed while they were measured.

use leptos::prelude::*;

use super::erased::{flag, memo, text};
use crate::state::place::disturbed_roofs;
use crate::state::session::Session;

/// Says which roofs of the chosen device may be too low, for as long as it is the device; hidden for all others.
#[component]
pub fn DisturbedRoofsLine() -> impl IntoView {
    let session = expect_context::<Session>();
    let said = memo(move |_| session.inputs.with(|inputs| disturbed_roofs(&inputs.device)));
    let none = flag(move || said.with(String::is_empty));
    view! { <p class="message disturbed-roofs" hidden=none>{text(move || said.get())}</p> }
}
