//! The recommendation: scheme, reasons, changes that would flip it, dropped schemes, and commands that apply it.

use leptos::prelude::*;

use super::erased::{block, flag, later, memo, on, text};
use super::explained::Explained;
use crate::state::advice::{
    Advice, AdviceFact, ApplyCommand, DroppedScheme, RankedScheme, SchemeFormats,
};
use crate::state::inputs::Inputs;
use crate::state::program;
use crate::state::session::{Session, Step};

/// Panel with the recommendation and how to apply it.
#[component]
pub fn AdvicePanel(
    /// Recommendation; `Err` is a message when the question has no answer.
    #[prop(into)]
    advice: Signal<Result<Advice, String>>,
    /// Whether the recommendation is for earlier inputs; the panel is then dimmed.
    #[prop(into)]
    stale: Signal<bool>,
    /// Copies the formats of the first scheme into the inputs.
    take: fn(&SchemeFormats, &mut Inputs),
) -> impl IntoView {
    let session = expect_context::<Session>();
    let body = move || match advice.get() {
        Ok(advice) => {
            let on_take = move |taken: SchemeFormats| {
                session.edit(Step::Choice, |inputs| take(&taken, inputs));
            };
            answer(advice, on_take).into_any()
        }
        Err(error) => view! { <p class="message">{error}</p> }.into_any(),
    };
    view! {
        <section class="advice" class:stale=flag(move || stale.get()) aria-label="Recommendation" aria-live="polite">
            <h2>"Use"</h2>
            {block(body)}
        </section>
    }
}

/// Recommendation of a view, updated one frame after the inputs; while an input is invalid, the last valid one is kept.
pub fn advice_of(
    session: Session,
    ask: fn(&Inputs) -> Option<Result<Advice, String>>,
) -> Memo<Result<Advice, String>> {
    let unread = || Err("Something on the left cannot be read.".to_owned());
    memo(move |before: Option<&Result<Advice, String>>| {
        session.settled.track();
        let now = session.inputs.with_untracked(ask);
        now.or_else(|| before.cloned()).unwrap_or_else(unread)
    })
}

fn answer(advice: Advice, on_take: impl Fn(SchemeFormats) + Copy + 'static) -> impl IntoView {
    let Advice { title, formats, facts, why, flips, ranked, dropped, ways, formats_taken } = advice;
    let take = formats_taken.map(|taken| {
        view! {
            <button type="button" class="chip" id="take" on:click=on(move |_| on_take(taken))>
                "Calculate with it"
            </button>
        }
    });
    let (no_flips, none) = (flips.is_empty(), ranked.is_empty());
    let (no_ways, no_others) = (ways.is_empty(), ways.len() < 2);
    let mut ways = ways.into_iter();
    let first = ways.next().map(way);
    view! {
        <p class="choice" class:nothing=none>{title}</p>
        <p class="formats-line">{formats}</p>
        {take}
        <dl class="facts">{facts.into_iter().enumerate().map(fact).collect_view()}</dl>
        <h2>"Why"</h2>
        <ul>{list(why)}</ul>
        <div hidden=no_flips>
            <h2>"Changes that would flip the order"</h2>
            <ul>{list(flips)}</ul>
        </div>
        <div hidden=no_ways>
            <h2>"Apply"</h2>
            {first}
        </div>
        <div class="rest">
            <details hidden=no_others>
                <summary>"Other tools"</summary>
                {ways.map(way).collect_view()}
            </details>
            <details hidden=none>
                <summary>{format!("All {} ranked", ranked.len())}</summary>
                <table class="choices">
                    <thead><tr><th>"Scheme"</th><th>"Expected"</th><th>"vs 16 bit"</th><th>"Memory"</th></tr></thead>
                    <tbody>{ranked.into_iter().enumerate().map(choice).collect_view()}</tbody>
                </table>
            </details>
            <details>
                <summary>{format!("{} dropped", dropped.len())}</summary>
                <ul>{dropped.into_iter().map(refusal).collect_view()}</ul>
            </details>
        </div>
    }
}

fn list(items: Vec<String>) -> impl IntoView {
    items.into_iter().map(|item| view! { <li>{item}</li> }).collect_view()
}

fn fact((index, fact): (usize, AdviceFact)) -> impl IntoView {
    view! {
        <div>
            <dt>{fact.name}</dt>
            <dd><Explained id=format!("advice-{index}") cell=fact.value/></dd>
        </div>
    }
}

/// A command with a button that copies it.
pub fn way(way: ApplyCommand) -> impl IntoView {
    let copied = RwSignal::new(false);
    let command = StoredValue::new(way.text.clone());
    let copy = move |_| {
        // If the browser denies clipboard access, the text can still be selected by hand.
        later(async move {
            let text = command.get_value();
            copied.set(program::ask("ridgepointCopy", &[&text.into()]).await.is_ok());
        });
    };
    let label = text(move || if copied.get() { "Copied" } else { "Copy" }.to_owned());
    view! {
        <div class="way">
            <p><span>{way.tool}</span> <button type="button" class="quiet copy" on:click=on(copy)>{label}</button></p>
            <pre>{way.text}</pre>
        </div>
    }
}

fn choice((index, choice): (usize, RankedScheme)) -> impl IntoView {
    view! {
        <tr>
            <th scope="row">{choice.name} " " <Explained id=format!("loss-{index}") cell=choice.loss/></th>
            <td>{choice.time}</td>
            <td>{choice.speedup}</td>
            <td>{choice.memory}</td>
        </tr>
    }
}

fn refusal(row: DroppedScheme) -> impl IntoView {
    view! { <li><b>{row.name}</b> ": " {row.reason}</li> }
}
