//! The connection to a daemon as a state machine: events in, actions out. Sockets, timers and secrets are handled in `live`.

use protocol::client::{ClientMessage, Identify, Pair};
use protocol::close;
use protocol::hex::Hex;
use protocol::proof::{self, Handshake, Nonce};
use protocol::scope::Scope;
use protocol::server::{Hello, Identified, Paired, ServerMessage};

/// Longest delay between two connection attempts, in ms.
const LONGEST_WAIT: u32 = 10_000;

/// State of the connection.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum State {
    /// Not connected, and no connection was requested.
    #[default]
    Idle,
    /// Proofs cannot be computed: the page is in a frame, or came over plain HTTP, where browsers offer no Web Crypto.
    NoCrypto,
    /// The socket is being opened, or the handshake is under way.
    Opening,
    /// Both sides are authenticated.
    Up(Up),
    /// The daemon does not know this browser; with the daemon's reason, which may be empty.
    Unpaired(String),
    /// Page and daemon have no protocol version in common; with the daemon's version.
    OtherVersion(String),
    /// No answer from the address.
    Away,
    /// The browser denies local connections.
    Blocked,
    /// An established connection was lost; with the number of reconnection attempts.
    Lost(u32),
    /// Refused by the daemon, or by the page because the daemon's proof was wrong; with the reason.
    Refused(String),
}

/// An established session: permissions and daemon.
#[derive(Debug, Clone, PartialEq)]
pub struct Up {
    pub scopes: Vec<Scope>,
    /// Changes when the daemon restarts.
    pub epoch: Hex<8>,
    pub version: String,
    /// Name of the daemon's processor; empty if it is unknown.
    pub machine: String,
}

impl Up {
    /// Whether the session may start measurements.
    pub fn may_measure(&self) -> bool {
        self.scopes.contains(&Scope::Bench)
    }
}

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
    Said(ServerMessage),
    /// The requested signature; `None` where there is no key.
    Signed(Option<Signed>),
    /// The socket was closed.
    Closed {
        code: u16,
        /// The browser's permission for local connections is denied.
        denied: bool,
    },
    /// The delay before a reconnection attempt is over.
    Again,
    /// The user disconnects.
    Leave,
}

/// A computed proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// Identifier of the key that signed; `None` for a pairing code, whose key does not exist yet.
    pub key: Option<Hex<8>>,
    /// HMAC of the text.
    pub proof: Hex<32>,
}

/// An action for the caller.
#[derive(Debug, Clone, PartialEq)]
pub enum Do {
    /// Open a socket to this address.
    Open(String),
    /// Sign a text with the pairing code or, if that is empty, with the key that is stored for the daemon.
    Sign { server: Hex<16>, code: String, text: Vec<u8> },
    /// Derive a key from the pairing code and store it for the daemon.
    Keep {
        server: Hex<16>,
        /// Identifier of the key.
        key: Hex<8>,
        code: String,
        /// Input of the HMAC that gives the key's secret.
        text: Vec<u8>,
    },
    /// Send a message.
    Say(ClientMessage),
    /// Close the socket.
    HangUp,
    /// Wait this many milliseconds, then send [`Event::Again`].
    Wait(u32),
    /// Restore all subscriptions and unanswered requests.
    Resume,
}

#[derive(Debug, Clone, PartialEq)]
struct Greeting {
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
    Checking { theirs: Hex<32>, up: Up, pair: Option<Hex<8>> },
}

/// A connection to one daemon.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    pub state: State,
    /// Host and port of the daemon.
    pub address: String,
    code: String,
    was_up: bool,
    tries: u32,
    nonce: Option<Nonce>,
    origin: String,
    greeting: Option<Greeting>,
    /// Identity of the last daemon with an established session.
    pub server: Option<Hex<16>>,
    farewell: String,
}

