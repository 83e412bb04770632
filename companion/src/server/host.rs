//! Under which names this server answers. A page from elsewhere that makes its own name resolve to this machine (DNS
//! rebinding) sends that name, and gets nothing.

use axum::extract::Request;
use axum::http::header;

/// True if the request names this machine, in its `Host` header and in its target if that has a name.
pub(crate) fn is_this_machine(request: &Request) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let target =
        request.uri().authority().is_none_or(|authority| is_loopback_name(authority.as_str()));
    target && host.to_str().is_ok_and(is_loopback_name)
}

/// Names of this machine with any port, because `ssh -L` may map another one here.
fn is_loopback_name(host: &str) -> bool {
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        let (Some(start), Some(rest)) = (host.get(..name.len()), host.get(name.len()..)) else {
            return false;
        };
        start.eq_ignore_ascii_case(name) && is_port(rest)
    })
}

/// Nothing, or a colon and a port.
fn is_port(text: &str) -> bool {
    let Some(digits) = text.strip_prefix(':') else { return text.is_empty() };
    digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_names_of_this_machine_pass() {
        for good in [
            "localhost",
            "LOCALHOST:80",
            "localhost:8000",
            "127.0.0.1",
            "127.0.0.1:1",
            "[::1]",
            "[::1]:65535",
        ] {
            assert!(is_loopback_name(good), "{good}");
        }
        for bad in [
            "",
            ":8000",
            "evil.test",
            "localhost.evil.test",
            "localhost:8000.evil.test",
            "127.0.0.1.evil.test",
            "0.0.0.0",
            "0.0.0.0:8000",
            "127.0.0.11",
            "127.0.0.2",
            "::1",
            "[::1",
            "[::]",
            "[::ffff:127.0.0.1]",
            "localhost:",
            "localhost:+80",
            "localhost:99999",
            "localhost:80:80",
            "evil.test@localhost",
            "localhost@evil.test",
            "localhost ",
            " localhost",
            "xn--localhost",
            "localhośt",
            "2130706433",
            "0x7f000001",
            "127.1",
            "localhost/",
            "localhost#",
        ] {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }
}
