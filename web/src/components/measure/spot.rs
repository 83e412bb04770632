//! Form that starts a measurement of one kernel: the spot check.

use leptos::prelude::*;
use protocol::bench::BenchKind;
use protocol::sizes::{KernelSize, sizes};

use super::{MeasureContext, start};
use crate::components::chunk::MeasuredPart;
use crate::components::erased::{block, derived, flag, maybe, memo, on, text};
use crate::components::fetched::Folded;
use crate::components::number_field::NumberField;
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::form::{self, MeasuredDevice, MeasuredFormat, side_fault};
use crate::state::measure::machine;
use crate::state::measure::spot::{SpotKind, kinds, later_kernels, product_words};
use crate::state::operator::{Field, Op};
use crate::state::presets::{Preset, presets};
use crate::state::session::{Session, Step};

/// Kernel, sizes and precision of a spot check; and, folded, the sweep of shapes.
#[component]
pub fn Spot() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { daemon, client, why_not, spot, measured, .. } = expect_context();
    let refused = RwSignal::new(String::new());
    // Also beside the button; it is read aloud where the connection stands.
    let of_daemon = text(move || {
        client.with(
            |client| {
                if client.is_connected() { client.refusal.clone() } else { String::new() }
            },
        )
    });
    let untimed = text(move || measured.with(|device| machine::untimed(device.as_ref())));
    let busy = flag(move || !(why_not.with(String::is_empty) && untimed.with(String::is_empty)));
    let caution = text(move || measured.with(|device| form::caution(device.as_ref()).to_owned()));
    let on_check = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        // The button is off while no device is connected.
        let Some(device) = measured.get_untracked() else { return };
        let spot = spot.get_untracked();
        let orders = session.inputs.with_untracked(|inputs| spot.orders(inputs, &device));
        refused.set(daemon.with_value(|daemon: &DaemonLink| start(daemon, orders)));
    };
    let kind = memo(move |_| spot.with(|spot| measured.with(|device| spot.kind(device.as_ref()))));
    let fields = block(move || match kind.get() {
        SpotKind::Product => view! { <Product/> }.into_any(),
        SpotKind::Kernel(kind) => view! { <Sizes kind=kind/> }.into_any(),
    });
    let is_product = flag(move || kind.get() == SpotKind::Product);
    view! {
        <form class="spot" on:submit=on(on_check)>
            <h2>"Spot check"</h2>
            <Device/>
            <p class="brief" hidden=flag(move || caution.with(String::is_empty))>{caution}</p>
            <Kind kind=kind/>
            {fields}
            <Precision/>
            <button type="submit" class="tool" disabled=busy aria-describedby="why-measure">"Measure"</button>
            <p class="brief" id="why-measure">{why_not} " " {untimed}</p>
            <p class="message" role="alert">{text(move || refused.get())}</p>
            <p class="message" aria-hidden="true">{of_daemon}</p>
        </form>
        <div hidden=flag(move || !is_product.get())>
            <Folded class="more-fields" title="Sweep of shapes" part=MeasuredPart::Sweep open=false/>
        </div>
    }
}

/// Selects the device that is measured; absent where there is one.
#[component]
fn Device() -> impl IntoView {
    let MeasureContext { client, spot, .. } = expect_context();
    let all = memo(move |_| {
        client.with(|client| client.session().map(MeasuredDevice::all).unwrap_or_default())
    });
    let option = move |device: MeasuredDevice| {
        let id = device.backend.unwrap_or_default();
        let is_chosen = spot.with_untracked(|spot| spot.device == id);
        view! { <option value=id selected=is_chosen>{device.name}</option> }
    };
    let options = block(move || all.get().into_iter().map(option).collect_view().into_any());
    let choose = on(move |event| {
        let id = event_target_value(&event);
        spot.update(|spot| spot.device = id);
    });
    view! {
        <div class="field" hidden=flag(move || all.with(|all| all.len() < 2))>
            <label for="measured-device">"Device that is measured"</label>
            <select id="measured-device" on:change=choose>{options}</select>
        </div>
    }
}

/// Selects what is timed, among what the device has.
#[component]
fn Kind(
    /// Kind that is timed now.
    kind: Memo<SpotKind>,
) -> impl IntoView {
    let MeasureContext { spot, measured, .. } = expect_context();
    let all = memo(move |_| measured.with(|device| kinds(device.as_ref())));
    let option = move |each: SpotKind| {
        view! { <option value=each.key() selected=each == kind.get_untracked()>{each.name()}</option> }
    };
    let options = block(move || all.get().into_iter().map(option).collect_view().into_any());
    let later = text(move || measured.with(|device| later_kernels(device.as_ref())));
    let choose = move |key: String| {
        if let Some(wanted) = SpotKind::of_key(&key) {
            spot.update(|spot| spot.wanted = wanted);
        }
    };
    view! {
        <div class="field">
            <label for="timed">"What is timed"</label>
            <select id="timed" on:change=on(move |event| choose(event_target_value(&event)))>
                {options}
            </select>
        </div>
        <p class="brief" hidden=flag(move || later.with(String::is_empty))>{later}</p>
    }
}

