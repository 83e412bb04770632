//! Answers that are not files: a refusal, a text, JSON.

use axum::Extension;
use axum::body::Body;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::daemon::Daemon;
use super::refusal::Refusal;

/// Media type of JSON.
pub(super) const JSON: &str = "application/json";

/// Counts a refusal and answers with its sentence.
pub(super) fn refuse(daemon: &Daemon, refusal: Refusal) -> Response {
    daemon.counters.refused(refusal);
    let status = refusal.status();
    let text = format!("{}: {}\n", status.as_u16(), refusal.sentence());
    // The guard reads the extension, because it knows the peer.
    (status, Extension(refusal), text).into_response()
}

/// A text that no cache keeps.
pub(super) fn text(
    status: StatusCode,
    content_type: &'static str,
    body: impl Into<Body>,
) -> Response {
    let headers = [(header::CONTENT_TYPE, content_type), (header::CACHE_CONTROL, "no-store")];
    (status, headers, body.into()).into_response()
}

/// A JSON answer.
pub(super) fn json(body: impl Into<Body>) -> Response {
    text(StatusCode::OK, JSON, body)
}

/// A JSON refusal, in the form of the command line's.
pub(super) fn error(status: StatusCode, line: &str) -> Response {
    text(status, JSON, json!({ "error": line }).to_string())
}
