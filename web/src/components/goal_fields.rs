//! Goal of the recommendation: objective, part of the work that counts, and bounds.

use leptos::prelude::*;

use super::erased::{flag, maybe, memo, on, text};
use super::focus::reveal_message;
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

/// Number field of a bound. Invalid text is marked, with a message that gives the allowed range.
#[component]
pub fn GoalNumber(
    /// Bound to edit; its unit is `bound.unit()`.
    bound: Bound,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let id = bound.id();
    let message_id = format!("{id}-message");
    let fault = memo(move |_| session.inputs.with(|inputs| inputs.goal.value(bound).err()));
    let is_wrong = flag(move || fault.with(Option::is_some));
    let described_by = {
        let message_id = message_id.clone();
        maybe(move || is_wrong.get().then(|| message_id.clone()))
    };
    let on_input = move |event| {
        let text = event_target_value(&event);
        session.edit(Step::Typing, |inputs| inputs.goal.set_text(bound, text));
        reveal_message(id);
    };
    view! {
        <div class="field number" class:wrong=is_wrong>
            <label for=id>{bound.name()} " " <span class="meaning">{bound.unit()}</span></label>
            <input
                id=id
                type="text"
                inputmode="decimal"
                autocomplete="off"
                maxlength="40"
                placeholder=bound.empty()
                prop:value=text(move || session.inputs.with(|inputs| inputs.goal.text(bound).to_owned()))
                aria-invalid=text(move || is_wrong.get().to_string())
                aria-describedby=described_by
                on:input=on(on_input)
            />
            <p class="message" id=message_id role="alert">{text(move || fault.get().unwrap_or_default())}</p>
        </div>
    }
}
