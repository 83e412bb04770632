//! A socket: its two halves, sending with a time limit, and the reasons for closing it.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::SinkExt;
use futures_util::stream::{SplitSink, SplitStream};
use protocol::fault::Fault;
use protocol::server::{Say, ServerMessage};
use tokio::time::timeout;
use tungstenite::error::{CapacityError, ProtocolError};

use crate::reason::Reason;

/// Time limit for sending one message.
const SEND_TIME: Duration = Duration::from_secs(10);
/// The sending half of a socket.
pub(super) type Sink = SplitSink<WebSocket, Message>;
pub(super) type Stream = SplitStream<WebSocket>;

/// The reason for closing a socket.
#[derive(Debug)]
pub(super) enum Close {
    /// A last message, then a code.
    Say(u16, Fault),
    /// A code only, as WebSocket requires for violations of its protocol.
    Code(u16),
    /// The client has disconnected.
    Gone,
    /// The client does not read.
    Slow,
}

impl Close {
    pub(super) fn saying(code: u16, reason: Reason) -> Self {
        Self::Say(code, reason.fault())
    }

    /// The reason that follows from a read error.
    pub(super) fn of(error: axum::Error) -> Self {
        let inner = error.into_inner();
        let code = match inner.downcast_ref::<tungstenite::Error>() {
            Some(tungstenite::Error::Capacity(CapacityError::MessageTooLong { .. })) => 1009,
            Some(tungstenite::Error::Utf8(_)) => 1007,
            Some(tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => {
                return Self::Gone;
            }
            Some(tungstenite::Error::Protocol(_)) => 1002,
            _ => return Self::Gone,
        };
        Self::Code(code)
    }
}

/// Sends a message.
pub(super) async fn say(sink: &mut Sink, id: Option<u32>, say: ServerMessage) -> Result<(), Close> {
    let text = serde_json::to_string(&Say { id, say }).expect("messages have text keys");
    send(sink, Message::Text(text.into())).await
}

/// Sends a frame within the time limit.
pub(super) async fn send(sink: &mut Sink, message: Message) -> Result<(), Close> {
    match timeout(SEND_TIME, sink.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Close::Gone),
        Err(_) => Err(Close::Slow),
    }
}
