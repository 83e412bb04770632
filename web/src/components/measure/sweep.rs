//! Form that measures products of many shapes, loaded as a chunk when it is first opened.

use leptos::prelude::*;

use super::{MeasureContext, start};
use crate::components::erased::{flag, on, text};
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::form::{self, MeasuredDevice, SWEEP};
use crate::state::measure::machine;

/// List of shapes that are measured one after the other.
#[component]
pub fn Sweep() -> impl IntoView {
    let MeasureContext { daemon, why_not, spot, measured, .. } = expect_context();
    // Until shapes are typed, those of the device.
    let typed = RwSignal::new(None::<String>);
    let lines = text(move || {
        let usual =
            || measured.with(|device| device.as_ref().map_or(SWEEP.into(), MeasuredDevice::sweep));
        typed.get().unwrap_or_else(usual)
    });
    let label = text(move || {
        let formats = measured.with(|device| {
            let device = device.as_ref()?;
            Some(spot.with(|spot| device.swept_words(&spot.format)))
        });
        let formats = formats.unwrap_or_else(|| "the precision above".to_owned());
        format!("M N K, one shape per line; in {formats}")
    });
    let refused = RwSignal::new(String::new());
    let untimed = text(move || measured.with(|device| machine::untimed(device.as_ref())));
    let busy = flag(move || !(why_not.with(String::is_empty) && untimed.with(String::is_empty)));
    // A refusal is about what was chosen then.
    Effect::new(move |_| {
        measured.track();
        spot.track();
        refused.set(String::new());
    });
    let on_sweep = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        // The button is off while no device is connected.
        let Some(device) = measured.get_untracked() else { return };
        let shapes = form::shapes(&lines.get_untracked(), &device.limits);
        let format = spot.with_untracked(|spot| spot.format.clone());
        let orders = shapes.and_then(|shapes| form::jobs(&shapes, &format, &device));
        let (orders, left_out) = match orders {
            Ok((orders, left_out)) => (Ok(orders), left_out),
            Err(why) => (Err(why), String::new()),
        };
        let why = daemon.with_value(|daemon: &DaemonLink| start(daemon, orders));
        refused.set(if why.is_empty() { left_out } else { why });
    };
    view! {
        <form on:submit=on(on_sweep)>
            <div class="field">
                <label for="shapes">{label}</label>
                <textarea
                    id="shapes"
                    rows="6"
                    maxlength="20000"
                    spellcheck="false"
                    prop:value=lines
                    on:input=on(move |event| {
                        typed.set(Some(event_target_value(&event)));
                        refused.set(String::new());
                    })
                ></textarea>
            </div>
            <p class="message" role="alert">{text(move || refused.get())}</p>
            <button type="submit" class="tool" disabled=busy aria-describedby="why-measure">"Sweep"</button>
        </form>
    }
}
