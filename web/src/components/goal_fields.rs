//! Goal of the recommendation: objective, part of the work that counts, and bounds.

use leptos::prelude::*;

use super::erased::{flag, memo, on, text};
use super::number_field::NumberField;
use crate::state::goal::Bound;
use crate::state::inputs::View;
use crate::state::session::{Session, Step};
use calc_core::recommend::{Objective, RankedPart};

/// Fields for the objective, the part of the work that counts, and the bounds.
#[component]
pub fn GoalFields() -> impl IntoView {
    let session = expect_context::<Session>();
    let goal = move || session.inputs.with(|inputs| inputs.goal.clone());
    let on_objective = move |event| {
        let key = event_target_value(&event);
        let found = Objective::ALL.iter().find(|(name, _)| *name == key);
        session.edit(Step::Choice, |inputs| {
            inputs.goal.objective = found.map_or(Objective::Latency, |(_, objective)| *objective);
        });
    };
    let on_part = move |event| {
        let key = event_target_value(&event);
        let found = RankedPart::ALL.iter().find(|(name, _)| *name == key);
        session.edit(Step::Choice, |inputs| inputs.goal.part = found.map(|(_, part)| *part));
    };
    let objectives = Objective::ALL.map(|(key, objective)| {
        let chosen = flag(move || goal().objective == objective);
        view! { <option value=key prop:selected=chosen>{key}</option> }
    });
    let parts = RankedPart::ALL.map(|(key, part)| {
        let chosen = flag(move || goal().part == Some(part));
        view! { <option value=key prop:selected=chosen>{key}</option> }
    });
    let is_model = move || {
        session
            .inputs
            .with(|inputs| matches!(inputs.view, View::Plan | View::Explore | View::Model))
    };
    view! {
            <div class="twin">
                <div class="field">
                    <label for="obj">"Rank by"</label>
                    <select id="obj" on:change=on(on_objective)>{objectives.collect_view()}</select>
                </div>
                <div class="field">
                    <label for="part">"What counts"</label>
                    <select id="part" on:change=on(on_part)>
                        <option value="" prop:selected=flag(move || goal().part.is_none())>"by workload"</option>
                        {parts.collect_view()}
                    </select>
                </div>
                <GoalNumber bound=Bound::Loss/>
                <div hidden=flag(move || !is_model())><GoalNumber bound=Bound::Tpot/></div>
                <div hidden=flag(move || !is_model())><GoalNumber bound=Bound::Ttft/></div>
                <div hidden=flag(move || !is_model())><GoalNumber bound=Bound::Rate/></div>
            </div>
    }
}

/// Number field of a bound.
#[component]
pub fn GoalNumber(
    /// Bound to edit; its unit is `bound.unit()`.
    bound: Bound,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let typed = text(move || session.inputs.with(|inputs| inputs.goal.text(bound).to_owned()));
    let fault = memo(move |_| session.inputs.with(|inputs| inputs.goal.value(bound).err()));
    let on_type =
        move |text: String| session.edit(Step::Typing, |inputs| inputs.goal.set_text(bound, text));
    view! {
        <NumberField
            id=bound.id()
            name=bound.name()
            unit=bound.unit()
            keyboard="decimal"
            empty=bound.empty()
            typed=typed
            fault=fault
            on_type=Callback::new(on_type)
        />
    }
}
