//! What answers over HTTP, on this machine only. Today that is the built page; jobs and telemetry come later.

pub(crate) mod host;
pub(crate) mod interrupt;
pub(crate) mod static_files;

use std::io;
use std::path::Path;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};

use static_files::Site;

/// What the page may load and who may frame it. The page repeats it but for `frame-ancestors`, which only a header can say.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self' https://huggingface.co; worker-src 'self'; manifest-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

const SECURITY: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Serves a site on a listener until the process ends.
///
/// # Errors
/// What the system says when the socket fails.
pub(crate) fn serve(listener: std::net::TcpListener, site: &Path) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let site = Site::new(site)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        axum::serve(listener, router(site)).await
    })
}

fn router(site: Site) -> Router {
    Router::new()
        .fallback(move |request: Request| {
            let site = site.clone();
            async move { site.answer(request.method(), request.uri().path()) }
        })
        .layer(middleware::from_fn(guarded))
}

/// Nobody gets anything, not even the page, under a name that is not this machine's; every answer has the headers.
async fn guarded(request: Request, next: Next) -> Response {
    let mut response = if host::is_this_machine(&request) {
        next.run(request).await
    } else {
        (StatusCode::FORBIDDEN, "403: this server answers to localhost, 127.0.0.1 and [::1] only\n")
            .into_response()
    };
    for (name, value) in SECURITY {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
