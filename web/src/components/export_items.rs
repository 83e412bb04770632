//! Items of the export menu: charts, table, answer, link and print.

use leptos::prelude::*;

use super::erased::{block, later, memo, on};
use crate::charts::paper;
use crate::charts::shown::{ShownChart, charts};
use crate::state::export_kinds::{Document, PICTURES, file_name, kinds, picture_kind};
use crate::state::program;
use crate::state::session::Session;

/// Menu items, each of which closes the menu.
#[component]
pub fn ExportItems() -> impl IntoView {
    let session = expect_context::<Session>();
    let view = memo(move |_| session.inputs.with(|inputs| inputs.view));
    let pictures = block(move || {
        session.charts.track();
        let charts = charts();
        let is_one = charts.len() < 2;
        let of_chart = |chart: ShownChart| {
            PICTURES.map(|(kind, name)| {
                let text =
                    if is_one { name.to_owned() } else { format!("{}, {name}", chart.title) };
                let kind = (kind, picture_kind(chart.title, !is_one, kind));
                item(text, move || save_picture(session, chart, kind.clone()))
            })
        };
        charts.into_iter().flat_map(of_chart).collect_view().into_any()
    });
    let files = block(move || {
        let item = |&(kind, name): &(&'static str, &str)| {
            item(name.to_owned(), move || save(session, kind))
        };
        kinds(view.get()).iter().map(item).collect_view().into_any()
    });
    view! {
        {pictures}
        {files}
        {item("Copy link".to_owned(), move || copy_link(session))}
        {item("Print".to_owned(), move || paper::print(session))}
    }
}

fn item(text: String, act: impl Fn() + 'static) -> AnyView {
    view! {
        <button type="button" popovertarget="export-menu" popovertargetaction="hide" on:click=on(move |_| act())>
            {text}
        </button>
    }
    .into_any()
}

/// Saves a chart; `kind` is that of the picture, and what its file name ends with.
fn save_picture(session: Session, chart: ShownChart, (kind, end): (&'static str, String)) {
    let name = session.inputs.with_untracked(|inputs| file_name(inputs, &end));
    later(async move {
        let saved = match kind {
            "png" => paper::save_png(&name, chart, session).await,
            _ => program::save_text(&name, &paper::svg_file(chart, session)).await,
        };
        if let Err(reason) = saved {
            session.note(format!("{name} could not be written: {reason}."));
        }
    });
}

fn save(session: Session, kind: &'static str) {
    let name = session.inputs.with_untracked(|inputs| file_name(inputs, kind));
    later(async move { session.save(&name, Document::Answer(kind)).await });
}

fn copy_link(session: Session) {
    later(async move {
        let link = window().location().href().unwrap_or_default();
        if program::ask("ridgepointCopy", &[&link.into()]).await.is_err() {
            session.note(
                "The browser does not let the page copy; the address of the window is the link."
                    .to_owned(),
            );
        }
    });
}
