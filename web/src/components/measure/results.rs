//! Measured results: on the roofline, and in a table beside the prediction with the error.

use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::chart::ResultChart;
use super::view::MeasureContext;
use crate::components::erased::{block, flag, later, memo, on, text};
use crate::components::mark_icon::MarkIcon;
use crate::state::measure::answer::Row;
use crate::state::measure::crowd::{Choice, choices, shown};
use crate::state::measure::export;
use crate::state::program;
use crate::state::session::Session;
use crate::state::url::Note;

/// Chart, table and buttons that save the records.
#[component]
pub fn Results() -> impl IntoView {
    let MeasureContext { answer, .. } = expect_context();
    let sentence = text(move || {
        answer.with(|answer| {
            let answer = answer.as_ref();
            answer.map_or_else(String::new, |answer| {
                [answer.sentence.as_str(), answer.device_note.as_str()].join(" ").trim().to_owned()
            })
        })
    });
    let rows = memo(move |_| {
        answer.with(|answer| answer.as_ref().map(|it| it.rows.clone()).unwrap_or_default())
    });
    let none = flag(move || rows.with(Vec::is_empty));
    view! {
        <h2>"Measured against expected"</h2>
        <p class="brief" role="status">{sentence}</p>
        <Crowd/>
        <ResultChart/>
        <p class="brief" hidden=flag(move || !none.get())>
            "Nothing is measured yet. A spot check of all precisions takes about a minute; its points land under the roof."
        </p>
        <div class="asked" hidden=none>
            <Table rows=rows/>
            <Save/>
        </div>
    }
}

/// Selects the precision that the chart shows; absent where the points of all have room.
#[component]
fn Crowd() -> impl IntoView {
    let MeasureContext { answer, precision, .. } = expect_context();
    let choices =
        memo(move |_| answer.with(|answer| answer.as_ref().map(choices).unwrap_or_default()));
    let option = move |(key, name): Choice| {
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
    rows: Memo<Vec<Row>>,
) -> impl IntoView {
    let MeasureContext { pointed, .. } = expect_context();
    let row = move |row: Row| {
        let (key, again) = (row.key.clone(), row.key.clone());
        let flags = row.flags.into_iter().map(|it| view! { " " <span class="badge">{it}</span> });
        let warnings = row.warnings.join(" ");
        let warning = (!warnings.is_empty())
            .then(|| view! { <tr class="warned"><td colspan="6"><p class="warning">{warnings}</p></td></tr> });
        let (expected, is_refused) = match row.expected {
            Ok(text) => (text, false),
            Err(why) => (why, true),
        };
        let (origin, meaning) = row.origin;
        view! {
            <tr
                on:pointerenter=on(move |_| pointed.set(Some(key.clone())))
                on:pointerleave=on(move |_| pointed.set(None))
                on:focusin=on(move |_| pointed.set(Some(again.clone())))
            >
                <th scope="row"><MarkIcon mark=row.mark/> {row.format}<br/><small>{row.work}</small>{flags.collect_view()}</th>
                <td>{row.measured}<br/><small>{row.interval}</small></td>
                <td class:refused=is_refused>{expected} <br/><span class="badge" title=meaning hidden=origin.is_empty()>{origin}</span></td>
                <td>{row.error}</td>
                <td>{row.ideal}</td>
                <td>{row.rates}</td>
            </tr>
            {warning}
        }
    };
    let body = block(move || rows.get().into_iter().map(row).collect_view().into_any());
    view! {
        <div class="scroll" tabindex="0" role="group" aria-label="Measured against expected">
            <table class="choices" id="measured">
                <thead>
                    <tr>
                        <th scope="col">"precision, shape"</th>
                        <th scope="col">"measured"</th>
                        <th scope="col">"expected"</th>
                        <th scope="col">"error"</th>
                        <th scope="col">"ideal"</th>
                        <th scope="col">"rates"</th>
                    </tr>
                </thead>
                <tbody>{body}</tbody>
            </table>
        </div>
    }
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
