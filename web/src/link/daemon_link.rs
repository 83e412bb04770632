//! The page's one daemon connection, kept open while another view is shown. Executes the actions that [`Client`] returns.

use std::cell::{Cell, RefCell};

use js_sys::{Array, Date, Function};
use leptos::prelude::*;
use protocol::engine::WatchEngine;
use protocol::hex::Hex;
use protocol::job::{JobId, JobSpec, RequestId};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use super::address::{self, Pairing};
use super::client::Client;
use super::connection::{Action, Event, Signature, State};
use super::from_wire::ReadMessage;
use crate::components::erased::later;
use crate::state::chunks::{Refusal, reader_of_messages};
use crate::state::program;

thread_local! {
    static LIVE: RefCell<Option<DaemonLink>> = const { RefCell::new(None) };
    /// JavaScript function that sends a text on the current socket.
    static SEND: RefCell<Option<Function>> = const { RefCell::new(None) };
    /// Reads a message of the daemon; set before the first connection.
    static READ: Cell<Option<ReadMessage>> = const { Cell::new(None) };
    /// The last order and its time [ms].
    static ORDERED: RefCell<(f64, Vec<JobSpec>)> = const { RefCell::new((0.0, Vec::new())) };
}

/// Longest time between the clicks of a double click [ms], as systems have it.
const DOUBLE_CLICK: f64 = 500.0;

/// Asks for each of several things by a request with an id of its own.
type AskEach<T> = fn(&mut Client, Vec<(RequestId, T)>) -> Vec<Action>;

/// The page's daemon connection and the fields of its form.
#[derive(Debug, Clone)]
pub struct DaemonLink {
    pub client: ArcRwSignal<Client>,
    /// Origin of the page as the browser reports it: host with port, and scheme.
    pub own: ArcRwSignal<(String, String)>,
    /// Text of the address field.
    pub typed: ArcRwSignal<String>,
    /// Pairing code of a link, kept until the user clicks.
    pub code: ArcRwSignal<String>,
    /// Number of the current socket; events of older sockets are ignored.
    socket: ArcRwSignal<u32>,
}

impl DaemonLink {
    /// The page's connection; created by the first call.
    pub fn of_page() -> Self {
        let known = LIVE.with_borrow(Clone::clone);
        known.unwrap_or_else(|| {
            let live = Self {
                client: ArcRwSignal::new(Client::default()),
                own: ArcRwSignal::new((String::new(), String::new())),
                typed: ArcRwSignal::new(address::USUAL.to_owned()),
                code: ArcRwSignal::new(String::new()),
                socket: ArcRwSignal::new(0),
            };
            LIVE.set(Some(live.clone()));
            later(live.clone().begin());
            live
        })
    }

    /// Reads the page's address. A pairing link from the daemon itself, or a stored key for it, connects at once; a page from
    /// elsewhere waits for a click.
    async fn begin(self) {
        let Ok(found) = program::link("begin", &[]).await else { return };
        let [host, scheme, can_prove, fragment] = texts(&found);
        let is_own = address::is_local(&host);
        self.own.set((host.clone(), scheme));
        if can_prove.is_empty() {
            self.on(Event::NoCrypto);
            return;
        }
        // Whoever typed meanwhile keeps that address.
        if is_own && self.typed.with_untracked(|typed| typed == address::USUAL) {
            self.typed.set(host.clone());
        }
        let Some(Pairing { address, code }) = address::pairing(&fragment) else {
            if is_own && self.has_key(&host).await {
                self.connect();
            }
            return;
        };
        let is_here = address.is_empty() || address == host;
        self.typed.set(if is_here { host } else { address });
        self.code.set(code);
        if is_here {
            self.connect();
        }
    }

    async fn has_key(&self, address: &str) -> bool {
        let known = program::link("knows", &[&address.into()]).await;
        known.is_ok_and(|known| known.as_string().is_some_and(|known| !known.is_empty()))
    }

