//! The pages that may use this server. A browser names the page of a request in `Origin` and its relation to this server in
//! `Sec-Fetch-Site`; other programs send neither, and need a proof like every client.

use axum::http::{HeaderMap, Method, header};

use super::refusal::Refusal;

/// Longest origin, in bytes.
pub(super) const LONGEST: usize = 256;

/// The parts of a request that decide about its origin.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'r> {
    pub(super) headers: &'r HeaderMap,
    pub(super) method: &'r Method,
    /// The host name, already allowed.
    pub(super) host: &'r str,
    /// False for the page's files.
    pub(super) is_api: bool,
    /// True for the socket.
    pub(super) is_socket: bool,
}

/// The allowed origin of a request; `None` if no page sent the request.
pub(super) fn allowed<'r>(about: About<'r>, list: &[String]) -> Result<Option<&'r str>, Refusal> {
    let mut origins = about.headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return without(about).map(|()| None) };
    if origins.next().is_some() || origin.len() > LONGEST {
        return Err(Refusal::OriginForm);
    }
    let origin = origin.to_str().map_err(|_unreadable| Refusal::OriginForm)?;
    let own = ["http://", "https://"]
        .iter()
        .any(|scheme| origin.strip_prefix(scheme) == Some(about.host));
    if own || list.iter().any(|allowed| allowed == origin) {
        Ok(Some(origin))
    } else {
        Err(Refusal::Origin)
    }
}

/// A browser omits the origin where a page only loads something: its own files, an image, a link.
fn without(about: About<'_>) -> Result<(), Refusal> {
    let fetch = |name: &str| about.headers.get(name).map(axum::http::HeaderValue::as_bytes);
    // Node.js sends `sec-fetch-mode` alone; a browser never sends it without `sec-fetch-site`.
    let is_mark = |name: &str| name.starts_with("sec-fetch-") && name != "sec-fetch-mode";
    let from_browser = about.headers.keys().any(|name| is_mark(name.as_str()));
    if !from_browser {
        return Ok(());
    }
    let reads = about.method == Method::GET || about.method == Method::HEAD;
    if about.is_socket || !reads {
        return Err(Refusal::Origin);
    }
    let ours = matches!(fetch("sec-fetch-site"), Some(b"same-origin" | b"none"));
    if about.is_api && !ours { Err(Refusal::CrossSite) } else { Ok(()) }
}

