//! Option list of a picker.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use super::erased::{block, flag, on};
use super::focus::reveal_element;
use crate::state::picker::{NOTHING, OptionGroup, PickerOption, numbered};

/// Grouped options, built when the list opens.
#[component]
pub fn PickerList(
    /// `id` of the text field.
    id: &'static str,
    /// Label of the text field.
    label: &'static str,
    /// Options that match the search, in groups.
    list: Signal<Vec<OptionGroup>>,
    /// Whether the list is open.
    open: RwSignal<bool>,
    /// Index over all groups, from 0, of the option that Enter selects.
    active: RwSignal<Option<usize>>,
    /// Key of the chosen option.
    chosen: Signal<String>,
    /// Called with the key of the clicked option.
    on_choose: Callback<String>,
) -> impl IntoView {
    let option = move |(place, PickerOption { key, name, detail, .. }): (usize, PickerOption)| {
        let is_chosen = (chosen.get_untracked() == key).to_string();
        let on_press = move |event: MouseEvent| {
            event.prevent_default(); // the field keeps the focus
            on_choose.run(key.clone());
        };
        view! {
            <div
                role="option"
                id=option_id(id, place)
                class:active=flag(move || active.get() == Some(place))
                aria-selected=is_chosen
                on:mousedown=on(on_press)
            >
                <span>{name}</span>
                <small>{detail}</small>
            </div>
        }
    };
    let group = move |(index, (title, choices)): (usize, (String, Vec<(usize, PickerOption)>))| {
        let title_id = format!("{id}-group-{index}");
        let labelled_by = title_id.clone();
        view! {
            <div role="group" aria-labelledby=labelled_by>
                <div class="group" id=title_id>{title}</div>
                {choices.into_iter().map(option).collect_view()}
            </div>
        }
    };
    let options = block(move || {
        if !open.get() {
            return ().into_any();
        }
        let groups = numbered(list.get());
        if groups.iter().all(|(_, choices)| choices.is_empty()) {
            let why =
                groups.into_iter().next().map_or_else(|| NOTHING.to_owned(), |(title, _)| title);
            return view! { <div role="option" aria-disabled="true" aria-selected="false">{why}</div> }
                .into_any();
        }
        groups.into_iter().enumerate().map(group).collect_view().into_any()
    });
    view! {
        <div class="list" role="listbox" id=format!("{id}-list") aria-label=label hidden=flag(move || !open.get())>
            {options}
        </div>
    }
}

/// `id` of an option.
pub fn option_id(id: &str, place: usize) -> String {
    format!("{id}-{place}")
}

/// Scrolls the active option into view.
pub fn reveal(id: &str, active: RwSignal<Option<usize>>) {
    if let Some(place) = active.get_untracked() {
        reveal_element(&option_id(id, place));
    }
}