/// Sizes of a product, and what its number of tokens means.
#[component]
fn Product() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { measured, .. } = expect_context();
    let words = text(move || {
        let tokens = session.inputs.with(|inputs| inputs.typed.number(Field::M));
        measured.with(|device| product_words(tokens, device.as_ref()))
    });
    view! {
        <div class="shape">{[Field::M, Field::N, Field::K].map(|field| view! { <Number field=field/> }).collect_view()}</div>
        <p class="brief" role="status">{words}</p>
        <Shapes/>
    }
}

/// Sizes of a kernel of a layer: those of the chosen model until others are typed.
#[component]
fn Sizes(
    /// The kernel.
    kind: BenchKind,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { spot, .. } = expect_context();
    let source =
        text(move || spot.with(|spot| session.inputs.with(|inputs| spot.source(inputs, kind))));
    let is_own = flag(move || spot.with(|spot| !spot.is_typed(kind)));
    let field = |size| view! { <Size kind=kind size=size/> };
    view! {
        <div class="shape">{sizes(kind).iter().map(field).collect_view()}</div>
        <p class="brief" hidden=!kind.has_sizes()>
            <span role="status">{source}</span>
            " "
            <button type="button" class="link" hidden=is_own on:click=on(move |_| spot.update(|spot| spot.reset(kind)))>
                "Take those of the model"
            </button>
        </p>
    }
}

/// Number field for a size of a kernel.
#[component]
fn Size(
    /// The kernel.
    kind: BenchKind,
    /// Size to edit.
    size: &'static KernelSize,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { spot, .. } = expect_context();
    let typed =
        text(move || spot.with(|spot| session.inputs.with(|inputs| spot.text(inputs, kind, size))));
    let fault = maybe(move || {
        spot.with(|spot| session.inputs.with(|inputs| spot.fault(inputs, kind, size)))
    });
    view! {
        <NumberField
            id=format!("size-{}", size.name)
            name=size.label
            unit=""
            keyboard="numeric"
            typed=typed
            fault=fault
            on_type=Callback::new(move |text| spot.update(|spot| spot.set(kind, size, text)))
            apart=true
        />
    }
}

/// Selects the precision; absent where the kernel has none.
#[component]
fn Precision() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { spot, measured, .. } = expect_context();
    let formats = memo(move |_| {
        measured.with(|device| {
            let device = device.as_ref()?;
            Some(spot.with(|spot| session.inputs.with(|inputs| spot.formats(inputs, device))))
        })
    });
    let option = move |format: MeasuredFormat| {
        let is_chosen = spot.with_untracked(|spot| spot.format == format.key);
        view! { <option value=format.key selected=is_chosen>{format.name}</option> }
    };
    let options = block(move || {
        let all = formats.get().unwrap_or_default();
        view! { <option value="">"All precisions"</option> {all.into_iter().map(option).collect_view()} }
            .into_any()
    });
    let has_none =
        flag(move || formats.with(|formats| formats.as_ref().is_some_and(Vec::is_empty)));
    let choose = on(move |event| {
        let key = event_target_value(&event);
        spot.update(|spot| spot.format = key);
    });
    view! {
        <div class="field" hidden=has_none>
            <label for="precision">"Precision"</label>
            <select id="precision" on:change=choose>{options}</select>
        </div>
    }
}

/// Number field for a dimension of the shape; it edits the same value as the Kernel view.
#[component]
fn Number(
    /// Dimension to edit: M, N or K, in elements.
    field: Field,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let typed = text(move || session.inputs.with(|inputs| inputs.typed.text(field).to_owned()));
    let MeasureContext { measured, .. } = expect_context();
    let fault = maybe(move || {
        session
            .inputs
            .with(|inputs| measured.with(|device| side_fault(inputs, device.as_ref(), field)))
    });
    let on_type =
        move |text: String| session.edit(Step::Typing, |inputs| inputs.typed.set(field, text));
    let unit = if field == Field::M { "tokens at once" } else { field.meaning() };
    view! {
        <NumberField
            id=field.id()
            name=field.name()
            unit=unit
            keyboard="numeric"
            typed=typed
            fault=fault
            on_type=Callback::new(on_type)
            apart=true
        />
    }
}

/// Preset shapes: those of the Kernel view that are matrix products and do not set a device.
#[component]
fn Shapes() -> impl IntoView {
    let session = expect_context::<Session>();
    let is_product = |preset: &Preset| preset.device.is_none() && preset.op == Op::Gemm;
    let chip = move |preset: Preset| {
        let (name, meaning) = (preset.name.clone(), preset.meaning.clone());
        let preset = StoredValue::new(preset);
        let chosen = derived(move || {
            preset.with_value(|preset| session.inputs.with(|inputs| preset.is_chosen(inputs)))
        });
        let choose = move |_| {
            let values = preset.with_value(|preset| preset.values.clone());
            session.edit(Step::Choice, |inputs| {
                for (field, value) in values {
                    inputs.typed.set(field, value.to_string());
                }
            });
        };
        view! {
            <button
                type="button"
                class="chip"
                title=meaning.to_string()
                aria-pressed=text(move || chosen.get().to_string())
                on:click=on(choose)
            >
                {name.to_string()}
            </button>
        }
    };
    let chips =
        block(move || presets().into_iter().filter(is_product).map(chip).collect_view().into_any());
    view! { <div class="presets">{chips}</div> }
}
