//! Header of the page.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::erased::{maybe, on, text};
use super::export_menu::ExportMenu;
use super::startup::in_turn;
use crate::state::inputs::View;
use crate::state::session::{Dialog, Session, Step};

/// Name, links to the views and to the rendered documents, export menu, and buttons for the color scheme and the list of keys.
#[component]
pub fn Header() -> impl IntoView {
    let session = expect_context::<Session>();
    let colors = session.colors;
    let other =
        text(move || if colors.is_dark() { "Light colors" } else { "Dark colors" }.to_owned());
    let link = move |view: View| {
        let is_shown = move || session.inputs.with(|inputs| inputs.view == view);
        let on_click = move |event: MouseEvent| {
            // With a modifier key the browser opens the link in another tab; its address has the complete state.
            if !(event.ctrl_key() || event.meta_key() || event.shift_key()) {
                event.prevent_default();
                session.edit(Step::Choice, |inputs| inputs.view = view);
            }
        };
        view! {
            <a
                href=text(move || session.address_of(view))
                aria-current=maybe(move || is_shown().then(|| "page".to_owned()))
                on:click=on(on_click)
            >
                {view.name()}
            </a>
        }
    };
    view! {
        <header class="top">
            <p class="brand">"Ridgepoint"</p>
            <nav aria-label="Views">
                {View::ALL.map(|view| in_turn(move || link(view).into_any())).into_iter().collect_view()}
                <a href="learn/">"Learn"</a>
            </nav>
            <div class="tools">
                <ExportMenu/>
                <button type="button" class="tool" aria-label=other title=other on:click=on(move |_| colors.toggle())>
                    "◐"
                </button>
                <button
                    type="button"
                    class="tool"
                    aria-label="Keys"
                    title="Keys"
                    on:click=on(move |_| session.dialog.set(Some(Dialog::Keys)))
                >
                    "?"
                </button>
            </div>
        </header>
    }
}
