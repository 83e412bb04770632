//! The REST answers: calculations, catalogs, sensors, health.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::Response;
use protocol::scope::Scope;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::daemon::Daemon;
use super::peer::Peer;
use super::refusal::Refusal;
use super::reply::{JSON, error, json, refuse, text};
use crate::failure::Failure;
use crate::verbs::api::{self, Given};

/// Largest body, in bytes.
pub(super) const BODY: usize = 256 * 1024;
const BODY_TIME: Duration = Duration::from_secs(10);
const ANSWER_TIME: Duration = Duration::from_secs(30);

type Compute = fn(Given) -> Result<Vec<u8>, Failure>;

/// Requests on this machine may read without a token. A token is required over the network, and a token that is sent must be valid.
pub(super) fn may_read(daemon: &Daemon, peer: Peer, headers: &HeaderMap) -> Result<(), Refusal> {
    let is_open = peer.is_local() && !headers.contains_key(header::AUTHORIZATION);
    if is_open { Ok(()) } else { has_token(daemon, headers) }
}

/// Checks that a request has one valid token that may read.
pub(super) fn has_token(daemon: &Daemon, headers: &HeaderMap) -> Result<(), Refusal> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = given.next() else { return Err(Refusal::Token) };
    let token = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
    let book = daemon.keys.book();
    let key = token.and_then(|token| book.token(token));
    if given.next().is_none() && key.is_some_and(|key| key.scopes.contains(&Scope::Read)) {
        return Ok(());
    }
    daemon.counters.auth_failures.fetch_add(1, Ordering::Relaxed);
    Err(Refusal::Token)
}

/// The answer to a JSON object.
pub(super) async fn compute(daemon: &Arc<Daemon>, compute: Compute, request: Request) -> Response {
    match fields(request).await {
        Ok(given) => run(daemon, compute, given).await,
        Err(Bad::Refused(refusal)) => refuse(daemon, refusal),
        Err(Bad::Json(why)) => error(StatusCode::BAD_REQUEST, &why),
    }
}

/// The answer to a request with the prototypes' names: `hardware_key` in the query, `M`, `N`, `K` in the body.
pub(super) async fn prototype(
    daemon: &Arc<Daemon>,
    compute: Compute,
    request: Request,
) -> Response {
    let query = request.uri().query().unwrap_or_default().to_owned();
    match fields(request).await {
        Ok(given) => run(daemon, compute, renamed(&query, given)).await,
        Err(Bad::Refused(refusal)) => refuse(daemon, refusal),
        Err(Bad::Json(why)) => error(StatusCode::BAD_REQUEST, &why),
    }
}

/// The prototypes' names and the published ones. Their default weight format was FP16.
const NAMES: [(&str, &str); 6] = [
    ("M", "m"),
    ("N", "n"),
    ("K", "k"),
    ("hardware_key", "hardware"),
    ("precision", "weights"),
    ("precisions", "weights"),
];

fn renamed(query: &str, given: Given) -> Given {
    let queried = query.split('&').filter_map(|pair| pair.split_once('='));
    let queried = queried.map(|(key, value)| (key.to_owned(), Value::String(value.to_owned())));
    let mut fields: Given = queried
        .chain(given)
        .map(|(key, value)| {
            let name = NAMES.iter().find(|(theirs, _)| *theirs == key);
            (name.map_or(key, |(_, ours)| (*ours).to_owned()), value)
        })
        .collect();
    if !fields.contains_key("model") {
        fields.entry("weights").or_insert_with(|| json!("fp16"));
    }
    fields
}

enum Bad {
    Refused(Refusal),
    Json(String),
}

async fn fields(request: Request) -> Result<Given, Bad> {
    let body = json_body(request).await.map_err(Bad::Refused)?;
    report::input::json_input::object(&body)
        .map_err(|error| Bad::Json(format!("not a JSON object: {error}")))
}

