//! Components of the Compare view, the state that they share, and the choices beside the scenario line that open it.

pub mod view;

pub mod bar;
pub mod chart;
pub mod choices;
pub mod table;

use leptos::prelude::*;

use crate::state::compare::CompareShown;

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct CompareContext {
    pub shown: Memo<CompareShown>,
    /// Column at the pointer or the keyboard focus, by its key on the chart.
    pub pointed: RwSignal<Option<String>>,
}
