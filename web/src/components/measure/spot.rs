//! Forms that start measurements: one shape as a spot check, or many as a sweep.

use leptos::prelude::*;
use protocol::job::JobSpec;

use super::MeasureContext;
use crate::components::erased::{block, derived, flag, maybe, memo, on, text};
use crate::components::number_field::NumberField;
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::form::{self, MeasuredFormat, SWEEP};
use crate::state::operator::{Field, Op};
use crate::state::presets::{Preset, presets};
use crate::state::session::{Session, Step};

/// Shape and precision of a spot check, and the list of shapes of a sweep.
#[component]
pub fn Spot() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { daemon, client, why_not, .. } = expect_context();
    let format = RwSignal::new(String::new());
    let refused = RwSignal::new(String::new());
    let busy = flag(move || !why_not.with(String::is_empty));
    let measure = Callback::new(move |lines: String| {
        // The button is off while no session is established.
        let Some(session) = client.with_untracked(|client| client.session().cloned()) else {
            return;
        };
        let shapes = form::shapes(&lines, &session.limits);
        let jobs = shapes.and_then(|shapes| form::jobs(&shapes, &format.get_untracked(), &session));
        refused.set(jobs.as_ref().err().cloned().unwrap_or_default());
        daemon.with_value(|daemon: &DaemonLink| {
            for job in jobs.unwrap_or_default() {
                daemon.start(JobSpec::Bench(job));
            }
        });
    });
    let on_check = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let shape = session.inputs.with_untracked(|inputs| {
            let number = |field| inputs.typed.text(field).to_owned();
            [Field::M, Field::N, Field::K].map(number).join(";")
        });
        measure.run(shape);
    };
    let formats = memo(move |_| {
        client.with(|client| client.session().map(form::formats).unwrap_or_default())
    });
    let option = |format: MeasuredFormat| view! { <option value=format.key>{format.name}</option> };
    let options = block(move || formats.get().into_iter().map(option).collect_view().into_any());
    view! {
        <form class="spot" on:submit=on(on_check)>
            <h2>"Spot check"</h2>
            <div class="shape">{[Field::M, Field::N, Field::K].map(|field| view! { <Number field=field/> }).collect_view()}</div>
            <Shapes/>
            <div class="field">
                <label for="precision">"Precision"</label>
                <select id="precision" on:change=on(move |event| format.set(event_target_value(&event)))>
                    <option value="">"All precisions"</option>
                    {options}
                </select>
            </div>
            <button type="submit" class="tool" disabled=busy aria-describedby="why-measure">"Measure"</button>
            <p class="brief" id="why-measure">{why_not}</p>
            <p class="message" role="alert">{text(move || refused.get())}</p>
        </form>
        <Sweep busy=busy measure=measure/>
    }
}

/// List of shapes that are measured one after the other.
#[component]
fn Sweep(
    /// Whether no measurement can be started.
    busy: Signal<bool>,
    /// Called with the lines of shapes.
    measure: Callback<String>,
) -> impl IntoView {
    let lines = RwSignal::new(SWEEP.to_owned());
    let on_sweep = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        measure.run(lines.get_untracked());
    };
    view! {
        <details class="more-fields">
            <summary>"Sweep of shapes"</summary>
            <form on:submit=on(on_sweep)>
                <div class="field">
                    <label for="shapes">"M N K, one shape per line; in the precision above"</label>
                    <textarea
                        id="shapes"
                        rows="6"
                        maxlength="20000"
                        spellcheck="false"
                        prop:value=text(move || lines.get())
                        on:input=on(move |event| lines.set(event_target_value(&event)))
                    ></textarea>
                </div>
                <button type="submit" class="tool" disabled=busy aria-describedby="why-measure">"Sweep"</button>
            </form>
        </details>
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
    let fault = maybe(move || session.inputs.with(|inputs| inputs.typed.fault(Op::Gemm, field)));
    let on_type =
        move |text: String| session.edit(Step::Typing, |inputs| inputs.typed.set(field, text));
    view! {
        <NumberField
            id=field.id()
            name=field.name()
            unit=field.meaning()
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
