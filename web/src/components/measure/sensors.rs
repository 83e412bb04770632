//! Sensor readings of the daemon's machine, now and while a job ran; loaded in a chunk of their own.

use leptos::prelude::*;

use super::MeasureContext;
use crate::components::erased::{block, flag, memo, text};
use crate::state::measure::readings::{BOX, SensorCourse, courses, span};
use crate::state::measure::sensors::{SensorGroup, SensorLine, groups};

/// List of sensor readings; a missing one shows the reason.
#[component]
pub fn Sensors() -> impl IntoView {
    let MeasureContext { client, .. } = expect_context();
    let found = memo(move |_| {
        client.with(|client| {
            let telemetry = client.telemetry.as_ref();
            telemetry.map(|told| groups(told, client.session())).unwrap_or_default()
        })
    });
    let line = |line: SensorLine| {
        let is_missing = line.value.is_empty();
        view! {
            <div>
                <dt>{line.name}</dt>
                <dd>{if is_missing { view! { <small>{line.reason}</small> }.into_any() } else { line.value.into_any() }}</dd>
            </div>
        }
    };
    let group = move |SensorGroup { title, lines }: SensorGroup| {
        let heading = (!title.is_empty()).then(|| view! { <h3>{title}</h3> });
        view! { {heading} <dl class="facts">{lines.into_iter().map(line).collect_view()}</dl> }
    };
    let body = block(move || found.get().into_iter().map(group).collect_view().into_any());
    view! { <div id="sensors">{body}</div> <Courses/> }
}

/// Readings while the shown job ran, as lines over time; absent for a job without.
#[component]
fn Courses() -> impl IntoView {
    let MeasureContext { client, .. } = expect_context();
    let found = memo(move |_| {
        client.with(|client| {
            client.shown().map(|job| courses(job, client.session())).unwrap_or_default()
        })
    });
    let over = text(move || client.with(|client| client.shown().map(span).unwrap_or_default()));
    let none = flag(move || found.with(Vec::is_empty));
    let course = |SensorCourse { name, said, path }: SensorCourse| {
        view! {
            <div>
                <dt>{name}</dt>
                <dd>{said}</dd>
                <svg viewBox=format!("0 0 {} {}", BOX.0, BOX.1) preserveAspectRatio="none" aria-hidden="true">
                    <path d=path/>
                </svg>
            </div>
        }
    };
    let body = block(move || found.get().into_iter().map(course).collect_view().into_any());
    view! {
        <div id="courses" hidden=none>
            <h2>"While the job ran" " " <small>{over}</small></h2>
            <p class="brief">"Mean, least and most; each line from 0 to its most."</p>
            <dl class="facts courses">{body}</dl>
        </div>
    }
}
