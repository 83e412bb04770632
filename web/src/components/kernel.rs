//! Components of the Kernel view, and the state that they share.

pub mod view;

pub mod inputs_panel;
pub mod operator_field;
pub mod operator_number;
pub mod presets;

pub mod format_row;
pub mod format_table;
pub mod own_points;
pub mod roofline_chart;
pub mod verdict;

pub mod limits;
pub mod limits_panel;
pub mod operator_advice;
pub mod show_work;

use leptos::prelude::*;

use crate::state::derived::KernelShown;
use crate::state::session::{Session, Step};

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct KernelContext {
    pub shown: Memo<KernelShown>,
    /// Key of the format under the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
}

/// Selects a format for the compared role, by its key.
pub fn choose(session: Session, key: &str) {
    if let Ok(format) = calc_core::catalog::format(key) {
        session.edit(Step::Choice, |inputs| inputs.set_format(format));
    }
}
