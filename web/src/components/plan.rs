//! Components of the Plan view, and the state that they share.

pub mod view;

pub mod cards;
pub mod fields;
pub mod impasse;
pub mod inspector;
pub mod scenario;
pub mod scheme_chart;
pub mod scheme_field;
pub mod scheme_table;
pub mod tabs;

use leptos::prelude::*;

use crate::state::plan::PlanShown;
use crate::state::scenario::ScenarioPart;

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct PlanContext {
    pub shown: Memo<PlanShown>,
    /// Key of the scheme at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
    /// The part of the scenario line whose fields are open.
    pub open: RwSignal<Option<ScenarioPart>>,
}
