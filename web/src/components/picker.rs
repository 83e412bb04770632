//! Combobox: a text field that searches a grouped list of options.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::erased::{block, derived, flag, maybe, on, text};
use super::picker_list::{PickerList, option_id, reveal};
use crate::state::picker::{
    Entered, OptionGroup, PickerCatalog, choice_at, count, entered, found, name_of, position,
};
use crate::state::roving::turn;

/// State of the field and of its list.
#[derive(Clone, Copy)]
struct Combobox {
    id: &'static str,
    groups: Signal<Vec<OptionGroup>>,
    chosen: Signal<String>,
    open: RwSignal<bool>,
    query: RwSignal<String>,
    /// Index of the option that Enter selects.
    active: RwSignal<Option<usize>>,
    /// The options that match the query.
    list: Signal<Vec<OptionGroup>>,
    names: PickerCatalog,
    /// The active option was chosen by an arrow key.
    is_moved: StoredValue<bool>,
    /// The sentence about the name that Enter took or refused, and whether it was refused.
    said: RwSignal<Option<(String, bool)>>,
    on_choose: Callback<String>,
}

/// Selects one of many options by name. Arrow keys move, Enter selects, Escape closes the list without a change.
#[component]
pub fn Picker(
    /// `id` of the text field.
    id: &'static str,
    /// Label of the text field.
    label: &'static str,
    /// All options, in groups.
    groups: Signal<Vec<OptionGroup>>,
    /// Catalog whose published names the search understands.
    names: PickerCatalog,
    /// Key of the chosen option.
    chosen: Signal<String>,
    /// Short text about the chosen option, at the right of the field; may be empty.
    detail: Signal<String>,
    /// Called with the key of the selected option.
    on_choose: Callback<String>,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let query = RwSignal::new(String::new());
    let active = RwSignal::new(None::<usize>);
    let list = derived(move || found(&groups.get(), &query.get(), names));
    let (is_moved, said) = (StoredValue::new(false), RwSignal::new(None));
    let combobox = Combobox {
        id,
        groups,
        chosen,
        open,
        query,
        active,
        list,
        names,
        is_moved,
        said,
        on_choose,
    };
    let answer = block(move || match said.get() {
        None => ().into_any(),
        Some((said, true)) => view! { <p class="message">{said}</p> }.into_any(),
        Some((said, false)) => view! { <p><small>{said}</small></p> }.into_any(),
    });
    let chosen_name = text(move || groups.with(|groups| name_of(groups, &chosen.get())));
    view! {
        <div class="field picker" class:open=flag(move || open.get())>
            <label for=id>{label}</label>
            <input
                id=id
                type="text"
                role="combobox"
                autocomplete="off"
                spellcheck="false"
                aria-autocomplete="list"
                aria-expanded=text(move || open.get().to_string())
                aria-controls=format!("{id}-list")
                aria-activedescendant=maybe(move || active.get().filter(|_| open.get()).map(|place| option_id(id, place)))
                placeholder=chosen_name
                prop:value=text(move || if open.get() { query.get() } else { chosen_name.get() })
                on:click=on(move |_| combobox.show())
                on:input=on(move |event| combobox.search(event_target_value(&event)))
                on:keydown=on(move |event| combobox.on_key(&event))
                on:blur=on(move |_| open.set(false))
            />
            <span class="detail">{detail}</span>
            <PickerList id=id label=label list=list open=open active=active chosen=chosen on_choose=Callback::new(move |key| combobox.choose(key))/>
            <div role="status" id=format!("{id}-said")>{answer}</div>
        </div>
    }
}

impl Combobox {
    /// Opens the list at the chosen option.
    fn show(self) {
        let Self { id, groups, chosen, open, query, active, .. } = self;
        if !open.get_untracked() {
            query.set(String::new());
            self.said.set(None);
            self.is_moved.set_value(false);
            active.set(groups.with_untracked(|groups| position(groups, &chosen.get_untracked())));
            open.set(true);
            request_animation_frame(move || reveal(id, active));
        }
    }

    fn search(self, typed: String) {
        self.show();
        self.query.set(typed);
        self.is_moved.set_value(false);
        self.active.set(self.list.with_untracked(|list| (count(list) > 0).then_some(0)));
    }

    /// Takes the option at a place of the list. One that the reader did not move to is the list's reading of the query.
    fn enter(self, place: usize) {
        let typed =
            if self.is_moved.get_value() { String::new() } else { self.query.get_untracked() };
        if typed.is_empty() {
            if let Some(choice) = self.list.with_untracked(|list| choice_at(list, place)) {
                self.choose(choice.key);
            }
            return;
        }
        match self.list.with_untracked(|list| entered(list, place, &typed, self.names)) {
            Some(Entered::Taken { key, said }) => {
                self.choose(key);
                self.said.set((!said.is_empty()).then_some((said, false)));
            }
            Some(Entered::Refused(why)) => {
                self.open.set(false);
                self.said.set(Some((why, true)));
            }
            None => {}
        }
    }

    fn choose(self, key: String) {
        self.open.set(false);
        self.on_choose.run(key);
    }

    fn on_key(self, event: &KeyboardEvent) {
        let Self { id, open, active, list, .. } = self;
        let is_open = open.get_untracked();
        match event.key().as_str() {
            key @ ("ArrowDown" | "ArrowUp") => {
                event.prevent_default();
                if is_open {
                    let count = list.with_untracked(|list| count(list));
                    active.update(|active| *active = turn(*active, count, key));
                    self.is_moved.set_value(true);
                    reveal(id, active);
                } else {
                    self.show();
                }
            }
            "Enter" if is_open => {
                event.prevent_default();
                self.enter(active.get_untracked().unwrap_or(0));
            }
            "Escape" if is_open => {
                event.stop_propagation(); // what is around the field stays open
                open.set(false);
            }
            _ => {}
        }
    }
}
