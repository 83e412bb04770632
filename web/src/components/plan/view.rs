//! Root component of the Plan view, and the state that its components share.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::cards::Cards;
use super::scenario::Scenario;
use super::scheme_chart::SchemeChart;
use super::scheme_table::SchemeTable;
use crate::components::erased::{block, derived, flag, memo, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::focus;
use crate::components::model::operator_chart::OperatorChart;
use crate::components::model::view::{GeneralFaults, ModelContext};
use crate::components::notes::Notes;
use crate::lazy::Part;
use crate::state::inputs::Tab;
use crate::state::model::answer::{ModelShown, next as next_model};
use crate::state::plan::{self, PlanShown};
use crate::state::roving::turn;
use crate::state::scenario::Piece;
use crate::state::session::{Session, Step};

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext {
    pub shown: Memo<PlanShown>,
    /// Key of the scheme at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
    /// The part of the scenario line whose fields are open.
    pub open: RwSignal<Option<Piece>>,
    /// Name of the card that the inspector explains; `None` for the speed.
    pub inspected: RwSignal<Option<&'static str>>,
}

/// The recommended scheme for a scenario: verdict, cards, schemes, roofline, and what is behind them.
#[component]
pub fn PlanView() -> impl IntoView {
    let session = expect_context::<Session>();
    // With the inspector come the fields and tabs of the first click.
    let inspector = Fetched::new(Part::Inspector);
    inspector.ask();
    let popover = Fetched::new(Part::Explanation);
    popover.ask();
    let shown = memo(move |before| {
        session.settled.track();
        session.inputs.with_untracked(|inputs| plan::next(before, inputs))
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
    provide_context(PlanContext {
        shown,
        pointed: RwSignal::new(None),
        open: RwSignal::new(None),
        inspected: RwSignal::new(None),
    });
    let tab = memo(move |_| session.inputs.with(|inputs| inputs.tab));
    let body = block(move || match tab.get() {
        Tab::Schemes => view! { <Schemes/> }.into_any(),
        Tab::Operators => fetched_tab(Part::Operators),
        Tab::Memory => fetched_tab(Part::Memory),
        Tab::Scale => fetched_tab(Part::Scale),
        Tab::Questions => fetched_tab(Part::Questions),
    });
    view! {
        <main class="plan model">
            <Scenario/>
            <section class="answer" class:stale=flag(move || typed.with(ModelShown::is_stale)) aria-label="Answer">
                <div class="said">
                    <Notes/>
                    <GeneralFaults shown=typed/>
                    <div class="verdict" aria-live="polite">
                        <h1>{text(move || shown.with(|shown| shown.answer.sentence.clone()))}</h1>
                        <p>{text(move || shown.with(|shown| shown.answer.line.clone()))}</p>
                    </div>
                </div>
                <Cards/>
                <Tabs/>
                <div class="tab-body" role="tabpanel" id="plan-tab" aria-label=text(move || tab.get().name().to_owned())>
                    {body}
                </div>
            </section>
            <aside class="inspector" id="inspector" aria-label="Explanation">{block(move || inspector.show())}</aside>
            {block(move || popover.show())}
        </main>
    }
}

/// The body of a tab that is fetched when it is first opened.
fn fetched_tab(part: Part) -> AnyView {
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
                tabindex=text(move || if is_open() { "0" } else { "-1" }.to_owned())
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
    let roofline = block(move || {
        if runs.get() {
            view! { <div class="roofline"><OperatorChart/></div> }.into_any()
        } else {
            ().into_any()
        }
    });
    view! {
        <div class="charts">
            <SchemeChart/>
            {roofline}
        </div>
        <SchemeTable/>
    }
}
