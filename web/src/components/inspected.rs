//! The inspector: what was clicked explains itself in one fixed place, at the head of the right column. In a window below 1200 px
//! it is a sheet from below.

use leptos::prelude::*;
use report::output::verdict::explain::Explanation;

use super::basis_badge::BasisBadge;
use super::erased::{block, flag, memo, on};
use super::focus::focus;
use crate::state::editor::explained_badge;
use crate::state::session::Session;

/// Explanation of the number that was clicked; before a click, of `otherwise`.
#[component]
pub fn InspectedPanel(
    /// Explanation without a click; `None` hides the inspector.
    #[prop(default = Signal::stored(None))]
    otherwise: Signal<Option<Explanation>>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let clicked = memo(move |_| session.inspected.get()?.explanation?.get());
    let shown = memo(move |_| clicked.get().or_else(|| otherwise.get()));
    let is_clicked = flag(move || clicked.with(Option::is_some));
    let close = move |_| {
        if let Some(inspected) = session.inspected.get_untracked() {
            focus(&inspected.owner);
        }
        session.inspected.set(None);
        session.popover.set(None);
    };
    let body = block(move || match shown.get() {
        None => ().into_any(),
        Some(explanation) => {
            let inspected = session.inspected.get_untracked();
            let owner = inspected.map(|inspected| inspected.owner).unwrap_or_default();
            explain(session, &owner, explanation).into_any()
        }
    });
    view! {
        <section
            id="inspected"
            class="inspected on-screen"
            class:clicked=is_clicked
            aria-label="Explanation"
            hidden=flag(move || shown.with(Option::is_none))
        >
            <div aria-live="polite">{body}</div>
            <button
                type="button"
                class="quiet close"
                aria-label="Close the explanation"
                hidden=flag(move || !is_clicked.get())
                on:click=on(close)
            >
                "×"
            </button>
        </section>
    }
}

/// Title with basis, formula, values, source, and the page that explains the term. `owner` is the element id of the number.
pub fn explain(session: Session, owner: &str, explanation: Explanation) -> impl IntoView {
    let is_fitted = explanation.is_fitted();
    let Explanation { title, formula, values, provenance, source, lesson } = explanation;
    let badge = if is_fitted {
        view! { <BasisBadge provenance=provenance/> }.into_any()
    } else {
        let (badge, meaning) =
            session.inputs.with_untracked(|inputs| explained_badge(inputs, owner, provenance));
        view! { <span class="badge" title=meaning>{badge}</span> }.into_any()
    };
    view! {
        <h2>{title} " " {badge}</h2>
        <p class="formula">{formula}</p>
        <p>{values}</p>
        <p class="source">{source.text()}</p>
        <p class="source">"Learn: " <a href=lesson.address()>{lesson.title}</a></p>
    }
}
