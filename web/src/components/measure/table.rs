//! Table of measured results beside the prediction with the error, loaded as a chunk of its own.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsValue;

use super::MeasureContext;
use crate::components::erased::{block, later, memo, on};
use crate::components::explained::Explained;
use crate::components::focus::{focus, tab_index};
use crate::components::mark_icon::MarkIcon;
use crate::components::table_frame::{TableFrame, heads};
use crate::state::measure::answer::MeasuredRow;
use crate::state::measure::export;
use crate::state::program;
use crate::state::roving::turn;
use crate::state::session::Session;
use crate::state::url::Note;

/// Columns of the table.
const COLUMNS: [&str; 7] =
    ["Precision, shape", "Grade", "Measured", "Expected", "Error", "Ideal", "Rates"];

/// Table of measured and expected times with the error, the ideal time and the rates; and buttons that save the records.
#[component]
pub fn MeasuredTable() -> impl IntoView {
    let MeasureContext { answer, pointed, .. } = expect_context();
    let rows = memo(move |_| {
        answer.with(|answer| answer.as_ref().map(|it| it.rows.clone()).unwrap_or_default())
    });
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
        <Save/>
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
