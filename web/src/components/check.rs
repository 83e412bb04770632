//! Plausibility check of a claimed speed: implied rates, verdict, possible explanations. Updated one frame after the inputs.

use leptos::prelude::*;

use super::erased::{block, flag, memo, on, text};
use super::number_field::NumberField;
use crate::state::check::{self, Judged, Judgment, chosen_unit};
use crate::state::claim::{ClaimUnit, UNIT};
use crate::state::inputs::View;
use crate::state::model::url;
use crate::state::session::{Session, Step};

/// Fields for a claim about the current view, and the verdict on it.
#[component]
pub fn CheckPanel() -> impl IntoView {
    let session = expect_context::<Session>();
    let view = session.inputs.with_untracked(|inputs| inputs.view);
    // Verdict, and whether it is stale: kept from earlier inputs because one is invalid now.
    let judged = memo(move |before: Option<&(Judged, bool)>| {
        session.settled.track();
        let kept = before.map_or(Judged::Nothing, |(judged, _)| judged.clone());
        session.inputs.with_untracked(check::judge).map_or((kept, true), |now| (now, false))
    });
    let stale = flag(move || judged.with(|(_, stale)| *stale));
    let body = block(move || match judged.get().0 {
        Judged::Nothing => view! { <p class="formats-line">{hint(view)}</p> }.into_any(),
        Judged::Refused(reason) => view! { <p class="message">{reason}</p> }.into_any(),
        Judged::Answer(judgment) => said(*judgment).into_any(),
    });
    let unit = move |view: View| match view {
        View::Kernel | View::Trust | View::Measure => ().into_any(),
        View::Plan | View::Compare | View::Explore | View::Model => {
            view! { <UnitField/> }.into_any()
        }
    };
    view! {
        {unit(view)}
        <ClaimField view=view/>
        <div class="asked" class:stale=stale aria-live="polite">{body}</div>
    }
}

const fn hint(view: View) -> &'static str {
    match view {
        View::Kernel | View::Trust | View::Measure => {
            "A time that was measured or claimed for this operator in the chosen format."
        }
        View::Plan | View::Compare | View::Explore | View::Model => {
            "Type a speed that was measured or claimed for this scenario, such as 60: the answer says whether it is possible, and why."
        }
    }
}

fn said(judgment: Judgment) -> impl IntoView {
    let [dram, class] = judgment.rates;
    let [dram_name, dram_implied, dram_roof, dram_sustained, dram_basis] = dram;
    let [class_name, class_implied, class_roof, class_sustained, class_basis] = class;
    let row = |(name, cells): (&'static str, [String; 2])| {
        let cells = cells.map(|cell| view! { <td>{cell}</td> }).collect_view();
        view! { <tr><th scope="row">{name}</th>{cells}</tr> }
    };
    let rows = [
        ("implied", [dram_implied, class_implied]),
        (judgment.roofs_head, [dram_roof, class_roof]),
        ("sustained", [dram_sustained, class_sustained]),
        ("origin", [dram_basis, class_basis]),
    ];
    let item = |text: String| view! { <li>{text}</li> };
    view! {
        <p class="judged">{judgment.sentence}</p>
        <p>{judgment.about}</p>
        <table class="choices">
            <thead>
                <tr><td></td><th scope="col">{dram_name}</th><th scope="col">{class_name}</th></tr>
            </thead>
            <tbody>{rows.map(row).collect_view()}</tbody>
        </table>
        <ul>{judgment.explanations.into_iter().map(item).collect_view()}</ul>
    }
}

/// Number field of a claim.
#[component]
fn ClaimField(
    /// View that the claim is about; it decides between a time in µs and a number in the unit of `UnitField`.
    view: View,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let id = check::number_of(view);
    let (name, unit) = match view {
        View::Kernel | View::Trust | View::Measure => ("Time", "µs"),
        View::Plan | View::Compare | View::Explore | View::Model => ("Number", ""),
    };
    let typed = text(move || session.inputs.with(|inputs| check::typed(inputs, id)));
    let fault = memo(move |_| session.inputs.with(check::fault));
    let on_type = move |text: String| {
        session.edit(Step::Typing, |inputs| url::put(&mut inputs.model, id, &text));
    };
    view! {
        <NumberField
            id=id
            name=name
            unit=unit
            keyboard="decimal"
            typed=typed
            fault=fault
            on_type=Callback::new(on_type)
        />
    }
}

/// Selects the claimed quantity of a model: rate of all users, rate of one user, or duration of an answer.
#[component]
fn UnitField() -> impl IntoView {
    let session = expect_context::<Session>();
    let on_change = move |event| {
        let key = event_target_value(&event);
        session.edit(Step::Choice, |inputs| url::put(&mut inputs.model, UNIT, &key));
    };
    let options = ClaimUnit::ALL.map(|unit| {
        let chosen = flag(move || session.inputs.with(chosen_unit) == unit);
        view! { <option value=unit.key() prop:selected=chosen>{unit.name()}</option> }
    });
    view! {
        <div class="field">
            <label for=UNIT>"Claim"</label>
            <select id=UNIT on:change=on(on_change)>{options.collect_view()}</select>
        </div>
    }
}
