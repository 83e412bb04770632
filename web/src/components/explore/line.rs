//! The part of the scenario that all points share, in one line; each part is a button that opens its fields.

use leptos::prelude::*;

use crate::components::erased::{derived, memo};
use crate::components::model::ModelContext;
use crate::components::piece_line::{LinePart, PieceLine};
use crate::components::plan::PlanContext;
use crate::state::explore::asked::is_fixed;
use crate::state::model::answer::next as next_model;
use crate::state::plan;
use crate::state::scenario::{Piece, pieces};
use crate::state::session::Session;

/// The line, and the fields of its open part.
#[component]
pub fn FixedLine() -> impl IntoView {
    let session = expect_context::<Session>();
    let open = provide_fields(session);
    let line = memo(move |_| {
        session.inputs.with(|inputs| {
            let kept = pieces(inputs).into_iter().filter(|(piece, ..)| is_fixed(inputs, *piece));
            let mut before = None;
            kept.map(|part| separated(before.replace(part.0), part)).collect::<Vec<_>>()
        })
    });
    view! { <PieceLine label="What stays the same" line=line open=open/> }
}

/// The part with the text before it in a line that lacks others: the first has none, and tokens out stand by themselves where
/// tokens in are varied.
fn separated(last: Option<Piece>, (piece, before, said): LinePart) -> LinePart {
    let before = match (last, piece) {
        (None, _) => "",
        (Some(last), Piece::Out) if last != Piece::In => " · ",
        _ => before,
    };
    (piece, before, said)
}

/// Provides what the fields of the Plan view share; its answers are computed only if a field reads them.
fn provide_fields(session: Session) -> RwSignal<Option<Piece>> {
    let shown = memo(move |before| {
        session.settled.track();
        session.inputs.with_untracked(|inputs| plan::next(before, inputs))
    });
    let model = memo(move |before| {
        session.inputs.with(|inputs| next_model(before, &inputs.model, inputs.place()))
    });
    let inputs = derived(move || session.inputs.get());
    let open = RwSignal::new(None);
    provide_context(ModelContext { inputs, shown: model, pointed: RwSignal::new(None) });
    provide_context(PlanContext { shown, pointed: RwSignal::new(None), open });
    open
}
