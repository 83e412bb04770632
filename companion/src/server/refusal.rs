//! The reasons for refusing a request, each with its status and sentence, and their counters.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

macro_rules! refusals {
    ($($name:ident: $status:ident, $key:literal, $sentence:literal;)*) => {
        /// A reason. The sentence names the flag or header that would allow the request, if there is one.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Refusal {
            $($name,)*
        }

        impl Refusal {
            pub(crate) const ALL: &[Self] = &[$(Self::$name,)*];

            pub(crate) const fn status(self) -> StatusCode {
                match self {
                    $(Self::$name => StatusCode::$status,)*
                }
            }

            pub(crate) const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$name => $sentence,)*
                }
            }

            /// Label in the metrics.
            pub(crate) const fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }
        }
    };
}

refusals! {
    HostCount: BAD_REQUEST, "host_count", "a request needs exactly one Host header";
    HostTarget: BAD_REQUEST, "host_target", "the Host header and the address of the request differ";
    Host: FORBIDDEN, "host", "this server answers to localhost, 127.0.0.1 and [::1] only; `--allow-host` adds a name";
    OriginForm: BAD_REQUEST, "origin_form", "the Origin header is malformed";
    Origin: FORBIDDEN, "origin", "the origin of this page is not allowed; open the link that `ridgepoint pair` prints, or start with `--allow-origin`";
    CrossSite: UNAUTHORIZED, "cross_site", "pages of other sites have no access";
    SecretInAddress: BAD_REQUEST, "secret_in_address", "an address must not contain secrets; send them as `Authorization: Bearer`";
    Override: BAD_REQUEST, "override", "overriding the method of a request is not supported";
    Token: UNAUTHORIZED, "token", "a valid token is needed here; make one with `ridgepoint keys new`";
    Method: METHOD_NOT_ALLOWED, "method", "this address does not support this method; see /api/openapi.json";
    MediaType: UNSUPPORTED_MEDIA_TYPE, "media_type", "send JSON with `Content-Type: application/json`";
    BodyTooLarge: PAYLOAD_TOO_LARGE, "body_too_large", "the body is too large";
    BodyTooSlow: REQUEST_TIMEOUT, "body_too_slow", "the body took too long";
    Busy: SERVICE_UNAVAILABLE, "busy", "too many requests at once; try again in a moment";
}

/// The counters of the metrics.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    refused: [AtomicU64; Refusal::ALL.len()],
    pub(crate) auth_failures: AtomicU64,
    pub(crate) closed_slow: AtomicU64,
    pub(crate) closed_rate: AtomicU64,
    pub(crate) evicted: AtomicU64,
    pub(crate) panics: AtomicU64,
}

impl Counters {
    pub(super) fn refused(&self, refusal: Refusal) {
        self.refused[refusal as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Refusal::ALL
            .iter()
            .map(|refusal| (refusal.key(), self.refused[*refusal as usize].load(Ordering::Relaxed)))
    }
}
