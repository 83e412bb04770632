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

/// Whether the answer of a view is stale.
#[derive(Debug, Clone, Copy)]
pub struct Stale(Memo<bool>);

impl Stale {
    /// The state of a view of a model, from the faults of its fields as typed.
    pub fn provide(session: Session, typed: Memo<ModelShown>) -> Self {
        let stale = memo(move |_| {
            session.inputs.with(|inputs| typed.with(|typed| is_stale(inputs, &typed.faults)))
        });
        provide_context(Self(stale));
        Self(stale)
    }

    /// Whether the answer is stale.
    pub fn flag(self) -> Signal<bool> {
        flag(move || self.0.get())
    }

    /// Name of the section with the answer.
    pub fn label(self) -> Signal<String> {
        let name = move || if self.0.get() { "Answer to another input" } else { "Answer" };
        text(move || name().to_owned())
    }

    /// The reason, which is fetched when there is one.
    pub fn reason(self) -> impl IntoView {
        let why = Fetched::new(LazyPart::WhyStale);
        Effect::new(move |_| {
            if self.0.get() {
                why.ask();
            }
        });
        let body = block(move || if self.0.get() { why.show() } else { ().into_any() });
        view! { <div role="status" id=ID>{body}</div> }
    }
}
