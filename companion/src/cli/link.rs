//! Where the page is: the links that open it and pair it, and the built page beside this program.

use std::path::PathBuf;

/// The origin of the hosted page, set when a release is built. Without it no page but the daemon's own is trusted.
/// An empty one is none.
pub(super) const HOSTED: Option<&str> = match option_env!("RIDGEPOINT_PAGE_ORIGIN") {
    Some(origin) if !origin.is_empty() => Some(origin),
    _ => None,
};

/// The page with its code. A fragment is not sent to any server, and the page removes it at once.
pub(super) fn link(address: &str, code: &str) -> String {
    format!("{address}#pair={code}")
}

/// The hosted page with the same code, if there is one.
pub(super) fn hosted_link(address: &str, code: &str) -> Option<String> {
    let port = address.trim_end_matches('/').rsplit(':').next()?;
    HOSTED.map(|page| format!("{page}/#d=127.0.0.1:{port}&pair={code}"))
}

/// The page beside this program, where a release has it.
pub(super) fn beside() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.join("site");
    folder.join("index.html").is_file().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server;

    /// An empty one would allow requests with an empty `Origin`.
    #[test]
    fn the_origin_of_a_release_is_plain_or_none() {
        assert!(HOSTED.is_none_or(server::is_plain), "{HOSTED:?}");
    }
}
