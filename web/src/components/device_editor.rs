//! A dialog in which the reader makes a device of their own.

use leptos::html::Dialog;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::erased::{block, flag, maybe, on, text};
use crate::state::editor::{Draft, EditField};
use crate::state::fragment;
use crate::state::session::{Session, Step};

/// A button that opens the form, and the form.
#[component]
pub fn DeviceEditor() -> impl IntoView {
    let session = expect_context::<Session>();
    let dialog = NodeRef::<Dialog>::new();
    let draft = RwSignal::new(None::<Draft>);
    let on_open = move |_| draft.set(Some(session.inputs.with_untracked(Draft::of)));
    let is_own = flag(move || session.inputs.with(crate::state::inputs::Inputs::has_own_device));
    let label = text(move || if is_own.get() { "Edit" } else { "Edit a copy" }.to_owned());
    let on_name = move |event| {
        let name = event_target_value(&event);
        change(session, draft, move |draft| draft.name = name);
    };
    let on_save = move |_| {
        spawn_local(async move {
            let (key, lines) = session
                .inputs
                .with_untracked(|inputs| (inputs.device.key.to_string(), fragment::device(inputs)));
            session.save(&format!("{key}.json"), "device_file", &[&lines]).await;
        });
    };
    let fields = move |draft_now: &Draft| {
        let field = |(field, _): &(EditField, String)| view! { <NumberRow field=field.clone() draft=draft/> };
        draft_now.fields.iter().map(field).collect_view()
    };
    let content = move || {
        draft.with_untracked(|now| {
            now.as_ref().map(|now| {
                let name = now.name.clone();
                view! {
                    <dialog node_ref=dialog class="keys editor" aria-labelledby="editor-title" on:close=on(move |_| draft.set(None))>
                        <h2 id="editor-title">"Your own device"</h2>
                        <p class="brief">
                            "Peaks are dense, a multiply-add counts 2. An empty field is unknown. What cannot exist is not taken over."
                        </p>
                        <div class="field">
                            <label for="own-name">"Name"</label>
                            <input id="own-name" type="text" maxlength="60" autocomplete="off" prop:value=name on:input=on(on_name)/>
                        </div>
                        <div class="numbers">{fields(now)}</div>
                        <form method="dialog">
                            <button type="button" class="tool" on:click=on(on_save)>"Download device file"</button>
                            <button class="tool">"Close"</button>
                        </form>
                    </dialog>
                }
            })
        })
    };
    dialog.on_load(|dialog| {
        request_animation_frame(move || drop(dialog.show_modal()));
    });
    let is_open = Memo::new(move |_| draft.with(Option::is_some));
    view! {
        <button type="button" class="link" on:click=on(on_open)>{label}</button>
        {block(move || if is_open.get() { content().into_any() } else { ().into_any() })}
    }
}

/// Changes the form, and the device with it if it can exist.
fn change(session: Session, draft: RwSignal<Option<Draft>>, change: impl FnOnce(&mut Draft)) {
    draft.update(|draft| {
        if let Some(draft) = draft {
            change(draft);
        }
    });
    let is_first = session.inputs.with_untracked(|inputs| !inputs.has_own_device());
    let step = if is_first { Step::Choice } else { Step::Typing };
    draft.with_untracked(|draft| {
        if let Some(draft) = draft.as_ref().filter(|draft| draft.device().is_some()) {
            session.edit(step, |inputs| draft.apply(inputs));
        }
    });
}

/// A number with its unit and where it comes from.
#[component]
fn NumberRow(
    /// Which one.
    field: EditField,
    /// The form.
    draft: RwSignal<Option<Draft>>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let EditField { path, name, unit } = field;
    let id = path.replace('.', "-");
    let message_id = format!("{id}-message");
    let path = StoredValue::new(path);
    let ask = move |what: fn(&Draft, &str) -> String| {
        draft.with(|draft| {
            draft.as_ref().map_or(String::new(), |draft| path.with_value(|path| what(draft, path)))
        })
    };
    let fault = text(move || ask(|draft, path| draft.fault(path).unwrap_or_default()));
    let is_wrong = flag(move || fault.with(|fault| !fault.is_empty()));
    let described_by = {
        let message_id = message_id.clone();
        maybe(move || is_wrong.get().then(|| message_id.clone()))
    };
    let on_input = move |event| {
        let typed = event_target_value(&event);
        change(session, draft, |draft| path.with_value(|path| draft.set(path, typed)));
    };
    let for_id = id.clone();
    view! {
        <div class="field number" class:wrong=is_wrong>
            <label for=for_id>
                {name} " " <span class="meaning">{unit}</span>
                <span class="badge">{text(move || ask(|draft, path| draft.badge(path).to_owned()))}</span>
            </label>
            <input
                id=id
                type="text"
                inputmode="decimal"
                autocomplete="off"
                maxlength="20"
                prop:value=text(move || ask(Draft::text))
                aria-invalid=text(move || is_wrong.get().to_string())
                aria-describedby=described_by
                on:input=on(on_input)
            />
            <p class="message" id=message_id role="alert">{fault}</p>
        </div>
    }
}
