//! Connection to the daemon: its state, the meaning of the state, and the next step.

use leptos::prelude::*;

use super::MeasureContext;
use crate::components::erased::{block, flag, maybe, on, text};
use crate::components::focus::reveal_element;
use crate::link::client::Client;
use crate::link::connection::{Event, State};
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::words::{SetupGuide, of_own_state, said, waiting, ways, wrong_address};

/// The state in words, the way to a daemon, and the form that connects to it.
#[component]
pub fn Connect() -> impl IntoView {
    let MeasureContext { client, .. } = expect_context();
    let is_on = flag(move || {
        client.with(|client| {
            matches!(client.connection.state, State::Opening | State::Connected(_) | State::Lost(_))
        })
    });
    view! {
        <Status/>
        <details class="sources way" hidden=is_on><Ways/></details>
        <ConnectForm is_on=is_on/>
    }
}

/// Id of the message of the daemon that refuses an order.
const REFUSAL: &str = "refusal";

/// Heading with the state, an explanation, and commands for a terminal.
#[component]
fn Status() -> impl IntoView {
    let MeasureContext { daemon, client, .. } = expect_context();
    let own = RwSignal::from(daemon.get_value().own);
    let words = move || {
        client.with(|client| {
            let (host, scheme) = own.get();
            let connection = &client.connection;
            said(&connection.state, &connection.address, &host, &format!("{scheme}//{host}"))
        })
    };
    let commands = block(move || {
        let line = |line: String| view! { <pre><code>{line}</code></pre> };
        let commands = words().commands;
        let has_own_state = client.with(|client| client.connection.has_own_state);
        let (commands, remark) =
            if has_own_state { of_own_state(commands) } else { (commands, "") };
        let remark = (!remark.is_empty()).then(|| view! { <p>{remark}</p> });
        view! { {commands.into_iter().map(line).collect_view()} {remark} }.into_any()
    });
    let refusal = text(move || client.with(|client| client.refusal.clone()));
    Effect::new(move |_| {
        if !refusal.with(String::is_empty) {
            // The button whose order is refused may be far below.
            request_animation_frame(|| reveal_element(REFUSAL));
        }
    });
    view! {
        <div class="verdict connection" aria-live="polite">
            <h1>{text(move || words().title.to_owned())}</h1>
            <p>{text(move || words().text)}</p>
            <div class="way">{commands}</div>
            <p class="refusal message" id=REFUSAL role="alert">{refusal}</p>
        </div>
    }
}

/// Address of the daemon, and the buttons that connect to it and leave it.
#[component]
fn ConnectForm(
    /// Whether the page is connected or tries to be.
    is_on: Signal<bool>,
) -> impl IntoView {
    let MeasureContext { daemon, .. } = expect_context();
    let DaemonLink { own, typed, code, .. } = daemon.get_value();
    let (own, typed, code) = (RwSignal::from(own), RwSignal::from(typed), RwSignal::from(code));
    let wrong = RwSignal::new(false);
    // The page's own address and the pairing code of its link are not known yet.
    let unready = flag(move || own.with(|(host, _)| host.is_empty()));
    let waiting = text(move || {
        let has_code = !code.with(String::is_empty) && !is_on.get();
        waiting(!unready.get(), has_code).to_owned()
    });
    let message =
        text(move || if wrong.get() { wrong_address(&own.get().0) } else { String::new() });
    let on_connect = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        wrong.set(!daemon.with_value(DaemonLink::connect));
    };
    view! {
        <div class="own-points connect"><form on:submit=on(on_connect)>
            <div class="field number" class:wrong=flag(move || wrong.get()) hidden=is_on>
                <label for="daemon">"Address of the daemon"</label>
                <input
                    id="daemon"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    maxlength="100"
                    prop:value=text(move || typed.get())
                    aria-invalid=text(move || wrong.get().to_string())
                    aria-describedby=maybe(move || wrong.get().then(|| "daemon-message".to_owned()))
                    on:input=on(move |event| typed.set(event_target_value(&event)))
                />
            </div>
            <button type="submit" class="tool" hidden=is_on disabled=unready aria-describedby="connect-wait">"Connect"</button>
            <Leave is_on=is_on/>
            <p class="brief" id="connect-wait">{waiting}</p>
            <p class="message" id="daemon-message" role="alert">{message}</p>
        </form></div>
    }
}

/// Buttons that disconnect from the daemon and forget its key.
#[component]
fn Leave(
    /// Whether the page is connected or tries to be.
    is_on: Signal<bool>,
) -> impl IntoView {
    let MeasureContext { daemon, client, .. } = expect_context();
    let is_up = flag(move || client.with(Client::is_connected));
    view! {
        <p class="leave">
            <button
                type="button"
                class="tool"
                hidden=flag(move || !is_on.get())
                on:click=on(move |_| daemon.with_value(|daemon| daemon.on(Event::Disconnect)))
            >
                "Disconnect"
            </button>
            " "
            <button
                type="button"
                class="link"
                hidden=flag(move || !is_up.get())
                on:click=on(move |_| daemon.with_value(DaemonLink::forget))
            >
                "Forget this pairing"
            </button>
        </p>
    }
}

/// Terminal commands that get, check and start a daemon.
#[component]
fn Ways() -> impl IntoView {
    let way = |SetupGuide { title, lines, note }: SetupGuide| {
        view! { <h2>{title}</h2> <pre><code>{lines}</code></pre> <p>{note}</p> }
    };
    view! {
        <summary>"How to get it"</summary>
        {ways().map(way).collect_view()}
    }
}
