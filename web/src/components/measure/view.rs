//! Root component of the Measure view, and the state that its components share.

use leptos::prelude::*;

use super::calibrate::{Calibrate, take_over};
use super::connect::Connect;
use super::device_card::DeviceCard;
use super::history::History;
use super::results::Results;
use super::running::Running;
use super::spot::Spot;
use crate::charts::paper;
use crate::components::device_field::DeviceField;
use crate::components::erased::{flag, memo, on, text};
use crate::components::explanation::ExplanationPopover;
use crate::components::notes::Notes;
use crate::components::power_mode_field::PowerModeField;
use crate::link::client::Client;
use crate::link::connection::State;
use crate::link::live::Live;
use crate::state::inputs::Inputs;
use crate::state::measure::answer::{Answer, answer};
use crate::state::measure::words;
use crate::state::session::Session;

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct MeasureContext {
    /// Link to the daemon, which outlives the view.
    pub live: StoredValue<Live>,
    /// Connection state, jobs and sensor readings of the daemon.
    pub client: RwSignal<Client>,
    /// Reason why no measurement can be started; empty if one can.
    pub why_not: Signal<String>,
    /// Results of the shown job beside their predictions; `None` if the device has no roofline.
    pub answer: Memo<Option<Answer>>,
    /// Key of the precision that the chart shows where the points of all have no room; empty for the first.
    pub precision: RwSignal<String>,
    /// Key of the row at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
}

/// Measurements on the user's own machine.
#[component]
pub fn MeasureView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let live = Live::of_page();
    let client = RwSignal::from(live.client.clone());
    let why_not = text(move || client.with(words::why_not));
    let machine = memo(move |_| {
        client.with(|client| match &client.connection.state {
            State::Up(up) => up.machine.clone(),
            _ => String::new(),
        })
    });
    let shown = memo(move |_| {
        client.with(|client| client.shown().map(|job| job.records.clone()).unwrap_or_default())
    });
    // Expected times do not depend on the shape in the form, so typing one does not recompute them.
    let place = memo(move |_| {
        session.inputs.with(|inputs| Inputs {
            device: inputs.device.clone(),
            mode: inputs.mode.clone(),
            own: inputs.own.clone(),
            ..Inputs::default()
        })
    });
    let answer = memo(move |_| {
        let machine = machine.get();
        place.with(|inputs| shown.with(|records| answer(records, inputs.place(), &machine)))
    });
    let live = StoredValue::new(live);
    let pointed = RwSignal::new(None);
    let precision = RwSignal::new(String::new());
    provide_context(MeasureContext { live, client, why_not, answer, precision, pointed });
    take_over();
    let unfolded = RwSignal::new(false);
    let summary = text(move || {
        session.inputs.with(|inputs| format!("{} · spot check, sweep", inputs.device.name))
    });
    view! {
        <main class="kernel model measure">
            <section class="inputs" class:unfolded=flag(move || unfolded.get()) aria-label="Inputs">
                <button
                    type="button"
                    class="summary"
                    aria-expanded=text(move || unfolded.get().to_string())
                    aria-controls="inputs"
                    on:click=on(move |_| unfolded.update(|unfolded| *unfolded = !*unfolded))
                >
                    {summary}
                </button>
                <div class="fields" id="inputs">
                    <DeviceField/>
                    <PowerModeField/>
                    <Spot/>
                </div>
            </section>
            <section class="answer" aria-label="Measurements">
                <div class="said"><Notes/><Connect/></div>
                <Running/>
                <Results/>
            </section>
            <aside class="limits" aria-label="Device and jobs">
                <DeviceCard/>
                <Calibrate/>
                <History/>
            </aside>
            <ExplanationPopover/>
        </main>
    }
}
