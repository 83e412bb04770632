//! The connection as a state: what happens to it, and what is to be done then. Sockets, clocks and secrets are somebody else's.

use protocol::client::{ClientMessage, Identify, Pair};
use protocol::close;
use protocol::hex::Hex;
use protocol::proof::{self, Handshake, Nonce};
use protocol::scope::Scope;
use protocol::server::{Hello, Identified, Paired, ServerMessage};

/// Longest time between two tries [ms].
const LONGEST_WAIT: u32 = 10_000;

/// Where the connection is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum State {
    /// Nobody asked for one.
    #[default]
    Idle,
    /// The browser lets this page make no proofs.
    NoCrypto,
    /// A socket is being opened, or both sides prove themselves.
    Opening,
    /// Both sides know who the other one is.
    Up(Up),
    /// The daemon does not know this browser; with its reason, if it gave one.
    Unpaired(String),
    /// Page and daemon have no version in common; with the daemon's.
    OtherVersion(String),
    /// Nobody answers.
    Away,
    /// The browser keeps the page from asking.
    Blocked,
    /// It was up; after so many tries.
    Lost(u32),
    /// It will not have us, and says why.
    Refused(String),
}

/// What a session may and who the daemon is.
#[derive(Debug, Clone, PartialEq)]
pub struct Up {
    /// What it may.
    pub scopes: Vec<Scope>,
    /// Changes when the daemon starts again.
    pub epoch: Hex<8>,
    /// Version of the daemon.
    pub version: String,
}

impl Up {
    /// Whether it may start measurements.
    pub fn may_measure(&self) -> bool {
        self.scopes.contains(&Scope::Bench)
    }
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The reader wants a connection, with a code to pair or with a key that is kept.
    Connect {
        /// Where to.
        address: String,
        /// One-time code; empty without.
        code: String,
    },
    /// There are no proofs here.
    NoCrypto,
    /// The socket is open; with random bytes, and the origin that the browser sends.
    Opened {
        /// New random bytes.
        nonce: Nonce,
        /// Origin of the page.
        origin: String,
    },
    /// The daemon says something that belongs to the connection.
    Said(ServerMessage),
    /// What was to be signed; `None` where there is no key.
    Signed(Option<Signed>),
    /// The socket is closed. `denied`: the browser forbids local connections.
    Closed {
        /// Code of the close frame.
        code: u16,
        /// The browser's permission is denied.
        denied: bool,
    },
    /// The wait is over.
    Again,
    /// The reader wants none any more.
    Leave,
}

/// A proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signed {
    /// Which key; that of a code is not known yet.
    pub key: Option<Hex<8>>,
    /// The HMAC.
    pub proof: Hex<32>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Do {
    /// Open a socket to an address.
    Open(String),
    /// Sign a text with a code, or, where that is empty, with the key that is kept for the daemon.
    Sign {
        /// The daemon.
        server: Hex<16>,
        /// The code.
        code: String,
        /// What to sign.
        text: Vec<u8>,
    },
    /// Make a key of a code and keep it for the daemon.
    Keep {
        /// The daemon.
        server: Hex<16>,
        /// Name of the key.
        key: Hex<8>,
        /// The code.
        code: String,
        /// What its secret is the HMAC of.
        text: Vec<u8>,
    },
    /// Send a message.
    Say(ClientMessage),
    /// Close the socket.
    HangUp,
    /// Wait so many milliseconds, then say [`Event::Again`].
    Wait(u32),
    /// Ask for everything that was followed before.
    Resume,
}

#[derive(Debug, Clone, PartialEq)]
struct Greeting {
    hello: Hello,
    step: Step,
}

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Our proof is being made.
    Proving,
    /// Our proof is sent.
    Proved,
    /// Theirs is being checked.
    Checking { theirs: Hex<32>, up: Up, pair: Option<Hex<8>> },
}

/// A connection.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Connection {
    /// Where it is.
    pub state: State,
    /// Where to.
    pub address: String,
    code: String,
    was_up: bool,
    tries: u32,
    nonce: Option<Nonce>,
    origin: String,
    greeting: Option<Greeting>,
    /// The daemon that was last up.
    pub server: Option<Hex<16>>,
    farewell: String,
}

impl Connection {
    /// What happened, and what is to be done.
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
            ServerMessage::Identified(Identified { proof, scopes, epoch, .. }) => {
                self.check(proof, scopes, epoch, None)
            }
            ServerMessage::Paired(Paired { key, proof, scopes, epoch, .. }) => {
                self.check(proof, scopes, epoch, Some(key))
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

    fn check(
        &mut self,
        theirs: Hex<32>,
        scopes: Vec<Scope>,
        epoch: Hex<8>,
        pair: Option<Hex<8>>,
    ) -> Vec<Do> {
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
        let up = Up { scopes, epoch, version: greeting.hello.version.clone() };
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
        // The hello of a socket comes once; what is heard from now on is no handshake.
        self.greeting = Some(Greeting { hello, step: Step::Proved });
        keep.into_iter().chain([Do::Resume]).collect()
    }

    fn closed(&mut self, code: u16, denied: bool) -> Vec<Do> {
        self.nonce = None;
        let farewell = core::mem::take(&mut self.farewell);
        let settled = match &self.state {
            State::Opening | State::Up(_) | State::Lost(_) => false,
            // Our own doing, and said already.
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

/// Half a second at first, then longer and longer.
fn wait(tries: u32) -> u32 {
    (250 << tries.min(8)).min(LONGEST_WAIT)
}

fn handshake<'a>(hello: &'a Hello, nonce: &'a Nonce, origin: &'a str) -> Handshake<'a> {
    Handshake { server_nonce: &hello.nonce, client_nonce: nonce, server: &hello.server, origin }
}

#[cfg(test)]
mod tests;
