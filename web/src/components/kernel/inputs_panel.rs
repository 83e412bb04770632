//! Left column of the Kernel view: all inputs.

use leptos::prelude::*;

use super::KernelContext;
use super::operator_field::OperatorField;
use super::presets::Presets;
use crate::components::device_field::DeviceField;
use crate::components::erased::{block, derived, flag, memo, on, text};
use crate::components::fetched::Folded;
use crate::components::open_file::OpenFile;
use crate::components::picker::Picker;
use crate::components::power_mode_field::PowerModeField;
use crate::lazy::Part;
use crate::state::derived::{Shown, inputs_summary, rule_name};
use crate::state::inputs::{Inputs, Role};
use crate::state::picker::{Names, activation_groups, bits, cache_groups, weight_groups};
use crate::state::session::{Session, Step};

/// Input fields; on a small screen they are behind a summary line that opens them.
#[component]
pub fn InputsPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    let inputs = session.inputs;
    // Invalid values of the address are visible from the start.
    let unfolded = RwSignal::new(kernel.shown.with_untracked(Shown::is_stale));
    let activations = derived(move || activation_groups(&inputs.with(rule_name)));
    let on_weights = move |key: String| {
        let format = calc_core::catalog::format(&key);
        session.edit(Step::Choice, |inputs| inputs.weights = format.unwrap_or(inputs.weights));
    };
    let on_activations = move |key: String| {
        let format = calc_core::catalog::format(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.activations = format);
    };
    let on_kv = move |key: String| {
        let format = calc_core::catalog::format(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.kv = format);
    };
    let weights_picker = move || {
        view! {
            <Picker
                id="weights"
                label="Weights"
                groups=Signal::stored(weight_groups())
                names=Names::Formats
                chosen=text(move || inputs.with(|inputs| inputs.weights.key.to_owned()))
                detail=text(move || inputs.with(|inputs| bits(inputs.weights)))
                on_choose=Callback::new(on_weights)
            />
        }
    };
    let activations_picker = move || {
        view! {
            <Picker
                id="activations"
                label="Activations"
                groups=activations
                names=Names::Formats
                chosen=text(move || inputs.with(|inputs| inputs.activations.map_or("", |format| format.key).to_owned()))
                detail=text(String::new)
                on_choose=Callback::new(on_activations)
            />
        }
    };
    let kv_picker = move || {
        view! {
            <Picker
                id="kv"
                label="KV cache"
                groups=derived(move || cache_groups(inputs.with(Inputs::carrier).short_name))
                names=Names::Formats
                chosen=text(move || inputs.with(|inputs| inputs.kv.map_or("", |format| format.key).to_owned()))
                detail=text(move || inputs.with(|inputs| bits(inputs.format())))
                on_choose=Callback::new(on_kv)
            />
        }
    };
    let role = memo(move |_| inputs.with(Inputs::role));
    let formats = block(move || match role.get() {
        Role::Weights => view! { {weights_picker()} {activations_picker()} }.into_any(),
        Role::KvCache => view! { {kv_picker()} {activations_picker()} }.into_any(),
        Role::Carrier => activations_picker().into_any(),
    });
    view! {
        <section class="inputs" class:unfolded=flag(move || unfolded.get()) aria-label="Inputs">
            <button
                type="button"
                class="summary"
                aria-expanded=text(move || unfolded.get().to_string())
                aria-controls="inputs"
                on:click=on(move |_| unfolded.update(|unfolded| *unfolded = !*unfolded))
            >
                {text(move || inputs.with(inputs_summary))}
            </button>
            <div class="fields" id="inputs">
                <DeviceField/>
                <PowerModeField/>
                <OperatorField/>
                <Presets/>
                {formats}
                <Folded class="more-fields goal" title="Goal of the recommendation" part=Part::Goal open=false/>
                <OpenFile/>
            </div>
        </section>
    }
}
