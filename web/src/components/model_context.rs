//! The state that the components of the Model view share, and those of other views that explain its numbers.

use leptos::prelude::*;

use crate::state::inputs::Inputs;
use crate::state::model::answer::ModelShown;

/// State shared by the components of the Model view.
#[derive(Debug, Clone, Copy)]
pub struct ModelContext {
    /// Inputs of the answer: in the Plan view with the formats of the scheme that it shows.
    pub inputs: Signal<Inputs>,
    /// Answer derived from the inputs.
    pub shown: Memo<ModelShown>,
    /// Key of the operator at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
}