impl Connection {
    /// Handles an event and returns the actions to take.
    pub fn on(&mut self, event: Event) -> Vec<Do> {
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
            Event::Said(message) => self.hear(message),
            Event::Signed(signed) => self.signed(signed),
            Event::Closed { code, denied } => self.closed(code, denied),
            Event::Again if matches!(self.state, State::Lost(_)) => self.open(),
            Event::Again => Vec::new(),
            Event::Leave => {
                *self = Self { address: core::mem::take(&mut self.address), ..Self::default() };
                vec![Do::HangUp]
            }
        }
    }

    fn open(&mut self) -> Vec<Do> {
        self.greeting = None;
        self.farewell.clear();
        if !matches!(self.state, State::Lost(_)) {
            self.state = State::Opening;
        }
        vec![Do::Open(self.address.clone())]
    }

    fn hear(&mut self, message: ServerMessage) -> Vec<Do> {
        match message {
            ServerMessage::Hello(hello) if self.greeting.is_none() => self.greet(hello),
            ServerMessage::Identified(Identified { proof, scopes, epoch, machine, .. }) => {
                self.check(proof, Up { scopes, epoch, version: String::new(), machine }, None)
            }
            ServerMessage::Paired(Paired { key, proof, scopes, epoch, machine, .. }) => {
                self.check(proof, Up { scopes, epoch, version: String::new(), machine }, Some(key))
            }
            ServerMessage::Bye(fault) => {
                self.farewell = fault.message;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn greet(&mut self, hello: Hello) -> Vec<Do> {
        let versions = hello.protocol;
        if !(versions.min..=versions.max).contains(&protocol::VERSION) {
            self.state = State::OtherVersion(hello.version);
            return vec![Do::HangUp];
        }
        let Some(nonce) = self.nonce else { return vec![Do::HangUp] };
        let handshake = handshake(&hello, &nonce, &self.origin);
        let text = if self.code.is_empty() {
            proof::identify(&handshake)
        } else {
            proof::pair(&handshake)
        };
        let sign = Do::Sign { server: hello.server, code: self.code.clone(), text };
        self.greeting = Some(Greeting { hello, step: Step::Proving });
        vec![sign]
    }

    fn signed(&mut self, signed: Option<Signed>) -> Vec<Do> {
        let (Some(greeting), Some(nonce)) = (&mut self.greeting, self.nonce) else {
            return Vec::new();
        };
        match (greeting.step.clone(), signed) {
            (Step::Proving, Some(Signed { key, proof })) => {
                greeting.step = Step::Proved;
                let protocol = protocol::VERSION;
                let label = "page".to_owned();
                let pair = || ClientMessage::Pair(Pair { protocol, nonce, proof, label });
                let identify =
                    |key| ClientMessage::Identify(Identify { protocol, key, nonce, proof });
                vec![Do::Say(key.map_or_else(pair, identify))]
            }
            (Step::Proving, None) => {
                self.state = State::Unpaired(String::new());
                vec![Do::HangUp]
            }
            (Step::Checking { theirs, up, pair }, Some(Signed { proof, .. }))
                if proof == theirs =>
            {
                self.up(up, pair)
            }
            (Step::Checking { .. }, _) => {
                self.state = State::Refused(
                    "What answers there could not prove that it is the daemon that this page was paired with."
                        .to_owned(),
                );
                vec![Do::HangUp]
            }
            (Step::Proved, _) => Vec::new(),
        }
    }

    /// Checks the daemon's proof; `up` is the session but for the version, which the hello named.
    fn check(&mut self, theirs: Hex<32>, up: Up, pair: Option<Hex<8>>) -> Vec<Do> {
        let (Some(greeting), Some(nonce)) = (&mut self.greeting, self.nonce) else {
            return Vec::new();
        };
        if greeting.step != Step::Proved || pair.is_some() == self.code.is_empty() {
            return Vec::new();
        }
        let handshake = handshake(&greeting.hello, &nonce, &self.origin);
        let text = match pair {
            Some(key) => proof::paired(&handshake, key),
            None => proof::identified(&handshake),
        };
        let server = greeting.hello.server;
        let up = Up { version: greeting.hello.version.clone(), ..up };
        greeting.step = Step::Checking { theirs, up, pair };
        vec![Do::Sign { server, code: self.code.clone(), text }]
    }

    fn up(&mut self, up: Up, pair: Option<Hex<8>>) -> Vec<Do> {
        let (Some(Greeting { hello, .. }), Some(nonce)) = (self.greeting.take(), self.nonce) else {
            return Vec::new();
        };
        let server = hello.server;
        let code = core::mem::take(&mut self.code);
        let keep = pair.map(|key| {
            let text = proof::pair_key(&handshake(&hello, &nonce, &self.origin), key);
            Do::Keep { server, key, code, text }
        });
        self.state = State::Up(up);
        self.was_up = true;
        self.tries = 0;
        self.server = Some(server);
        // A socket has one hello: with a greeting stored, a later hello is not taken as a handshake.
        self.greeting = Some(Greeting { hello, step: Step::Proved });
        keep.into_iter().chain([Do::Resume]).collect()
    }

    fn closed(&mut self, code: u16, denied: bool) -> Vec<Do> {
        self.nonce = None;
        let farewell = core::mem::take(&mut self.farewell);
        let settled = match &self.state {
            State::Opening | State::Up(_) | State::Lost(_) => false,
            // The page closed the socket itself, and the state already has the reason.
            _ => true,
        };
        if settled {
            return Vec::new();
        }
        self.state = match code {
            close::UNAUTHENTICATED => State::Unpaired(farewell),
            close::FORBIDDEN if !farewell.is_empty() => State::Unpaired(farewell),
            close::VERSION => State::OtherVersion(String::new()),
            close::RATE | close::MALFORMED | close::FORBIDDEN => State::Refused(farewell),
            _ if self.was_up => {
                self.tries += 1;
                State::Lost(self.tries)
            }
            _ if denied => State::Blocked,
            _ => State::Away,
        };
        if let State::Lost(tries) = self.state {
            return vec![Do::Wait(wait(tries))];
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
