//! Verdict of the Kernel view.

use leptos::prelude::*;

use super::erased::text;
use crate::state::session::Session;

/// Headline that names the limit, and a line with the numbers behind it.
#[component]
pub fn Verdict() -> impl IntoView {
    let session = expect_context::<Session>();
    let sentence = text(move || session.shown.with(|shown| shown.kernel.sentence.clone()));
    let line = text(move || session.shown.with(|shown| shown.kernel.line.clone()));
    view! {
        <div class="verdict" aria-live="polite">
            <h1>{sentence}</h1>
            <p>{line}</p>
        </div>
    }
}
