//! Left column of the Kernel view: all inputs.

use calc_core::catalog;
use calc_core::quant_format::QuantFormat;
use leptos::prelude::*;

use super::KernelContext;
use super::operator_field::OperatorField;
use super::presets::Presets;
use crate::components::chunk::LazyPart;
use crate::components::device_field::DeviceField;
use crate::components::erased::{derived, memo, text};
use crate::components::fetched::Folded;
use crate::components::inputs_shell::InputsShell;
use crate::components::open_file::OpenFile;
use crate::components::picker::Picker;
use crate::components::power_mode_field::PowerModeField;
use crate::components::startup::{each_in_turn, in_turn};
use crate::state::derived::{KernelShown, inputs_summary, rule_name};
use crate::state::inputs::{ComparedRole, Inputs};
use crate::state::picker::{PickerCatalog, activation_groups, bits, cache_groups, weight_groups};
use crate::state::session::{Session, Step};

/// Input fields; on a small screen they are behind a summary line that opens them.
#[component]
pub fn InputsPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    // Invalid values of the address are visible from the start.
    let open = kernel.shown.with_untracked(KernelShown::is_stale);
    let summary = text(move || session.inputs.with(inputs_summary));
    let role = memo(move |_| session.inputs.with(Inputs::role));
    let formats = in_turn(move || match role.get() {
        ComparedRole::Weights => view! { <Weights/><Activations/> }.into_any(),
        ComparedRole::KvCache => view! { <KvCache/><Activations/> }.into_any(),
        ComparedRole::Carrier => view! { <Activations/> }.into_any(),
    });
    view! {
        <InputsShell label="Inputs" summary=summary open=open>
            {each_in_turn([
                || view! { <DeviceField/> }.into_any(),
                || view! { <PowerModeField/> }.into_any(),
                || view! { <OperatorField/> }.into_any(),
                || view! { <Presets/> }.into_any(),
            ])}
            {formats}
            <Folded class="more-fields goal" title="Goal of the recommendation" part=LazyPart::Goal open=false/>
            <OpenFile/>
        </InputsShell>
    }
}

/// Picker of the format of the weights.
#[component]
fn Weights() -> impl IntoView {
    let session = expect_context::<Session>();
    let inputs = session.inputs;
    let on_choose = move |key: String| {
        let format = catalog::format(&key);
        session.edit(Step::Choice, |inputs| inputs.weights = format.unwrap_or(inputs.weights));
    };
    view! {
        <Picker
            id="weights"
            label="Weights"
            groups=Signal::stored(weight_groups())
            names=PickerCatalog::Formats
            chosen=text(move || inputs.with(|inputs| inputs.weights.key.to_owned()))
            detail=text(move || inputs.with(|inputs| bits(inputs.weights)))
            on_choose=Callback::new(on_choose)
        />
    }
}

/// Picker of the format of the activations.
#[component]
fn Activations() -> impl IntoView {
    let session = expect_context::<Session>();
    let inputs = session.inputs;
    let on_choose = move |key: String| {
        let format = catalog::format(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.activations = format);
    };
    view! {
        <Picker
            id="activations"
            label="Activations"
            groups=derived(move || activation_groups(&inputs.with(rule_name)))
            names=PickerCatalog::Formats
            chosen=text(move || inputs.with(|inputs| key_of(inputs.activations)))
            detail=text(String::new)
            on_choose=Callback::new(on_choose)
        />
    }
}

/// Picker of the format of the KV cache.
#[component]
fn KvCache() -> impl IntoView {
    let session = expect_context::<Session>();
    let inputs = session.inputs;
    let on_choose = move |key: String| {
        let format = catalog::format(&key).ok();
        session.edit(Step::Choice, |inputs| inputs.kv = format);
    };
    view! {
        <Picker
            id="kv"
            label="KV cache"
            groups=derived(move || cache_groups(inputs.with(Inputs::carrier).short_name))
            names=PickerCatalog::Formats
            chosen=text(move || inputs.with(|inputs| key_of(inputs.kv)))
            detail=text(move || inputs.with(|inputs| bits(inputs.format())))
            on_choose=Callback::new(on_choose)
        />
    }
}

/// Key of a format; empty for the usual one.
fn key_of(format: Option<&QuantFormat>) -> String {
    format.map_or("", |format| format.key).to_owned()
}
