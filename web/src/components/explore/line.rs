//! The part of the scenario that all points share, in one line; each part is a button that opens its fields.

use leptos::prelude::*;

use crate::components::erased::{derived, memo};
use crate::components::model::ModelContext;
use crate::components::plan::PlanContext;
use crate::components::scenario_line::{LinePart, ScenarioLine};
use crate::state::explore::asked::{is_fixed, of_any_device};
use crate::state::model::answer::next as next_model;
use crate::state::plan;
use crate::state::scenario::{ScenarioPart, parts};
use crate::state::session::Session;

/// The line, and the fields of its open part.
#[component]
pub fn FixedLine() -> impl IntoView {
    let session = expect_context::<Session>();
    let open = provide_fields(session);
    let line = memo(move |_| {
        session.inputs.with(|inputs| {
            let kept = parts(inputs).into_iter().filter(|(part, ..)| is_fixed(inputs, *part));
            let mut kept: Vec<LinePart> = kept.collect();
            let after_model = kept.iter().take_while(|(part, ..)| *part == ScenarioPart::Model);
            let place = after_model.count();
            kept.splice(place..place, of_any_device(inputs));
            let mut before = None;
            kept.into_iter().map(|part| separated(before.replace(part.0), part)).collect::<Vec<_>>()
        })
    });
    view! { <ScenarioLine label="What stays the same" line=line open=open/> }
}

/// The part with the text before it in a line that lacks others: the first has none, and tokens out stand by themselves where
/// tokens in are varied.
fn separated(last: Option<ScenarioPart>, (part, before, said): LinePart) -> LinePart {
    let before = match (last, part) {
        (None, _) => "",
        (Some(last), ScenarioPart::Out) if last != ScenarioPart::In => " · ",
        _ => before,
    };
    (part, before, said)
}

/// Provides what the fields of the Plan view share; its answers are computed only if a field reads them.
fn provide_fields(session: Session) -> RwSignal<Option<ScenarioPart>> {
    let shown = memo(move |before| {
        session.settled.track();
        session.inputs.with_untracked(|inputs| plan::next(before, inputs))
    });
    let model = memo(move |before| {
        session.inputs.with(|inputs| next_model(before, &inputs.model, inputs.place()))
    });
    let inputs = derived(move || session.inputs.get());
    let open = RwSignal::new(None);
    provide_context(ModelContext { inputs, shown: model, pointed: RwSignal::new(None) });
    provide_context(PlanContext { shown, pointed: RwSignal::new(None), open });
    open
}
