//! Tabs of the Plan view other than the schemes. Loaded when the first of them is opened.

use leptos::prelude::*;

use crate::components::explore::Explore;
use crate::components::fetched::Folded;
use crate::components::inverse::Inverse;
use crate::components::model::curves_chart::CurvesChart;
use crate::components::model::figures::Figures;
use crate::components::model::operator_table::OperatorTable;
use crate::lazy::Part;
use crate::state::model::curves::Against;

/// Speed and energy of the scheme in the cards, and the operators behind them.
#[component]
pub fn Operators() -> impl IntoView {
    view! {
        <Figures/>
        <OperatorTable phase=0/>
        <OperatorTable phase=1/>
    }
}

/// Speed over the number of users and over the context.
#[component]
pub fn Scale() -> impl IntoView {
    Against::ALL.map(|against| view! { <CurvesChart against=against/> }).collect_view()
}

/// Questions the other way round, all devices, and the check of a claimed speed.
#[component]
pub fn Questions() -> impl IntoView {
    view! {
        <Inverse/>
        <Explore/>
        <Folded class="fold" title="Is this possible?" part=Part::Check open=true/>
    }
}
