//! The root component: shared state and layout.

use leptos::prelude::*;

use crate::components::device_facts::DeviceFacts;
use crate::components::erased::{block, flag, memo};
use crate::components::explanation::ExplanationPopover;
use crate::components::fetched::Folded;
use crate::components::format_table::FormatTable;
use crate::components::header::Header;
use crate::components::inputs_panel::InputsPanel;
use crate::components::key_list::KeyList;
use crate::components::limits_panel::LimitsPanel;
use crate::components::notes::Notes;
use crate::components::roofline_chart::RooflineChart;
use crate::components::show_work::ShowWork;
use crate::components::verdict::Verdict;
use crate::components::view_later::ViewLater;
use crate::lazy::{Part, own_devices};
use crate::state::check::TIME;
use crate::state::derived::Shown;
use crate::state::inputs::View;
use crate::state::session::{Session, carries};

/// Mounts the page. An address with a custom device first needs the chunk that reads it.
pub fn start() {
    console_error_panic_hook::set_once();
    if !carries() {
        leptos::mount::mount_to_body(App);
        return;
    }
    wasm_bindgen_futures::spawn_local(async {
        drop(own_devices().await); // a note reports a failed fetch
        leptos::mount::mount_to_body(App);
    });
}

/// The page: header and the view that the address selects.
#[component]
pub fn App() -> impl IntoView {
    let session = Session::begin();
    provide_context(session);
    let view = memo(move |_| session.inputs.with(|inputs| inputs.view));
    let shown = block(move || match view.get() {
        View::Kernel => view! { <KernelView/> }.into_any(),
        later => view! { <ViewLater view=later/> }.into_any(),
    });
    view! {
        <Header/>
        <KeyList/>
        {shown}
    }
}

/// The Kernel view, one operator on a device: inputs, answer, limits and facts.
#[component]
fn KernelView() -> impl IntoView {
    let session = expect_context::<Session>();
    let stale = flag(move || session.shown.with(Shown::is_stale));
    let claimed = session.inputs.with_untracked(|inputs| inputs.model.has(TIME));
    view! {
        <main class="kernel">
            <InputsPanel/>
            <section class="answer" class:stale=stale aria-label="Answer">
                <Notes/>
                <Verdict/>
                <RooflineChart/>
                <FormatTable/>
                <Folded class="own-points" title="Your own points" part=Part::OwnPoints open=false/>
            </section>
            // The right column, most important panel first.
            <aside class="limits" aria-label="Limits and facts">
                <LimitsPanel/>
                <Folded class="fold" title="Is this possible?" part=Part::Check open=claimed/>
                <ShowWork/>
                <DeviceFacts/>
            </aside>
            <ExplanationPopover/>
        </main>
    }
}
