//! Revisions of the protocol. Up to 2025-11-25 a client opens a session with `initialize`; from 2026-07-28 on every request names its
//! revision, and there are no sessions.

use serde_json::{Map, Value, json};

use super::message::{INVALID_PARAMS, RpcError, UNSUPPORTED_REVISION};

/// Revisions that this server has, the newest first.
pub(crate) const DATED: [&str; 3] = [STATELESS, "2025-11-25", "2025-06-18"];

/// The revision whose requests name it themselves.
const STATELESS: &str = "2026-07-28";

/// Key of the revision in the metadata of a request.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// How a request is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Revision {
    /// After `initialize`.
    Session,
    /// By itself.
    Stateless,
}

impl Revision {
    /// The revision of a request.
    ///
    /// # Errors
    /// A revision that this server does not have, and metadata without the client's capabilities.
    pub(crate) fn of(params: &Map<String, Value>) -> Result<Self, RpcError> {
        let meta = params.get("_meta").and_then(Value::as_object);
        let Some(version) = meta.and_then(|meta| meta.get(META_VERSION)) else {
            return Ok(Self::Session);
        };
        if version.as_str() != Some(STATELESS) {
            return Err(unsupported(version));
        }
        let has = meta.and_then(|meta| meta.get(META_CAPABILITIES)).is_some_and(Value::is_object);
        if has {
            return Ok(Self::Stateless);
        }
        let message = format!("the `_meta` of a request has a JSON object as {META_CAPABILITIES}");
        Err(RpcError::new(INVALID_PARAMS, message))
    }

    /// The revision that answers `initialize`: the asked one, or the newest with sessions.
    pub(super) fn negotiated(asked: &str) -> &'static str {
        let mut with_sessions = DATED.into_iter().filter(|version| *version != STATELESS);
        let newest = DATED[1];
        with_sessions.find(|version| *version == asked).unwrap_or(newest)
    }
}

/// The error for a revision that this server does not have.
pub(crate) fn unsupported(version: &Value) -> RpcError {
    let message = format!(
        "this server does not have the revision {version} of the protocol; it has {}",
        DATED.join(", ")
    );
    let data = json!({ "supported": DATED, "requested": version });
    RpcError { code: UNSUPPORTED_REVISION, message, data: Some(data) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_gets_the_asked_revision_or_the_newest() {
        for (asked, expected) in [
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2024-11-05", "2025-11-25"),
            (STATELESS, "2025-11-25"),
            ("2099-01-01", "2025-11-25"),
            ("", "2025-11-25"),
        ] {
            assert_eq!(Revision::negotiated(asked), expected, "{asked}");
        }
    }

    #[test]
    fn a_request_names_its_revision_or_belongs_to_a_session() {
        let of = |params: Value| Revision::of(params.as_object().expect("an object"));
        let version =
            |version: &str| json!({"_meta": {META_VERSION: version, META_CAPABILITIES: {}}});
        assert_eq!(of(json!({})), Ok(Revision::Session));
        assert_eq!(of(json!({"_meta": 1})), Ok(Revision::Session));
        assert_eq!(of(version(STATELESS)), Ok(Revision::Stateless));
        for (params, code) in [
            (version("1900-01-01"), UNSUPPORTED_REVISION),
            (version("2025-11-25"), UNSUPPORTED_REVISION),
            (json!({"_meta": {META_VERSION: 1}}), UNSUPPORTED_REVISION),
            (json!({"_meta": {META_VERSION: STATELESS}}), INVALID_PARAMS),
        ] {
            assert_eq!(of(params.clone()).expect_err("refused").code, code, "{params}");
        }
    }
}
