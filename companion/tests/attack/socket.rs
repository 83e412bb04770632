//! A client of the socket that follows the protocol unless a test makes it deviate.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit, Mac};
use protocol::bench::{BenchKind, BenchSpec};
use protocol::client::{Ask, ClientMessage, Identify, Pair, StartJob};
use protocol::device::DeviceName;
use protocol::fault::FaultCode;
use protocol::hex::Hex;
use protocol::job::{JobEvent, JobId, JobSpec, JobState, NumberedEvent, RequestId};
use protocol::proof::{self, Handshake};
use protocol::scope::Scope;
use protocol::server::{Hello, Say, ServerMessage};
use sha2::Sha256;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Error, Message, WebSocket};

use crate::harness::{Daemon, PATIENCE};
use crate::script::{Act, Script};

/// The key and identity that a paired page stores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    pub(crate) name: Hex<8>,
    pub(crate) secret: [u8; 32],
}

pub(crate) struct Client {
    pub(crate) socket: WebSocket<TcpStream>,
    pub(crate) hello: Hello,
    pub(crate) origin: String,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) devices: Vec<DeviceName>,
    next: u32,
    pushed: VecDeque<ServerMessage>,
}

/// The way in which a socket ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Closed {
    pub(crate) code: Option<u16>,
    pub(crate) bye: Option<FaultCode>,
}

pub(crate) fn sign(key: &[u8], text: &[u8]) -> Hex<32> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("any length");
    mac.update(text);
    Hex(mac.finalize().into_bytes().into())
}

pub(crate) fn random<const N: usize>() -> Hex<N> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("random bytes");
    Hex(bytes)
}

impl Daemon {
    /// Opens a socket as the daemon's own page does, and reads its hello.
    pub(crate) fn open(&self) -> Client {
        self.open_as(&format!("http://localhost:{}", self.port))
    }

    /// Opens a socket as a page of this origin, or without an origin if it is empty.
    pub(crate) fn open_as(&self, origin: &str) -> Client {
        self.upgraded(origin, self.tcp()).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Opens a socket on a connection that is there already; `Err` if the daemon closes it before its hello.
    pub(crate) fn open_on(&self, stream: TcpStream) -> Result<Client, String> {
        self.upgraded(&format!("http://localhost:{}", self.port), stream)
    }

    fn upgraded(&self, origin: &str, stream: TcpStream) -> Result<Client, String> {
        let address = format!("ws://localhost:{}/ws", self.port);
        let mut request = address.into_client_request().expect("an address");
        let headers = request.headers_mut();
        if !origin.is_empty() {
            headers.insert("Origin", origin.parse().expect("a header"));
        }
        headers.insert("Sec-WebSocket-Protocol", protocol::SUBPROTOCOL.parse().expect("a header"));
        let (socket, response) =
            tungstenite::client(request, stream).map_err(|error| error.to_string())?;
        assert_eq!(response.headers()["Sec-WebSocket-Protocol"], protocol::SUBPROTOCOL);
        let mut socket = socket;
        let Ok(Message::Text(text)) = socket.read() else { return Err("no hello".into()) };
        let say: Say = serde_json::from_str(&text).expect("a message");
        let ServerMessage::Hello(hello) = say.say else { panic!("{say:?}") };
        let (pushed, scopes, devices) = (VecDeque::new(), Vec::new(), Vec::new());
        Ok(Client { socket, hello, origin: origin.into(), scopes, devices, next: 0, pushed })
    }

    /// Pairs with the code of the link.
    pub(crate) fn paired(&self) -> (Client, Key) {
        let mut client = self.open();
        let key = client.pair(&self.code()).expect("the code is good");
        (client, key)
    }

    /// Opens another session with a key.
    pub(crate) fn connect(&self, key: &Key) -> Client {
        let mut client = self.open();
        client.identify(key).expect("the key is good");
        client
    }
}

impl Client {
    pub(crate) fn handshake<'a>(&'a self, nonce: &'a Hex<32>) -> Handshake<'a> {
        Handshake {
            server_nonce: &self.hello.nonce,
            client_nonce: nonce,
            server: &self.hello.server,
            origin: &self.origin,
        }
    }

