//! The connection to a daemon as a state machine: events in, actions out. Sockets, timers and secrets are handled in `live`.

use std::sync::Arc;

use protocol::client::{ClientMessage, Identify, Pair};
use protocol::close;
use protocol::device::DeviceName;
use protocol::hex::Hex;
use protocol::limits::LIMITS;
use protocol::proof::{self, Handshake, Nonce};
use protocol::scope::Scope;
use protocol::server::{Hello, MachineHere, ServerMessage};

use super::session::DaemonSession;
pub use state::State;

mod state;

/// Longest delay between two connection attempts, in ms.
const LONGEST_WAIT: u32 = 10_000;

/// Close code of WebSocket for a message that is too large.
pub const TOO_LARGE: u16 = 1009;

/// An event of the connection.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The user requests a connection, with a pairing code or with a stored key.
    Connect {
        address: String,
        /// One-time pairing code; empty to use the stored key.
        code: String,
    },
    /// Proofs cannot be computed here.
    NoCrypto,
    /// The socket is open.
    Opened {
        /// Fresh random bytes of the page.
        nonce: Nonce,
        /// Origin of the page, as the browser sends it.
        origin: String,
    },
    /// The daemon sent a handshake message.
    Received(ServerMessage),
    /// The requested signature; `None` where there is no key.
    Signed(Option<Signature>),
    /// The socket was closed.
    Closed {
        code: u16,
        /// The browser's permission for local connections is denied.
        denied: bool,
    },
    /// The policy of the page forbids the address; with what it allows.
    Forbidden(String),
    /// The delay before a reconnection attempt is over.
    Retry,
    /// The user disconnects.
    Disconnect,
}

/// A computed proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// Identifier of the key that signed; `None` for a pairing code, whose key does not exist yet.
    pub key: Option<Hex<8>>,
    /// HMAC of the text.
    pub proof: Hex<32>,
}

/// An action for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Open a socket to this address.
    Open(String),
    /// Sign a text with the pairing code or, if that is empty, with the key that is stored for the daemon.
    Sign { server: Hex<16>, code: String, text: Vec<u8> },
    /// Derive a key from the pairing code and store it for the daemon.
    StoreKey {
        server: Hex<16>,
        /// Identifier of the key.
        key: Hex<8>,
        code: String,
        /// Input of the HMAC that gives the key's secret.
        text: Vec<u8>,
    },
    /// Send a message.
    Send(ClientMessage),
    /// Delete the key that is stored for the daemon.
    DropKey(Hex<16>),
    /// Close the socket.
    Close,
    /// Wait this many milliseconds, then send [`Event::Retry`].
    RetryAfter(u32),
    /// Restore all subscriptions and unanswered requests.
    Resume,
}

#[derive(Debug, Clone, PartialEq)]
struct PendingHandshake {
    hello: Hello,
    step: Step,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// The page's proof is being computed.
    Proving,
    /// The page's proof was sent.
    Proved,
    /// The daemon's proof is being checked.
    Checking { theirs: Hex<32>, session: Box<DaemonSession>, pair: Option<Hex<8>> },
}

/// A connection to one daemon.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    pub state: State,
    /// Host and port of the daemon.
    pub address: String,
    code: String,
    was_connected: bool,
    pub(super) tries: u32,
    nonce: Option<Nonce>,
    origin: String,
    /// Id of the key whose proof was sent.
    key: Option<Hex<8>>,
    pending: Option<PendingHandshake>,
    /// Identity of the last daemon with an established session.
    pub server: Option<Hex<16>>,
    /// Reason that the daemon gave before it closed the socket; may be empty.
    close_reason: String,
    /// Reason why it refused the code; said if no key is stored either.
    refused_code: String,
    /// The daemon keeps its keys in another folder than the usual one.
    pub has_own_state: bool,
}

