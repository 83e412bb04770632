//! Table of the points: sortable, one tab stop, arrow keys inside.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;

use super::run::Exploration;
use crate::components::erased::{Block, block, flag, maybe, memo, on, text};
use crate::components::focus::{focus, tab_index};
use crate::components::mark_icon::MarkIcon;
use crate::state::explore::ExploreField;
use crate::state::explore::asked::{RowFilter, Subject, fault};
use crate::state::explore::column::{Order, PointColumn};
use crate::state::explore::narrowing::{order, order_text};
use crate::state::explore::row::ExploreRow;
use crate::state::explore::shown::{MOST_ROWS, kept_rows, sort};
use crate::state::inputs::Inputs;
use crate::state::roving::{CellPosition, step};
use crate::state::session::{Session, Step};

/// State of the table.
#[derive(Debug, Clone, Copy)]
struct Table {
    /// `None` while the best by the first criterion come first.
    order: Memo<Option<Order>>,
    session: Session,
    /// The cell that has the focus: row 0 is the head.
    at: RwSignal<CellPosition>,
    /// The rows by index.
    rows: Memo<Vec<usize>>,
}

/// The rows that the switch and the chart choose.
#[component]
pub fn ExploreTable() -> impl IntoView {
    let this = expect_context::<Exploration>();
    let session = this.session;
    let order = memo(move |_| session.inputs.with(|inputs| order(inputs).ok().flatten()));
    let rows = memo(move |_| visible(this, order.get()));
    let table = Table { order, session, at: RwSignal::new((0, 0)), rows };
    let subject = memo(move |_| {
        this.answer.with(|answer| answer.as_ref().map_or(Subject::Devices, |answer| answer.subject))
    });
    let head = move |(place, column): (usize, PointColumn)| head(table, (place, column), subject);
    let body = body(this, table);
    let on_key = move |event: KeyboardEvent| {
        let size = (table.shown() + 1, PointColumn::ALL.len());
        let Some(next) = step(untrack(|| table.current()), size, &event.key()) else { return };
        event.prevent_default();
        table.at.set(next);
        focus(&id_of(next));
    };
    let count = text(move || {
        let all = rows.with(Vec::len);
        if all > MOST_ROWS {
            format!("{MOST_ROWS} of {all} points; the files have all.")
        } else {
            String::new()
        }
    });
    view! {
        <Switch/>
        <div class="scroll" role="group" aria-label="Points">
            <table class="points" aria-label="Points" on:keydown=on(on_key)>
                <thead><tr>{PointColumn::ALL.into_iter().enumerate().map(head).collect_view()}</tr></thead>
                <tbody>{body}</tbody>
            </table>
        </div>
        <p class="brief" role="status">{count}</p>
    }
}

impl Table {
    /// The cell that Tab goes to: the last one with the focus, or its head where its row is gone.
    fn current(self) -> CellPosition {
        let (row, column) = self.at.get();
        if row > self.rows.with(Vec::len).min(MOST_ROWS) { (0, column) } else { (row, column) }
    }

    fn shown(self) -> usize {
        self.rows.with_untracked(Vec::len).min(MOST_ROWS)
    }
}

/// Id of the element that has the focus in a cell: each head has one, a row has one in all its cells.
fn id_of((row, column): CellPosition) -> String {
    if row == 0 { format!("head-{column}") } else { format!("point-{row}") }
}

fn visible(this: Exploration, order: Option<Order>) -> Vec<usize> {
    let kept = this.session.inputs.with(kept_rows);
    this.answer.with(|answer| {
        let Some(answer) = answer else { return Vec::new() };
        let mut rows = answer.visible(kept, this.brush.get().as_ref());
        if let Some(order) = order {
            sort(&mut rows, answer, order);
        }
        rows
    })
}

