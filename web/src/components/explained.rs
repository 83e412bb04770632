//! Number that explains itself: in a popover while the pointer or the focus is on it, in the inspector after a click.

use leptos::prelude::*;
use wasm_bindgen::JsCast;

use super::erased::{self, derived, maybe, on};
use crate::state::derived::Cell;
use crate::state::session::{Popover, Session};
use report::output::verdict::explain::Explanation;

/// Delay before the popover closes, in which the pointer can move from the number to it.
const GRACE: core::time::Duration = core::time::Duration::from_millis(150);

/// Number that explains itself.
#[component]
pub fn Explained(
    /// `id` of the button.
    id: String,
    /// Formatted number and its explanation.
    #[prop(into)]
    cell: Signal<Cell>,
    /// `tabindex` of the button: 0 in the tab order, -1 where arrow keys move the focus.
    #[prop(default = Signal::stored("0".to_owned()))]
    tab_index: Signal<String>,
    /// Called when the button receives the focus.
    #[prop(default = Callback::new(|()| {}))]
    on_focus: Callback<()>,
) -> impl IntoView {
    let shown = erased::text(move || cell.with(|cell| cell.text.clone()));
    let explain = derived(move || Some(cell.with(|cell| cell.explanation.clone())));
    view! { <ExplainedLater id=id text=shown explain=explain tab_index=tab_index on_focus=on_focus/> }
}

/// Variant of [`Explained`] that builds the explanation only when it is opened.
#[component]
pub fn ExplainedLater(
    /// `id` of the button.
    id: String,
    /// Text of the button: the formatted number, or a name.
    text: Signal<String>,
    /// Explanation, read when the popover opens; with `None` it stays closed.
    explain: Signal<Option<Explanation>>,
    /// `tabindex` of the button: 0 in the tab order, -1 where arrow keys move the focus.
    #[prop(default = Signal::stored("0".to_owned()))]
    tab_index: Signal<String>,
    /// Called when the button receives the focus.
    on_focus: Callback<()>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let owner = StoredValue::new(id.clone());
    let is_mine = move |popover: &Option<Popover>| {
        popover.as_ref().is_some_and(|popover| {
            owner.try_with_value(|owner| popover.owner == *owner) == Some(true)
        })
    };
    // A button that goes is read once more, by its attributes and by the timer.
    let is_inspected = move || owner.try_with_value(|owner| session.inspects(owner)) == Some(true);
    let inspect = move || owner.with_value(|owner| session.inspect(owner, explain));
    let ended = id.clone();
    on_cleanup(move || session.end_explanation(&ended));
    if untrack(is_inspected) {
        inspect(); // the row of the number was built anew
    }
    let open = move || {
        if untrack(is_inspected) {
            return;
        }
        let anchor = owner.with_value(|id| anchor(id));
        let (Some(anchor), Some(explanation)) = (anchor, explain.get_untracked()) else { return };
        session.popover.set(Some(Popover { owner: owner.get_value(), explanation, anchor }));
    };
    let close = move || {
        if session.popover.with_untracked(is_mine) {
            session.popover.set(None);
        }
    };
    let close_unless_used = move || {
        if !is_hovered("explanation") && owner.try_with_value(|id| has_focus(id)) == Some(false) {
            close();
        }
    };
    view! {
        <button
            type="button"
            class="explained"
            id=id
            tabindex=tab_index
            aria-describedby=maybe(move || session.popover.with(is_mine).then(|| "explanation".to_owned()))
            aria-controls="inspected"
            aria-expanded=erased::text(move || is_inspected().to_string())
            on:mouseenter=on(move |_| open())
            on:mouseleave=on(move |_| set_timeout(close_unless_used, GRACE))
            on:focus=on(move |_| {
                open();
                on_focus.run(());
            })
            on:blur=on(move |_| close())
            on:click=on(move |_| {
                close();
                inspect();
            })
        >
            {text}
        </button>
    }
}

/// Left, top and bottom edge of an element relative to the window, in CSS pixels.
fn anchor(id: &str) -> Option<(f64, f64, f64)> {
    let edges = document().get_element_by_id(id)?.get_bounding_client_rect();
    Some((edges.left(), edges.top(), edges.bottom()))
}

fn has_focus(id: &str) -> bool {
    document().active_element().is_some_and(|element| element.id() == id)
}

fn is_hovered(id: &str) -> bool {
    let element = document().get_element_by_id(id);
    element
        .and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok())
        .is_some_and(|element| element.matches(":hover").unwrap_or(false))
}