impl Connection {
    /// Handles an event and returns the actions to take.
    pub fn on(&mut self, event: Event) -> Vec<Action> {
        match event {
            Event::Connect { address, code } => {
                *self = Self { address, code, server: self.server, ..Self::default() };
                self.open()
            }
            Event::NoCrypto => {
                self.state = State::NoCrypto;
                Vec::new()
            }
            Event::Opened { nonce, origin } => {
                self.nonce = Some(nonce);
                self.origin = origin;
                Vec::new()
            }
            Event::Received(message) => self.receive(message),
            Event::Signed(signed) => self.signed(signed),
            Event::Closed { code, denied } => self.closed(code, denied),
            Event::Forbidden(allowed) => {
                self.state = State::Forbidden(allowed);
                Vec::new()
            }
            Event::Retry if matches!(self.state, State::Lost(_)) => self.open(),
            Event::Retry => Vec::new(),
            Event::Disconnect => {
                let address = core::mem::take(&mut self.address);
                // The commands that pair anew are about the same daemon.
                *self = Self { address, has_own_state: self.has_own_state, ..Self::default() };
                vec![Action::Close]
            }
        }
    }

    fn open(&mut self) -> Vec<Action> {
        self.pending = None;
        self.close_reason.clear();
        if !matches!(self.state, State::Lost(_)) {
            self.state = State::Opening;
        }
        vec![Action::Open(self.address.clone())]
    }

