//! Field for the link between several devices.

use calc_core::catalog::links::LINKS;
use leptos::prelude::*;
use report::input::request::link::{self, ChosenLink};

use crate::components::erased::{block, memo, on, text};
use crate::state::model::link::{Choice, OWN, choice, figures, of_device};
use crate::state::session::{Session, Step};

/// Selects the link, or takes its bandwidth and latency; nothing for a single device.
#[component]
pub fn LinkField() -> impl IntoView {
    let session = expect_context::<Session>();
    let several = memo(move |_| session.inputs.with(|inputs| inputs.model.has_several_devices()));
    block(move || if several.get() { fields().into_any() } else { ().into_any() })
}

fn fields() -> impl IntoView {
    let session = expect_context::<Session>();
    let chosen = memo(move |_| session.inputs.with(|inputs| choice(&inputs.model)));
    let message = RwSignal::new(String::new());
    let choose = move |key: &str| {
        let read = if key.is_empty() { Ok(None) } else { link::read(key).map(Some) };
        match read {
            Ok(link) => {
                message.set(String::new());
                let link = link.map(std::sync::Arc::new);
                session.edit(Step::Choice, |inputs| inputs.model.link = link);
            }
            Err(error) => message.set(format!("{error}.")),
        }
    };
    let on_preset = move |event| {
        let key = event_target_value(&event);
        let own = chosen.with_untracked(Choice::own);
        choose(if key == OWN { &own } else { &key });
    };
    let of_device = text(move || session.inputs.with(|inputs| of_device(&inputs.device)));
    let is = move |key: &'static str| chosen.with(|chosen| chosen.key() == key);
    let preset = move |preset: &'static calc_core::catalog::links::LinkPreset| {
        let says = format!("{}: {}", preset.name, ChosenLink::figures(&preset.link));
        view! { <option value=preset.key title=preset.source prop:selected=is(preset.key)>{says}</option> }
    };
    let options = block(move || {
        view! {
            <option value="" prop:selected=is("")>{of_device}</option>
            {LINKS.iter().map(preset).collect_view()}
            <option value=OWN prop:selected=is(OWN)>"of your own"</option>
        }
        .into_any()
    });
    let typed = block(move || match chosen.get() {
        Choice::Own { bandwidth, latency } => own(&bandwidth, &latency, choose),
        Choice::Device | Choice::Preset(_) => ().into_any(),
    });
    let brief = text(move || session.inputs.with(figures));
    view! {
        <div class="field">
            <label for="link">"Link between devices"</label>
            <select id="link" aria-describedby="link-figures" on:change=on(on_preset)>{options}</select>
        </div>
        {typed}
        <p class="brief" id="link-figures">{brief}</p>
        <p class="message" id="link-message" role="alert">{text(move || message.get())}</p>
    }
}

/// The numbers of a link of the user's own.
fn own(bandwidth: &str, latency: &str, choose: impl Fn(&str) + Copy + 'static) -> AnyView {
    let (bandwidth, latency) = (bandwidth.to_owned(), latency.to_owned());
    let (other_bandwidth, other_latency) = (bandwidth.clone(), latency.clone());
    let on_bandwidth = on(move |event| {
        choose(&format!("{},{other_latency}", event_target_value(&event)));
    });
    let on_latency = on(move |event| {
        choose(&format!("{other_bandwidth},{}", event_target_value(&event)));
    });
    view! {
        <div class="field">
            <label for="link-bandwidth">"Link, GB/s per direction"</label>
            <input id="link-bandwidth" type="text" inputmode="decimal" autocomplete="off" prop:value=bandwidth on:change=on_bandwidth/>
        </div>
        <div class="field">
            <label for="link-latency">"Link, µs per hop"</label>
            <input id="link-latency" type="text" inputmode="decimal" autocomplete="off" prop:value=latency on:change=on_latency/>
        </div>
    }
    .into_any()
}
