//! The handshake of a socket: the daemon introduces itself, the client proves a key or a pairing code, the daemon proves that it knows it
//! too. The secret is never sent, and nonces prevent a replay.

use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::extract::ws::Message;
use futures_util::StreamExt;
use protocol::client::{Ask, ClientMessage, Identify, Pair};
use protocol::close;
use protocol::fault::{Fault, FaultCode};
use protocol::hex::Hex;
use protocol::limits::LIMITS;
use protocol::proof::{self, Handshake, Nonce};
use protocol::scope::Scope;
use protocol::server::{Hello, Identified, Paired, ServerMessage, Versions};
use tokio::time::{Instant, sleep, timeout};

use super::daemon::Daemon;
use super::fair::Place;
use super::peer::{Admitted, Group};
use super::socket::{Close, Sink, Stream, say};
use super::throttle::{Pace, Throttle};
use crate::audit::{Action, Entry, Who};
use crate::keys::{Key, KeyId, PairError, random};
use crate::reason::Reason;

/// Time limit of the first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(5);
/// Largest first message, in bytes.
const FIRST_BYTES: usize = 4096;

/// An authenticated client.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) key: KeyId,
    /// For the audit log.
    pub(super) who: Who,
    /// Scopes of the key when the session began.
    pub(super) granted: Vec<Scope>,
    /// Scopes of the session.
    pub(super) scopes: Vec<Scope>,
}

/// The message that opens a session, with the number that it answers.
pub(super) type Welcome = (u32, ServerMessage);

/// Performs the handshake; the client's first message must contain a proof. Until then it holds a place that it may have to leave.
pub(super) async fn greet(
    daemon: &Arc<Daemon>,
    admitted: &Admitted,
    sink: &mut Sink,
    stream: &mut Stream,
    stranger: Place<Group>,
) -> Result<(Session, Welcome), Close> {
    let nonce: Nonce = Hex(random());
    let hello = Hello {
        protocol: Versions { min: protocol::VERSION, max: protocol::VERSION },
        server: daemon.server,
        nonce,
        version: env!("CARGO_PKG_VERSION").into(),
        limits: LIMITS,
        can: Some(Box::new(daemon.abilities.clone())),
    };
    say(sink, None, ServerMessage::Hello(hello)).await?;
    let ask = tokio::select! {
        biased;
        ask = first_message(stream) => ask?,
        // Others wait, and this client was silent.
        () = stranger.to_leave() => return Err(Close::Gone),
    };
    drop(stranger);
    let wait = throttle(daemon).wait(Instant::now());
    let origin = admitted.origin.as_deref().unwrap_or_default();
    let done = match &ask.ask {
        ClientMessage::Identify(identify) => {
            is_ours(identify.protocol)?;
            self::identify(daemon, admitted, identify, &nonce, origin)
        }
        ClientMessage::Pair(pair) => {
            is_ours(pair.protocol)?;
            let place = daemon.places.pairing();
            let _place =
                place.ok_or_else(|| Close::saying(close::RATE, Reason::PairingsTooMany))?;
            // A wrong code changes the file of keys, so it waits before.
            sleep(wait).await;
            self::pair(daemon, admitted, pair, nonce, origin).await
        }
        _ => Err(Reason::NoProof.fault()),
    };
    match done {
        Ok((session, welcome)) => Ok((session, (ask.id, welcome))),
        Err(fault) if fault.code == FaultCode::Unauthenticated => {
            daemon.counters.auth_failures.fetch_add(1, Ordering::Relaxed);
            throttle(daemon).failed(Instant::now());
            // A right proof never waits, so that those who guess delay nobody else.
            if let (ClientMessage::Identify(_), Some(_place)) = (&ask.ask, daemon.places.refused())
            {
                sleep(wait).await;
            }
            Err(Close::Say(
                if wait.is_zero() { close::UNAUTHENTICATED } else { close::RATE },
                fault,
            ))
        }
        Err(fault) if fault.code == FaultCode::Rate => Err(Close::Say(close::RATE, fault)),
        Err(fault) => Err(Close::Say(close::FORBIDDEN, fault)),
    }
}

fn throttle(daemon: &Daemon) -> std::sync::MutexGuard<'_, Throttle> {
    daemon.throttle.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pace(daemon: &Daemon) -> std::sync::MutexGuard<'_, Pace> {
    daemon.pace.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Stores in the background that a key is in use, if that was stored long ago.
pub(super) fn use_key(daemon: &Arc<Daemon>, key: KeyId) {
    let now = daemon.clock.now();
    if daemon.keys.is_use_due(key, now) {
        let daemon = Arc::clone(daemon);
        tokio::task::spawn_blocking(move || daemon.keys.used(key, now));
    }
}