fn head(
    table: Table,
    (place, column): (usize, PointColumn),
    subject: Memo<Subject>,
) -> impl IntoView {
    let on_sort = move |_| {
        table.at.set((0, place));
        let descending = table.order.get_untracked() == Some((column, false));
        let text = order_text((column, descending));
        table.session.edit(Step::Choice, |inputs| inputs.explore.set(ExploreField::Sort, text));
    };
    let sorted = maybe(move || match table.order.get() {
        Some((last, descending)) if last == column => {
            Some(if descending { "descending" } else { "ascending" }.to_owned())
        }
        _ => None,
    });
    let tab = tab_index(move || table.current() == (0, place));
    view! {
        <th scope="col" class:words=column.is_words() aria-sort=sorted>
            <button type="button" class="format" id=id_of((0, place)) tabindex=tab on:click=on(on_sort)>
                {text(move || column.head(subject.get()).to_owned())}
            </button>
        </th>
    }
}

fn body(this: Exploration, table: Table) -> Block {
    block(move || {
        let rows = table.rows.get();
        this.answer.with(|answer| {
            let Some(answer) = answer else { return ().into_any() };
            let shown = rows.iter().take(MOST_ROWS).enumerate();
            let found =
                shown.filter_map(|(place, index)| Some((place, *index, answer.rows.get(*index)?)));
            found
                .map(|(place, index, row)| line(this, table, (place + 1, index), row))
                .collect_view()
                .into_any()
        })
    })
}

fn line(
    this: Exploration,
    table: Table,
    (place, index): (usize, usize),
    row: &ExploreRow,
) -> impl IntoView {
    let Exploration { pointed, chosen, .. } = this;
    let key = index.to_string();
    let is_key = |signal: RwSignal<Option<String>>, key: String| {
        move || signal.with(|other| other.as_ref() == Some(&key))
    };
    let (is_chosen, is_pointed) = (is_key(chosen, key.clone()), is_key(pointed, key.clone()));
    let current = is_chosen.clone();
    let tab = tab_index(move || table.current().0 == place);
    let choose = {
        let key = key.clone();
        move || {
            table.at.set((place, 0));
            chosen.set(Some(key.clone()));
        }
    };
    let on_key = {
        let choose = choose.clone();
        move |event: KeyboardEvent| {
            if matches!(event.key().as_str(), "Enter" | " ") {
                event.prevent_default();
                choose();
            }
        }
    };
    let cells = PointColumn::ALL.into_iter().skip(1).map(|column| {
        let (text, interval) = column.cell(row);
        let interval = (!interval.is_empty()).then(|| view! { <small>{interval}</small> });
        view! { <td class:words=column.is_words()>{text} {interval}</td> }
    });
    view! {
        <tr
            class:chosen=flag(is_chosen)
            class:pointed=flag(is_pointed)
            aria-current=maybe(move || current().then(|| "true".to_owned()))
            on:mouseenter=on(move |_| pointed.set(Some(key.clone())))
            on:mouseleave=on(move |_| pointed.set(None))
            on:click=on(move |_| choose())
        >
            <th scope="row" id=id_of((place, 0)) tabindex=tab on:keydown=on(on_key)>
                <MarkIcon mark=row.mark()/> {row.name.clone()}
            </th>
            {cells.collect_view()}
        </tr>
    }
}

/// Selects which points the table has.
#[component]
fn Switch() -> impl IntoView {
    let session = expect_context::<Exploration>().session;
    let kept = memo(move |_| session.inputs.with(kept_rows));
    let one = move |(key, name, own): (&'static str, &'static str, RowFilter)| {
        let choose = move |_| {
            session.edit(Step::Choice, |inputs| {
                inputs.explore.set(ExploreField::Rows, key.to_owned());
            });
        };
        view! {
            <button
                type="button"
                class="chip"
                id=format!("best-{key}")
                aria-pressed=text(move || (kept.get() == own).to_string())
                on:click=on(choose)
            >
                {name}
            </button>
        }
    };
    let wrong = text(move || {
        let fields = [ExploreField::Rows, ExploreField::Sort, ExploreField::Brush];
        let faults = |inputs: &Inputs| {
            fields.into_iter().filter_map(|field| fault(inputs, field)).collect::<Vec<_>>()
        };
        session.inputs.with(faults).join(" ")
    });
    view! {
        <div class="presets" role="group" aria-label="Points in the table">
            <span>"Points:"</span>
            {RowFilter::ALL.map(one).collect_view()}
        </div>
        <p class="message" role="alert">{wrong}</p>
    }
}
