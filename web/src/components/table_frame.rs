//! Frame of a table: it scrolls sideways where the table is wider than the window.

use leptos::prelude::*;

/// A table in a frame that takes the focus, so that arrow keys scroll it.
#[component]
pub fn TableFrame(
    /// Name of the table.
    label: &'static str,
    /// CSS classes of the table.
    class: &'static str,
    /// `id` of the table.
    #[prop(optional)]
    id: Option<&'static str>,
    /// Heads of the columns.
    heads: AnyView,
    /// Body of the table.
    children: Children,
) -> impl IntoView {
    view! {
        <div class="scroll" tabindex="0" role="group" aria-label=label>
            <table class=class id=id aria-label=label>
                <thead><tr>{heads}</tr></thead>
                {children()}
            </table>
        </div>
    }
}

/// A head for each column.
pub fn heads<const N: usize>(names: [&'static str; N]) -> AnyView {
    Vec::from(names).into_iter().map(head).collect_view().into_any()
}

fn head(name: &'static str) -> impl IntoView {
    view! { <th scope="col">{name}</th> }
}
