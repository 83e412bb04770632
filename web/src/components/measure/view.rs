//! Root component of the Measure view.

use leptos::prelude::*;

use super::calibrate::{Calibrate, offer, select_machine, take_over};
use super::connect::Connect;
use super::device_card::DeviceCard;
use super::results::Results;
use super::spot::Spot;
use super::{MeasureContext, when_connected};
use crate::charts::paper;
use crate::components::chunk::MeasuredPart;
use crate::components::device_field::DeviceField;
use crate::components::erased::{flag, memo, text};
use crate::components::explanation::ExplanationPopover;
use crate::components::fetched::Folded;
use crate::components::inputs_shell::InputsShell;
use crate::components::inspected::InspectedPanel;
use crate::components::notes::Notes;
use crate::components::power_mode_field::PowerModeField;
use crate::components::startup::in_turn;
use crate::link::daemon_link::DaemonLink;
use crate::state::inputs::Inputs;
use crate::state::measure::answer::answer;
use crate::state::measure::form::MeasuredDevice;
use crate::state::measure::machine::MeasuredMachine;
use crate::state::measure::spot::SpotForm;
use crate::state::measure::words;
use crate::state::session::Session;

/// Measurements on the user's own machine.
#[component]
pub fn MeasureView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    provide_context(context(session));
    take_over();
    select_machine();
    offer();
    let summary = text(move || {
        session.inputs.with(|inputs| format!("{} · spot check, sweep", inputs.device.name))
    });
    view! {
        <main class="kernel model measure">
            {in_turn(move || view! {
                <InputsShell label="Inputs" summary=summary>
                    <DeviceField/>
                    <PowerModeField/>
                    <Spot/>
                </InputsShell>
            }.into_any())}
            <section class="answer" aria-label="Measurements">
                <div class="said"><Notes/><Connect/></div>
                {in_turn(|| when_connected(MeasuredPart::Running))}
                {in_turn(|| view! { <Results/> }.into_any())}
            </section>
            <aside class="limits" aria-label="Device and jobs">
                <InspectedPanel/>
                {in_turn(|| view! { <DeviceCard/> }.into_any())}
                {in_turn(|| view! { <Calibrate/> }.into_any())}
                {in_turn(|| view! { <Folded class="fold" title="A running server" part=MeasuredPart::Engine open=false/> }.into_any())}
                {in_turn(|| view! { <Jobs/> }.into_any())}
            </aside>
            <ExplanationPopover/>
        </main>
    }
}

/// The jobs of the daemon, or what makes them appear.
#[component]
fn Jobs() -> impl IntoView {
    let MeasureContext { client, .. } = expect_context();
    let has_jobs = flag(move || client.with(|client| !client.jobs.all().is_empty()));
    view! {
        <div>
            <h2>"On this device"</h2>
            <p class="brief" hidden=has_jobs>{text(move || client.with(words::no_jobs).to_owned())}</p>
            {when_connected(MeasuredPart::History)}
        </div>
    }
}

/// State of the view: the daemon, what it measured, and the form.
fn context(session: Session) -> MeasureContext {
    let daemon = DaemonLink::of_page();
    let client = RwSignal::from(daemon.client.clone());
    let why_not = text(move || client.with(words::why_not));
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
    let device = session.to_measure.try_update_value(core::mem::take).unwrap_or_default();
    let spot = RwSignal::new(SpotForm::of(device));
    let wanted = memo(move |_| spot.with(|spot| spot.device.clone()));
    let measured = memo(move |_| {
        wanted.with(|wanted| client.with(|client| MeasuredDevice::of(client.session()?, wanted)))
    });
    let machine = memo(move |_| {
        let wanted = measured.with(|measured| measured.as_ref().map(|it| it.can.id()));
        client.with(|client| match client.session() {
            Some(session) => MeasuredMachine::of_session(session, wanted.as_deref()),
            None => MeasuredMachine::default(),
        })
    });
    let answer = memo(move |_| {
        place.with(|inputs| {
            shown.with(|records| machine.with(|next| answer(records, inputs.place(), next)))
        })
    });
    let daemon = StoredValue::new(daemon);
    let pointed = RwSignal::new(None);
    let precision = RwSignal::new(String::new());
    MeasureContext { daemon, client, why_not, measured, spot, answer, precision, pointed }
}