    /// Connects to the address of the field, once the chunk that reads the daemon's messages is there; returns false if the address
    /// is invalid.
    pub fn connect(&self) -> bool {
        let own = self.own.get_untracked().0;
        let Some(address) = address::understood(&self.typed.get_untracked(), &own) else {
            return false;
        };
        let this = self.clone();
        later(async move {
            match reader_of_messages().await {
                Ok(read) => {
                    READ.set(Some(read));
                    this.client.update(|client| client.refusal.clear());
                    let code = this.code.try_update(core::mem::take).unwrap_or_default();
                    this.on(Event::Connect { address, code });
                }
                Err(Refusal(text)) => this.client.update(|client| client.refusal = text),
            }
        });
        true
    }

    /// Handles an event of the connection.
    pub fn on(&self, event: Event) {
        self.act(|client| client.on(event));
    }

    /// Starts the jobs of an order. The second click of a double click is no second order.
    pub fn start(&self, jobs: Vec<JobSpec>) {
        let now = Date::now();
        let (then, before) = ORDERED.replace((now, jobs.clone()));
        if before != jobs || now - then > DOUBLE_CLICK {
            self.act_with_requests(jobs, Client::start);
        }
    }

    /// Starts jobs that measure what a canceled or interrupted one, and those that were ordered with it, did not.
    pub fn start_rest(&self, ended: JobId) {
        let cut = self.client.with_untracked(|client| client.cut_with(ended));
        self.act_with_requests(cut, Client::start_rest);
    }

