//! Inverse questions, each answered when it is opened.

use leptos::prelude::*;

use super::erased::{block, on};
use crate::state::advice::inverse::{InverseAnswer, memory_answer, room_answer, schedule_answer};
use crate::state::advice::question::with_model;
use crate::state::inputs::Inputs;
use crate::state::session::Session;

/// Title of a question and the function that answers it; `None` while an input is invalid.
type Question = (&'static str, fn(&Inputs) -> Option<InverseAnswer>);

const QUESTIONS: [Question; 3] = [
    ("How far can batch and context grow?", |inputs| with_model(inputs, room_answer)),
    ("What would less memory cost?", |inputs| with_model(inputs, memory_answer)),
    ("Which power mode, scheme and number of users is best?", |inputs| {
        with_model(inputs, |request| schedule_answer(request, request.objective, None))
    }),
];

/// List of the inverse questions, all closed at first.
#[component]
pub fn Inverse() -> impl IntoView {
    view! {
        <section class="inverse" aria-label="The other way round">
            <h2>"The other way round"</h2>
            {QUESTIONS.map(|question| view! { <Asked question=question/> }).collect_view()}
        </section>
    }
}

/// One inverse question; its answer is computed while the section is open.
#[component]
fn Asked(
    /// Title and answering function.
    question: Question,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let (title, answer) = question;
    let open = RwSignal::new(false);
    let body = block(move || {
        if !open.get() {
            return ().into_any();
        }
        match session.inputs.with(answer) {
            Some(found) => table(title, found).into_any(),
            None => view! { <p>"Something above cannot be read."</p> }.into_any(),
        }
    });
    let on_toggle = move |_| open.update(|open| *open = !*open);
    view! {
        <details class="asked" on:toggle=on(on_toggle)>
            <summary>{title}</summary>
            {body}
        </details>
    }
}

/// View of an answer: its sentence, and its table if it has rows.
pub fn table(title: &'static str, answer: InverseAnswer) -> impl IntoView {
    let head = |name: &'static str| view! { <th scope="col">{name}</th> };
    let none = answer.columns.is_empty() || answer.rows.is_empty();
    let row = |cells: Vec<String>| {
        let cells = cells.into_iter().map(|cell| view! { <td>{cell}</td> }).collect_view();
        view! { <tr>{cells}</tr> }
    };
    view! {
        <p>{answer.sentence}</p>
        <div class="scroll" tabindex="0" role="group" aria-label=title hidden=none>
            <table class="choices">
                <thead><tr>{answer.columns.into_iter().map(head).collect_view()}</tr></thead>
                <tbody>{answer.rows.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}
