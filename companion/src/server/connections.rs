//! Connections: a limited number, with a time limit for request heads. At the limit, the peer with the most connections gives up the
//! one that has been idle for the longest time; one that has just come and asked nothing yet has a moment for that. Sockets of sessions do not count, so a flood of connections ends no session.

use std::convert::Infallible;
use std::io;
use std::net;
use std::os::unix::net as unix;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};

use super::daemon::Daemon;
use super::fair::{Place, Rule, Table};
use super::guard;
use super::peer::{Group, Peer};
use super::places::{SHELTER, SHELTERED};

/// Largest number of open connections.
const CONNECTIONS: usize = 128;
const HEAD_TIME: Duration = Duration::from_secs(10);
const HEAD_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;

/// The open connections.
pub(super) type Connections = Arc<Table<Group>>;

/// No connection yet.
pub(super) fn none() -> Connections {
    let (sheltered, shelter) = (SHELTERED, SHELTER);
    Table::new(Rule { most: CONNECTIONS, sheltered, shelter, only_larger: false })
}

/// An address or path that is bound, before the daemon listens there.
#[derive(Debug)]
pub(crate) enum Bound {
    /// An address, which only this machine reaches (`is_local`) or others too.
    Tcp { listener: net::TcpListener, is_local: bool },
    /// A path, which is removed at the end.
    Unix { listener: unix::UnixListener, path: PathBuf },
}

impl Bound {
    /// True if other machines reach it.
    pub(crate) const fn is_on_network(&self) -> bool {
        matches!(self, Self::Tcp { is_local: false, .. })
    }
}

/// A listener of the asynchronous runtime.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp { listener: TcpListener, is_local: bool },
    Unix(UnixListener),
}

/// The byte stream of a connection.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

impl Listener {
    pub(super) fn of(bound: Bound) -> io::Result<Self> {
        Ok(match bound {
            Bound::Tcp { listener, is_local } => {
                listener.set_nonblocking(true)?;
                Self::Tcp { listener: TcpListener::from_std(listener)?, is_local }
            }
            Bound::Unix { listener, .. } => {
                listener.set_nonblocking(true)?;
                Self::Unix(UnixListener::from_std(listener)?)
            }
        })
    }

    async fn accept(&self) -> io::Result<(Box<dyn Wire>, Peer)> {
        match self {
            Self::Tcp { listener, is_local } => {
                let (stream, from) = listener.accept().await?;
                // Answers are small and latency counts.
                let _ = stream.set_nodelay(true);
                let network = Peer::Network(from.ip().to_canonical());
                Ok((Box::new(stream), if *is_local { Peer::Here } else { network }))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Box::new(stream), Peer::Socket))
            }
        }
    }
}

/// Accepts until the daemon ends.
pub(super) async fn accept(daemon: Arc<Daemon>, connections: Connections, listener: Listener) {
    let mut ending = daemon.ending.subscribe();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ending.wait_for(|ending| *ending) => return,
        };
        let Ok((stream, peer)) = accepted else {
            // No file descriptor is left, or the client closed the connection before it was accepted.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        if let Some((place, evicted)) = connections.enter(peer.group()) {
            daemon.counters.evicted.fetch_add(u64::from(evicted), Ordering::Relaxed);
            tokio::spawn(attend(Arc::clone(&daemon), stream, peer, place));
        }
        // During a flood of connections, other tasks run in between.
        tokio::task::yield_now().await;
    }
}

pub(super) async fn attend(
    daemon: Arc<Daemon>,
    stream: Box<dyn Wire>,
    peer: Peer,
    place: Place<Group>,
) {
    let place = Arc::new(place);
    let asked = Arc::clone(&place);
    let service = service_fn(move |request: Request<Incoming>| {
        let answered = Arc::clone(&asked);
        answered.begin();
        let answer = guard::answer(Arc::clone(&daemon), peer, request.map(Body::new));
        async move {
            let answer = answer.await;
            answered.end();
            Ok::<_, Infallible>(answer)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        // Protocol errors of a client were answered where HTTP has an answer.
        _ = connection => {}
        () = place.to_leave() => {}
    }
}

#[cfg(test)]
mod fuzz;
