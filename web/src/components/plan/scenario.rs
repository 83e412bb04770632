//! The scenario in one line; each part is a button that opens its fields.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use crate::components::device_field::DeviceField;
use crate::components::erased::{block, memo, on, text};
use crate::components::fetched::Fetched;
use crate::components::focus::{focus, focus_first};
use crate::components::model::drafter::Drafter;
use crate::components::model::editor::Editor;
use crate::components::model::engine::EngineField;
use crate::components::model::formats::FormatField;
use crate::components::model::import::Import;
use crate::components::model::model_field::ModelField;
use crate::components::model::number::ModelNumber;
use crate::components::power_mode_field::PowerModeField;
use crate::lazy::Part;
use crate::state::model::fields::Field;
use crate::state::model::roles::Role;
use crate::state::scenario::{Piece, pieces};
use crate::state::session::Session;

/// The scenario line and the fields of the open part.
#[component]
pub fn Scenario() -> impl IntoView {
    let session = expect_context::<Session>();
    let open = RwSignal::new(None::<Piece>);
    let line = memo(move |_| session.inputs.with(pieces));
    let button = move |(piece, before, said): (Piece, &'static str, String)| {
        let is_open = move || open.get() == Some(piece);
        let on_click = move |_| {
            open.update(|open| *open = if *open == Some(piece) { None } else { Some(piece) });
            request_animation_frame(|| focus_first("#part-fields :is(input, select)"));
        };
        view! {
            {before}
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
    let buttons = block(move || line.get().into_iter().map(button).collect_view().into_any());
    let on_key = move |event: KeyboardEvent| {
        // A list that is open takes the key itself.
        let is_list = document().query_selector(".picker.open").ok().flatten().is_some();
        if event.key() == "Escape" && !is_list {
            let Some(piece) = open.get_untracked() else { return };
            open.set(None);
            focus(&format!("part-{}", piece.key()));
        }
    };
    let body = block(move || open.get().map_or_else(|| ().into_any(), fields));
    view! {
        <section class="scenario" aria-label="Scenario" on:keydown=on(on_key)>
            <p class="line">{buttons}</p>
            <div class="part-fields" id="part-fields">{body}</div>
        </section>
    }
}

/// The fields of a part.
fn fields(piece: Piece) -> AnyView {
    let number = |field: Field| view! { <ModelNumber field=field/> };
    match piece {
        Piece::Model => view! { <ModelField/> <Import/> <Editor/> }.into_any(),
        Piece::Device => view! {
            <DeviceField/>
            {[Field::Tensor, Field::Pipeline, Field::Expert, Field::Memory].map(number).collect_view()}
        }
        .into_any(),
        Piece::Mode => view! { <PowerModeField/> }.into_any(),
        Piece::Engine => view! { <EngineField/> }.into_any(),
        Piece::Users => number(Field::Batch).into_any(),
        Piece::In => [Field::Prompt, Field::Context].map(number).collect_view().into_any(),
        Piece::Out => view! {
            {[Field::Generate, Field::Draft, Field::Acceptance].map(number).collect_view()}
            <Drafter/>
        }
        .into_any(),
        Piece::Goal => {
            let goal = Fetched::new(Part::Goal);
            goal.ask();
            view! {
                {block(move || goal.show())}
                <FormatField role=Role::KvCache/>
                <FormatField role=Role::Embedding/>
            }
            .into_any()
        }
    }
}