async fn first_message(stream: &mut Stream) -> Result<Ask, Close> {
    let late = || Close::saying(close::UNAUTHENTICATED, Reason::Late);
    let text = match timeout(FIRST_MESSAGE, stream.next()).await.map_err(|_elapsed| late())? {
        Some(Ok(Message::Text(text))) if text.len() <= FIRST_BYTES => text,
        Some(Ok(Message::Text(_))) => return Err(Close::Code(1009)),
        Some(Ok(Message::Close(_))) | None => return Err(Close::Gone),
        Some(Ok(_)) => return Err(malformed()),
        Some(Err(error)) => return Err(Close::of(error)),
    };
    serde_json::from_str(&text).map_err(|_unread| malformed())
}

fn malformed() -> Close {
    Close::saying(close::MALFORMED, Reason::FirstMessage)
}

fn is_ours(version: u32) -> Result<(), Close> {
    if version == protocol::VERSION {
        return Ok(());
    }
    Err(Close::saying(close::VERSION, Reason::Version))
}

fn identify(
    daemon: &Arc<Daemon>,
    admitted: &Admitted,
    identify: &Identify,
    nonce: &Nonce,
    origin: &str,
) -> Result<(Session, ServerMessage), Fault> {
    let book = daemon.keys.book();
    let handshake = Handshake {
        server_nonce: nonce,
        client_nonce: &identify.nonce,
        server: &daemon.server,
        origin,
    };
    let now = daemon.clock.now();
    let key = book
        .paired(identify.key)
        .filter(|key| key.is_fresh(now))
        .filter(|key| key.secret.proves(&proof::identify(&handshake), &identify.proof));
    let key = key.ok_or_else(|| Reason::KeyUnknown.fault())?;
    if !pace(daemon).takes(key.id, Instant::now()) {
        return Err(Reason::SessionsTooFast.fault());
    }
    use_key(daemon, key.id);
    let who = Who { session: Some(number()), key: Some(key.id), ..admitted.who() };
    let session = session_of(daemon, admitted, key, who);
    daemon.note_session(&session.who);
    let identified = Identified {
        proof: key.secret.sign(&proof::identified(&handshake)),
        scopes: session.scopes.clone(),
        session: session.who.session.unwrap_or_default(),
        epoch: daemon.epoch,
        machine: daemon.machine(),
        devices: daemon.devices.clone(),
        here: Some(daemon.here.clone()),
    };
    Ok((session, ServerMessage::Identified(identified)))
}

async fn pair(
    daemon: &Arc<Daemon>,
    admitted: &Admitted,
    pair: &Pair,
    nonce: Nonce,
    origin: &str,
) -> Result<(Session, ServerMessage), Fault> {
    // Without a code every proof is wrong, and nothing has to be written.
    daemon.keys.look();
    if !daemon.keys.book().has_code(daemon.clock.now()) {
        return Err(Reason::CodeWrong.fault());
    }
    let _turn = daemon.places.turn_to_pair().await;
    let (keys, asked, origin) = (Arc::clone(daemon), pair.clone(), origin.to_owned());
    let mut who = Who { session: Some(number()), ..admitted.who() };
    let logged = who.clone();
    let paired = tokio::task::spawn_blocking(move || {
        let handshake = Handshake {
            server_nonce: &nonce,
            client_nonce: &asked.nonce,
            server: &keys.server,
            origin: &origin,
        };
        let now = keys.clock.now();
        keys.keys.change(|book| {
            let paired = book.pair(&asked, &handshake, now)?;
            // A key that cannot be logged is not created.
            let who = Who { key: Some(paired.0.id), ..logged };
            if keys.notes.write(&Entry::done(who, Action::Pair, &asked.label)) {
                return Ok(paired);
            }
            book.keys.retain(|key| key.id != paired.0.id);
            Err(PairError::Unlogged)
        })
    });
    let unkept = || Reason::KeyUnkept.fault();
    let paired = paired.await.map_err(|_panicked| unkept())?.map_err(|error| {
        eprintln!("pairing failed: {error}");
        unkept()
    })?;
    let (key, proof) = paired.map_err(|error| match error {
        PairError::Wrong => Reason::CodeWrong.fault(),
        PairError::Full => Reason::KeysFull.fault(),
        PairError::Unlogged => Reason::Unlogged.fault(),
    })?;
    who.key = Some(key.id);
    let session = session_of(daemon, admitted, &key, who);
    let paired = Paired {
        key: key.id,
        proof,
        scopes: session.scopes.clone(),
        session: session.who.session.unwrap_or_default(),
        epoch: daemon.epoch,
        machine: daemon.machine(),
        devices: daemon.devices.clone(),
        here: Some(daemon.here.clone()),
    };
    Ok((session, ServerMessage::Paired(paired)))
}

/// The scopes that the key, the daemon's flags and the kind of connection all allow. Over a plain network that is at most
/// `read`.
fn session_of(daemon: &Daemon, admitted: &Admitted, key: &Key, who: Who) -> Session {
    let permitted = |scope: &Scope| {
        let is_near = *scope == Scope::Read || admitted.peer.is_local();
        is_near && daemon.restriction.off(*scope).is_none()
    };
    let scopes = key.scopes.iter().copied().filter(permitted).collect();
    Session { key: key.id, who, granted: key.scopes.clone(), scopes }
}

fn number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

#[cfg(test)]
mod tests;
