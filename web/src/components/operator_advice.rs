//! The recommendation for the operator of the Kernel view.

use leptos::prelude::*;

use super::advice::{AdvicePanel, advice_of};
use super::erased::flag;
use crate::state::advice::Taken;
use crate::state::advice::question::of_operator;
use crate::state::session::Session;

/// Recommendation, dimmed while it belongs to earlier inputs.
#[component]
pub fn OperatorAdvice() -> impl IntoView {
    let session = expect_context::<Session>();
    let stale = flag(move || session.shown.with(crate::state::derived::Shown::is_stale));
    let advice = advice_of(session, of_operator);
    view! { <AdvicePanel advice=advice stale=stale take=Taken::of_operator/> }
}
