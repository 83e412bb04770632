//! This machine as a device: jobs that measure its roofs and its factors, and how the page applies their results.

use std::borrow::Cow;

use calc_core::text::Text;
use leptos::prelude::*;
use protocol::job::{JobId, JobSpec};

use super::MeasureContext;
use crate::components::erased::{block, flag, later, memo, on, text};
use crate::link::client::Client;
use crate::link::daemon_link::DaemonLink;
use crate::link::jobs::{Job, ResultUse};
use crate::state::measure::form::MeasuredDevice;
use crate::state::measure::machine::{
    self, AfterDisturbed, JobResult, MachineSelection, after_disturbed, job_result, selection,
};
use crate::state::session::{Session, Step};
use crate::state::take_over::open_measurements;
use crate::state::this_machine::MachineDevice;

/// Buttons that start the jobs, and one that applies the result of the shown job at any time.
#[component]
pub fn Calibrate() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { daemon, client, why_not, measured, .. } = expect_context();
    let found = memo(move |_| client.with(|client| job_result(client.shown()?)));
    let start = move |job: fn(&MeasuredDevice) -> JobSpec| {
        on(move |_| {
            if let Some(device) = measured.get_untracked() {
                daemon.with_value(|daemon: &DaemonLink| daemon.start(vec![job(&device)]));
            }
        })
    };
    let of = move |say: fn(Option<&MeasuredDevice>) -> String| {
        text(move || measured.with(|device| say(device.as_ref())))
    };
    let uncalibrated = of(machine::uncalibrated);
    let busy = flag(move || !why_not.with(String::is_empty));
    let untimed = of(machine::untimed);
    let is_untimed = flag(move || busy.get() || !untimed.with(String::is_empty));
    let is_off = flag(move || busy.get() || !uncalibrated.with(String::is_empty));
    let no_file = text(move || {
        client.with(|client| client.shown().map(machine::without_file).unwrap_or_default())
    });
    let about = text(move || session.inputs.with(machine::about));
    let again = block(move || match found.get() {
        None => ().into_any(),
        Some(found) => {
            let words = match found {
                JobResult::Roofs(_) => "Use the roofs of the shown job",
                JobResult::Calibration(..) => "Use the calibration of the shown job",
            };
            let found = StoredValue::new(found);
            let use_it = on(move |_| {
                later(async move {
                    take(session, found.get_value()).await;
                });
            });
            view! { <button type="button" class="link" on:click=use_it>{words}</button> }.into_any()
        }
    });
    view! {
        <div class="calibrate">
            <h2>"This machine as the device"</h2>
            <p class="formats-line" role="status">{about}</p>
            <p>
                <button type="button" class="tool" disabled=is_untimed aria-describedby="why-calibrate" on:click=start(machine::roofs_job)>
                    {of(machine::roofs_label)}
                </button>
            </p>
            <p>
                <button type="button" class="tool" disabled=is_off aria-describedby="why-calibrate" on:click=start(machine::calibration_job)>
                    {of(machine::calibration_label)}
                </button>
            </p>
            <p class="brief" id="why-calibrate">{why_not} " " {untimed} " " {uncalibrated}</p>
            <p>{again} {no_file}</p>
        </div>
    }
}

/// Applies the result of a job of this page once: when it arrives, or when the view is opened again.
pub fn take_over() {
    let session = expect_context::<Session>();
    let MeasureContext { client, .. } = expect_context();
    let ours = memo(move |_| client.with(untaken));
    Effect::new(move |_| {
        if let Some((id, found)) = ours.get() {
            later(async move {
                if client.with_untracked(untaken).is_some_and(|(now, _)| now == id) {
                    let is_selected = client.with_untracked(|client| client.roofs == Some(id));
                    let before = device_name(session);
                    let disturbed = client.with_untracked(|client| {
                        let job = client.jobs.job(id)?;
                        let after = session.inputs.with_untracked(|it| after_disturbed(job, it))?;
                        Some((after, machine::disturbed(job, after)))
                    });
                    client.update(|client| client.jobs.taken(id));
                    if let Some((AfterDisturbed::Earlier, said)) = disturbed {
                        session.note(said);
                        return;
                    }
                    if !take(session, found).await {
                        return;
                    }
                    session.here.update(|here| {
                        let now = session.inputs.with_untracked(MachineDevice::chosen);
                        let key = now.device.key.to_string();
                        here.put(&key, now);
                    });
                    if is_selected {
                        tell(session, &before);
                    }
                    if let Some((_, said)) = disturbed {
                        session.note(said);
                    }
                }
            });
        }
    });
}

