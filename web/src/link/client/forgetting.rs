//! A key that the reader wants to forget.

use protocol::hex::Hex;

/// The key that the reader wants to forget, until the daemon has revoked it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Forgetting {
    /// Number of the request.
    pub(super) id: Option<u32>,
    pub(super) key: Option<Hex<8>>,
}

impl Forgetting {
    /// The sentence for a daemon that did not revoke the key: what is left to do there.
    pub(super) fn stays(self, why: &str) -> String {
        let key = self.key.map_or_else(|| "KEY".to_owned(), |key| key.to_string());
        format!(
            "This browser has forgotten the key, and the daemon keeps it: {why}. ridgepoint keys revoke {key} revokes it there."
        )
    }
}
