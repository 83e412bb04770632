//! The figures: how fast, at what cost, how well the device is used.

use leptos::prelude::*;
use report::verdict::{badge, badge_meaning};

use super::view::ModelContext;
use crate::components::erased::block;
use crate::components::explained::Explained;
use crate::state::model::figures::Figure;

/// Ideal beside expected, each with its explanation.
#[component]
pub fn Figures() -> impl IntoView {
    let shown = expect_context::<ModelContext>().shown;
    let figures = Memo::new(move |_| shown.with(|shown| shown.answer.figures.clone()));
    let row = |(index, figure): (usize, Figure)| {
        let sure = figure.expected.explanation.provenance;
        view! {
            <tr>
                <th scope="row">{figure.name} " " <small>{figure.meaning}</small></th>
                <td><Explained id=format!("ideal-{index}") cell=figure.ideal/></td>
                <td class="answer-number"><Explained id=format!("expected-{index}") cell=figure.expected/></td>
                <td class="range">{figure.interval}</td>
                <td class="wide"><span class="badge" title=badge_meaning(sure)>{badge(sure)}</span></td>
            </tr>
        }
    };
    let rows =
        block(move || figures.get().into_iter().enumerate().map(row).collect_view().into_any());
    view! {
        <table class="formats figures" aria-label="Speed, energy and use of the device">
            <thead>
                <tr>
                    <th scope="col">"One step"</th>
                    <th scope="col">"Ideal"</th>
                    <th scope="col">"Expected"</th>
                    <th scope="col">"Interval"</th>
                    <th scope="col" class="wide">"Origin"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
}