    pub(crate) fn pair(&mut self, code: &str) -> Result<Key, Closed> {
        let nonce = random();
        let proof = sign(code.as_bytes(), &proof::pair(&self.handshake(&nonce)));
        let pair = Pair { protocol: protocol::VERSION, nonce, proof, label: "a test".into() };
        let ServerMessage::Paired(paired) = self.first(ClientMessage::Pair(pair))? else {
            panic!("no pairing")
        };
        let handshake = self.handshake(&nonce);
        let expected = sign(code.as_bytes(), &proof::paired(&handshake, paired.key));
        assert_eq!(paired.proof, expected, "the daemon knows the code too");
        let secret = sign(code.as_bytes(), &proof::pair_key(&handshake, paired.key)).0;
        (self.scopes, self.devices) = (paired.scopes, paired.devices);
        Ok(Key { name: paired.key, secret })
    }

    /// The message that proves a key.
    pub(crate) fn identification(&self, key: &Key) -> (ClientMessage, Hex<32>) {
        let nonce = random();
        let proof = sign(&key.secret, &proof::identify(&self.handshake(&nonce)));
        let identify = Identify { protocol: protocol::VERSION, key: key.name, nonce, proof };
        (ClientMessage::Identify(identify), nonce)
    }

    pub(crate) fn identify(&mut self, key: &Key) -> Result<(), Closed> {
        let (message, nonce) = self.identification(key);
        let ServerMessage::Identified(identified) = self.first(message)? else {
            panic!("no session")
        };
        let expected = sign(&key.secret, &proof::identified(&self.handshake(&nonce)));
        assert_eq!(identified.proof, expected, "the daemon knows the key too");
        (self.scopes, self.devices) = (identified.scopes, identified.devices);
        Ok(())
    }

