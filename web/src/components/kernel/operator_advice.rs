//! The recommendation for the operator of the Kernel view.

use leptos::prelude::*;

use super::KernelContext;
use crate::components::advice::{AdvicePanel, advice_of};
use crate::components::erased::flag;
use crate::state::advice::SchemeFormats;
use crate::state::advice::question::of_operator;
use crate::state::session::Session;

/// Recommendation, dimmed while it belongs to earlier inputs.
#[component]
pub fn OperatorAdvice() -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    let stale = flag(move || kernel.shown.with(crate::state::derived::KernelShown::is_stale));
    let advice = advice_of(session, of_operator);
    view! { <AdvicePanel advice=advice stale=stale take=SchemeFormats::of_operator/> }
}
