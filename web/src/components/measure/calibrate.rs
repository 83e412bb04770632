//! Calibration: the job, and what the page does with what it finds.

use leptos::prelude::*;
use protocol::job::{CalibrateSpec, JobId, JobSpec};

use super::view::MeasureContext;
use crate::components::erased::{block, flag, later, memo, on, text};
use crate::components::open_file::read_text;
use crate::link::live::Live;
use crate::state::session::Session;
use crate::state::url::Note;

type Texts = (String, Option<String>);

/// Starts a calibration; the shown job's own can be taken over at any time.
#[component]
pub fn Calibrate() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { live, client, may_start, .. } = expect_context();
    let found =
        memo(move |_| client.with(|client| client.shown().and_then(|job| job.calibration.clone())));
    let start = move |_| {
        let job = JobSpec::Calibrate(CalibrateSpec { backend: None });
        live.with_value(|live: &Live| live.start(job));
    };
    let about = text(move || {
        session.inputs.with(|inputs| match &inputs.own {
            Some(own) => format!("Measured factors of {} count now: {}", inputs.device.name, own.about),
            None => "Measures the 30 to 60 points that fix the factors of this machine; the page then computes with them.".to_owned(),
        })
    });
    let again = block(move || match found.get() {
        None => ().into_any(),
        Some(texts) => {
            let texts = StoredValue::new(texts);
            let take = move |_| later(take(session, texts.get_value()));
            view! {
                <button type="button" class="link" on:click=on(take)>"Use the calibration of the shown job"</button>
            }
            .into_any()
        }
    });
    view! {
        <div class="calibrate">
            <h2>"Calibration"</h2>
            <p class="formats-line" role="status">{about}</p>
            <p>
                <button type="button" class="tool" disabled=flag(move || !may_start.get()) on:click=on(start)>
                    "Calibrate this machine"
                </button>
            </p>
            <p>{again}</p>
        </div>
    }
}

/// What a calibration finds that was started from here is taken over when it comes, once.
pub fn take_over() {
    let session = expect_context::<Session>();
    let MeasureContext { client, .. } = expect_context();
    let ours = memo(move |_| {
        client.with(|client| {
            let job =
                client.book.jobs().iter().find(|job| job.is_ours && job.calibration.is_some());
            job.and_then(|job| Some((job.summary.job, job.calibration.clone()?)))
        })
    });
    Effect::new(move |before: Option<Option<JobId>>| {
        let now = ours.get();
        let id = now.as_ref().map(|(id, _)| *id);
        let last = before.flatten();
        let was_there = before.is_none() && session.inputs.with_untracked(|it| it.own.is_some());
        if let Some((_, texts)) = now.filter(|_| id != last && !was_there) {
            later(take(session, texts));
        }
        id.or(last)
    });
}

/// Takes a device over, if there is one, and then what was measured on it.
async fn take(session: Session, (calibration, device): Texts) {
    let files = device.map(|text| ("the measured device", text));
    for (name, text) in files.into_iter().chain([("the calibration", calibration)]) {
        match read_text(name, &text).await {
            Ok(ready) => ready.take(session),
            Err(text) => {
                session.notes.update(|notes| notes.push(Note { text }));
                return;
            }
        }
    }
}
