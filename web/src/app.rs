//! The page as a whole: shared state, and where everything stands.

use leptos::prelude::*;

use crate::components::erased::flag;
use crate::components::explanation::ExplanationPopover;
use crate::components::format_table::FormatTable;
use crate::components::header::Header;
use crate::components::inputs_panel::InputsPanel;
use crate::components::key_list::KeyList;
use crate::components::limits_panel::LimitsPanel;
use crate::components::notes::Notes;
use crate::components::roofline_chart::RooflineChart;
use crate::components::verdict::Verdict;
use crate::state::derived::Shown;
use crate::state::session::Session;

/// Puts the page into the document.
pub fn start() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(App);
}

/// The page.
#[component]
pub fn App() -> impl IntoView {
    let session = Session::begin();
    provide_context(session);
    let stale = flag(move || session.shown.with(Shown::is_stale));
    view! {
        <Header/>
        <main class="kernel">
            <InputsPanel/>
            <section class="answer" class:stale=stale aria-label="Answer">
                <Notes/>
                <Verdict/>
                <RooflineChart/>
                <FormatTable/>
            </section>
            <LimitsPanel/>
            <ExplanationPopover/>
        </main>
        <KeyList/>
    }
}
