//! User-defined points on the chart.

use leptos::prelude::*;

use super::KernelContext;
use crate::components::erased::{block, memo, on, text};
use crate::components::mark_icon::MarkIcon;
use crate::state::points::{self, PointRow};
use crate::state::session::{Session, Step};

/// Form for measured points in FLOP/B and TFLOP/s, and a table of them with their warnings.
#[component]
pub fn OwnPoints() -> impl IntoView {
    let session = expect_context::<Session>();
    let typed = RwSignal::new(String::new());
    let refused = RwSignal::new(false);
    let on_add = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        let free = points::MOST - session.inputs.with_untracked(|inputs| inputs.points.len());
        let (new, left) = points::parse(&typed.get_untracked(), free);
        refused.set(new.is_empty() || !left.is_empty());
        typed.set(left);
        if !new.is_empty() {
            session.edit(Step::Choice, |inputs| inputs.points.extend(new));
        }
    };
    let message = text(move || {
        if refused.get() {
            "Each line is a name, FLOP/B and TFLOP/s, two numbers from 1e-9 to 1e9; at most 40 points.".to_owned()
        } else {
            String::new()
        }
    });
    view! {
        <div>
            <PointTable/>
            <form on:submit=on(on_add)>
                <label for="points">"Name, FLOP/B, TFLOP/s; one per line"</label>
                <textarea
                    id="points"
                    rows="2"
                    maxlength="20000"
                    spellcheck="false"
                    placeholder="my kernel, 3.8, 0.35"
                    aria-describedby="points-message"
                    prop:value=move || typed.get()
                    on:input=on(move |event| typed.set(event_target_value(&event)))
                ></textarea>
                <button type="submit" class="tool">"Add"</button>
                <p class="message" id="points-message" role="alert">{message}</p>
            </form>
        </div>
    }
}

/// The points with their warnings, each with a button that removes it.
#[component]
fn PointTable() -> impl IntoView {
    let session = expect_context::<Session>();
    let kernel = expect_context::<KernelContext>();
    let rows = memo(move |_| kernel.shown.with(|shown| shown.kernel.own_points.clone()));
    let row = move |(index, row): (usize, PointRow)| {
        let label = format!("Remove {}", row.name);
        let on_remove = move |_| {
            session.edit(Step::Choice, |inputs| {
                if index < inputs.points.len() {
                    inputs.points.remove(index);
                }
            });
        };
        view! {
            <tr>
                <th scope="row"><MarkIcon mark=row.mark/> {row.name}</th>
                <td>{row.numbers} <span class="warning">{row.warning}</span></td>
                <td>
                    <button type="button" class="quiet" aria-label=label on:click=on(on_remove)>"×"</button>
                </td>
            </tr>
        }
    };
    block(move || {
        let rows = rows.get();
        if rows.is_empty() {
            return ().into_any();
        }
        view! {
            <table aria-label="Your own points">
                <tbody>{rows.into_iter().enumerate().map(row).collect_view()}</tbody>
            </table>
        }
        .into_any()
    })
}
