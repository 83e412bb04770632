//! The states of a connection.

use crate::link::session::DaemonSession;

/// State of the connection.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum State {
    /// Not connected, and no connection was requested.
    #[default]
    Idle,
    /// Proofs cannot be computed: the page is in a frame, or came over plain HTTP, where browsers offer no Web Crypto.
    NoCrypto,
    /// The socket is being opened, or the handshake is under way.
    Opening,
    /// Both sides are authenticated.
    Connected(DaemonSession),
    /// The daemon does not know this browser; with the daemon's reason, which may be empty.
    Unpaired(String),
    /// Page and daemon have no protocol version in common; with the daemon's version.
    OtherVersion(String),
    /// No answer from the address.
    Unreachable,
    /// The browser denies local connections.
    Blocked,
    /// The policy of the page forbids the address; with what it allows, in the form of the policy.
    Forbidden(String),
    /// An established connection was lost; with the number of reconnection attempts.
    Lost(u32),
    /// Refused by the daemon, or by the page because the daemon's proof was wrong; with the reason.
    Refused(String),
}
