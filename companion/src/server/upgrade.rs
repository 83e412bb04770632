//! From a request to a session: the upgrade with its limits, the handshake, and the closing frames.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts, Request};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::{SinkExt, StreamExt};
use protocol::close;
use protocol::limits::LIMITS;
use protocol::server::ServerMessage;
use tokio::time::{sleep, timeout};

use super::daemon::Daemon;
use super::fair::Place;
use super::peer::{Admitted, Group};
use super::refusal::Refusal;
use super::reply::refuse;
use super::socket::{Close, Sink, Stream, say};
use super::{handshake, session};
use crate::audit::Action;
use crate::reason::Reason;

const READ_BUFFER: usize = 16 * 1024;
const WRITE_BUFFER: usize = 1024 * 1024;
/// Time for the last message with the code, and again for the client to read them.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Upgrades a request to a socket, if there is a place.
pub(super) async fn open(daemon: &Arc<Daemon>, admitted: &Admitted, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await else {
        return (StatusCode::UPGRADE_REQUIRED, "426: this address speaks WebSocket\n")
            .into_response();
    };
    let place = daemon.places.stranger(admitted.peer.group());
    let Some(place) = place else { return refuse(daemon, Refusal::Busy) };
    let (daemon, admitted) = (Arc::clone(daemon), admitted.clone());
    upgrade
        .protocols([protocol::SUBPROTOCOL])
        .max_message_size(LIMITS.message_bytes as usize)
        // A page sends a message in one frame.
        .max_frame_size(LIMITS.message_bytes as usize)
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(0)
        .max_write_buffer_size(WRITE_BUFFER)
        .on_upgrade(move |socket| attend(daemon, admitted, socket, place))
}

async fn attend(
    daemon: Arc<Daemon>,
    admitted: Admitted,
    socket: WebSocket,
    stranger: Place<Group>,
) {
    let (mut sink, mut stream) = socket.split();
    let greeted = handshake::greet(&daemon, &admitted, &mut sink, &mut stream, stranger).await;
    let close = match greeted {
        Err(close) => {
            if let Close::Say(_, fault) = &close {
                daemon.note_refusal(|| admitted.who(), Action::Identify, fault.code.key());
            }
            close
        }
        Ok((session, welcome)) => match daemon.places.session(session.key) {
            None => Close::saying(close::RATE, Reason::SessionsFull),
            Some(place) => {
                session::run(&daemon, session, welcome, &place, &mut sink, &mut stream).await
            }
        },
    };
    part(&daemon, close, sink, stream).await;
}

/// Sends the reason and reads for a moment: dropping a connection with unread bytes would lose the last message.
async fn part(daemon: &Daemon, close: Close, mut sink: Sink, mut stream: Stream) {
    let broken = matches!(close, Close::Code(_));
    let (code, fault) = match close {
        Close::Gone => return,
        Close::Slow => {
            daemon.counters.closed_slow.fetch_add(1, Ordering::Relaxed);
            (close::SLOW, None)
        }
        Close::Code(code) => (code, None),
        Close::Say(code, fault) => {
            let is_rate = code == close::RATE;
            daemon.counters.closed_rate.fetch_add(u64::from(is_rate), Ordering::Relaxed);
            (code, Some(fault))
        }
    };
    let told = timeout(EXIT_GRACE, async {
        if let Some(fault) = fault {
            // If it is not heard, the code may be.
            let _ = say(&mut sink, None, ServerMessage::Bye(fault)).await;
        }
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static("") };
        let _ = sink.send(Message::Close(Some(frame))).await;
    });
    if told.await.is_err() {
        // The client does not read.
        return;
    }
    let heard_out = timeout(EXIT_GRACE, async { while let Some(Ok(_)) = stream.next().await {} });
    // After a protocol violation nothing can be read, so the last frame gets time to arrive.
    if heard_out.await.is_ok() && broken {
        sleep(EXIT_GRACE / 2).await;
    }
}
