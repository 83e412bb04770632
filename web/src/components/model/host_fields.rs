//! Fields for the host of a card and for what other programs take of the memory.

use calc_core::catalog::links::LINKS;
use calc_core::tiers::Host;
use leptos::prelude::*;
use report::input::request::DESKTOP_WORD;
use report::input::request::beside::OF_MACHINE;
use report::input::request::link::ChosenLink;

use super::beside_field::{BesideField, Refused, edit, told};
use crate::components::erased::{block, flag, memo, on, text};
use crate::state::model::host::hosts;
use crate::state::session::Session;

/// Host, its memory, link and SSD, and other programs, behind a summary that says what is chosen.
#[component]
pub fn HostFields() -> impl IntoView {
    let session = expect_context::<Session>();
    let is_card =
        memo(move |_| session.inputs.with(|inputs| Host::impossible(&inputs.device).is_none()));
    let has_any = memo(move |_| {
        ["host", "reserve_gb"].into_iter().any(|field| !told(session, field).is_empty())
    });
    let of_card = block(move || if is_card.get() { of_card().into_any() } else { ().into_any() });
    let title =
        text(move || if is_card.get() { "Host memory" } else { "Other programs" }.to_owned());
    // Fields that an address sets are visible from the start.
    let open = has_any.get_untracked();
    view! {
        <details class="more-fields" class:spread=flag(move || is_card.get()) open=open>
            <summary>{title}</summary>
            <div class="unfolded">
                {of_card}
                <div>
                    <BesideField field="reserve_gb" name="Other programs" unit="GB" empty="nothing"/>
                    <Desktop/>
                </div>
            </div>
            <Refused id="host-message" of=&OF_MACHINE/>
        </details>
    }
}

/// The fields of the machine around a card.
fn of_card() -> impl IntoView {
    let session = expect_context::<Session>();
    let has_host = memo(move |_| !told(session, "host").is_empty());
    let behind = block(move || {
        if !has_host.get() {
            return ().into_any();
        }
        view! {
            <LinkOfHost/>
            <BesideField field="ssd_gb_s" name="SSD" unit="GB/s" empty="none"/>
        }
        .into_any()
    });
    view! {
        <datalist id="hosts">
            {hosts().into_iter().map(|name| view! { <option value=name></option> }).collect_view()}
        </datalist>
        <BesideField field="host" name="Host" unit="processor or modules" empty="none" list="hosts"/>
        <BesideField field="host_memory_gb" name="Memory of the host" unit="GB" empty="none"/>
        {behind}
    }
}

/// The link between card and host.
#[component]
fn LinkOfHost() -> impl IntoView {
    let session = expect_context::<Session>();
    let chosen = memo(move |_| told(session, "host_link"));
    let preset = move |preset: &'static calc_core::catalog::links::LinkPreset| {
        let says = format!("{}: {}", preset.name, ChosenLink::figures(&preset.link));
        let is = flag(move || chosen.with(|chosen| chosen == preset.key));
        view! { <option value=preset.key prop:selected=is>{says}</option> }
    };
    let is_own = flag(move || chosen.with(String::is_empty));
    let on_change = move |event| edit(session, "host_link", &event_target_value(&event));
    view! {
        <div class="field">
            <label for="host_link">"Link to the host"</label>
            <select id="host_link" on:change=on(on_change)>
                <option value="" prop:selected=is_own>"PCIe of the card"</option>
                {LINKS.iter().map(preset).collect_view()}
            </select>
        </div>
    }
}

/// The preset of a running desktop.
#[component]
fn Desktop() -> impl IntoView {
    let session = expect_context::<Session>();
    let is_on = flag(move || told(session, "reserve_gb").eq_ignore_ascii_case(DESKTOP_WORD));
    let on_change = move |event| {
        let word = if event_target_checked(&event) { DESKTOP_WORD } else { "" };
        edit(session, "reserve_gb", word);
    };
    view! {
        <label class="switch">
            <input type="checkbox" id="desktop" prop:checked=is_on on:change=on(on_change)/>
            "A desktop is running (2 GB, assumed)"
        </label>
    }
}