/// The body of a request that says that it is JSON.
pub(super) async fn json_body(request: Request) -> Result<Bytes, Refusal> {
    let media = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = media.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/json") {
        return Err(Refusal::MediaType);
    }
    let read = timeout(BODY_TIME, to_bytes(request.into_body(), BODY)).await;
    read.map_err(|_elapsed| Refusal::BodyTooSlow)?.map_err(|_long| Refusal::BodyTooLarge)
}

async fn run(daemon: &Arc<Daemon>, compute: Compute, given: Given) -> Response {
    calculated(daemon, move || compute(given)).await.map_or_else(|refused| refused, answered_with)
}

/// Calculates in another thread, with at most [`super::daemon`]'s number of concurrent calculations; the error is the answer then.
pub(super) async fn calculated<T: Send + 'static>(
    daemon: &Arc<Daemon>,
    calculation: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    let answered = timeout(ANSWER_TIME, async {
        let place = Arc::clone(&daemon.computing).acquire_owned().await;
        tokio::task::spawn_blocking(move || {
            let _place = place;
            calculation()
        })
        .await
    });
    match answered.await {
        Err(_) => Err(refuse(daemon, Refusal::Busy)),
        Ok(Err(panicked)) => {
            daemon.counters.panics.fetch_add(1, Ordering::Relaxed);
            eprintln!("a calculation panicked: {panicked}");
            let why = "a defect of this program; see its messages";
            Err(error(StatusCode::INTERNAL_SERVER_ERROR, why))
        }
        Ok(Ok(answer)) => Ok(answer),
    }
}

fn answered_with(answer: Result<Vec<u8>, Failure>) -> Response {
    match answer {
        Ok(body) => json(body),
        Err(Failure::BadInput(line) | Failure::NoDevice(line) | Failure::NotMet(line)) => {
            error(StatusCode::BAD_REQUEST, &line)
        }
        Err(Failure::Failed(line) | Failure::Permission(line)) => {
            error(StatusCode::INTERNAL_SERVER_ERROR, &line)
        }
        Err(Failure::NobodyReads) => error(StatusCode::INTERNAL_SERVER_ERROR, "no answer"),
    }
}

/// A catalog, or a row of it.
pub(super) fn catalog(name: &str, key: Option<&str>) -> Response {
    match (api::catalog(name, key), key) {
        (Err(Failure::BadInput(line)), Some(_)) => error(StatusCode::NOT_FOUND, &line),
        (answer, _) => answered_with(answer),
    }
}

/// Readings of all sensors.
pub(super) async fn telemetry(daemon: &Daemon) -> Response {
    let told = daemon.sensors.latest().await.told();
    json(serde_json::to_vec(&told).expect("readings have text keys"))
}

/// Health: 503 once the job store is broken, while the audit log cannot be written, and while a killed worker holds a device.
pub(super) fn health(daemon: &Daemon, query: Option<&str>) -> Response {
    assert!(!(daemon.hooks.panics() && query == Some("panic")), "as the test hook asked");
    let version = env!("CARGO_PKG_VERSION");
    let fault = if daemon.jobs.store().is_broken() {
        Some("results cannot be stored".to_owned())
    } else if daemon.notes.is_failing() {
        Some("the audit log cannot be written".to_owned())
    } else {
        daemon.jobs.wedged().map(|fault| fault.message)
    };
    if let Some(fault) = fault {
        let body = json!({ "status": fault, "version": version });
        return text(StatusCode::SERVICE_UNAVAILABLE, JSON, body.to_string());
    }
    json(json!({ "status": "ok", "version": version, "protocol": protocol::VERSION }).to_string())
}

#[cfg(all(test, debug_assertions))]
mod wedged;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_prototypes_are_translated() {
        let given = serde_json::from_str(r#"{"M":1,"N":4096,"K":2048}"#).unwrap();
        let fields = Value::Object(renamed("hardware_key=jetson_orin_nano", given));
        let expected = json!({"hardware": "jetson_orin_nano", "m": 1, "n": 4096, "k": 2048, "weights": "fp16"});
        assert_eq!(fields, expected);
        let named = serde_json::from_str(r#"{"precision":"int8"}"#).unwrap();
        assert_eq!(renamed("", named)["weights"], "int8");
    }
}
