//! The host names of this server. A page that makes its own name resolve to this machine (DNS
//! rebinding) sends that name and is refused.

use std::net::Ipv4Addr;

use axum::http::{HeaderMap, Uri, header};

use super::refusal::Refusal;

/// The host name of a request, if it is a name of this machine or one of `more`.
pub(super) fn asked<'r>(
    headers: &'r HeaderMap,
    uri: &Uri,
    more: &[String],
) -> Result<&'r str, Refusal> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return Err(Refusal::HostCount) };
    let host = host.to_str().map_err(|_unreadable| Refusal::Host)?;
    if uri.authority().is_some_and(|target| target.as_str() != host) {
        return Err(Refusal::HostTarget);
    }
    let known = is_loopback_name(host) || more.iter().any(|name| is_name(host, name));
    if known { Ok(host) } else { Err(Refusal::Host) }
}

/// True for names of this machine with any port, because `ssh -L` may map another port to this one.
fn is_loopback_name(host: &str) -> bool {
    if ["localhost", "localhost.", "[::1]"].iter().any(|name| is_name(host, name)) {
        return true;
    }
    let (name, port) = host.find(':').map_or((host, ""), |colon| host.split_at(colon));
    // Only four plain decimal numbers parse, so neither 127.1 nor 0x7f000001 is a name here.
    is_port(port) && name.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// A name, with or without a port.
fn is_name(host: &str, name: &str) -> bool {
    let (Some(start), Some(rest)) = (host.get(..name.len()), host.get(name.len()..)) else {
        return false;
    };
    start.eq_ignore_ascii_case(name) && is_port(rest)
}

/// True for an empty text, or a colon and a port.
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
            "localhost.",
            "localhost.:8000",
            "127.0.0.1",
            "127.0.0.1:1",
            "127.1.2.3",
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
            "localhost..",
            "localhost:8000.evil.test",
            "127.0.0.1.evil.test",
            "127.evil.test",
            "0.0.0.0",
            "0.0.0.0:8000",
            "128.0.0.1",
            "::1",
            "[::1",
            "[::]",
            "[::ffff:127.0.0.1]",
            "localhost:",
            "localhost:+80",
            "localhost:99999",
            "localhost:80:80",
            "127.0.0.1:80:80",
            "evil.test@localhost",
            "localhost@evil.test",
            "localhost ",
            " localhost",
            "xn--localhost",
            "localhośt",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "127.1",
            "127.0.0.01",
            "localhost/",
            "localhost#",
        ] {
            assert!(!is_loopback_name(bad), "{bad}");
        }
    }
}
