//! The address of the page: the links that open and pair it, and the folder of a built page beside this program.

use std::path::PathBuf;

/// The origin of the hosted page, set when a release is built. Without it only the daemon's own page is trusted.
/// An empty origin counts as none.
pub(super) const HOSTED: Option<&str> = match option_env!("RIDGEPOINT_PAGE_ORIGIN") {
    Some(origin) if !origin.is_empty() => Some(origin),
    _ => None,
};

/// The link with the pairing code as its fragment, which browsers do not send, and which the page removes at once.
pub(super) fn link(address: &str, code: &str) -> String {
    format!("{address}#pair={code}")
}

/// The link to the hosted page with the same code, if there is a hosted page.
pub(super) fn hosted_link(address: &str, code: &str) -> Option<String> {
    let port = address.trim_end_matches('/').rsplit(':').next()?;
    HOSTED.map(|page| format!("{page}/#d=127.0.0.1:{port}&pair={code}"))
}

/// The folder of the page beside this program, as in a release.
pub(super) fn beside() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.join("site");
    folder.join("index.html").is_file().then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server;

    /// An empty origin would allow requests with an empty `Origin`.
    #[test]
    fn the_origin_of_a_release_is_plain_or_none() {
        assert!(HOSTED.is_none_or(server::is_plain), "{HOSTED:?}");
    }
}