    fn receive(&mut self, message: ServerMessage) -> Vec<Action> {
        match message {
            ServerMessage::Hello(hello) if self.pending.is_none() => self.on_hello(hello),
            ServerMessage::Identified(it) => {
                let machine = (it.machine, it.devices, it.here);
                let session = self.session(self.key, it.scopes, it.epoch, machine);
                self.check(it.proof, session, None)
            }
            ServerMessage::Paired(it) => {
                let machine = (it.machine, it.devices, it.here);
                let session = self.session(Some(it.key), it.scopes, it.epoch, machine);
                self.check(it.proof, session, Some(it.key))
            }
            ServerMessage::Bye(fault) => {
                self.close_reason = fault.message;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// The session that the daemon's hello began; it takes the abilities out of the hello.
    fn session(
        &mut self,
        key: Option<Hex<8>>,
        scopes: Vec<Scope>,
        epoch: Hex<8>,
        (machine, devices, here): (String, Vec<DeviceName>, Option<MachineHere>),
    ) -> DaemonSession {
        let hello = self.pending.as_mut().map(|pending| &mut pending.hello);
        let (version, can, limits) = match hello {
            Some(hello) => (hello.version.clone(), hello.can.take(), hello.limits.clone()),
            None => (String::new(), None, LIMITS),
        };
        DaemonSession {
            key,
            scopes,
            epoch,
            machine,
            devices,
            here,
            version,
            can: can.map(Arc::from),
            limits,
        }
    }

    fn on_hello(&mut self, hello: Hello) -> Vec<Action> {
        let versions = hello.protocol;
        if !(versions.min..=versions.max).contains(&protocol::VERSION) {
            self.state = State::OtherVersion(hello.version);
            return vec![Action::Close];
        }
        self.has_own_state = hello.can.as_ref().is_some_and(|can| can.own_state);
        let Some(nonce) = self.nonce else { return vec![Action::Close] };
        let handshake = handshake(&hello, &nonce, &self.origin);
        let text = if self.code.is_empty() {
            proof::identify(&handshake)
        } else {
            proof::pair(&handshake)
        };
        let sign = Action::Sign { server: hello.server, code: self.code.clone(), text };
        self.pending = Some(PendingHandshake { hello, step: Step::Proving });
        vec![sign]
    }

    fn signed(&mut self, signed: Option<Signature>) -> Vec<Action> {
        let (Some(pending), Some(nonce)) = (&mut self.pending, self.nonce) else {
            return Vec::new();
        };
        match (pending.step.clone(), signed) {
            (Step::Proving, Some(Signature { key, proof })) => {
                pending.step = Step::Proved;
                self.key = key;
                let protocol = protocol::VERSION;
                let label = "page".to_owned();
                let pair = || ClientMessage::Pair(Pair { protocol, nonce, proof, label });
                let identify =
                    |key| ClientMessage::Identify(Identify { protocol, key, nonce, proof });
                vec![Action::Send(key.map_or_else(pair, identify))]
            }
            (Step::Proving, None) => {
                self.state = State::Unpaired(core::mem::take(&mut self.refused_code));
                vec![Action::Close]
            }
            (Step::Checking { theirs, session, pair }, Some(Signature { proof, .. }))
                if proof == theirs =>
            {
                self.established(*session, pair)
            }
            (Step::Checking { .. }, _) => {
                self.state = State::Refused(
                    "What answers there could not prove that it is the daemon that this page was paired with."
                        .to_owned(),
                );
                vec![Action::Close]
            }
            (Step::Proved, _) => Vec::new(),
        }
    }

    /// Checks the daemon's proof.
    fn check(
        &mut self,
        theirs: Hex<32>,
        session: DaemonSession,
        pair: Option<Hex<8>>,
    ) -> Vec<Action> {
        let (Some(pending), Some(nonce)) = (&mut self.pending, self.nonce) else {
            return Vec::new();
        };
        if pending.step != Step::Proved || pair.is_some() == self.code.is_empty() {
            return Vec::new();
        }
        let handshake = handshake(&pending.hello, &nonce, &self.origin);
        let text = match pair {
            Some(key) => proof::paired(&handshake, key),
            None => proof::identified(&handshake),
        };
        let server = pending.hello.server;
        pending.step = Step::Checking { theirs, session: Box::new(session), pair };
        vec![Action::Sign { server, code: self.code.clone(), text }]
    }

    fn established(&mut self, session: DaemonSession, pair: Option<Hex<8>>) -> Vec<Action> {
        let (Some(PendingHandshake { hello, .. }), Some(nonce)) = (self.pending.take(), self.nonce)
        else {
            return Vec::new();
        };
        let server = hello.server;
        let code = core::mem::take(&mut self.code);
        let keep = pair.map(|key| {
            let text = proof::pair_key(&handshake(&hello, &nonce, &self.origin), key);
            Action::StoreKey { server, key, code, text }
        });
        self.state = State::Connected(session);
        self.was_connected = true;
        self.server = Some(server);
        // A socket has one hello: with a handshake stored, a later hello is not taken as a handshake.
        self.pending = Some(PendingHandshake { hello, step: Step::Proved });
        keep.into_iter().chain([Action::Resume]).collect()
    }

    /// Counts attempts from the first again: the session has carried what every session begins with. One that is closed before that
    /// would be opened and lost without a pause.
    pub const fn is_sound(&mut self) {
        self.tries = 0;
    }

    fn closed(&mut self, code: u16, denied: bool) -> Vec<Action> {
        self.nonce = None;
        let close_reason = core::mem::take(&mut self.close_reason);
        let settled = match &self.state {
            State::Opening | State::Connected(_) | State::Lost(_) => false,
            // The page closed the socket itself, and the state already has the reason.
            _ => true,
        };
        if settled {
            return Vec::new();
        }
        let is_refused = matches!(code, close::UNAUTHENTICATED | close::FORBIDDEN);
        if is_refused && !self.code.is_empty() {
            // A link pairs once; a browser that opens it again may have a key since.
            self.code.clear();
            self.refused_code = close_reason;
            return self.open();
        }
        self.state = match code {
            close::UNAUTHENTICATED => State::Unpaired(close_reason),
            close::FORBIDDEN if !close_reason.is_empty() => State::Unpaired(close_reason),
            close::VERSION => State::OtherVersion(String::new()),
            TOO_LARGE => State::Refused("A message was larger than the daemon takes.".to_owned()),
            close::RATE | close::MALFORMED | close::FORBIDDEN => State::Refused(close_reason),
            _ if self.was_connected => {
                self.tries += 1;
                State::Lost(self.tries)
            }
            _ if denied => State::Blocked,
            _ => State::Unreachable,
        };
        if let State::Lost(tries) = self.state {
            return vec![Action::RetryAfter(wait(tries))];
        }
        self.code.clear();
        Vec::new()
    }
}

/// Delay before a reconnection attempt, in ms: 500 ms at first, doubled each time up to [`LONGEST_WAIT`].
fn wait(tries: u32) -> u32 {
    (250 << tries.min(8)).min(LONGEST_WAIT)
}

fn handshake<'a>(hello: &'a Hello, nonce: &'a Nonce, origin: &'a str) -> Handshake<'a> {
    Handshake { server_nonce: &hello.nonce, client_nonce: nonce, server: &hello.server, origin }
}

#[cfg(test)]
mod tests;