/// Makes the newest measurements of each device of the connected machine a choice of device, without a change of the page.
pub fn offer() {
    let session = expect_context::<Session>();
    let MeasureContext { client, .. } = expect_context();
    let told = memo(move |_| {
        client.with(|client| with_use(client, ResultUse::Offered).filter(|_| client.is_connected()))
    });
    Effect::new(move |_| {
        let Some((id, found)) = told.get() else { return };
        later(async move {
            client.update(|client| client.jobs.offered(id));
            // A file that this page cannot read is no choice; the buttons of its job say why.
            let Ok(opened) = open_measurements(found.files()).await else { return };
            let present = session.inputs.with_untracked(|inputs| inputs.device.clone());
            if let Ok(measured) = opened.of(present) {
                let key = measured.device.key.to_string();
                session.here.update(|here| here.put_first(&key, measured));
            }
        });
    });
}

/// Selects the connected machine as the device of the page, once: by its measured roofs, else by its name.
pub fn select_machine() {
    let session = expect_context::<Session>();
    let MeasureContext { daemon, client, .. } = expect_context();
    // The session of a daemon sets this machine once, so that roofs which the page applied later stay.
    let told = memo(move |_| {
        client
            .with(|client| client.session().and(client.connection.server).map(|id| id.to_string()))
    });
    Effect::new(move |_| {
        let Some(daemon) = told.get().filter(|id| session.here_of.with_value(|of| of != id)) else {
            return;
        };
        let here = client.with_untracked(|client| {
            let inputs = session.inputs.get_untracked();
            client.session().map(|session| machine::this_machine(session, &inputs))
        });
        if let Some(here) = here {
            session.here_of.set_value(daemon);
            session.here.set(here);
        }
    });
    let has_no_file = flag(move || {
        client.with(|client| {
            client.roofs.and_then(|id| client.jobs.job(id)).is_some_and(Job::lacks_file)
        })
    });
    Effect::new(move |_| {
        if has_no_file.get() {
            // The next one, or the catalog.
            client.update(|client| (client.is_selected, client.roofs) = (false, None));
        }
    });
    let found = memo(move |_| {
        client.with(|client| session.inputs.with(|inputs| selection(client, &inputs.device)))
    });
    Effect::new(move |_| {
        if let Some(found) = found.get() {
            later(async move {
                if !client.with_untracked(|client| client.is_selected) {
                    client.update(|client| client.is_selected = true);
                    select(session, &daemon.get_value(), found);
                }
            });
        }
    });
}

fn select(session: Session, daemon: &DaemonLink, found: MachineSelection) {
    match found {
        MachineSelection::Done => {}
        MachineSelection::Measured(job) => daemon.await_roofs(job),
        MachineSelection::Catalog(device) => {
            let before = device_name(session);
            session.edit(Step::Choice, |inputs| inputs.set_device(Cow::Borrowed(device)));
            tell(session, &before);
        }
    }
}

fn device_name(session: Session) -> Text {
    session.inputs.with_untracked(|inputs| inputs.device.name.clone())
}

/// Says that the machine is the device now, if another one was it before.
fn tell(session: Session, before: &Text) {
    let now = device_name(session);
    if now != *before {
        let text = machine::selected(before, &now);
        session.note(text);
    }
}

/// Latest job of this page whose result is not applied yet.
fn untaken(client: &Client) -> Option<(JobId, JobResult)> {
    with_use(client, ResultUse::Awaited)
}

/// Latest job with a result that is to be used in some way.
fn with_use(client: &Client, wanted: ResultUse) -> Option<(JobId, JobResult)> {
    let mut waiting = client.jobs.all().iter().filter(|job| job.result_use == wanted);
    waiting.find_map(|job| Some((job.summary.job, job_result(job)?)))
}

/// Makes the measured device the device of the page, with its measurements. Returns whether they can be read.
async fn take(session: Session, found: JobResult) -> bool {
    let present = session.inputs.with_untracked(|inputs| inputs.device.clone());
    let opened = open_measurements(found.files()).await.map_err(|refused| refused.reason);
    match opened.and_then(|opened| opened.of(present)) {
        Ok(measured) => {
            session.edit(Step::Choice, |inputs| measured.choose(inputs));
            true
        }
        Err(reason) => {
            session.note(reason);
            false
        }
    }
}