    /// Sends a first message; `Err` if the daemon closes the socket because of it.
    pub(crate) fn first(&mut self, ask: ClientMessage) -> Result<ServerMessage, Closed> {
        self.send(&serde_json::to_string(&Ask { id: 0, ask }).expect("text keys"));
        match self.hear(PATIENCE) {
            Heard::Say(say) if !matches!(say.say, ServerMessage::Bye(_)) => Ok(say.say),
            Heard::Say(Say { say: ServerMessage::Bye(fault), .. }) => {
                Err(Closed { bye: Some(fault.code), ..self.closed() })
            }
            Heard::Closed(code) => Err(Closed { code, bye: None }),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        // A failed write shows in the answer.
        let _ = self.socket.send(Message::text(text));
    }

    /// Sends a request and waits for its answer; messages in between are kept.
    pub(crate) fn ask(&mut self, ask: ClientMessage) -> ServerMessage {
        let id = self.ask_only(ask);
        self.answer(id)
    }

    pub(crate) fn ask_only(&mut self, ask: ClientMessage) -> u32 {
        self.next += 1;
        let id = self.next;
        self.send(&serde_json::to_string(&Ask { id, ask }).expect("text keys"));
        id
    }

    pub(crate) fn answer(&mut self, id: u32) -> ServerMessage {
        loop {
            match self.hear(PATIENCE) {
                Heard::Say(Say { id: Some(given), say }) if given == id => return say,
                Heard::Say(Say { say, .. }) => self.pushed.push_back(say),
                other => panic!("waiting for {id}: {other:?}"),
            }
        }
    }

    pub(crate) fn fault(&mut self, ask: ClientMessage) -> FaultCode {
        match self.ask(ask) {
            ServerMessage::Fault(fault) => fault.code,
            other => panic!("no fault: {other:?}"),
        }
    }

    /// The next message or close within a time limit.
    pub(crate) fn hear(&mut self, within: Duration) -> Heard {
        let end = Instant::now() + within;
        loop {
            let left = end.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
            self.socket.get_ref().set_read_timeout(Some(left)).expect("a timeout");
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    return Heard::Say(serde_json::from_str(&text).expect("a message"));
                }
                Ok(Message::Close(frame)) => {
                    return Heard::Closed(frame.map(|frame| frame.code.into()));
                }
                Ok(_) => {}
                Err(Error::Io(error))
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return Heard::Nothing;
                }
                Err(_) => return Heard::Closed(None),
            }
        }
    }

    /// Waits for the end of the socket.
    pub(crate) fn closed(&mut self) -> Closed {
        let (mut bye, end) = (None, Instant::now() + PATIENCE);
        while Instant::now() < end {
            match self.hear(PATIENCE) {
                Heard::Closed(code) => return Closed { code, bye },
                Heard::Say(Say { say: ServerMessage::Bye(fault), .. }) => bye = Some(fault.code),
                Heard::Say(_) => {}
                Heard::Nothing => break,
            }
        }
        panic!("it stays open")
    }

    /// The next message that is not an answer.
    pub(crate) fn push(&mut self, within: Duration) -> Option<ServerMessage> {
        if let Some(pushed) = self.pushed.pop_front() {
            return Some(pushed);
        }
        match self.hear(within) {
            Heard::Say(say) => Some(say.say),
            _ => None,
        }
    }

    /// The code of the next message, if it is a fault.
    pub(crate) fn answer_or_push(&mut self) -> Option<FaultCode> {
        match self.push(PATIENCE) {
            Some(ServerMessage::Fault(fault)) => Some(fault.code),
            _ => None,
        }
    }

    pub(crate) fn start(&mut self, request: RequestId, job: JobSpec) -> ServerMessage {
        self.ask(ClientMessage::StartJob(StartJob { request, job }))
    }

    /// Starts a scripted job that is accepted.
    pub(crate) fn scripted(&mut self, steps: u32, step_ms: u32, act: Act) -> JobId {
        match self.start(random(), script(steps, step_ms, act)) {
            ServerMessage::Accepted(accepted) => accepted.job,
            other => panic!("{other:?}"),
        }
    }

    /// Subscribes and returns the number after which events follow.
    pub(crate) fn subscribe(&mut self, job: JobId, after: u64) -> u64 {
        match self.ask(ClientMessage::SubscribeJob { job, after }) {
            ServerMessage::Snapshot { after, .. } => after,
            other => panic!("{other:?}"),
        }
    }

    /// The events of a job after a number, up to its end; numbers must be consecutive.
    pub(crate) fn follow(&mut self, job: JobId, after: u64) -> Vec<NumberedEvent> {
        let mut events = self.follow_some(job, after, usize::MAX);
        let last = events.last_mut().map(|event| event.event.clone());
        assert!(matches!(last, Some(JobEvent::Ended { .. })), "{last:?}");
        events
    }

    /// At most this many of them.
    pub(crate) fn follow_some(
        &mut self,
        job: JobId,
        after: u64,
        most: usize,
    ) -> Vec<NumberedEvent> {
        let mut left = most;
        self.follow_until(job, after, |_| {
            left -= 1;
            left == 0
        })
    }

    /// Those up to the first one that a rule finds.
    pub(crate) fn follow_until(
        &mut self,
        job: JobId,
        after: u64,
        mut is_last: impl FnMut(&JobEvent) -> bool,
    ) -> Vec<NumberedEvent> {
        let mut last = self.subscribe(job, after);
        let mut events = Vec::new();
        loop {
            let pushed = self.push(PATIENCE);
            let Some(ServerMessage::Event(event)) = pushed else { panic!("{pushed:?}") };
            if event.job != job {
                continue;
            }
            assert_eq!(event.seq, last + 1, "no gap and nothing twice");
            last = event.seq;
            let ended = is_last(&event.event) || matches!(event.event, JobEvent::Ended { .. });
            events.push(event);
            if ended {
                break;
            }
        }
        events
    }

    /// Follows a job to its end.
    pub(crate) fn end_of(&mut self, job: JobId) -> (JobState, Option<FaultCode>) {
        match self.follow(job, 0).pop().map(|event| event.event) {
            Some(JobEvent::Ended { state, fault }) => (state, fault.map(|fault| fault.code)),
            other => panic!("{other:?}"),
        }
    }
}

/// The received message or close.
#[derive(Debug)]
pub(crate) enum Heard {
    Say(Say),
    Closed(Option<u16>),
    Nothing,
}

/// A bench job whose backend names the script.
pub(crate) fn job_of(script: Script) -> JobSpec {
    JobSpec::Bench(BenchSpec {
        what: BenchKind::Bandwidth,
        shapes: Vec::new(),
        formats: Vec::new(),
        sizes: Vec::new(),
        backend: Some(script.to_string()),
        iterations: None,
    })
}

pub(crate) fn script(steps: u32, step_ms: u32, act: Act) -> JobSpec {
    job_of(Script { steps, step_ms, predicted_ms: None, act })
}
