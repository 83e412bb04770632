//! The mark of a format beside its name.

use chart::mark::Mark;
use leptos::prelude::*;

use crate::state::marks::mark_corners;

/// The mark that the chart uses for the format. It says nothing that its name does not.
#[component]
pub fn MarkIcon(
    /// The mark.
    mark: Mark,
) -> impl IntoView {
    let class = format!("mark hue-{}", mark.hue.key());
    let shape = match mark_corners(mark.shape) {
        Some(corners) => view! { <polygon points=corners></polygon> }.into_any(),
        None => view! { <circle r="1"></circle> }.into_any(),
    };
    view! {
        <svg class=class viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true">
            {shape}
        </svg>
    }
}
