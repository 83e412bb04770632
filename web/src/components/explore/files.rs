//! Files with all rows.

use leptos::prelude::*;

use super::run::Exploration;
use crate::components::erased::on;

/// Buttons that save the rows of all devices or models.
#[component]
pub fn Files() -> impl IntoView {
    let this = expect_context::<Exploration>();
    view! {
        <p class="files">
            "All points of the chart: "
            <button type="button" class="tool" on:click=on(move |_| this.save("csv"))>"Save as CSV"</button>
            <button type="button" class="tool" on:click=on(move |_| this.save("json"))>"Save as JSON"</button>
        </p>
    }
}
