//! The three cards: memory, speed, quality.

use leptos::prelude::*;

use super::PlanContext;
use crate::components::erased::{block, derived, flag, memo, on};
use crate::state::plan::Card;
use crate::state::session::{Session, Step};

/// Cards of the scheme that is shown, and the way back to the recommended one.
#[component]
pub fn Cards() -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<PlanContext>().shown;
    let cards = memo(move |_| shown.with(|shown| shown.answer.cards.clone()));
    let owner = |place: usize| format!("card-{place}");
    let explanations = [0, 1, 2].map(|place| {
        derived(move || {
            cards.with(|cards| cards.get(place).map(|card| card.number.explanation.clone()))
        })
    });
    on_cleanup(move || (0..3).for_each(|place| session.end_explanation(&owner(place))));
    let card = move |(place, card): (usize, Card)| {
        let Card { name, number, beside, lines } = card;
        view! {
            <section class="card" aria-label=name>
                <h2>{name}</h2>
                <p class="number">
                    <button
                        type="button"
                        class="explained"
                        id=owner(place)
                        aria-controls="inspected"
                        on:click=on(move |_| session.inspect(&owner(place), explanations[place]))
                    >
                        {number.text}
                    </button>
                    " " <span>{beside}</span>
                </p>
                {lines.into_iter().map(|line| view! { <p>{line}</p> }).collect_view()}
            </section>
        }
    };
    let all =
        block(move || cards.get().into_iter().enumerate().map(card).collect_view().into_any());
    let recommended = memo(move |_| shown.with(|shown| shown.answer.recommended.clone()));
    let is_refused = memo(move |_| shown.with(|shown| shown.answer.is_refused));
    let back = block(move || {
        match recommended.get() {
        None => ().into_any(),
        Some(name) => view! {
            <p class="back">
                "Recommended: " {name} ". "
                <button
                    type="button"
                    class="chip"
                    on:click=on(move |_| session.edit(Step::Choice, |inputs| inputs.model.scheme = None))
                >
                    {if is_refused.get() { "Take it" } else { "Show it" }}
                </button>
            </p>
        }
        .into_any(),
    }
    });
    view! {
        <div class="cards" hidden=flag(move || cards.with(Vec::is_empty))>{all}</div>
        {back}
    }
}
