//! Every address of the daemon in one table, from which requests are answered and the OpenAPI document is written, so that the
//! two cannot differ. Any other address is a file of the page.

use axum::http::Method;

use crate::failure::Failure;
use crate::verbs::api::{self, Given};

/// The address of the socket.
pub(super) const SOCKET: &str = "/ws";

/// An address of the daemon with its handler.
#[derive(Debug)]
pub(super) struct Route {
    pub(super) method: Method,
    /// A last segment `{key}` matches any segment.
    pub(super) path: &'static str,
    pub(super) summary: &'static str,
    pub(super) reply: Reply,
}

/// The handler of a route.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reply {
    /// A calculation on a JSON object with the fields of the verb.
    Compute(&'static str, fn(Given) -> Result<Vec<u8>, Failure>),
    /// A calculation with the prototypes' names.
    Prototype(&'static str, fn(Given) -> Result<Vec<u8>, Failure>),
    /// A catalog, or a row of it.
    Catalog(&'static str),
    Telemetry,
    OpenApi,
    Health,
    Metrics,
    Socket,
    /// A message of the Model Context Protocol.
    Mcp,
}

const fn get(path: &'static str, summary: &'static str, reply: Reply) -> Route {
    Route { method: Method::GET, path, summary, reply }
}

const fn post(path: &'static str, summary: &'static str, reply: Reply) -> Route {
    Route { method: Method::POST, path, summary, reply }
}

/// All addresses of the daemon.
pub(super) static ROUTES: [Route; 23] = [
    post("/api/v1/analyze", "One operator on one device", Reply::Compute("analyze", api::analyze)),
    post("/api/v1/estimate", "A model on a device", Reply::Compute("estimate", api::estimate)),
    post(
        "/api/v1/recommend",
        "Schemes ranked or dropped, with reasons",
        Reply::Compute("recommend", api::recommend),
    ),
    post(
        "/api/v1/sweep",
        "Every combination of lists, one row per point",
        Reply::Compute("sweep", api::sweep),
    ),
    post("/api/v1/tiling", "Tiles and waves of a product", Reply::Compute("tiling", api::tiling)),
    get("/api/v1/hardware", "All devices", Reply::Catalog("hardware")),
    get("/api/v1/hardware/{key}", "One device", Reply::Catalog("hardware")),
    get("/api/v1/models", "All models", Reply::Catalog("models")),
    get("/api/v1/models/{key}", "One model", Reply::Catalog("models")),
    get("/api/v1/formats", "All formats", Reply::Catalog("formats")),
    get("/api/v1/formats/{key}", "One format", Reply::Catalog("formats")),
    get("/api/v1/telemetry", "The sensors of this machine, now", Reply::Telemetry),
    get("/api/openapi.json", "This document", Reply::OpenApi),
    get("/api/hardware", "As /api/v1/hardware", Reply::Catalog("hardware")),
    get("/api/nvml/status", "As /api/v1/telemetry", Reply::Telemetry),
    post(
        "/api/analyze",
        "As /api/v1/analyze, with M, N, K and hardware_key",
        Reply::Prototype("analyze", api::analyze),
    ),
    post(
        "/api/recommend",
        "As /api/v1/recommend, with M, N, K and hardware_key",
        Reply::Prototype("recommend", api::recommend),
    ),
    post(
        "/api/sweep",
        "As /api/v1/sweep, with M, N, K and hardware_key",
        Reply::Prototype("sweep", api::sweep),
    ),
    post(
        "/api/tiling",
        "As /api/v1/tiling, with M, N, K and hardware_key",
        Reply::Prototype("tiling", api::tiling),
    ),
    get("/healthz", "200 if jobs can be started, 503 with the reason if not", Reply::Health),
    get("/metrics", "Counters and sensors for Prometheus", Reply::Metrics),
    post("/mcp", "The Model Context Protocol, one message each; needs a token", Reply::Mcp),
    get(SOCKET, "The socket of the page", Reply::Socket),
];

/// True for paths of the table and for all below `/api`.
pub(super) fn is_api(path: &str) -> bool {
    path == "/api"
        || path.starts_with("/api/")
        || ROUTES.iter().any(|route| matches(route.path, path).is_some())
}

/// The key in a path that matches a route; empty if the route has no `{key}`.
pub(super) fn matches<'p>(route: &str, path: &'p str) -> Option<&'p str> {
    let Some(start) = route.strip_suffix("{key}") else { return (route == path).then_some("") };
    let key = path.strip_prefix(start)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (!key.is_empty() && key.bytes().all(plain)).then_some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_address_is_there_twice() {
        for (i, route) in ROUTES.iter().enumerate() {
            let twice = |other: &Route| other.path == route.path && other.method == route.method;
            assert!(!ROUTES[i + 1..].iter().any(twice), "{}", route.path);
        }
    }

    #[test]
    fn a_key_is_one_plain_segment() {
        let path = "/api/v1/models/{key}";
        assert_eq!(matches(path, "/api/v1/models/llama-3.1-8b"), Some("llama-3.1-8b"));
        for bad in
            ["/api/v1/models/", "/api/v1/models/a/b", "/api/v1/models/%2e%2e", "/api/v1/models"]
        {
            assert_eq!(matches(path, bad), None, "{bad}");
        }
    }
}
