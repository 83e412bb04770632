//! The way from a request to a session: the upgrade with its limits, the handshake, and the farewell.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use protocol::close;
use protocol::fault::Fault;
use protocol::limits::LIMITS;
use protocol::server::{Say, ServerMessage};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};
use tungstenite::error::{CapacityError, ProtocolError};

use super::guard::{Admitted, refuse};
use super::refusal::Refusal;
use super::{Daemon, handshake, session};
use crate::audit::Action;
use crate::reason::Reason;

const FRAME: usize = 64 * 1024;
const READ_BUFFER: usize = 16 * 1024;
const WRITE_BUFFER: usize = 1024 * 1024;
/// How long one message may take on its way out.
const SEND_TIME: Duration = Duration::from_secs(10);
/// How long a closing side is listened to, so that it gets to read why.
const FAREWELL: Duration = Duration::from_millis(500);

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

/// Opens a socket, if there is a place.
pub(super) async fn open(daemon: &Arc<Daemon>, admitted: &Admitted, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await else {
        return (StatusCode::UPGRADE_REQUIRED, "426: this address speaks WebSocket\n")
            .into_response();
    };
    let Some(place) = daemon.places.stranger() else { return refuse(daemon, Refusal::Busy) };
    let (daemon, admitted) = (Arc::clone(daemon), admitted.clone());
    upgrade
        .protocols([protocol::SUBPROTOCOL])
        .max_message_size(LIMITS.message_bytes as usize)
        .max_frame_size(FRAME)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER)
        .on_upgrade(move |socket| attend(daemon, admitted, socket, place))
}

async fn attend(
    daemon: Arc<Daemon>,
    admitted: Admitted,
    socket: WebSocket,
    stranger: OwnedSemaphorePermit,
) {
    let (mut sink, mut stream) = socket.split();
    let close = match handshake::greet(&daemon, &admitted, &mut sink, &mut stream).await {
        Err(close) => {
            if let Close::Say(_, fault) = &close {
                daemon.note_refusal(|| admitted.who(), Action::Identify, fault.code.key());
            }
            close
        }
        Ok((session, welcome)) => {
            drop(stranger);
            match daemon.places.session() {
                None => Close::saying(close::RATE, Reason::SessionsFull),
                Some(_place) => {
                    session::run(&daemon, session, welcome, &mut sink, &mut stream).await
                }
            }
        }
    };
    part(&daemon, close, sink, stream).await;
}

/// Says why, and listens for a moment: a connection that is dropped with unread bytes loses the last message too.
async fn part(daemon: &Daemon, close: Close, mut sink: Sink, mut stream: Stream) {
    let broken = matches!(close, Close::Code(_));
    let code = match close {
        Close::Gone => return,
        Close::Slow => {
            daemon.counters.closed_slow.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            close::SLOW
        }
        Close::Code(code) => code,
        Close::Say(code, fault) => {
            if code == close::RATE {
                daemon.counters.closed_rate.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            let _ = timeout(FAREWELL, say(&mut sink, None, ServerMessage::Bye(fault))).await;
            code
        }
    };
    let frame = CloseFrame { code, reason: Utf8Bytes::from_static("") };
    let _ = timeout(FAREWELL, sink.send(Message::Close(Some(frame)))).await;
    let heard_out = timeout(FAREWELL, async { while let Some(Ok(_)) = stream.next().await {} });
    // After a violation nothing can be read any more, and only time lets the last frame arrive.
    if heard_out.await.is_ok() && broken {
        sleep(FAREWELL / 2).await;
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
