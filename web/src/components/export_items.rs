//! Items of the export menu: chart, table, answer, link and print.

use leptos::prelude::*;

use super::erased::{block, later, memo, on};
use crate::state::export_kinds::{file_name, kinds};
use crate::state::fragment;
use crate::state::program;
use crate::state::session::Session;
use crate::state::url::{self, Note};

/// Menu items, each of which closes the menu.
#[component]
pub fn ExportItems() -> impl IntoView {
    let session = expect_context::<Session>();
    let view = memo(move |_| session.inputs.with(|inputs| inputs.view));
    let item = move |&(kind, name): &(&'static str, &'static str)| {
        view! {
            <button type="button" popovertarget="export-menu" popovertargetaction="hide" on:click=on(move |_| save(session, kind))>
                {name}
            </button>
        }
    };
    let files = block(move || kinds(view.get()).iter().map(item).collect_view().into_any());
    view! {
        {files}
        <button type="button" popovertarget="export-menu" popovertargetaction="hide" on:click=on(move |_| copy_link(session))>
            "Copy link"
        </button>
        <button type="button" popovertarget="export-menu" popovertargetaction="hide" on:click=on(move |_| drop(window().print()))>
            "Print"
        </button>
    }
}

fn save(session: Session, kind: &'static str) {
    let (name, query, carried) = session.inputs.with_untracked(|inputs| {
        (file_name(inputs, kind), url::write(inputs), fragment::text(inputs))
    });
    let dark = untrack(move || session.colors.is_dark());
    later(async move {
        if kind == "png" {
            program::save_picture(&name).await;
        } else {
            let colors = if dark { "dark" } else { "light" };
            session.save(&name, "export_answer", &[kind, &query, &carried, colors]).await;
        }
    });
}

fn copy_link(session: Session) {
    later(async move {
        let link = window().location().href().unwrap_or_default();
        if program::ask("ridgepointCopy", &[&link.into()]).await.is_err() {
            let text =
                "The browser does not let the page copy; the address of the window is the link."
                    .to_owned();
            session.notes.update(|notes| notes.push(Note { text }));
        }
    });
}