/// An origin as users may allow it: scheme, name, perhaps a port, and nothing else.
pub(crate) fn is_plain(origin: &str) -> bool {
    let rest = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && rest.len() < LONGEST
            && rest.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-:[]".contains(&byte)
            })
    })
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};

    use super::*;

    const LIST: &str = "https://pages.test";

    fn judged(method: &Method, api: bool, headers: &[(&str, &str)]) -> Result<bool, Refusal> {
        judged_as(method, api, false, headers)
    }

    fn judged_as(
        method: &Method,
        is_api: bool,
        is_socket: bool,
        headers: &[(&str, &str)],
    ) -> Result<bool, Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap());
        }
        let headers = map;
        let about = About { headers: &headers, method, host: "localhost:8000", is_api, is_socket };
        let origin = allowed(about, &[LIST.to_owned()])?;
        let sent = headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        assert_eq!(origin, sent, "the one that was sent");
        Ok(origin.is_some())
    }

    #[test]
    fn origins_are_compared_byte_by_byte() {
        for good in ["http://localhost:8000", "https://localhost:8000", LIST] {
            assert_eq!(judged(&Method::POST, true, &[("origin", good)]), Ok(true), "{good}");
        }
        for bad in [
            "null",
            "",
            "http://localhost:3000",
            "http://localhost",
            "http://localhost:8000/",
            "http://LOCALHOST:8000",
            "http://127.0.0.1:8000",
            "https://pages.test:444",
            "https://pages.test.evil.test",
            "https://evilpages.test",
            "http://pages.test",
            "ws://localhost:8000",
            "file://",
        ] {
            for method in [Method::GET, Method::POST] {
                assert_eq!(
                    judged(&method, false, &[("origin", bad)]),
                    Err(Refusal::Origin),
                    "{bad}"
                );
            }
        }
        for (length, refusal) in [
            (LONGEST, Refusal::Origin),
            (LONGEST + 1, Refusal::OriginForm),
            (5000, Refusal::OriginForm),
        ] {
            let long = format!("http://{}", "a".repeat(length - "http://".len()));
            assert_eq!(judged(&Method::GET, true, &[("origin", &long)]), Err(refusal), "{length}");
        }
        let twice = [("origin", LIST), ("origin", LIST)];
        assert_eq!(judged(&Method::GET, true, &twice), Err(Refusal::OriginForm));
    }

    #[test]
    fn without_an_origin_only_programs_and_our_own_page_get_answers() {
        let site = |value| [("sec-fetch-site", value)];
        assert_eq!(judged(&Method::POST, true, &[]), Ok(false));
        for value in ["same-origin", "none"] {
            assert_eq!(judged(&Method::GET, true, &site(value)), Ok(false), "{value}");
            assert_eq!(judged(&Method::POST, true, &site(value)), Err(Refusal::Origin));
        }
        for value in ["cross-site", "same-site", "strange"] {
            assert_eq!(judged(&Method::GET, true, &site(value)), Err(Refusal::CrossSite));
            // Links on other pages may open this one.
            assert_eq!(judged(&Method::GET, false, &site(value)), Ok(false), "{value}");
        }
        for mark in ["sec-fetch-dest", "sec-fetch-user", "sec-fetch-new"] {
            assert_eq!(judged(&Method::GET, true, &[(mark, "x")]), Err(Refusal::CrossSite));
            assert_eq!(judged(&Method::POST, true, &[(mark, "x")]), Err(Refusal::Origin));
        }
    }

    #[test]
    fn a_browser_opens_a_socket_with_an_origin_only() {
        for value in ["same-origin", "none", "cross-site"] {
            let site = [("sec-fetch-site", value)];
            assert_eq!(judged_as(&Method::GET, true, true, &site), Err(Refusal::Origin), "{value}");
            assert_eq!(judged_as(&Method::GET, false, true, &site), Err(Refusal::Origin));
        }
        assert_eq!(judged_as(&Method::GET, true, true, &[]), Ok(false), "a program");
        assert_eq!(judged_as(&Method::GET, true, true, &[("origin", LIST)]), Ok(true));
        // HEAD reads as GET does.
        let site = [("sec-fetch-site", "same-origin")];
        assert_eq!(judged(&Method::HEAD, true, &site), Ok(false));
        assert_eq!(judged(&Method::DELETE, false, &site), Err(Refusal::Origin));
    }

    #[test]
    fn the_fetch_of_node_is_a_program() {
        for method in [Method::GET, Method::POST] {
            assert_eq!(judged(&method, true, &[("sec-fetch-mode", "cors")]), Ok(false));
            let page = [("sec-fetch-mode", "cors"), ("sec-fetch-site", "cross-site")];
            assert!(judged(&method, true, &page).is_err());
        }
    }

    #[test]
    fn only_plain_origins_can_be_allowed() {
        for good in ["https://pages.test", "http://localhost:3000", "http://[::1]:3000"] {
            assert!(is_plain(good), "{good}");
        }
        for bad in [
            "*",
            "null",
            "https://",
            "https://a.test/",
            "https://A.test",
            "https://a.test/*",
            "a.test",
            "ftp://a.test",
        ] {
            assert!(!is_plain(bad), "{bad}");
        }
        for (length, is_allowed) in [(LONGEST - 1, true), (LONGEST, false)] {
            assert_eq!(is_plain(&format!("http://{}", "a".repeat(length))), is_allowed, "{length}");
        }
    }
}
