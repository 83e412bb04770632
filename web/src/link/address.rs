//! Addresses of a daemon: the page's origin, or a port of this machine. The page's content security policy allows no others.

/// Default address of a daemon.
pub const USUAL: &str = "127.0.0.1:8000";

/// Contents of a pairing link's fragment (the part behind `#`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairing {
    /// Host and port of the daemon; empty for the origin of the page.
    pub address: String,
    /// One-time pairing code, 1 to 64 letters and digits.
    pub code: String,
}

/// Parses `pair=CODE` and `d=ADDRESS&pair=CODE`; `None` for anything else.
pub fn pairing(fragment: &str) -> Option<Pairing> {
    let part = |key: &str| fragment.split('&').find_map(|part| part.strip_prefix(key));
    let code = part("pair=").filter(|code| {
        (1..=64).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })?;
    let address = part("d=").unwrap_or_default();
    let address = if address.is_empty() { String::new() } else { understood(address, "")? };
    Some(Pairing { address, code: code.to_owned() })
}

/// Parses the address field: a port of this machine, or the origin of the page (`own`, host with port).
pub fn understood(typed: &str, own: &str) -> Option<String> {
    let text = typed.trim().trim_end_matches('/');
    let text = text.strip_prefix("http://").or_else(|| text.strip_prefix("ws://")).unwrap_or(text);
    if !own.is_empty() && text == own {
        return Some(text.to_owned());
    }
    let (host, port) = text.rsplit_once(':')?;
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0);
    (is_port && is_name_of_this_machine(host)).then(|| text.to_owned())
}

/// The policy allows these two names.
fn is_name_of_this_machine(host: &str) -> bool {
    matches!(host, "127.0.0.1" | "localhost")
}

/// Whether this host (with port) is a loopback address, so that the page most likely comes from a daemon on this machine.
pub fn is_local(own: &str) -> bool {
    let host = own.rsplit_once(':').map_or(own, |(host, _)| host);
    host == "localhost" || host == "[::1]" || host.starts_with("127.")
}

/// WebSocket URL of a daemon.
pub fn socket(address: &str, own: &str, is_secure: bool) -> String {
    let scheme = if is_secure && address == own { "wss" } else { "ws" };
    format!("{scheme}://{address}/ws")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_and_the_pages_own_host_are_addresses() {
        for (typed, expected) in [
            ("127.0.0.1:8000", Some("127.0.0.1:8000")),
            (" http://localhost:8000/ ", Some("localhost:8000")),
            ("10.0.0.2:80", Some("10.0.0.2:80")),
            ("evil.test:8000", None),
            ("127.0.0.1.evil.test:8000", None),
            ("localhost@evil.test:8000", None),
            ("127.0.0.1", None),
            ("127.0.0.1:0", None),
            ("127.0.0.1:+1", None),
            ("127.0.0.1:99999", None),
            ("127.0.0.1:80/path", None),
            ("", None),
        ] {
            assert_eq!(understood(typed, "10.0.0.2:80").as_deref(), expected, "{typed}");
        }
    }

    #[test]
    fn a_link_pairs_with_where_it_came_from_or_this_machine() {
        let pair = |address: &str, code: &str| {
            Some(Pairing { address: address.to_owned(), code: code.to_owned() })
        };
        assert_eq!(pairing("pair=ABC234"), pair("", "ABC234"));
        assert_eq!(pairing("d=127.0.0.1:8000&pair=A"), pair("127.0.0.1:8000", "A"));
        for bad in ["", "pair=", "pair=<b>", "d=evil.test:80&pair=A", "s=pair", "d=127.0.0.1:8000"]
        {
            assert_eq!(pairing(bad), None, "{bad}");
        }
        assert_eq!(pairing(&format!("pair={}", "A".repeat(65))), None);
    }

    #[test]
    fn hosts_of_this_machine_are_known() {
        for (host, local) in [
            ("localhost:8000", true),
            ("127.0.0.2:1", true),
            ("[::1]:8000", true),
            ("example.org", false),
            ("192.168.1.2:8000", false),
            ("localhost.evil.test", false),
        ] {
            assert_eq!(is_local(host), local, "{host}");
        }
        assert_eq!(socket("a:1", "a:1", true), "wss://a:1/ws");
        assert_eq!(socket("127.0.0.1:1", "a:1", true), "ws://127.0.0.1:1/ws");
    }
}
