//! The part of the scenario that all points share, in one line; each part is a button that opens its fields.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::components::erased::{block, derived, memo, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::focus;
use crate::components::model::view::ModelContext;
use crate::components::plan::view::PlanContext;
use crate::lazy::Part;
use crate::state::explore::asked::Subject;
use crate::state::model::answer::next as next_model;
use crate::state::plan;
use crate::state::scenario::{Piece, pieces};
use crate::state::session::Session;

/// The parts of the scenario that do not vary.
const fn fixed(subject: Subject) -> &'static [Piece] {
    match subject {
        Subject::Devices => &[Piece::Model, Piece::Engine, Piece::Out],
        Subject::Models => &[Piece::Device, Piece::Mode, Piece::Engine, Piece::Out],
    }
}

/// The line, and the fields of its open part.
#[component]
pub fn FixedLine(
    /// The subject of the question, which is not in the line.
    subject: Subject,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let open = provide_fields(session);
    let fields = Fetched::new(Part::Fields);
    let line = memo(move |_| {
        let all = session.inputs.with(pieces);
        all.into_iter().filter(|(piece, _, _)| fixed(subject).contains(piece)).collect::<Vec<_>>()
    });
    let button = move |(place, (piece, before, said)): (usize, (Piece, &'static str, String))| {
        let is_open = move || open.get() == Some(piece);
        let on_click = move |_| {
            open.update(|open| *open = if *open == Some(piece) { None } else { Some(piece) });
            fields.ask();
        };
        view! {
            {(place > 0).then_some(if piece == Piece::Out { " · " } else { before })}
            <button
                type="button"
                class="part"
                id=format!("part-{}", piece.key())
                aria-expanded=text(move || is_open().to_string())
                aria-controls="part-fields"
                on:click=on(on_click)
            >
                {said}
            </button>
        }
    };
    let buttons =
        block(move || line.get().into_iter().enumerate().map(button).collect_view().into_any());
    let on_key = move |event: KeyboardEvent| {
        // A list that is open takes the key itself.
        let is_list = document().query_selector(".picker.open").ok().flatten().is_some();
        if event.key() == "Escape" && !is_list {
            let Some(piece) = open.get_untracked() else { return };
            open.set(None);
            focus(&format!("part-{}", piece.key()));
        }
    };
    view! {
        <section class="scenario" aria-label="What stays the same" on:keydown=on(on_key)>
            <p class="line">{buttons}</p>
            <div class="part-fields" id="part-fields">{block(move || fields.show())}</div>
        </section>
    }
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
    provide_context(PlanContext {
        shown,
        pointed: RwSignal::new(None),
        open,
        inspected: RwSignal::new(None),
    });
    open
}
