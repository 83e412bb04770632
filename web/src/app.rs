//! The root component: shared state and layout.

use leptos::prelude::*;

use crate::components::erased::{block, memo};
use crate::components::header::Header;
use crate::components::key_list::KeyList;
use crate::components::plan::view::PlanView;
use crate::components::view_later::ViewLater;
use crate::lazy::own_devices;
use crate::state::first_answer;
use crate::state::inputs::View;
use crate::state::session::{Session, carries};

/// Mounts the page. An address with a custom device first needs the chunk that reads it.
pub fn start() {
    console_error_panic_hook::set_once();
    if !carries() {
        mount();
        return;
    }
    wasm_bindgen_futures::spawn_local(async {
        drop(own_devices().await); // a note reports a failed fetch
        mount();
    });
}

/// Puts the page in the place of the text that index.html has before the program runs.
fn mount() {
    if let Some(text) = document().get_element_by_id(first_answer::ID) {
        text.remove();
    }
    leptos::mount::mount_to_body(App);
}

/// The page: header and the view that the address selects.
#[component]
pub fn App() -> impl IntoView {
    let session = Session::begin();
    provide_context(session);
    let view = memo(move |_| session.inputs.with(|inputs| inputs.view));
    let shown = block(move || match view.get() {
        View::Plan => view! { <PlanView/> }.into_any(),
        later => view! { <ViewLater view=later/> }.into_any(),
    });
    view! {
        <Header/>
        <KeyList/>
        {shown}
    }
}
