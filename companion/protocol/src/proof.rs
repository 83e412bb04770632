//! The texts that both sides authenticate with HMAC-SHA-256. The caller computes the hash: native code with a crate, the page
//! with the browser's Web Cryptography.
//!
//! Each text begins with a name and continues with parts of fixed length, the origin last, so that no proof is valid in place
//! of another.

// The module brings its macro, without which no mutant of these functions compiles (`cargo xtask soak`).
use alloc::vec;

use crate::hex::Hex;

/// Random bytes of one side, new in every handshake.
pub type Nonce = Hex<32>;

/// The parties of one handshake.
#[derive(Debug, Clone, Copy)]
pub struct Handshake<'a> {
    /// Nonce of the daemon, from its hello.
    pub server_nonce: &'a Nonce,
    pub client_nonce: &'a Nonce,
    /// Id of the daemon, from its hello.
    pub server: &'a Hex<16>,
    /// The page's origin as the browser sends it; empty for other programs.
    pub origin: &'a str,
}

/// Text of a client's proof with its key.
pub fn identify(handshake: &Handshake<'_>) -> vec::Vec<u8> {
    text(b"ridgepoint 1 identify\0", handshake, &[], true)
}

/// Text of the daemon's proof with the same key.
pub fn identified(handshake: &Handshake<'_>) -> vec::Vec<u8> {
    text(b"ridgepoint 1 identified\0", handshake, &[], true)
}

/// Text of a client's proof with the characters of a pairing code.
pub fn pair(handshake: &Handshake<'_>) -> vec::Vec<u8> {
    text(b"ridgepoint 1 pair\0", handshake, &[], true)
}

/// Text of the daemon's proof with the same code.
pub fn paired(handshake: &Handshake<'_>, key: Hex<8>) -> vec::Vec<u8> {
    text(b"ridgepoint 1 paired\0", handshake, &key.0, true)
}

/// Text whose HMAC with the code is the secret of the new key.
pub fn pair_key(handshake: &Handshake<'_>, key: Hex<8>) -> vec::Vec<u8> {
    text(b"ridgepoint 1 pair key\0", handshake, &key.0, false)
}

fn text(name: &[u8], handshake: &Handshake<'_>, more: &[u8], with_origin: bool) -> vec::Vec<u8> {
    let mut text = name.to_vec();
    text.extend(handshake.server_nonce.0);
    text.extend(handshake.client_nonce.0);
    text.extend(handshake.server.0);
    text.extend(more);
    if with_origin {
        text.extend(handshake.origin.as_bytes());
    }
    text
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn proofs_are_not_interchangeable() {
        let (a, b) = (Hex([1; 32]), Hex([2; 32]));
        let (server, key) = (Hex([3; 16]), Hex([4; 8]));
        let handshake = Handshake {
            server_nonce: &a,
            client_nonce: &b,
            server: &server,
            origin: "http://localhost:8000",
        };
        let turned = Handshake { server_nonce: &b, client_nonce: &a, ..handshake };
        let elsewhere = Handshake { origin: "http://localhost:3000", ..handshake };
        let mut all = Vec::new();
        for handshake in [handshake, turned, elsewhere] {
            all.extend([
                identify(&handshake),
                identified(&handshake),
                pair(&handshake),
                paired(&handshake, key),
            ]);
        }
        all.extend([pair_key(&handshake, key), pair_key(&turned, key)]);
        for (i, first) in all.iter().enumerate() {
            assert!(all.iter().skip(i + 1).all(|second| first != second), "{i}");
        }
    }
}
