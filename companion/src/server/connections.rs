//! Connections: a limited number, with a time limit for request heads. At the limit, the oldest connection without a request is
//! closed. Sockets of sessions do not count, so a flood of idle connections ends no session.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net;
use std::os::unix::net as unix;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::AbortHandle;

use super::daemon::Daemon;
use super::guard;
use super::peer::Peer;

/// Largest number of open connections.
const CONNECTIONS: usize = 128;
const HEAD_TIME: Duration = Duration::from_secs(10);
const HEAD_BYTES: usize = 16 * 1024;
const HEADERS: usize = 64;

/// The open connections, oldest first.
#[derive(Debug, Default)]
pub(super) struct Connections {
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    last: u64,
    all: BTreeMap<u64, Connection>,
}

#[derive(Debug)]
struct Connection {
    handle: AbortHandle,
    /// True once it has sent a complete request.
    has_asked: bool,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn number(&self) -> u64 {
        let mut open = self.lock();
        open.last += 1;
        open.last
    }

    /// Adds a connection; true if another one was closed for it.
    fn add(&self, number: u64, handle: AbortHandle) -> bool {
        let mut open = self.lock();
        // The connection may have ended already.
        if !handle.is_finished() {
            open.all.insert(number, Connection { handle, has_asked: false });
        }
        if open.all.len() <= CONNECTIONS {
            return false;
        }
        let silent = open.all.iter().find(|(_, connection)| !connection.has_asked);
        let Some(number) = silent.or_else(|| open.all.iter().next()).map(|(number, _)| *number)
        else {
            return false;
        };
        open.all.remove(&number).inspect(|gone| gone.handle.abort()).is_some()
    }

    fn has_asked(&self, number: u64) {
        if let Some(connection) = self.lock().all.get_mut(&number) {
            connection.has_asked = true;
        }
    }

    fn remove(&self, number: u64) {
        self.lock().all.remove(&number);
    }
}

/// An address or path that is bound, before the daemon listens there.
#[derive(Debug)]
pub(crate) enum Bound {
    /// An address, which only this machine reaches (`is_local`) or others too.
    Tcp { listener: net::TcpListener, is_local: bool },
    /// A path, which is removed at the end.
    Unix { listener: unix::UnixListener, path: PathBuf },
}

/// A listener of the asynchronous runtime.
#[derive(Debug)]
pub(super) enum Listener {
    Tcp { listener: TcpListener, is_local: bool },
    Unix(UnixListener),
}

/// The byte stream of a connection.
trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

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
pub(super) async fn accept(daemon: Arc<Daemon>, connections: Arc<Connections>, listener: Listener) {
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
        let number = connections.number();
        let task = tokio::spawn(attend(
            Arc::clone(&daemon),
            Arc::clone(&connections),
            stream,
            peer,
            number,
        ));
        if connections.add(number, task.abort_handle()) {
            daemon.counters.evicted.fetch_add(1, Ordering::Relaxed);
        }
        // During a flood of connections, other tasks run in between.
        tokio::task::yield_now().await;
    }
}

async fn attend(
    daemon: Arc<Daemon>,
    connections: Arc<Connections>,
    stream: Box<dyn Wire>,
    peer: Peer,
    number: u64,
) {
    let asked = Arc::clone(&connections);
    let service = service_fn(move |request: Request<Incoming>| {
        asked.has_asked(number);
        let answer = guard::answer(Arc::clone(&daemon), peer, request.map(Body::new));
        async { Ok::<_, Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(HEADERS)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // Protocol errors of a client were answered where HTTP has an answer.
    let _ = connection.await;
    connections.remove(number);
}
