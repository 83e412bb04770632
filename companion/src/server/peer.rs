//! The peer of a request or a socket: its kind of connection, and the facts that the guard has established about it.

use std::net::{IpAddr, Ipv4Addr};

use crate::audit::Who;

/// The kind of connection.
#[derive(Debug, Clone, Copy)]
pub(super) enum Peer {
    /// Through 127.0.0.1 or [::1].
    Here,
    /// Through a socket of the file system, which only this user opens.
    Socket,
    /// From another machine, or through an address that others reach too.
    Network(IpAddr),
}

/// Peers that share their places: users and programs of this machine, and each address or network of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Group {
    Here,
    Socket,
    Four(Ipv4Addr),
    /// The first half of an address: one home has as many of the other half as it likes.
    Six([u16; 4]),
}

impl Peer {
    pub(super) fn group(self) -> Group {
        match self {
            Self::Here => Group::Here,
            Self::Socket => Group::Socket,
            Self::Network(IpAddr::V4(address)) => Group::Four(address),
            Self::Network(IpAddr::V6(address)) => {
                let [a, b, c, d, ..] = address.segments();
                Group::Six([a, b, c, d])
            }
        }
    }

    /// True if no other machine can read the connection.
    pub(super) const fn is_local(self) -> bool {
        !matches!(self, Self::Network(_))
    }
}

/// A request that passed the guard.
#[derive(Debug, Clone)]
pub(super) struct Admitted {
    pub(super) peer: Peer,
    /// The allowed origin of the page, if a page sent the request.
    pub(super) origin: Option<String>,
}

impl Admitted {
    /// The client, for the audit log.
    pub(super) fn who(&self) -> Who {
        who(self.peer, self.origin.as_deref())
    }
}

/// The client of a request or a socket, for the audit log.
pub(super) fn who(peer: Peer, origin: Option<&str>) -> Who {
    let peer = match peer {
        Peer::Here => "this machine".to_owned(),
        Peer::Socket => "unix socket".to_owned(),
        Peer::Network(address) => address.to_string(),
    };
    Who { peer, origin: origin.map(str::to_owned), ..Who::default() }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use super::*;

    /// An address of this machine counts as the network, too, where the daemon listens to others.
    #[test]
    fn a_peer_of_the_network_is_never_local() {
        assert!(Peer::Here.is_local() && Peer::Socket.is_local());
        for address in [
            IpAddr::V4(Ipv4Addr::new(192, 168, 1, 20)),
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ] {
            assert!(!Peer::Network(address).is_local(), "{address}");
        }
    }
}
