//! A simulated client: the real bytes of HTTP and WebSocket through a pipe in memory, read when the simulation says so.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use futures_util::FutureExt;
use protocol::client::{Ask, ClientMessage, Identify};
use protocol::hex::Hex;
use protocol::proof::{self, Handshake};
use protocol::server::{Hello, Say};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tungstenite::protocol::{Message, Role, WebSocket};

use crate::keys::{KeyId, Secret};
use crate::server::connections::{self, Connections};
use crate::server::daemon::Daemon;
use crate::server::peer::Peer;

/// Bytes that the daemon may write before the client reads.
const WIRE: usize = 8 << 10;

/// A message or an end, as a client hears it.
#[derive(Debug)]
pub(super) enum Heard {
    Says(Box<Say>, usize),
    /// The connection ended, with the code of the last frame.
    Closed(Option<u16>),
}

/// A connection to the daemon.
pub(super) struct Client {
    wire: DuplexStream,
    socket: Socket,
    key: KeyId,
    secret: Secret,
    last_id: u32,
    /// The code of the last frame.
    code: Option<u16>,
}

enum Socket {
    /// The answer to the upgrade is not complete.
    Head(Vec<u8>),
    Open(Box<WebSocket<Pipe>>),
    Closed,
}

/// Bytes on their way.
#[derive(Debug, Default)]
struct Pipe {
    came: VecDeque<u8>,
    goes: Vec<u8>,
    is_over: bool,
}

impl Read for Pipe {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match Read::read(&mut self.came, into)? {
            0 if !self.is_over => Err(ErrorKind::WouldBlock.into()),
            read => Ok(read),
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.goes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Client {
    /// Connects and asks for the upgrade; `None` where there is no place.
    pub(super) fn connect(
        daemon: &Arc<Daemon>,
        connections: &Connections,
        peer: Peer,
        (key, secret): (KeyId, Secret),
    ) -> Option<Self> {
        let (place, _evicted) = connections.enter(peer.group())?;
        let (mut wire, theirs) = duplex(WIRE);
        tokio::spawn(connections::attend(Arc::clone(daemon), Box::new(theirs), peer, place));
        let head = format!(
            "GET /ws HTTP/1.1\r\nHost: localhost:8000\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Protocol: {}\r\n\r\n",
            protocol::SUBPROTOCOL
        );
        let sent = wire.write_all(head.as_bytes()).now_or_never();
        sent.expect("an empty pipe has room").expect("it is open");
        Some(Self { wire, socket: Socket::Head(Vec::new()), key, secret, last_id: 0, code: None })
    }

    /// Sends a message, and returns its number.
    pub(super) fn ask(&mut self, ask: ClientMessage) -> u32 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(serde_json::to_string(&Ask { id, ask }).expect("messages have text keys"));
        id
    }

    /// Sends a text.
    pub(super) fn send(&mut self, text: String) {
        if let Socket::Open(socket) = &mut self.socket {
            // A socket that closes refuses it.
            let _ = socket.send(Message::text(text));
        }
        self.flush();
    }

    pub(super) const fn is_closed(&self) -> bool {
        matches!(self.socket, Socket::Closed)
    }

    /// Answers the daemon's hello.
    pub(super) fn identify(&mut self, hello: &Hello, nonce: Hex<32>, is_right: bool) -> u32 {
        let handshake = Handshake {
            server_nonce: &hello.nonce,
            client_nonce: &nonce,
            server: &hello.server,
            origin: "",
        };
        let mut proof = self.secret.sign(&proof::identify(&handshake));
        proof.0[31] ^= u8::from(!is_right);
        let key = self.key;
        let identify = Identify { protocol: protocol::VERSION, key, nonce, proof };
        self.ask(ClientMessage::Identify(identify))
    }

    fn flush(&mut self) {
        let Socket::Open(socket) = &mut self.socket else { return };
        let _ = socket.flush();
        let pipe = socket.get_mut();
        while !pipe.goes.is_empty() {
            match self.wire.write(&pipe.goes).now_or_never() {
                Some(Ok(sent)) if sent > 0 => drop(pipe.goes.drain(..sent)),
                Some(_) => {
                    pipe.goes.clear();
                    pipe.is_over = true;
                }
                None => return,
            }
        }
    }

    /// Everything that has come.
    pub(super) fn hear(&mut self) -> Vec<Heard> {
        let (mut came, mut buffer, mut is_over) = (Vec::new(), vec![0; 16 << 10], false);
        while let Some(read) = self.wire.read(&mut buffer).now_or_never() {
            match read {
                Ok(read) if read > 0 => came.extend_from_slice(&buffer[..read]),
                _ => {
                    is_over = true;
                    break;
                }
            }
        }
        self.take_in(&came, is_over)
    }

    fn take_in(&mut self, came: &[u8], is_over: bool) -> Vec<Heard> {
        match &mut self.socket {
            Socket::Closed => return Vec::new(),
            Socket::Head(head) => {
                head.extend_from_slice(came);
                let end = head.windows(4).position(|four| four == b"\r\n\r\n");
                if let Some(end) = end.filter(|_| head.starts_with(b"HTTP/1.1 101 ")) {
                    let came = head.split_off(end + 4).into();
                    let pipe = Pipe { came, is_over, ..Pipe::default() };
                    let socket = WebSocket::from_raw_socket(pipe, Role::Client, None);
                    self.socket = Socket::Open(Box::new(socket));
                } else if is_over || end.is_some() {
                    self.socket = Socket::Closed;
                    return vec![Heard::Closed(None)];
                } else {
                    return Vec::new();
                }
            }
            Socket::Open(socket) => {
                socket.get_mut().came.extend(came);
                socket.get_mut().is_over |= is_over;
            }
        }
        let heard = self.read();
        self.flush();
        heard
    }

    fn read(&mut self) -> Vec<Heard> {
        let Socket::Open(socket) = &mut self.socket else { return Vec::new() };
        let mut heard = Vec::new();
        loop {
            match socket.read() {
                Ok(Message::Text(text)) => {
                    let say = serde_json::from_str(&text).expect("the daemon's messages are JSON");
                    heard.push(Heard::Says(Box::new(say), text.len()));
                }
                Ok(Message::Close(frame)) => self.code = frame.map(|frame| frame.code.into()),
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::WouldBlock => {
                    return heard;
                }
                Err(_) => {
                    self.socket = Socket::Closed;
                    heard.push(Heard::Closed(self.code));
                    return heard;
                }
            }
        }
    }
}
