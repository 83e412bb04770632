//! Fields of the exploration: ranges, criteria and limits.

use leptos::prelude::*;

use crate::components::erased::{flag, maybe, memo, on, text};
use crate::components::goal_fields::GoalNumber;
use crate::components::number_field::NumberField;
use crate::state::explore::ExploreField;
use crate::state::explore::asked::{criterion, criterion_name, fault, usual_batches};
use crate::state::goal::Bound;
use crate::state::model::fields;
use crate::state::session::{Session, Step};
use calc_core::explore::Criterion;

/// All fields, in three groups.
#[component]
pub fn ExploreFields() -> impl IntoView {
    let session = expect_context::<Session>();
    let prompt = text(move || {
        session.inputs.with(|inputs| inputs.model.text(fields::Field::Prompt).to_owned())
    });
    let users = text(move || session.inputs.with(|inputs| usual_batches(inputs).to_owned()));
    let bounds = [Bound::Loss, Bound::Ttft, Bound::Tpot, Bound::Rate];
    view! {
        <section class="explore-fields" aria-label="Ranges, criteria and limits">
            <fieldset>
                <legend>"Tried"</legend>
                <RangeField field=ExploreField::Batches name="Users" unit="" empty=users/>
                <RangeField field=ExploreField::Prompts name="Tokens in" unit="" empty=prompt/>
                <p class="brief">"A list has commas, a range two dots: 1,2,4 · 1..8 · 1k..32kx2 doubles."</p>
            </fieldset>
            <fieldset>
                <legend>"Compared by"</legend>
                <CriterionField field=ExploreField::Across name="Across"/>
                <CriterionField field=ExploreField::Up name="Up"/>
                <p class="brief">"A point is on the front if no other one is better in both."</p>
            </fieldset>
            <fieldset class="bounds">
                <legend>"Limits"</legend>
                {bounds.map(|bound| view! { <GoalNumber bound=bound/> }).collect_view()}
                <RangeField field=ExploreField::Power name="Power" unit="at most, W" empty=text(|| "any".to_owned())/>
                <p class="brief">"What does not fit in memory is left out."</p>
            </fieldset>
        </section>
    }
}

/// Text field of the exploration.
#[component]
fn RangeField(
    /// Text to edit.
    field: ExploreField,
    /// Label of the field.
    name: &'static str,
    /// Unit, or a remark in its place.
    unit: &'static str,
    /// Text that counts where the field is empty.
    empty: Signal<String>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let typed = text(move || session.inputs.with(|inputs| inputs.explore.get(field).to_owned()));
    let wrong = memo(move |_| session.inputs.with(|inputs| fault(inputs, field)));
    let on_type =
        move |text: String| session.edit(Step::Typing, |inputs| inputs.explore.set(field, text));
    view! {
        <NumberField
            id=field.key()
            name=name
            unit=unit
            keyboard="text"
            longest=200
            empty=empty
            typed=typed
            fault=wrong
            on_type=Callback::new(on_type)
        />
    }
}

/// Selects the criterion of an axis.
#[component]
fn CriterionField(
    /// Axis to edit.
    field: ExploreField,
    /// Label of the field.
    name: &'static str,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let id = field.key();
    let chosen = memo(move |_| session.inputs.with(|inputs| criterion(inputs, field).ok()));
    let on_change = move |event| {
        let text = event_target_value(&event);
        session.edit(Step::Choice, |inputs| {
            inputs.explore.set(field, text);
            // The marked part is of the criteria before.
            inputs.explore.set(ExploreField::Brush, String::new());
        });
    };
    let option = |(key, own): (&'static str, Criterion)| {
        view! {
            <option value=key prop:selected=flag(move || chosen.get() == Some(own))>{criterion_name(own)}</option>
        }
    };
    let wrong = memo(move |_| session.inputs.with(|inputs| fault(inputs, field)));
    view! {
        <div class="field" class:wrong=flag(move || wrong.with(Option::is_some))>
            <label for=id>{name}</label>
            <select
                id=id
                aria-describedby=maybe(move || wrong.with(Option::is_some).then(|| format!("{id}-message")))
                on:change=on(on_change)
            >
                {Criterion::ALL.map(option).collect_view()}
            </select>
            <p class="message" id=format!("{id}-message") role="alert">{text(move || wrong.get().unwrap_or_default())}</p>
        </div>
    }
}
