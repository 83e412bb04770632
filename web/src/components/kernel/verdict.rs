//! Verdict of the Kernel view.

use leptos::prelude::*;

use super::KernelContext;
use crate::components::erased::text;

/// Headline that names the limit, and a line with the numbers behind it.
#[component]
pub fn Verdict() -> impl IntoView {
    let kernel = expect_context::<KernelContext>();
    let sentence = text(move || kernel.shown.with(|shown| shown.kernel.sentence.clone()));
    let line = text(move || kernel.shown.with(|shown| shown.kernel.line.clone()));
    view! {
        <div class="verdict" aria-live="polite">
            <h1>{sentence}</h1>
            <p>{line}</p>
        </div>
    }
}
