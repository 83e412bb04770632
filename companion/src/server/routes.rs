//! Dispatches an admitted request to the route that answers it.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;

use super::daemon::Daemon;
use super::peer::Admitted;
use super::refusal::Refusal;
use super::table::{ROUTES, Reply, is_api, matches};
use super::{mcp, metrics, openapi, reply, rest, upgrade};

/// Answers an admitted request.
pub(super) async fn answer(daemon: Arc<Daemon>, admitted: Admitted, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let mut methods = Vec::new();
    for route in &ROUTES {
        let Some(key) = matches(route.path, &path) else { continue };
        let method = request.method();
        if *method == route.method || (*method == Method::HEAD && route.method == Method::GET) {
            return answer_by(&daemon, route.reply, key, &admitted, request).await;
        }
        methods.push(route.method.as_str());
    }
    if !methods.is_empty() {
        let mut response = reply::refuse(&daemon, Refusal::Method);
        if let Ok(allow) = HeaderValue::from_str(&methods.join(", ")) {
            response.headers_mut().insert(header::ALLOW, allow);
        }
        return response;
    }
    if is_api(&path) {
        return reply::error(StatusCode::NOT_FOUND, "no such address; see /api/openapi.json");
    }
    let (head, _) = request.into_parts();
    daemon.site.answer(&head.method, &head.headers, &path).await
}

async fn answer_by(
    daemon: &Arc<Daemon>,
    reply: Reply,
    key: &str,
    admitted: &Admitted,
    request: Request,
) -> Response {
    // Over the network the others need a token; /mcp needs one everywhere and asks itself.
    let open = matches!(reply, Reply::Health | Reply::Socket | Reply::Mcp);
    if !open && let Err(refusal) = rest::may_read(daemon, admitted.peer, request.headers()) {
        return reply::refuse(daemon, refusal);
    }
    match reply {
        Reply::Compute(_, compute) => rest::compute(daemon, compute, request).await,
        Reply::Prototype(_, compute) => rest::prototype(daemon, compute, request).await,
        Reply::Catalog(name) => rest::catalog(name, Some(key).filter(|key| !key.is_empty())),
        Reply::Telemetry => rest::telemetry(daemon).await,
        Reply::OpenApi => reply::json(openapi::document().to_string()),
        Reply::Health => rest::health(daemon, request.uri().query()),
        Reply::Metrics => metrics::answer(daemon).await,
        Reply::Mcp => mcp::answer(daemon, request).await,
        Reply::Socket => upgrade::open(daemon, admitted, request).await,
    }
}
