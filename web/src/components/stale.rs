//! Says that an answer is not of what the reader entered, above the answer, which is gray.

use leptos::prelude::*;

use super::erased::{block, flag, memo, text};
use super::fetched::Fetched;
use crate::components::chunk::LazyPart;
use crate::state::model::answer::ModelShown;
use crate::state::session::Session;
use crate::state::stale::is_stale;

/// Element id of the reason.
const ID: &str = "stale";

/// Whether the answer of a view is stale, and whether there is none.
#[derive(Debug, Clone, Copy)]
pub struct Stale {
    stale: Memo<bool>,
    pub is_empty: Signal<bool>,
}

impl Stale {
    /// The state of a view of a model, from the faults of its fields as typed; `is_empty` says that no answer is shown.
    pub fn provide(session: Session, typed: Memo<ModelShown>, is_empty: Signal<bool>) -> Self {
        let stale = memo(move |_| {
            session.inputs.with(|inputs| typed.with(|typed| is_stale(inputs, &typed.faults)))
        });
        let this = Self { stale, is_empty };
        provide_context(this);
        this
    }

    /// Whether the answer is stale.
    pub fn flag(self) -> Signal<bool> {
        flag(move || self.stale.get())
    }

    /// Name of the section with the answer.
    pub fn label(self) -> Signal<String> {
        let is_other = move || self.stale.get() && !self.is_empty.get();
        let name = move || if is_other() { "Answer to another input" } else { "Answer" };
        text(move || name().to_owned())
    }

    /// The reason, which is fetched when there is one.
    pub fn reason(self) -> impl IntoView {
        let why = Fetched::new(LazyPart::WhyStale);
        Effect::new(move |_| {
            if self.stale.get() {
                why.ask();
            }
        });
        let body = block(move || if self.stale.get() { why.show() } else { ().into_any() });
        view! { <div role="status" id=ID>{body}</div> }
    }
}
