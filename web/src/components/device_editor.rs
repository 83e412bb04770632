//! Dialog that edits a user-defined device.

use leptos::html::Dialog;
use leptos::prelude::*;

use super::erased::{later, maybe, on, text};
use super::number_field::NumberField;
use crate::state::editor::{Draft, EditField};
use crate::state::export_kinds::Document;
use crate::state::session::{Session, Step};

/// Form with the device's numbers. After closing, the device keeps the last valid values.
#[component]
pub fn DeviceEditor() -> impl IntoView {
    let session = expect_context::<Session>();
    let dialog = NodeRef::<Dialog>::new();
    let draft = RwSignal::new(session.inputs.with_untracked(Draft::of));
    let name = draft.with_untracked(|draft| draft.name.clone());
    let on_name = move |event| {
        let name = event_target_value(&event);
        change(session, draft, move |draft| draft.name = name);
    };
    let on_save = move |_| {
        let key = session.inputs.with_untracked(|inputs| inputs.device.key.to_string());
        later(async move { session.save(&format!("{key}.json"), Document::DeviceFile).await });
    };
    let row =
        |(field, _): &(EditField, String)| view! { <NumberRow field=field.clone() draft=draft/> };
    let rows = draft.with_untracked(|draft| draft.fields.iter().map(row).collect_view());
    dialog.on_load(|dialog| {
        request_animation_frame(move || drop(dialog.show_modal()));
    });
    view! {
        <dialog
            node_ref=dialog
            class="keys editor"
            aria-labelledby="editor-title"
            on:close=on(move |_| session.dialog.set(None))
        >
            <h2 id="editor-title">"Your own device"</h2>
            <p class="brief">
                "Peaks are dense, a multiply-add counts 2. An empty field is unknown. Invalid values are ignored."
            </p>
            <div class="field">
                <label for="own-name">"Name"</label>
                <input id="own-name" type="text" maxlength="60" autocomplete="off" prop:value=name on:input=on(on_name)/>
            </div>
            <div class="numbers">{rows}</div>
            <form method="dialog">
                <button type="button" class="tool" on:click=on(on_save)>"Download device file"</button>
                <button class="tool">"Close"</button>
            </form>
        </dialog>
    }
}

/// Changes the draft and, if the result is a valid device, the inputs.
fn change(session: Session, draft: RwSignal<Draft>, change: impl FnOnce(&mut Draft)) {
    draft.update(change);
    let is_first = session.inputs.with_untracked(|inputs| !inputs.has_own_device());
    let step = if is_first { Step::Choice } else { Step::Typing };
    draft.with_untracked(|draft| {
        if draft.device().is_some() {
            session.edit(step, |inputs| draft.apply(inputs));
        }
    });
}

/// Number field with its unit and a badge for the value's origin.
#[component]
fn NumberRow(
    /// Number to edit: path in the device file, label and unit.
    field: EditField,
    /// Draft that holds the typed values.
    draft: RwSignal<Draft>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let EditField { path, name, unit, .. } = field;
    let id = path.replace('.', "-");
    let path = StoredValue::new(path);
    let ask = move |what: fn(&Draft, &str) -> String| {
        text(move || draft.with(|draft| path.with_value(|path| what(draft, path))))
    };
    let fault = maybe(move || draft.with(|draft| path.with_value(|path| draft.fault(path))));
    let on_type = move |typed: String| {
        change(session, draft, |draft| path.with_value(|path| draft.set(path, typed)));
    };
    view! {
        <NumberField
            id=id
            name=name
            unit=unit
            keyboard="decimal"
            longest=20
            typed=ask(Draft::text)
            fault=fault
            on_type=Callback::new(on_type)
            badge=ask(|draft, path| draft.badge(path).to_owned())
        />
    }
}