    /// Draws a random request id for each order, then acts with them.
    fn act_with_requests<T: 'static>(&self, orders: Vec<T>, act: AskEach<T>) {
        let this = self.clone();
        later(async move {
            let mut asked = Vec::with_capacity(orders.len());
            for order in orders {
                let random = program::link("random", &[]).await.ok();
                let request = random.and_then(|it| it.as_string()).and_then(|it| Hex::parse(&it));
                asked.extend(request.map(|request| (request, order)));
            }
            this.act(|client| act(client, asked));
        });
    }

    /// Cancels a job.
    pub fn cancel(&self, job: JobId) {
        self.act(|client| client.cancel(job));
    }

    /// Selects the job whose results are shown.
    pub fn show(&self, job: JobId) {
        self.act(|client| client.show(job));
    }

    /// Has the roofs of an earlier job applied when they arrive.
    pub fn await_roofs(&self, job: JobId) {
        self.act(|client| client.await_roofs(job));
    }

    /// Reads an inference server.
    pub fn watch_engine(&self, order: WatchEngine) {
        self.act(|client| client.watch_engine(order));
    }

    /// Ends the reading of the server.
    pub fn unwatch_engine(&self) {
        self.act(Client::unwatch_engine);
    }

    /// Has the daemon revoke the key of this page, deletes it here and disconnects.
    pub fn forget(&self) {
        self.act(Client::forget);
    }

    fn act(&self, change: impl FnOnce(&mut Client) -> Vec<Action>) {
        let actions = self.client.try_update(change).unwrap_or_default();
        for one in actions {
            self.perform(one);
        }
    }

    fn perform(&self, one: Action) {
        match one {
            Action::Open(address) => self.open(&address),
            Action::Send(ask) => {
                // The request number is not shown anywhere, so no signal is notified.
                let text = self.client.try_maybe_update(|client| (false, client.numbered(ask)));
                if let Some(text) = text {
                    send(&text.into());
                }
            }
            Action::Close => send(&JsValue::UNDEFINED),
            Action::DropKey(server) => later(async move {
                drop(program::link("forget", &[&server.to_string().into()]).await);
            }),
            Action::Sign { server, code, text } => {
                let (this, socket) = (self.clone(), self.socket.get_untracked());
                later(async move {
                    let signed = sign(server, &code, &text).await;
                    if this.socket.get_untracked() == socket {
                        this.on(Event::Signed(signed));
                    }
                });
            }
            Action::StoreKey { server, key, code, text } => {
                let address = self.client.with_untracked(|it| it.connection.address.clone());
                later(async move {
                    let values = [server.to_string(), key.to_string(), code, hex(&text), address];
                    let values = values.map(JsValue::from);
                    drop(program::link("keep", &values.each_ref()).await);
                });
            }
            Action::RetryAfter(ms) => {
                let (this, socket) = (self.clone(), self.socket.get_untracked());
                let again = move || {
                    if this.socket.get_untracked() == socket {
                        this.on(Event::Retry);
                    }
                };
                set_timeout(again, core::time::Duration::from_millis(ms.into()));
            }
            Action::Resume => {} // `Client` has replaced it by messages
        }
    }

    fn open(&self, address: &str) {
        send(&JsValue::UNDEFINED); // at most one socket
        let socket = self.socket.get_untracked() + 1;
        self.socket.set(socket);
        let (own, scheme) = self.own.get_untracked();
        let url = address::socket(address, &own, scheme == "https:");
        let this = self.clone();
        let listener = Closure::<dyn FnMut(Array)>::new(move |event: Array| {
            if this.socket.get_untracked() == socket {
                this.on_socket_event(&event);
            }
        });
        let listener = listener.into_js_value(); // freed together with the socket
        let this = self.clone();
        later(async move {
            let values = [&url.into(), &protocol::SUBPROTOCOL.into(), &listener];
            let send = program::link("open", &values).await.ok();
            match send.and_then(|send| send.dyn_into::<Function>().ok()) {
                Some(send) if this.socket.get_untracked() == socket => SEND.set(Some(send)),
                Some(send) => drop(send.call0(&JsValue::NULL)),
                None if this.socket.get_untracked() == socket => {
                    this.on(Event::Closed { code: 1006, denied: false });
                }
                None => {} // the reader has connected again
            }
        });
    }

    fn on_socket_event(&self, event: &Array) {
        let [kind, first, second] = texts(event);
        match kind.as_str() {
            "opened" => {
                if let Some(nonce) = Hex::parse(&first) {
                    self.on(Event::Opened { nonce, origin: second });
                }
            }
            "text" => {
                if let Some((id, message)) = READ.get().and_then(|read| read(&first)) {
                    self.act(|client| client.receive(id, message));
                }
            }
            "forbidden" => {
                SEND.set(None);
                self.on(Event::Forbidden(first));
            }
            _ => {
                SEND.set(None);
                let code = event.get(1).as_f64().unwrap_or(1006.0);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "codes have 16 bits"
                )]
                let code = code as u16;
                self.on(Event::Closed { code, denied: !second.is_empty() });
            }
        }
    }

    /// Whether no connection was requested.
    pub fn is_idle(&self) -> bool {
        self.client.with_untracked(|client| client.connection.state == State::Idle)
    }
}

/// Sends a text on the current socket; `undefined` closes it.
fn send(text: &JsValue) {
    let function = SEND.with_borrow(Clone::clone);
    if let Some(function) = function {
        drop(function.call1(&JsValue::NULL, text));
    }
}

async fn sign(server: Hex<16>, code: &str, text: &[u8]) -> Option<Signature> {
    let values = [server.to_string().into(), code.into(), hex(text).into()];
    let found = program::link("sign", &values.each_ref()).await.ok()?;
    let [key, proof] = texts(&found);
    Some(Signature { key: Hex::parse(&key), proof: Hex::parse(&proof)? })
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digits = |byte: &u8| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    bytes.iter().flat_map(digits).collect()
}

/// The first `N` strings of an array; empty where an element is missing or no string.
fn texts<const N: usize>(found: &JsValue) -> [String; N] {
    let found: &Array = found.unchecked_ref();
    let mut at = 0;
    [(); N].map(|()| {
        let text = found.get(at).as_string().unwrap_or_default();
        at += 1;
        text
    })
}
