//! Why a request gets nothing, as a status and a sentence; and how often each reason occurred.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;

/// A reason. The sentence names what would allow it, where something would.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    HostCount,
    HostTarget,
    Host,
    OriginForm,
    Origin,
    CrossSite,
    SecretInAddress,
    Override,
    Token,
    Method,
    MediaType,
    BodyTooLarge,
    BodyTooSlow,
    Busy,
}

impl Refusal {
    pub(crate) const ALL: [Self; 14] = [
        Self::HostCount,
        Self::HostTarget,
        Self::Host,
        Self::OriginForm,
        Self::Origin,
        Self::CrossSite,
        Self::SecretInAddress,
        Self::Override,
        Self::Token,
        Self::Method,
        Self::MediaType,
        Self::BodyTooLarge,
        Self::BodyTooSlow,
        Self::Busy,
    ];

    pub(super) const fn status(self) -> StatusCode {
        match self {
            Self::HostCount
            | Self::HostTarget
            | Self::OriginForm
            | Self::SecretInAddress
            | Self::Override => StatusCode::BAD_REQUEST,
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::CrossSite | Self::Token => StatusCode::UNAUTHORIZED,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Busy => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    pub(super) const fn sentence(self) -> &'static str {
        match self {
            Self::HostCount => "a request needs exactly one Host header",
            Self::HostTarget => "the Host header and the address of the request differ",
            Self::Host => {
                "this server answers to localhost, 127.0.0.1 and [::1] only; `--allow-host` adds a name"
            }
            Self::OriginForm => "the Origin header is malformed",
            Self::Origin => {
                "this page may not talk to this server; open the link that `ridgepoint pair` prints, or start with `--allow-origin`"
            }
            Self::CrossSite => "pages of other sites get nothing here",
            Self::SecretInAddress => {
                "secrets do not belong into an address; send them as `Authorization: Bearer`"
            }
            Self::Override => "the method of a request is not to be overridden",
            Self::Token => "a valid token is needed here; make one with `ridgepoint keys new`",
            Self::Method => "this address has other methods; see /api/openapi.json",
            Self::MediaType => "send JSON with `Content-Type: application/json`",
            Self::BodyTooLarge => "the body is too large",
            Self::BodyTooSlow => "the body took too long",
            Self::Busy => "too much at once; try again in a moment",
        }
    }

    /// Its name in the metrics.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::HostCount => "host_count",
            Self::HostTarget => "host_target",
            Self::Host => "host",
            Self::OriginForm => "origin_form",
            Self::Origin => "origin",
            Self::CrossSite => "cross_site",
            Self::SecretInAddress => "secret_in_address",
            Self::Override => "override",
            Self::Token => "token",
            Self::Method => "method",
            Self::MediaType => "media_type",
            Self::BodyTooLarge => "body_too_large",
            Self::BodyTooSlow => "body_too_slow",
            Self::Busy => "busy",
        }
    }
}

/// How often something happened.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_own_place() {
        for (index, refusal) in Refusal::ALL.into_iter().enumerate() {
            assert_eq!(refusal as usize, index, "{refusal:?}");
        }
    }
}
