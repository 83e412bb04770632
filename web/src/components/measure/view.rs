//! The Measure view as a whole.

use leptos::prelude::*;

use super::calibrate::{Calibrate, take_over};
use super::connect::Connect;
use super::device_card::DeviceCard;
use super::history::History;
use super::results::Results;
use super::running::Running;
use super::spot::Spot;
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
use crate::state::session::Session;

/// What the components of this view share.
#[derive(Debug, Clone, Copy)]
pub struct MeasureContext {
    /// The daemon, which stays when the view goes.
    pub live: StoredValue<Live>,
    /// What is known of it.
    pub client: RwSignal<Client>,
    /// Whether measurements can be started.
    pub may_start: Signal<bool>,
    /// What the shown job measured, beside its predictions.
    pub answer: Memo<Option<Answer>>,
    /// Key of the precision that the chart shows where all would hide each other; empty for the first.
    pub precision: RwSignal<String>,
    /// Key of the row that the pointer or the keyboard is at.
    pub pointed: RwSignal<Option<String>>,
}

/// Measurements of the reader's own machine.
#[component]
pub fn MeasureView() -> impl IntoView {
    let session = expect_context::<Session>();
    let live = Live::of_page();
    let client = RwSignal::from(live.client.clone());
    let may_start = flag(move || {
        client.with(|client| match &client.connection.state {
            State::Up(up) => up.may_measure(),
            _ => false,
        })
    });
    let shown = memo(move |_| {
        client.with(|client| client.shown().map(|job| job.records.clone()).unwrap_or_default())
    });
    // The shape is no part of what is expected of a record, so typing does not ask again.
    let place = memo(move |_| {
        session.inputs.with(|inputs| Inputs {
            device: inputs.device.clone(),
            mode: inputs.mode.clone(),
            own: inputs.own.clone(),
            ..Inputs::default()
        })
    });
    let answer =
        memo(move |_| place.with(|inputs| shown.with(|records| answer(records, inputs.place()))));
    let live = StoredValue::new(live);
    let pointed = RwSignal::new(None);
    let precision = RwSignal::new(String::new());
    provide_context(MeasureContext { live, client, may_start, answer, precision, pointed });
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
