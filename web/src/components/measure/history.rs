//! List of the jobs that the daemon stores; loaded when a daemon is connected.

use js_sys::Date;
use leptos::prelude::*;
use protocol::job::JobId;
use wasm_bindgen::JsValue;

use super::MeasureContext;
use crate::components::erased::{block, flag, memo, on, text};
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::job_words;

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    job: JobId,
    name: String,
    /// Wall-clock time when it was ordered [ms]; 0 while it is unknown.
    created_ms: u64,
    state: &'static str,
    is_shown: bool,
}

/// Jobs, the latest first; a click shows the results of one.
#[component]
pub fn History() -> impl IntoView {
    let MeasureContext { daemon, client, .. } = expect_context();
    let entries = memo(move |_| {
        client.with(|client| {
            let entry = |job: &crate::link::jobs::Job| Entry {
                job: job.summary.job,
                name: job_words::job_on(&job.summary.spec, client.session()),
                created_ms: job.summary.created_ms,
                state: job_words::state(job.summary.state),
                is_shown: client.shown == Some(job.summary.job),
            };
            client.jobs.all().iter().map(entry).collect::<Vec<_>>()
        })
    });
    let show = move |job: JobId| daemon.with_value(|daemon: &DaemonLink| daemon.show(job));
    let item = move |Entry { job, name, created_ms, state, is_shown }: Entry| {
        view! {
            <li>
                <button type="button" class="link" aria-pressed=is_shown.to_string() on:click=on(move |_| show(job))>
                    {format!("{}: {name}", job.0)}
                </button>
                <small>{moment(created_ms)} {state}</small>
            </li>
        }
    };
    let items = block(move || entries.get().into_iter().map(item).collect_view().into_any());
    let none = flag(move || entries.with(Vec::is_empty));
    let passed_over =
        text(move || job_words::passed_over(client.with(|client| client.passed_over)));
    view! {
        <ul id="history" hidden=none>{items}</ul>
        <p class="brief">{passed_over}</p>
    }
}

/// A moment in the reader's time zone, with what separates it from the state; empty while it is unknown.
fn moment(at_ms: u64) -> String {
    if at_ms == 0 {
        return String::new();
    }
    let date = Date::new(&JsValue::from_f64(at_ms as f64));
    let (month, day) = (date.get_month(), date.get_date());
    format!("{} · ", job_words::moment(month, day, date.get_hours(), date.get_minutes()))
}
