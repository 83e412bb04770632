//! The scenario of Plan in one line.

use leptos::prelude::*;

use super::PlanContext;
use crate::components::compare::bar::CompareLater;
use crate::components::erased::memo;
use crate::components::scenario_line::ScenarioLine;
use crate::state::scenario::parts;
use crate::state::session::Session;

/// The scenario line, the way to Compare, and the fields of the open part.
#[component]
pub fn Scenario() -> impl IntoView {
    let session = expect_context::<Session>();
    let open = expect_context::<PlanContext>().open;
    let line = memo(move |_| session.inputs.with(parts));
    view! {
        <ScenarioLine label="Scenario" line=line open=open>
            <CompareLater/>
        </ScenarioLine>
    }
}
