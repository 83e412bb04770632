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

/// How long one message may take on its way out.
const SEND_TIME: Duration = Duration::from_secs(10);
/// Both halves of a socket.
pub(super) type Sink = SplitSink<WebSocket, Message>;
pub(super) type Stream = SplitStream<WebSocket>;

/// Why a socket is closed.
#[derive(Debug)]
pub(super) enum Close {
    /// With a last message.
    Say(u16, Fault),
    /// With a code only, as the WebSocket protocol wants it for its own violations.
    Code(u16),
    /// The other side is gone.
    Gone,
    /// The other side does not read.
    Slow,
}

impl Close {
    pub(super) fn saying(code: u16, reason: Reason) -> Self {
        Self::Say(code, reason.fault())
    }

    /// What a failure to read means.
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

/// Sends a frame, unless the other side does not read for long.
pub(super) async fn send(sink: &mut Sink, message: Message) -> Result<(), Close> {
    match timeout(SEND_TIME, sink.send(message)).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) => Err(Close::Gone),
        Err(_) => Err(Close::Slow),
    }
}
