//! Current sensor readings of the daemon's machine, loaded as a chunk of its own.

use leptos::prelude::*;

use super::MeasureContext;
use crate::components::erased::{block, memo};
use crate::state::measure::sensors::{SensorLine, lines};

/// List of sensor readings; a missing one shows the reason.
#[component]
pub fn Sensors() -> impl IntoView {
    let MeasureContext { client, .. } = expect_context();
    let found = memo(move |_| {
        client.with(|client| client.telemetry.as_ref().map(lines).unwrap_or_default())
    });
    let line = |line: SensorLine| {
        let is_missing = line.value.is_empty();
        view! {
            <div>
                <dt>{line.name}</dt>
                <dd>{if is_missing { view! { <small>{line.reason}</small> }.into_any() } else { line.value.into_any() }}</dd>
            </div>
        }
    };
    let body = block(move || found.get().into_iter().map(line).collect_view().into_any());
    view! { <dl class="facts" id="sensors">{body}</dl> }
}
