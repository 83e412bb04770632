//! Card of a running inference server: its live rate beside the expected one; loaded when a daemon is connected.

use leptos::prelude::*;
use protocol::engine::{EngineReport, LiveRow, RateRow};

use super::MeasureContext;
use crate::components::erased::{block, flag, on, text};
use crate::link::client::Client;
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::engine::{USUAL, ended, order, other_device, why_not};
use crate::state::session::Session;

/// Address of a server, and its state while the daemon reads it.
#[component]
pub fn EngineCard() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { daemon, client, .. } = expect_context();
    let (url, is_of_plan) = (RwSignal::new(USUAL.to_owned()), RwSignal::new(false));
    let refused = RwSignal::new(String::new());
    let read = move || {
        let found = session.inputs.with_untracked(|inputs| {
            url.with_untracked(|url| order(inputs, url, is_of_plan.get_untracked()))
        });
        match found {
            Ok(order) => {
                refused.set(String::new());
                daemon.with_value(|daemon: &DaemonLink| daemon.watch_engine(order));
            }
            Err(why) => refused.set(why),
        }
    };
    let on_submit = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        read();
    };
    let on_model = move |event| {
        is_of_plan.set(event_target_checked(&event));
        if client.with_untracked(|client| client.engine.is_on) {
            read();
        }
    };
    let said = text(move || {
        let why = client.with(|client| ended(&client.engine));
        if why.is_empty() { refused.get() } else { why }
    });
    let waits =
        flag(move || client.with(|client| !client.engine.is_on || client.engine.report.is_some()));
    view! {
        <form class="engine" on:submit=on(on_submit)>
            <div class="field">
                <label for="engine-url">"llama.cpp, vLLM or SGLang on the daemon's machine"</label>
                <input
                    id="engine-url"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    maxlength="100"
                    prop:value=text(move || url.get())
                    on:input=on(move |event| typed(client, url, refused, event_target_value(&event)))
                />
            </div>
            <label class="switch">
                <input
                    type="checkbox"
                    prop:checked=flag(move || is_of_plan.get())
                    on:change=on(on_model)
                />
                " compare with the model of Plan, not the one that the server names"
            </label>
            <EngineButtons/>
            <p class="message" role="alert">{said}</p>
            <p class="brief" role="status" hidden=waits>"Two readings, 2 s apart, give the first rate."</p>
        </form>
        <EngineState/>
    }
}

/// Takes the typed address; messages about another one go.
fn typed(client: RwSignal<Client>, url: RwSignal<String>, refused: RwSignal<String>, text: String) {
    url.set(text);
    refused.set(String::new());
    client.update(|client| client.engine.why.clear());
}

/// The latest state of the server: live, or the last one of a server that is not read any more.
#[component]
fn EngineState() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { client, .. } = expect_context();
    let is_old = flag(move || client.with(|client| !client.engine.is_on));
    let elsewhere = text(move || {
        session.inputs.with(|inputs| client.with(|client| other_device(client.session(), inputs)))
    });
    let body = block(move || {
        match client.with(|client| client.engine.report.clone()) {
        Some(report) => view! {
            <div class:stale=is_old>
                <p class="brief" hidden=flag(move || !is_old.get())>"The last reading; the server is not read any more."</p>
                <p class="warning" hidden=flag(move || elsewhere.with(String::is_empty))>{elsewhere}</p>
                {shown(report)}
            </div>
        }
        .into_any(),
        None => ().into_any(),
    }
    });
    view! { {body} }
}

/// Buttons that start and end the reading, and why it cannot be started.
#[component]
fn EngineButtons() -> impl IntoView {
    let MeasureContext { daemon, client, .. } = expect_context();
    let is_on = flag(move || client.with(|client| client.engine.is_on));
    let lacking = text(move || client.with(|client| why_not(client.session())));
    view! {
            <p>
                <button type="submit" class="tool" disabled=flag(move || !lacking.with(String::is_empty)) aria-describedby="why-engine">
                    {text(move || if is_on.get() { "Read anew" } else { "Read it" }.to_owned())}
                </button>
                " "
                <button type="button" class="tool" hidden=flag(move || !is_on.get()) on:click=on(move |_| daemon.with_value(DaemonLink::unwatch_engine))>
                    "Stop"
                </button>
            </p>
            <p class="brief" id="why-engine">{lacking}</p>
    }
}

/// The state of a server.
fn shown(report: EngineReport) -> impl IntoView {
    let live = |LiveRow { name, value, source }: LiveRow| view! { <div title=source><dt>{name}</dt><dd>{value}</dd></div> };
    let rate = |RateRow { name, rate, step, share }: RateRow| {
        let title = if step.is_empty() { step } else { format!("a step takes {step}") };
        let share =
            (!share.is_empty()).then(|| view! { <small>{format!("live is {share}")}</small> });
        view! { <div title=title><dt>{name}</dt><dd>{rate}{share}</dd></div> }
    };
    let line = |line: String| view! { <li>{line}</li> };
    let is_compared = !report.rates.is_empty();
    view! {
        <div id="engine" role="region" aria-label="Running server">
            <h3>{report.heading}</h3>
            <dl class="facts">{report.live.into_iter().map(live).collect_view()}</dl>
            <ul class="brief">{report.notes.into_iter().map(line).collect_view()}</ul>
            <div hidden=!is_compared>
                <h3>{report.subject}</h3>
                <p>{report.sentence}</p>
                <dl class="facts rates">{report.rates.into_iter().map(rate).collect_view()}</dl>
                <h3>"What could explain it"</h3>
                <ul>{report.explanations.into_iter().map(line).collect_view()}</ul>
            </div>
        </div>
    }
}
