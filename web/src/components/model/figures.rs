//! Table of figures: speed, energy and utilization of the device.

use leptos::prelude::*;
use report::output::verdict::badge_meaning;
use report::output::verdict::explain::Explanation;

use super::ModelContext;
use crate::components::erased::{block, derived, memo, text};
use crate::components::explained::Explained;
use crate::components::table_frame::heads;
use crate::state::model::answer::figures_of;
use crate::state::model::figures::{Figure, origin};
use crate::state::session::Session;

/// Ideal and expected value of each figure, each with its explanation.
#[component]
pub fn Figures() -> impl IntoView {
    let ModelContext { inputs, shown, .. } = expect_context();
    let figures = memo(move |before: Option<&Vec<Figure>>| {
        let figures = shown
            .with(|shown| inputs.with(|inputs| figures_of(&inputs.model, inputs.place(), shown)));
        figures.or(before.cloned()).unwrap_or_default()
    });
    let names = memo(move |_| {
        figures.with(|figures| figures.iter().map(|figure| figure.name).collect::<Vec<_>>())
    });
    let rows = block(move || {
        let places = 0..names.with(Vec::len);
        let row = |place| view! { <FigureRow figures=figures place=place/> };
        places.map(row).collect_view().into_any()
    });
    // Nobody can click on paper: there the formula of every figure is written out.
    let on_paper = block(move || {
        let explained = figures.with(|figures| {
            figures.iter().map(|figure| figure.expected.explanation.clone()).collect::<Vec<_>>()
        });
        let mut sources: Vec<String> = Vec::new();
        for Explanation { source, .. } in &explained {
            let source = source.text();
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let formulas = explained.into_iter().map(|Explanation { title, formula, values, .. }| {
            view! { <p><strong>{title}</strong> ": " <span class="formula">{formula}</span> "; " {values}</p> }
        });
        let sources = sources.into_iter().map(|source| view! { <p class="source">{source}</p> });
        (formulas.collect_view(), sources.collect_view()).into_any()
    });
    view! {
        <div class="scroll">
        <table class="formats figures" aria-label="Speed, energy and use of the device">
            <thead>
                <tr>
                    {heads(["Time, rate, use", "Ideal", "Expected", "Interval"])}
                    <th scope="col" class="wide">"Origin"</th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
        </div>
        <div class="on-paper">{on_paper}</div>
    }
}

/// Row of a figure, whose cells are updated in place.
#[component]
fn FigureRow(
    /// All figures.
    figures: Memo<Vec<Figure>>,
    /// Index of the figure, from 0.
    place: usize,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let first = figures.with_untracked(|figures| figures.get(place).cloned())?;
    let (name, meaning) = (first.name, first.meaning);
    let figure = memo(move |_| {
        figures.with(|figures| figures.get(place).cloned()).unwrap_or_else(|| first.clone())
    });
    let sure = move || figure.with(|figure| figure.expected.explanation.provenance);
    let cell = move |part: fn(&Figure) -> &crate::state::derived::Cell| {
        derived(move || figure.with(|figure| part(figure).clone()))
    };
    Some(view! {
        <tr>
            <th scope="row">{name} " " <small>{meaning}</small></th>
            <td><Explained id=format!("ideal-{place}") cell=cell(|figure| &figure.ideal)/></td>
            <td class="answer-number"><Explained id=format!("expected-{place}") cell=cell(|figure| &figure.expected)/></td>
            <td class="range">{text(move || figure.with(|figure| figure.interval.clone()))}</td>
            <td class="wide">
                <span class="badge" title=text(move || badge_meaning(sure()).to_owned())>
                    {text(move || session.inputs.with(|inputs| origin(inputs, sure())).to_owned())}
                </span>
            </td>
        </tr>
    })
}
