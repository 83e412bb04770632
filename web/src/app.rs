//! The root component: shared state and layout.

use leptos::prelude::*;

use crate::chunks;
use crate::components::chunk::Chunks;
use crate::components::erased::{block, memo, on};
use crate::components::header::Header;
use crate::components::key_list::KeyList;
use crate::components::plan::view::PlanView;
use crate::components::view_later::ViewLater;
use crate::state::chunks::{Refusal, own_devices, reader_of_addresses};
use crate::state::first_answer;
use crate::state::inputs::View;
use crate::state::session::{Session, carries, is_bare};

/// Mounts the page. All addresses but the bare one first need the chunk that reads them, and one with a custom device another.
pub fn start() {
    console_error_panic_hook::set_once();
    if web_sys::window().is_none() {
        return; // the worker of the Explore view
    }
    if is_bare() {
        mount(App);
        return;
    }
    wasm_bindgen_futures::spawn_local(async {
        if carries() {
            drop(own_devices().await); // a note reports a failed fetch
        }
        match reader_of_addresses().await {
            Ok(()) => mount(App),
            Err(Refusal(text)) => mount(move || view! { <Unread text=text/> }),
        }
    });
}

/// Puts a view in the place of the text that index.html has before the program runs.
fn mount<V: IntoView + 'static>(view: impl FnOnce() -> V + 'static) {
    if let Some(text) = document().get_element_by_id(first_answer::ID) {
        text.remove();
    }
    leptos::mount::mount_to_body(view);
}

/// The page while nothing reads its address: no numbers, because they would be those of another question.
#[component]
fn Unread(
    /// Reason why the chunk is missing.
    text: String,
) -> impl IntoView {
    let again = |_| drop(window().location().reload());
    view! {
        <main class="later">
            <p class="message" role="alert">
                "The address could not be read: " {text} ". "
                <button type="button" class="chip" on:click=on(again)>"Try again"</button>
            </p>
        </main>
    }
}

/// The page: header and the view that the address selects.
#[component]
pub fn App() -> impl IntoView {
    let session = Session::begin();
    provide_context(session);
    provide_context(Chunks(chunks::fetch));
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
