//! The checks before every route: host name, origin, no secrets in the query. A panic ends its request only. Also the
//! headers of every answer.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use super::daemon::Daemon;
use super::origin::{About, LONGEST};
use super::peer::{self, Admitted, Peer};
use super::refusal::Refusal;
use super::reply::refuse;
use super::{host, origin, routes, table};
use crate::audit::Action;

/// Query keys that other programs use for secrets; logs and histories would keep their values.
const SECRETS: [&str; 8] =
    ["token", "access_token", "api_key", "apikey", "secret", "pair", "code", "password"];
const OVERRIDES: [&str; 3] = ["x-http-method-override", "x-http-method", "x-method-override"];

const FIXED: [(HeaderName, &str); 5] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), microphone=(), geolocation=()"),
];

/// Answers a request.
pub(super) async fn answer(daemon: Arc<Daemon>, peer: Peer, request: Request) -> Response {
    let judged = judge(&daemon, peer, &request).map(|(host, admitted)| (host.to_owned(), admitted));
    let stranger = request.headers().get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
    let stranger = stranger.filter(|origin| origin.len() <= LONGEST).map(str::to_owned);
    let (host, mut response, origin) = match judged {
        Ok((host, admitted)) => {
            let origin = admitted.origin.clone();
            let response = match preflight(&request, origin.as_deref()) {
                Some(response) => response,
                None => contained(&daemon, admitted, request).await,
            };
            (Some(host), response, origin)
        }
        Err(refusal) => (None, refuse(&daemon, refusal), None),
    };
    if let Some(refusal) = response.extensions().get::<Refusal>() {
        let who = || peer::who(peer, stranger.as_deref());
        daemon.note_refusal(who, Action::Request, refusal.key());
    }
    set_headers(response.headers_mut(), host.as_deref(), origin.as_deref());
    response
}

fn judge<'r>(
    daemon: &Daemon,
    peer: Peer,
    request: &'r Request,
) -> Result<(&'r str, Admitted), Refusal> {
    let headers = request.headers();
    let host = host::asked(headers, request.uri(), &daemon.hosts)?;
    if names_a_secret(request.uri()) {
        return Err(Refusal::SecretInAddress);
    }
    if OVERRIDES.iter().any(|name| headers.contains_key(*name)) {
        return Err(Refusal::Override);
    }
    let path = request.uri().path();
    let about = About {
        headers,
        method: request.method(),
        host,
        is_api: table::is_api(path),
        is_socket: path == table::SOCKET,
    };
    let origin = origin::allowed(about, &daemon.origins)?.map(str::to_owned);
    Ok((host, Admitted { peer, origin }))
}

fn names_a_secret(uri: &Uri) -> bool {
    let pairs = uri.query().unwrap_or_default().split('&');
    pairs
        .map(|pair| pair.split('=').next().unwrap_or_default())
        .any(|key| SECRETS.iter().any(|secret| key.eq_ignore_ascii_case(secret)))
}

/// The answer to a CORS preflight request; the origin was allowed before.
fn preflight(request: &Request, origin: Option<&str>) -> Option<Response> {
    let asks = request.method() == Method::OPTIONS
        && origin.is_some()
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    asks.then(|| {
        let headers = [
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, "content-type, authorization"),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ];
        (StatusCode::NO_CONTENT, headers).into_response()
    })
}

/// Answers in a separate task, so that a panic ends this request only.
async fn contained(daemon: &Arc<Daemon>, admitted: Admitted, request: Request) -> Response {
    let task = tokio::spawn(routes::answer(Arc::clone(daemon), admitted, request));
    // The task is aborted when the client disconnects.
    let task = AbortOnDrop(task);
    task.joined().await.unwrap_or_else(|_| {
        daemon.counters.panics.fetch_add(1, Ordering::Relaxed);
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        (status, "500: a defect of this program; see its messages\n").into_response()
    })
}

struct AbortOnDrop(tokio::task::JoinHandle<Response>);

impl AbortOnDrop {
    async fn joined(mut self) -> Result<Response, tokio::task::JoinError> {
        (&mut self.0).await
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sets the headers that every answer has, refusals included.
fn set_headers(headers: &mut HeaderMap, host: Option<&str>, origin: Option<&str>) {
    for (name, value) in FIXED {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Ok(policy) = HeaderValue::from_str(&policy(host)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    if let Ok(vary) = HeaderValue::from_str(&vary(headers)) {
        headers.insert(header::VARY, vary);
    }
    // CORS never allows a wildcard and never credentials.
    if let Some(origin) = origin.and_then(|origin| HeaderValue::from_str(origin).ok()) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        let shared = HeaderValue::from_static("cross-origin");
        headers.insert(HeaderName::from_static("cross-origin-resource-policy"), shared);
    }
}

/// The request headers on which an answer depends, in one line: what its route named, and the origin.
fn vary(headers: &HeaderMap) -> String {
    let named = headers.get(header::VARY).and_then(|named| named.to_str().ok());
    named.map_or_else(|| "Origin".to_owned(), |named| format!("{named}, Origin"))
}

/// The content security policy. The page has the same one in a meta element except for `frame-ancestors`, which only a header can set,
/// and except for the address of the socket.
fn policy(host: Option<&str>) -> String {
    let socket = host.map(|host| format!(" ws://{host}")).unwrap_or_default();
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
         connect-src 'self'{socket} https://huggingface.co https://*.hf.co; worker-src 'self'; manifest-src 'self'; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'"
    )
}
