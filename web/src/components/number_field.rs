//! Shell of the fields for numbers and ranges: label, text field, message.

use leptos::prelude::*;

use super::erased::{flag, maybe, on, text};
use super::focus::reveal_message;

/// Labeled text field for a number. An invalid text is marked, and a message below it says what is allowed.
#[component]
pub fn NumberField(
    /// `id` of the text field; that of the message ends in `-message`.
    #[prop(into)]
    id: String,
    /// Label of the field.
    #[prop(into)]
    name: String,
    /// Unit, or a remark in its place.
    unit: &'static str,
    /// Keyboard of a phone, as in HTML's `inputmode`.
    keyboard: &'static str,
    /// Most characters of the text.
    #[prop(default = 40)]
    longest: u16,
    /// Text that an empty field stands for.
    #[prop(into, optional)]
    empty: Signal<String>,
    /// The text as typed.
    typed: Signal<String>,
    /// Why the text is invalid; `None` if it is valid.
    #[prop(into)]
    fault: Signal<Option<String>>,
    /// Called with the new text at every key press.
    on_type: Callback<String>,
    /// Origin of the number, as a badge in the label.
    #[prop(optional)]
    badge: Option<Signal<String>>,
    /// Whether the message is a cell of its own in the grid of the field, below a row of several fields.
    #[prop(optional)]
    apart: bool,
    /// Views below the message, such as a slider.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let message_id = format!("{id}-message");
    let is_wrong = flag(move || fault.with(Option::is_some));
    let described_by = message_id.clone();
    let field = id.clone();
    let on_input = move |event| {
        on_type.run(event_target_value(&event));
        reveal_message(&field);
    };
    let message = view! {
        <p class="message" id=message_id role="alert">{text(move || fault.get().unwrap_or_default())}</p>
    };
    let (inside, below) = if apart { (None, Some(message)) } else { (Some(message), None) };
    view! {
        <div class="field number" class:wrong=is_wrong>
            <label for=id.clone()>
                {name} " " <span class="meaning">{unit}</span>
                {badge.map(|badge| view! { <span class="badge">{badge}</span> })}
            </label>
            <input
                id=id
                type="text"
                inputmode=keyboard
                autocomplete="off"
                maxlength=longest
                placeholder=empty
                prop:value=typed
                aria-invalid=text(move || is_wrong.get().to_string())
                aria-describedby=maybe(move || is_wrong.get().then(|| described_by.clone()))
                on:input=on(on_input)
            />
            {inside}
            {children.map(|children| children())}
        </div>
        {below}
    }
}
