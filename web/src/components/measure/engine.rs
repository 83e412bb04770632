//! Card of a running inference server: its live rate beside the expected one; loaded when a daemon is connected.

use leptos::prelude::*;
use protocol::engine::{EngineReport, LiveRow, RateRow};

use super::MeasureContext;
use crate::components::erased::{block, flag, maybe, on, text};
use crate::components::number_field::NumberField;
use crate::link::client::Client;
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::engine::{
    EngineForm, KEPT, compared_in, ended, order, other_device, why_not,
};
use crate::state::session::Session;
use crate::state::tab;

/// Address of a server, and its state while the daemon reads it.
#[component]
pub fn EngineCard() -> impl IntoView {
    let session = expect_context::<Session>();
    let MeasureContext { daemon, client, .. } = expect_context();
    let form = RwSignal::new(EngineForm::of(tab::kept(KEPT).as_deref()));
    let refused = RwSignal::new(String::new());
    let read = move || {
        let found =
            session.inputs.with_untracked(|inputs| form.with_untracked(|form| order(inputs, form)));
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
    let on_model = move |()| {
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
                    prop:value=text(move || form.with(|form| form.url.clone()))
                    on:input=on(move |event| typed(client, form, refused, event_target_value(&event)))
                />
            </div>
            <Context form=form/>
            <ModelTick form=form on_change=Callback::new(on_model)/>
            <EngineButtons/>
            <p class="message" role="alert">{said}</p>
            <p class="brief" role="status" hidden=waits>"Two readings, 2 s apart, give the first rate."</p>
        </form>
        <EngineState/>
    }
}

/// Field for the context length of the requests.
#[component]
fn Context(
    /// The form of the card.
    form: RwSignal<EngineForm>,
) -> impl IntoView {
    let typed = text(move || form.with(|form| form.context.clone()));
    let fault = maybe(move || form.with(EngineForm::context_fault));
    let on_type = move |text: String| change(form, |form| form.context = text);
    view! {
        <NumberField
            id="engine-context"
            name="Context of each request"
            unit="tokens; empty: as the server tells"
            keyboard="numeric"
            typed=typed
            fault=fault
            on_type=Callback::new(on_type)
        />
    }
}

/// Choice of the model that the server is compared with, and its precision.
#[component]
fn ModelTick(
    form: RwSignal<EngineForm>,
    /// Called after a change.
    on_change: Callback<()>,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let precision = text(move || {
        session.inputs.with(|inputs| compared_in(inputs, form.with(|form| form.is_of_plan)))
    });
    let on_tick = move |event| {
        change(form, |form| form.is_of_plan = event_target_checked(&event));
        on_change.run(());
    };
    view! {
        <label class="switch">
            <input
                type="checkbox"
                prop:checked=flag(move || form.with(|form| form.is_of_plan))
                on:change=on(on_tick)
            />
            " compare with the model of Plan, not the one that the server names"
        </label>
        <p class="brief" hidden=flag(move || precision.with(String::is_empty))>{precision}</p>
    }
}

/// Takes the typed address; messages about another one go.
fn typed(
    client: RwSignal<Client>,
    form: RwSignal<EngineForm>,
    refused: RwSignal<String>,
    text: String,
) {
    change(form, |form| form.url = text);
    refused.set(String::new());
    client.update(|client| client.engine.why.clear());
}

/// Changes the form, which the tab keeps over a reload.
fn change(form: RwSignal<EngineForm>, change: impl FnOnce(&mut EngineForm)) {
    form.update(change);
    tab::keep(KEPT, &form.with_untracked(EngineForm::text));
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
