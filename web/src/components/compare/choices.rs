//! Scenarios that are a click away from one: other power modes, users, precision, and any device.

use leptos::prelude::*;

use crate::components::chunk::LazyPart;
use crate::components::erased::{block, derived, flag, memo, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::enter_first;
use crate::components::picker::Picker;
use crate::state::compare::offers::{Offer, offers, on_device};
use crate::state::inputs::Inputs;
use crate::state::picker::{PickerCatalog, device_groups};

/// State that the device picker shares with the choices.
#[derive(Debug, Clone, Copy)]
pub struct OtherDevice {
    scenario: Signal<Inputs>,
    on_choose: Callback<String>,
    open: RwSignal<bool>,
}

/// A button for each choice, and one that opens a picker of devices.
#[component]
pub fn Choices(
    /// Scenario that the choices differ from.
    scenario: Signal<Inputs>,
    /// Words before the buttons.
    title: &'static str,
    /// Called with the chosen scenario as it is pinned.
    on_choose: Callback<String>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    provide_context(OtherDevice { scenario, on_choose, open });
    let picker = Fetched::new(LazyPart::OtherDevice);
    let all = memo(move |_| scenario.with(offers));
    let chip = move |Offer { label, pin }: Offer| {
        view! {
            <button type="button" class="chip" on:click=on(move |_| on_choose.run(pin.clone()))>{label}</button>
        }
    };
    let chips = block(move || all.get().into_iter().map(chip).collect_view().into_any());
    let on_open = move |_| {
        open.update(|open| *open = !*open);
        picker.ask();
    };
    view! {
        <span class="title">{title}</span>
        {chips}
        <button
            type="button"
            class="chip"
            aria-expanded=text(move || open.get().to_string())
            aria-controls="other-device-field"
            on:click=on(on_open)
        >
            "another device"
        </button>
        <div id="other-device-field" hidden=flag(move || !open.get())>
            {block(move || if open.get() { picker.show() } else { ().into_any() })}
        </div>
    }
}

/// Picker of the other device. Loaded when it is first opened.
#[component]
pub fn OtherDevicePicker() -> impl IntoView {
    let OtherDevice { scenario, on_choose, open } = expect_context();
    request_animation_frame(|| enter_first("#other-device"));
    let choose = move |key: String| {
        open.set(false);
        if let Some(pin) = scenario.with_untracked(|scenario| on_device(scenario, &key)) {
            on_choose.run(pin);
        }
    };
    view! {
        <Picker
            id="other-device"
            label="Compare with"
            groups=derived(device_groups)
            names=PickerCatalog::Devices
            chosen=text(String::new)
            detail=text(String::new)
            on_choose=Callback::new(choose)
        />
    }
}
