//! The root component: shared state and layout.

use leptos::mount::mount_to_body;
use leptos::prelude::*;

use crate::chunks;
use crate::components::chunk::Chunks;
use crate::components::erased::{memo, on};
use crate::components::header::Header;
use crate::components::key_list::KeyList;
use crate::components::plan::view::PlanView;
use crate::components::startup::{self, Startup, in_turn};
use crate::components::view_later::ViewLater;
use crate::state::chunks::{Refusal, own_devices, reader_of_addresses};
use crate::state::inputs::View;
use crate::state::program;
use crate::state::session::{Session, carries, is_bare};

/// Mounts the page. All addresses but the bare one first need the chunk that reads them, and one with a custom device another.
pub fn start() {
    console_error_panic_hook::set_once();
    if web_sys::window().is_none() {
        return; // the worker of the Explore view
    }
    wasm_bindgen_futures::spawn_local(async {
        if carries() {
            drop(own_devices().await); // a note reports a failed fetch
        }
        let read = if is_bare() { Ok(()) } else { reader_of_addresses().await };
        program::next_task().await;
        mount(read);
    });
}

/// Mounts the page, or the reason why there is none. The browser compiles a function when it is first called, so this is not part of
/// the one above.
#[inline(never)]
fn mount(read: Result<(), Refusal>) {
    match read {
        Ok(()) => mount_to_body(App),
        Err(Refusal(text)) => {
            mount_to_body(move || view! { <Unread text=text/> });
            startup::show();
        }
    }
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
    provide_context(Startup::begin());
    let view = memo(move |_| session.inputs.with(|inputs| inputs.view));
    let shown = in_turn(move || match view.get() {
        View::Plan => view! { <PlanView/> }.into_any(),
        later => view! { <ViewLater view=later/> }.into_any(),
    });
    view! {
        {in_turn(|| view! { <Header/> }.into_any())}
        <KeyList/>
        {shown}
    }
}
