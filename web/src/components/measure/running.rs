//! Progress of the queued or running job, and its cancel button.

use leptos::prelude::*;
use protocol::job::JobId;

use super::MeasureContext;
use crate::components::erased::{block, flag, maybe, memo, on, text};
use crate::link::daemon_link::DaemonLink;
use crate::link::jobs::{Job, JobProgress};
use crate::state::measure::job_words;

/// Progress of the open job with a bar, empty while there is none; below it the outcome of the shown job.
#[component]
pub fn Running() -> impl IntoView {
    let MeasureContext { daemon, client, .. } = expect_context();
    let id = memo(move |_| client.with(|client| client.running().map(|job| job.summary.job)));
    let of_job = move |say: fn(&Job) -> String| {
        text(move || client.with(|client| client.running().map(say).unwrap_or_default()))
    };
    let counted = move |which: fn(&JobProgress) -> u64| {
        maybe(move || {
            client.with(|client| {
                let job = client.running()?;
                job.progress.as_ref().map(|progress| which(progress).to_string())
            })
        })
    };
    let queue = text(move || client.with(job_words::queue));
    let cancel = move |job: JobId| daemon.with_value(|daemon: &DaemonLink| daemon.cancel(job));
    let cancel_words = text(move || {
        client.with(|client| {
            let Some(job) = client.running() else { return String::new() };
            let ordered = client.jobs.ordered_with(job.summary.job);
            job_words::on_jobs("Cancel", ordered.filter(|job| job.is_open()).count())
        })
    });
    let body = block(move || {
        let Some(job) = id.get() else { return ().into_any() };
        view! {
            <div class="running">
                <p>{of_job(job_words::progress)}</p>
                <progress aria-label="Progress" value=counted(|it| it.done) max=counted(|it| it.total)></progress>
                <button type="button" class="tool" on:click=on(move |_| cancel(job))>{cancel_words}</button>
                <p class="brief" role="status">{queue}</p>
            </div>
        }
        .into_any()
    });
    view! {
        {body}
        <Ended/>
    }
}

/// Outcome of the shown job, and a button that measures what is left of it.
#[component]
fn Ended() -> impl IntoView {
    let MeasureContext { daemon, client, why_not, .. } = expect_context();
    let ended =
        text(move || client.with(|client| client.shown().map(job_words::end).unwrap_or_default()));
    let cut = memo(move |_| {
        client.with(|client| {
            let cut = client.cut_with(client.shown?);
            Some((client.shown?, cut.len())).filter(|(_, count)| *count > 0)
        })
    });
    let rest = block(move || {
        let Some((job, count)) = cut.get() else { return ().into_any() };
        let go_on = on(move |_| daemon.with_value(|daemon: &DaemonLink| daemon.start_rest(job)));
        let busy = flag(move || !why_not.with(String::is_empty));
        view! {
            <p class="brief">
                <button type="button" class="tool" disabled=busy aria-describedby="why-continue" on:click=go_on>
                    {job_words::on_jobs("Continue", count)}
                </button>
                " "
                <span id="why-continue">{why_not}</span>
            </p>
        }
        .into_any()
    });
    view! {
        <p class="brief ended" role="status">{ended}</p>
        {rest}
    }
}
