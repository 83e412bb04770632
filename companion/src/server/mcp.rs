//! The Model Context Protocol over HTTP: a POST with one message each, answered with JSON. It needs a token, also on this machine,
//! because a program that was paired asks here, and nobody else.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value};

use super::daemon::Daemon;
use super::reply::{JSON, refuse, text};
use super::rest;
use crate::mcp::{self, Context, DATED, Incoming, META_VERSION, RpcError, RpcReply, Source};

const REVISION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Answers a message.
pub(super) async fn answer(daemon: &Arc<Daemon>, request: Request) -> Response {
    if let Err(refusal) = rest::has_token(daemon, request.headers()) {
        return refuse(daemon, refusal);
    }
    let headers = request.headers().clone();
    let body = match rest::json_body(request).await {
        Ok(body) => body,
        Err(refusal) => return refuse(daemon, refusal),
    };
    let (id, method, params) = match mcp::parse(&body) {
        Err(error) => return said(StatusCode::BAD_REQUEST, &error),
        Ok(Incoming::Request { id, method, params }) => (id, method, params),
        Ok(Incoming::Notification { .. } | Incoming::Response) => {
            return text(StatusCode::ACCEPTED, JSON, "");
        }
    };
    if let Err(error) = agree(&headers, &method, &params) {
        return said(StatusCode::BAD_REQUEST, &error.answer(Some(&id)));
    }
    let is_stateless = names_revision(&params).is_some();
    let context = Context { source: Source::Catalogs, page: page(&headers) };
    let calculated =
        rest::calculated(daemon, move || mcp::respond(&id, &method, &params, &context));
    match calculated.await {
        Ok(reply) => said(status(&reply, is_stateless), &reply.message),
        Err(response) => response,
    }
}

fn said(status: StatusCode, message: &Value) -> Response {
    text(status, JSON, message.to_string())
}

/// The status of an answer. In sessions the error is in the body alone.
fn status(reply: &RpcReply, is_stateless: bool) -> StatusCode {
    match reply.code {
        Some(mcp::NO_METHOD) if is_stateless => StatusCode::NOT_FOUND,
        Some(_) if is_stateless => StatusCode::BAD_REQUEST,
        Some(_) | None => StatusCode::OK,
    }
}

/// The revision that a request names itself.
fn names_revision(params: &Map<String, Value>) -> Option<&Value> {
    params.get("_meta")?.get(META_VERSION)
}

/// The page that this server has, under the name by which it was asked; the guard has checked the name.
fn page(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    format!("http://{}/", host.unwrap_or("localhost"))
}

/// Checks that the headers say the same as the message, so that nobody between decides on something else than this server.
///
/// # Errors
/// A header that differs or is absent, and a revision that this server does not have.
fn agree(headers: &HeaderMap, method: &str, params: &Map<String, Value>) -> Result<(), RpcError> {
    let header = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let named = names_revision(params).and_then(Value::as_str);
    let Some(revision) = named else {
        let given = header(&REVISION).filter(|given| !DATED.contains(given));
        return given.map_or(Ok(()), |given| Err(mcp::unsupported(&Value::from(given))));
    };
    let tool = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call");
    let wanted = [(REVISION, Some(revision)), (METHOD, Some(method)), (NAME, tool)];
    for (name, value) in wanted {
        let Some(value) = value else { continue };
        if header(&name) != Some(value) {
            let message = format!("the header {name} must be the message's `{value}`");
            return Err(RpcError::new(mcp::HEADER_MISMATCH, message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn judged(given: &[(&'static str, &'static str)], method: &str, params: &Value) -> Option<i32> {
        let headers = given
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let params = params.as_object().expect("an object");
        agree(&headers.collect(), method, params).err().map(|error| error.code)
    }

    #[test]
    fn headers_and_message_agree_or_the_request_is_refused() {
        let meta = json!({"_meta": {META_VERSION: "2026-07-28"}, "name": "check"});
        let all = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", "check"),
        ];
        assert_eq!(judged(&all, "tools/call", &meta), None);
        for left_out in 0..all.len() {
            let mut some = all.to_vec();
            some.remove(left_out);
            let found = judged(&some, "tools/call", &meta);
            assert_eq!(found, Some(mcp::HEADER_MISMATCH), "{}", all[left_out].0);
        }
        assert_eq!(judged(&all, "tools/list", &meta), Some(mcp::HEADER_MISMATCH));
        assert_eq!(judged(&all[..1], "tools/list", &json!({})), None);
        assert_eq!(judged(&[], "tools/list", &json!({})), None);
        let old = [("mcp-protocol-version", "2024-11-05")];
        assert_eq!(judged(&old, "ping", &json!({})), Some(-32022));
    }
}
