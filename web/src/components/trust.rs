//! The Trust view: published measurements against their predictions.

pub mod error_table;
pub mod filters;
pub mod row_table;
pub mod scatter_chart;
pub mod view;
pub mod wrong;

use leptos::prelude::*;

use crate::state::model::url::Pair;
use crate::state::trust::answer::TrustAnswer;

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct TrustContext {
    /// Filter, as the keys and values of the address.
    pub pairs: Memo<Vec<Pair>>,
    /// Sentences, tables and chart of the filtered rows.
    pub answer: Memo<TrustAnswer>,
    /// Index of the row at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<usize>>,
}
