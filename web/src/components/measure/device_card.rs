//! The daemon's machine: its sensors now.

use leptos::prelude::*;

use super::{MeasureContext, when_connected};
use crate::components::chunk::MeasuredPart;
use crate::components::erased::flag;

/// Sensor readings, or what makes them appear.
#[component]
pub fn DeviceCard() -> impl IntoView {
    let MeasureContext { client, .. } = expect_context();
    let has_readings = flag(move || client.with(|client| client.telemetry.is_some()));
    view! {
        <div>
            <h2>"The machine now"</h2>
            <p class="brief" hidden=has_readings>"Its sensors show when a daemon is connected."</p>
            {when_connected(MeasuredPart::Sensors)}
        </div>
    }
}
