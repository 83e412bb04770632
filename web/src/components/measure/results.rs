//! Measured results: what they say, on the roofline, and in a table that is fetched when a daemon is connected.

use leptos::prelude::*;
use protocol::device;

use super::chart::ResultChart;
use super::{MeasureContext, when_connected};
use crate::components::chunk::MeasuredPart;
use crate::components::erased::{block, flag, memo, on, text};
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::chart_points::{PrecisionOption, choices, shown};
use crate::state::measure::form::MeasuredDevice;
use crate::state::measure::machine;

/// Chart, table and buttons that save the records.
#[component]
pub fn Results() -> impl IntoView {
    let MeasureContext { answer, .. } = expect_context();
    let sentence = text(move || {
        answer.with(|answer| answer.as_ref().map(|it| it.sentence.clone()).unwrap_or_default())
    });
    let is_here = memo(move |_| {
        answer.with(|answer| answer.as_ref().is_some_and(|it| it.elsewhere.is_empty()))
    });
    let chart = block(move || {
        if is_here.get() {
            view! { <PrecisionField/><ResultChart/> }.into_any()
        } else {
            view! { <NoRoofs/> }.into_any()
        }
    });
    let warnings = block(move || {
        let found = answer.with(|answer| answer.as_ref().map(|it| it.warnings.clone()));
        let line = |line: String| view! { <p class="warning">{line}</p> };
        found.unwrap_or_default().into_iter().map(line).collect_view().into_any()
    });
    let none =
        flag(move || answer.with(|answer| answer.as_ref().is_none_or(|it| it.rows.is_empty())));
    view! {
        <h2>"Measured against expected"</h2>
        <p class="brief" role="status">{sentence}</p>
        {chart}
        <p class="brief" hidden=flag(move || !none.get() || !is_here.get())>
            "Nothing is measured yet. A spot check of all precisions takes about a minute; its points land under the roof."
        </p>
        <div class="asked" hidden=none>
            <div class="warnings" role="status">{warnings}</div>
            {when_connected(MeasuredPart::Table)}
        </div>
    }
}

/// In place of the chart, where the chosen device is not the measured machine: the reason, and the measurement that makes it so.
#[component]
fn NoRoofs() -> impl IntoView {
    let MeasureContext { daemon, client, answer, measured, why_not, .. } = expect_context();
    let reason = text(move || {
        answer.with(|answer| answer.as_ref().map(|it| it.elsewhere.clone()).unwrap_or_default())
    });
    let busy = flag(move || !why_not.with(String::is_empty));
    let job = memo(move |_| {
        // The device of the shown records, else the one that is measured next.
        let shown = client.with(|client| {
            let record = client.shown()?.records.first()?;
            MeasuredDevice::of(client.session()?, &device::id(&record.backend, record.index))
        });
        machine::whole_job(shown.or_else(|| measured.get()).as_ref())
    });
    let untimed = text(move || {
        let has_job = job.with(|(job, _)| job.is_some());
        let why = measured.with(|device| machine::untimed(device.as_ref()));
        if has_job { String::new() } else { why }
    });
    let is_off = flag(move || busy.get() || !untimed.with(String::is_empty));
    let start = on(move |_| {
        if let (Some(job), _) = job.get_untracked() {
            daemon.with_value(|daemon: &DaemonLink| daemon.start(vec![job]));
        }
    });
    view! {
        <div class="no-roofs">
            <p>{reason}</p>
            <p>
                <button type="button" class="tool" disabled=is_off aria-describedby="why-roofs" on:click=start>
                    {text(move || job.with(|(_, label)| label.clone()))}
                </button>
                " "
                <span class="brief" id="why-roofs">{why_not} " " {untimed}</span>
            </p>
        </div>
    }
}

/// Selects the precision that the chart shows; absent where the points of all have room.
#[component]
fn PrecisionField() -> impl IntoView {
    let MeasureContext { answer, precision, .. } = expect_context();
    let choices =
        memo(move |_| answer.with(|answer| answer.as_ref().map(choices).unwrap_or_default()));
    let option = move |(key, name): PrecisionOption| {
        let is_chosen = choices.with_untracked(|choices| {
            precision.with_untracked(|wanted| shown(choices, wanted) == Some(key.as_str()))
        });
        view! { <option value=key selected=is_chosen>{name}</option> }
    };
    let options = block(move || choices.get().into_iter().map(option).collect_view().into_any());
    view! {
        <p class="brief" hidden=flag(move || choices.with(Vec::is_empty))>
            <label for="on-chart">"On the chart"</label>
            " "
            <select class="tool" id="on-chart" on:change=on(move |event| precision.set(event_target_value(&event)))>
                {options}
            </select>
            " "
            "and whatever row you point at"
        </p>
    }
}
