//! Connection to the daemon: its state, the meaning of the state, and the next step.

use leptos::prelude::*;

use super::MeasureContext;
use crate::components::erased::{block, flag, maybe, on, text};
use crate::link::address::is_local;
use crate::link::connection::{Event, State};
use crate::state::measure::words::{Way, said, ways};

/// Heading with the state, an explanation, commands for a terminal, and the address field.
#[component]
pub fn Connect() -> impl IntoView {
    let MeasureContext { live, client, .. } = expect_context();
    let live = live.get_value();
    let own = RwSignal::from(live.own.clone());
    let typed = RwSignal::from(live.typed.clone());
    let code = RwSignal::from(live.code.clone());
    let wrong = RwSignal::new(false);
    let words = move || {
        client.with(|client| {
            let (host, scheme) = own.get();
            let connection = &client.connection;
            said(&connection.state, &connection.address, &host, &format!("{scheme}//{host}"))
        })
    };
    let commands = block(move || {
        let line = |line: String| view! { <pre><code>{line}</code></pre> };
        words().commands.into_iter().map(line).collect_view().into_any()
    });
    let is_on = flag(move || {
        client.with(|client| {
            matches!(client.connection.state, State::Opening | State::Up(_) | State::Lost(_))
        })
    });
    // The page's own address and the pairing code of its link are not known yet.
    let unready = flag(move || own.with(|(host, _)| host.is_empty()));
    let is_up = flag(move || client.with(crate::link::client::Client::is_up));
    let waiting = text(move || {
        let has_code = !code.with(String::is_empty) && !is_on.get();
        if unready.get() {
            "The page still reads its own address.".to_owned()
        } else if has_code {
            "A link brought a pairing code; it is used when you connect.".to_owned()
        } else {
            String::new()
        }
    });
    let (connecting, leaving, forgetting) = (live.clone(), live.clone(), live);
    let on_connect = move |event: leptos::ev::SubmitEvent| {
        event.prevent_default();
        wrong.set(!connecting.connect());
    };
    let message = text(move || {
        if wrong.get() {
            let own = own.get().0;
            let own = if is_local(&own) { String::new() } else { format!(", or {own}") };
            format!(
                "The page reaches daemons on this machine only: 127.0.0.1 or localhost with a port{own}. For another machine, ssh -L 8000:localhost:8000 brings its daemon here."
            )
        } else {
            String::new()
        }
    });
    view! {
        <div class="verdict connection" aria-live="polite">
            <h1>{text(move || words().title.to_owned())}</h1>
            <p>{text(move || words().text)}</p>
            <div class="way">{commands}</div>
            <p class="refusal message" role="alert">
                {text(move || client.with(|client| client.refusal.clone()))}
            </p>
        </div>
        <details class="sources way" hidden=is_on><Ways/></details>
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
            <p class="leave">
            <button
                type="button"
                class="tool"
                hidden=flag(move || !is_on.get())
                on:click=on(move |_| leaving.on(Event::Leave))
            >
                "Disconnect"
            </button>
            " "
            <button
                type="button"
                class="link"
                hidden=flag(move || !is_up.get())
                on:click=on(move |_| forgetting.forget())
            >
                "Forget this pairing"
            </button>
            </p>
            <p class="brief" id="connect-wait">{waiting}</p>
            <p class="message" id="daemon-message" role="alert">{message}</p>
        </form></div>
    }
}

/// Terminal commands that get, check and start a daemon.
#[component]
fn Ways() -> impl IntoView {
    let way = |Way { title, lines, note }: Way| {
        view! { <h2>{title}</h2> <pre><code>{lines}</code></pre> <p>{note}</p> }
    };
    view! {
        <summary>"How to get it"</summary>
        {ways().map(way).collect_view()}
    }
}
