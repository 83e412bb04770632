//! List of the jobs that the daemon stores.

use leptos::prelude::*;
use protocol::job::JobId;

use super::MeasureContext;
use crate::components::erased::{block, memo, on, text};
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::job_words;

#[derive(Debug, Clone, PartialEq)]
struct Entry {
    job: JobId,
    name: String,
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
                state: job_words::state(job.summary.state),
                is_shown: client.shown == Some(job.summary.job),
            };
            client.jobs.all().iter().map(entry).collect::<Vec<_>>()
        })
    });
    let show = move |job: JobId| daemon.with_value(|daemon: &DaemonLink| daemon.show(job));
    let item = move |Entry { job, name, state, is_shown }: Entry| {
        view! {
            <li>
                <button type="button" class="link" aria-pressed=is_shown.to_string() on:click=on(move |_| show(job))>
                    {format!("{}: {name}", job.0)}
                </button>
                <small>{state}</small>
            </li>
        }
    };
    let body = block(move || {
        let entries = entries.get();
        if entries.is_empty() {
            return view! { <p class="brief">"Jobs stay on the device, and show here when it is connected."</p> }
                .into_any();
        }
        view! { <ul id="history">{entries.into_iter().map(item).collect_view()}</ul> }.into_any()
    });
    let passed_over =
        text(move || job_words::passed_over(client.with(|client| client.passed_over)));
    view! {
        <div>
            <h2>"On this device"</h2>
            {body}
            <p class="brief">{passed_over}</p>
        </div>
    }
}
