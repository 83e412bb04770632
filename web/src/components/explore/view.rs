//! Root component of the Explore view.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::chart::ExploreChart;
use super::fields::ExploreFields;
use super::files::Files;
use super::line::FixedLine;
use super::point::Point;
use super::run::{Exploration, Stage};
use super::table::ExploreTable;
use crate::charts::paper;
use crate::components::erased::{block, flag, memo, on, text};
use crate::components::focus::{focus, tab_index};
use crate::components::notes::Notes;
use crate::components::startup::in_turn;
use crate::state::explore::ExploreField;
use crate::state::explore::asked::{Subject, fault, subject};
use crate::state::explore::shown::address;
use crate::state::inputs::Inputs;
use crate::state::roving::turn;
use crate::state::scenario::brief;
use crate::state::session::{Session, Step};

/// The question of the inputs; a word that is none asks for devices.
pub fn asked_subject(inputs: &Inputs) -> Subject {
    subject(inputs).unwrap_or(Subject::Devices)
}

/// All devices for a model, or all models for a device: what no other point beats.
#[component]
pub fn ExploreView() -> impl IntoView {
    let session = expect_context::<Session>();
    paper::begin(session);
    let this = Exploration::new(session);
    provide_context(this);
    let asked = memo(move |_| {
        session.settled.track();
        session.inputs.with_untracked(address)
    });
    // The worker is outside of the page's signals: it is asked when what it would answer changes.
    Effect::new(move |_| {
        asked.with(|_| ()); // a memo that is not read is not computed
        this.begin();
    });
    // The chart and the table stay from answer to answer.
    let has_rows = memo(move |_| {
        this.answer.with(|answer| answer.as_ref().is_some_and(|answer| !answer.rows.is_empty()))
    });
    let body = block(move || {
        if has_rows.get() {
            view! {
                <div class="explore-chart">
                    <ExploreChart/>
                    <Point/>
                </div>
                <ExploreTable/>
                <Files/>
            }
            .into_any()
        } else {
            ().into_any()
        }
    });
    let stale = flag(move || this.stage.with(|stage| *stage != Stage::Done));
    view! {
        <main class="explore">
            <Notes/>
            <h1>{text(move || session.inputs.with(title))}</h1>
            {in_turn(|| view! { <Subjects/> }.into_any())}
            {in_turn(|| view! { <FixedLine/> }.into_any())}
            {in_turn(|| view! { <ExploreFields/> }.into_any())}
            <Progress/>
            <section class="explore-answer" class:stale=stale aria-label="Answer">{body}</section>
        </main>
    }
}

fn title(inputs: &Inputs) -> String {
    match asked_subject(inputs) {
        Subject::Devices => format!("Which device for {}?", inputs.model.name()),
        Subject::Models => format!("Which model for {}?", brief(&inputs.device.name)),
    }
}

/// The two questions as tabs; arrow keys go from one to the other.
#[component]
fn Subjects() -> impl IntoView {
    let session = expect_context::<Session>();
    let asked = memo(move |_| session.inputs.with(asked_subject));
    let open = move |(place, (key, _, _)): (usize, (&'static str, &str, Subject))| {
        let text = if place == 0 { String::new() } else { key.to_owned() };
        session.edit(Step::Choice, |inputs| {
            inputs.explore.set(ExploreField::Subject, text);
            // The usual criteria of the other question are others.
            inputs.explore.set(ExploreField::Brush, String::new());
        });
    };
    let on_key = move |event: KeyboardEvent| {
        let at = Subject::ALL.iter().position(|(_, _, own)| *own == asked.get_untracked());
        if let Some(next) = turn(at, Subject::ALL.len(), &event.key()) {
            event.prevent_default();
            open((next, Subject::ALL[next]));
            focus(&format!("ask-{}", Subject::ALL[next].0));
        }
    };
    let one = move |(place, (key, name, own)): (usize, (&'static str, &'static str, Subject))| {
        let is_open = move || asked.get() == own;
        view! {
            <button
                type="button"
                role="tab"
                id=format!("ask-{key}")
                aria-selected=text(move || is_open().to_string())
                tabindex=tab_index(is_open)
                on:click=on(move |_| open((place, (key, name, own))))
            >
                {name}
            </button>
        }
    };
    let wrong = text(move || {
        session.inputs.with(|inputs| fault(inputs, ExploreField::Subject)).unwrap_or_default()
    });
    view! {
        <div class="tabs" role="tablist" aria-label="What is compared" on:keydown=on(on_key)>
            {Subject::ALL.into_iter().enumerate().map(one).collect_view()}
        </div>
        <p class="message" role="alert">{wrong}</p>
    }
}

/// How far the exploration is, a button that stops it, and the sentence at its end.
#[component]
fn Progress() -> impl IntoView {
    let this = expect_context::<Exploration>();
    let runs = flag(move || this.stage.with(|stage| matches!(stage, Stage::Runs(_))));
    let part = move |index: usize| {
        text(move || {
            this.stage.with(|stage| match stage {
                Stage::Runs(progress) => progress[index].clone(),
                Stage::Idle | Stage::Done | Stage::Failed(_) => String::new(),
            })
        })
    };
    let failure = text(move || {
        this.stage.with(|stage| match stage {
            Stage::Failed(reason) => reason.clone(),
            Stage::Idle | Stage::Runs(_) | Stage::Done => String::new(),
        })
    });
    let is_silent = flag(move || failure.with(String::is_empty));
    // A field says why.
    let is_refused = flag(move || {
        this.stage.with(|stage| matches!(stage, Stage::Failed(reason) if reason.is_empty()))
    });
    let sentence = text(move || {
        this.answer.with(|answer| match answer {
            Some(answer) if is_refused.get() => format!(
                "A field is wrong. What is below is of another input and stays until it is right: {}",
                answer.sentence
            ),
            Some(answer) => answer.sentence.clone(),
            None if is_refused.get() => {
                "A field is wrong. There is no answer before it is right.".to_owned()
            }
            None if failure.with(String::is_empty) => {
                format!("Comparing all {}…", this.session.inputs.with(asked_subject).many())
            }
            None => String::new(),
        })
    });
    view! {
        <div class="explore-progress">
            <div class="under-way" hidden=flag(move || !runs.get())>
                <progress aria-label="Compared so far" value=part(0) max=part(1)></progress>
                <span>{part(2)}</span>
                <button type="button" class="tool" id="explore-stop" on:click=on(move |_| this.stop())>"Stop"</button>
            </div>
            <p class="message" role="alert">{failure}</p>
            <p hidden=is_silent>
                <button type="button" class="tool" id="explore-again" on:click=on(move |_| this.begin())>"Try again"</button>
            </p>
            <p class="sentence" role="status" hidden=runs>{sentence}</p>
        </div>
    }
}
