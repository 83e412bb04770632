//! Chart mark of a format, shown beside its name.

use chart::mark::Mark;
use leptos::prelude::*;

use crate::state::marks::mark_corners;

/// Icon of the mark that the chart uses for a format. Hidden from screen readers, because the name has the same information.
#[component]
pub fn MarkIcon(
    /// Shape and color family of the mark.
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
