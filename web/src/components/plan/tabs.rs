//! Tabs of the Plan view other than the schemes. Loaded when the first of them is opened.

use leptos::prelude::*;

use super::PlanContext;
use crate::components::check::CheckPanel;
use crate::components::erased::{Block, block, memo};
use crate::components::explore::link::ExploreLink;
use crate::components::inverse::Inverse;
use crate::components::model::curves_chart::CurvesChart;
use crate::components::model::figures::Figures;
use crate::components::model::layers::LayerOrder;
use crate::components::model::operator_table::OperatorTable;
use crate::state::model::curves::CurveAxis;

/// Speed and energy of the scheme in the cards, and the operators behind them.
#[component]
pub fn Operators() -> impl IntoView {
    if_it_runs(|| {
        view! {
            <Figures/>
            <LayerOrder/>
            <OperatorTable phase=0/>
            <OperatorTable phase=1/>
        }
        .into_any()
    })
}

/// Speed over the number of users and over the context.
#[component]
pub fn Scale() -> impl IntoView {
    if_it_runs(|| {
        CurveAxis::ALL
            .map(|against| view! { <CurvesChart against=against/> })
            .collect_view()
            .into_any()
    })
}

/// Shows speeds if the scheme in the cards runs, else the reason why there are none.
fn if_it_runs(speeds: fn() -> AnyView) -> Block {
    let shown = expect_context::<PlanContext>().shown;
    let no_speed = memo(move |_| shown.with(|shown| shown.answer.no_speed.clone()));
    block(move || match no_speed.get() {
        Some(reason) => view! { <p class="no-speed">{reason}</p> }.into_any(),
        None => speeds(),
    })
}

/// The check of a claimed speed, questions the other way round, and the way to all devices.
#[component]
pub fn Questions() -> impl IntoView {
    view! {
        <section class="claim" aria-label="Is this possible?"><CheckPanel/></section>
        <Inverse/>
        <ExploreLink/>
    }
}
