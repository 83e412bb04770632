//! Root component of the Plan view.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::PlanContext;
use super::cards::Cards;
use super::scenario::Scenario;
use super::scheme_chart::SchemeChart;
use crate::components::chunk::LazyPart;
use crate::components::erased::{block, derived, flag, memo, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::{focus, tab_index};
use crate::components::model::ModelContext;
use crate::components::model::operator_chart::OperatorChart;
use crate::components::notes::Notes;
use crate::components::stale::Stale;
use crate::components::startup::{Startup, in_turn};
use crate::state::inputs::Tab;
use crate::state::model::answer::{ModelShown, next as next_model};
use crate::state::plan::{self, PlanShown};
use crate::state::roving::turn;
use crate::state::session::{Session, Step};

/// The recommended scheme for a scenario: verdict, cards, schemes, roofline, and what is behind them.
#[component]
pub fn PlanView() -> impl IntoView {
    let session = expect_context::<Session>();
    let (shown, typed) = provide_answer(session);
    // Without schemes there is no answer yet.
    let none = flag(move || shown.with(|shown| shown.answer.rows.is_empty()));
    let stale = Stale::provide(session, typed, none);
    let startup: Startup = expect_context();
    startup.prepare(typed);
    startup.prepare(shown);
    view! {
        <main class="plan model">
            {in_turn(|| view! { <Scenario/> }.into_any())}
            {in_turn(move || view! { <Answer stale=stale/> }.into_any())}
            // With the inspector come the table of schemes, and the fields and tabs of the first click.
            {in_turn(move || {
                let body = fetched(LazyPart::Inspector);
                view! {
                    <aside class="inspector" id="inspector" class:stale=stale.flag() aria-label="Behind the answer">
                        {body}
                    </aside>
                }
                    .into_any()
            })}
            {in_turn(|| fetched(LazyPart::Explanation))}
        </main>
    }
}

/// Verdict, cards and the open tab.
#[component]
fn Answer(
    /// Whether it is of what the reader entered.
    stale: Stale,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let shown = expect_context::<PlanContext>().shown;
    let has_more = memo(move |_| {
        let is_measured = session.inputs.with(|inputs| inputs.place().is_measured());
        shown.with(|shown| {
            is_measured || shown.answer.is_stuck() || shown.taken.model.beside.is_some()
        })
    });
    let more =
        block(move || if has_more.get() { fetched(LazyPart::UnderVerdict) } else { ().into_any() });
    let tab = memo(move |_| session.inputs.with(|inputs| inputs.tab));
    let body = in_turn(move || match tab.get() {
        Tab::Schemes => view! { <Schemes/> }.into_any(),
        Tab::Operators => fetched(LazyPart::Operators),
        Tab::Memory => fetched(LazyPart::Memory),
        Tab::Scale => fetched(LazyPart::Scale),
        Tab::Questions => fetched(LazyPart::Questions),
    });
    view! {
        <section class="answer" class:stale=stale.flag() aria-label=stale.label()>
            <div class="said">
                <Notes/>
                {stale.reason()}
                <div class="verdict" aria-live="polite">
                    <h1>{text(move || shown.with(|shown| shown.answer.sentence.clone()))}</h1>
                    <p>{text(move || shown.with(|shown| shown.answer.line.clone()))}</p>
                </div>
                <div class="impasse">{more}</div>
            </div>
            <Cards/>
            <Tabs/>
            <div class="tab-body" role="tabpanel" id="plan-tab" aria-label=text(move || tab.get().name().to_owned())>
                {body}
            </div>
        </section>
    }
}

/// Provides the answer to the components of the view; returns it, and the state of the fields as typed.
fn provide_answer(session: Session) -> (Memo<PlanShown>, Memo<ModelShown>) {
    let shown = memo(move |before| {
        session.settled.track();
        session.inputs.with_untracked(|inputs| plan::explained(before, inputs))
    });
    // Faults are those of the fields as typed; numbers are those of the scheme in the cards.
    let typed = memo(move |before| {
        session.inputs.with(|inputs| next_model(before, &inputs.model, inputs.place()))
    });
    let model = memo(move |_| {
        let answer = shown.with(|shown| shown.model.answer.clone());
        ModelShown { answer, faults: typed.with(|typed| typed.faults.clone()) }
    });
    let inputs = derived(move || shown.with(|shown| shown.taken.clone()));
    provide_context(ModelContext { inputs, shown: model, pointed: RwSignal::new(None) });
    provide_context(PlanContext { shown, pointed: RwSignal::new(None), open: RwSignal::new(None) });
    (shown, typed)
}

/// A part that is fetched when it is first shown.
fn fetched(part: LazyPart) -> AnyView {
    let body = Fetched::new(part);
    body.ask();
    block(move || body.show()).into_any()
}

/// Tab list; arrow keys go from one tab to the next.
#[component]
fn Tabs() -> impl IntoView {
    let session = expect_context::<Session>();
    let tab = memo(move |_| session.inputs.with(|inputs| inputs.tab));
    let open = move |tab: Tab| session.edit(Step::Choice, |inputs| inputs.tab = tab);
    let on_key = move |event: KeyboardEvent| {
        let at = Tab::ALL.iter().position(|other| *other == tab.get_untracked());
        if let Some(next) = turn(at, Tab::ALL.len(), &event.key()) {
            event.prevent_default();
            open(Tab::ALL[next]);
            focus(&format!("tab-{next}"));
        }
    };
    let one = move |(place, own): (usize, Tab)| {
        let is_open = move || tab.get() == own;
        view! {
            <button
                type="button"
                role="tab"
                id=format!("tab-{place}")
                aria-selected=text(move || is_open().to_string())
                aria-controls="plan-tab"
                tabindex=tab_index(is_open)
                on:click=on(move |_| open(own))
            >
                {own.name()}
            </button>
        }
    };
    view! {
        <div class="tabs" role="tablist" aria-label="What is behind the verdict" on:keydown=on(on_key)>
            {Tab::ALL.into_iter().enumerate().map(one).collect_view()}
        </div>
    }
}

/// Schemes by time and loss beside the roofline, and the table of all schemes. What does not run is on no roofline.
#[component]
fn Schemes() -> impl IntoView {
    let shown = expect_context::<PlanContext>().shown;
    let runs = memo(move |_| shown.with(|shown| shown.answer.no_speed.is_none()));
    let verdict = text(move || shown.with(|shown| shown.answer.sentence.clone()));
    let roofline = in_turn(move || {
        if runs.get() {
            view! { <div class="roofline"><OperatorChart verdict=verdict/></div> }.into_any()
        } else {
            ().into_any()
        }
    });
    // Axes alone would look like an answer.
    let none = expect_context::<Stale>().is_empty;
    view! {
        <div class="charts" hidden=none>
            {in_turn(|| view! { <SchemeChart/> }.into_any())}
            {roofline}
        </div>
        {in_turn(|| fetched(LazyPart::SchemeTable))}
    }
}
