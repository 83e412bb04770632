//! Measured results: on the roofline, and in a table beside the prediction with the error.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::MeasureContext;
use super::chart::ResultChart;
use crate::components::erased::{block, flag, later, memo, on, text};
use crate::components::explained::Explained;
use crate::components::focus::{focus, tab_index};
use crate::components::mark_icon::MarkIcon;
use crate::components::table_frame::{TableFrame, heads};
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::answer::MeasuredRow;
use crate::state::measure::chart_points::{PrecisionOption, choices, shown};
use crate::state::measure::{export, machine};
use crate::state::program;
use crate::state::roving::turn;
use crate::state::session::Session;
use crate::state::url::Note;

/// Columns of the table.
const COLUMNS: [&str; 7] =
    ["Precision, shape", "Grade", "Measured", "Expected", "Error", "Ideal", "Rates"];

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
    let rows = memo(move |_| {
        answer.with(|answer| answer.as_ref().map(|it| it.rows.clone()).unwrap_or_default())
    });
    let none = flag(move || rows.with(Vec::is_empty));
    view! {
        <h2>"Measured against expected"</h2>
        <p class="brief" role="status">{sentence}</p>
        {chart}
        <p class="brief" hidden=flag(move || !none.get() || !is_here.get())>
            "Nothing is measured yet. A spot check of all precisions takes about a minute; its points land under the roof."
        </p>
        <div class="asked" hidden=none>
            <div class="warnings" role="status">{warnings}</div>
            <Table rows=rows/>
            <Save/>
        </div>
    }
}

/// In place of the chart, where the chosen device is not the measured machine: the reason, and the measurement that makes it so.
#[component]
fn NoRoofs() -> impl IntoView {
    let MeasureContext { daemon, answer, why_not, .. } = expect_context();
    let reason = text(move || {
        answer.with(|answer| answer.as_ref().map(|it| it.elsewhere.clone()).unwrap_or_default())
    });
    let busy = flag(move || !why_not.with(String::is_empty));
    let start = on(move |_| {
        daemon.with_value(|daemon: &DaemonLink| daemon.start(machine::calibration_job()));
    });
    view! {
        <div class="no-roofs">
            <p>{reason}</p>
            <p>
                <button type="button" class="tool" disabled=busy aria-describedby="why-roofs" on:click=start>
                    {machine::MEASURE_ALL}
                </button>
                " "
                <span class="brief" id="why-roofs">{why_not}</span>
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

/// Table of measured and expected times with the error, the ideal time and the rates.
#[component]
fn Table(
    /// One row per measured record.
    rows: Memo<Vec<MeasuredRow>>,
) -> impl IntoView {
    let MeasureContext { pointed, .. } = expect_context();
    // The grades are one tab stop; arrow keys go from one to the next.
    let stop = memo(move |_| {
        rows.with(|rows| {
            let known = pointed.get().filter(|key| rows.iter().any(|row| row.key == *key));
            known.or_else(|| rows.first().map(|row| row.key.clone()))
        })
    });
    let on_key = move |event: KeyboardEvent| {
        let keys: Vec<String> =
            rows.with_untracked(|rows| rows.iter().map(|row| row.key.clone()).collect());
        let now = pointed.get_untracked();
        let at = now.and_then(|key| keys.iter().position(|other| *other == key));
        if let Some(key) = turn(at, keys.len(), &event.key()).and_then(|next| keys.get(next)) {
            event.prevent_default();
            focus(&grade_id(key));
        }
    };
    let row = move |row: MeasuredRow| view! { <ResultRow row=row stop=stop/> };
    let body = block(move || rows.get().into_iter().map(row).collect_view().into_any());
    view! {
        <TableFrame label="Measured against expected" class="choices" id="measured" heads=heads(COLUMNS)>
            <tbody on:keydown=on(on_key)>{body}</tbody>
        </TableFrame>
    }
}

/// Row of a measured record, with its grade as a button that explains it.
#[component]
fn ResultRow(
    /// Texts of the row.
    row: MeasuredRow,
    /// Key of the row whose grade is the tab stop.
    stop: Memo<Option<String>>,
) -> impl IntoView {
    let MeasureContext { pointed, .. } = expect_context();
    let grade = Signal::stored(row.graded());
    let class = format!("grade {}", row.grade.name().replace(' ', "-"));
    let (expected, is_refused) = match row.expected {
        Ok(text) => (text, false),
        Err(why) if why.is_empty() => ("\u{2013}".to_owned(), true),
        Err(why) => (why, true),
    };
    let (origin, meaning) = row.origin;
    let id = grade_id(&row.key);
    let key = StoredValue::new(row.key);
    let point = move || pointed.set(Some(key.get_value()));
    let is_stop = move || stop.with(|stop| key.with_value(|key| stop.as_ref() == Some(key)));
    view! {
        <tr
            on:pointerenter=on(move |_| point())
            on:pointerleave=on(move |_| pointed.set(None))
            on:focusin=on(move |_| point())
        >
            <th scope="row"><MarkIcon mark=row.mark/> {row.format}<br/><small>{row.work}</small></th>
            <td class=class><Explained id=id cell=grade tab_index=tab_index(is_stop)/></td>
            <td>{row.measured}<br/><small>{row.interval}</small></td>
            <td class:refused=is_refused>{expected} <br/><span class="badge" title=meaning hidden=origin.is_empty()>{origin}</span></td>
            <td>{row.error}</td>
            <td>{row.ideal}</td>
            <td>{row.rates}</td>
        </tr>
    }
}

fn grade_id(row: &str) -> String {
    format!("grade-{row}")
}

/// Buttons that save the records of the shown job as JSON or CSV.
#[component]
fn Save() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { client, .. } = expect_context();
    let save = move |ending: &'static str| {
        let (name, content) = client.with_untracked(|client| {
            let job = client.shown();
            let number = job.map_or(0, |job| job.summary.job.0);
            let records = job.map(|job| job.records.as_slice()).unwrap_or_default();
            let content =
                if ending == "csv" { export::csv(records) } else { export::json(records) };
            (format!("ridgepoint-measured-{number}.{ending}"), content)
        });
        later(async move {
            let values: [JsValue; 2] = [name.into(), content.into()];
            if program::ask("ridgepointSave", &values.each_ref()).await.is_err() {
                let text = "The browser does not let the page save files.".to_owned();
                session.notes.update(|notes| notes.push(Note { text }));
            }
        });
    };
    view! {
        <p class="saves">
            <button type="button" class="tool" on:click=on(move |_| save("json"))>"Save as JSON"</button>
            " "
            <button type="button" class="tool" on:click=on(move |_| save("csv"))>"Save as CSV"</button>
        </p>
    }
}
