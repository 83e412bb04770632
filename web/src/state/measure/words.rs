//! States of the connection, in sentences that name the next step.

use report::number_text;

use super::permission;
use crate::link::address;
use crate::link::client::Client;
use crate::link::connection::State;

/// A state of the connection in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionText {
    /// One to four words.
    pub title: &'static str,
    /// Explanation, and the next step.
    pub text: String,
    /// Terminal commands that help, in order.
    pub commands: Vec<String>,
}

/// Why no job is listed.
pub const fn no_jobs(client: &Client) -> &'static str {
    if client.is_connected() {
        "No job yet."
    } else {
        "Jobs stay on the device, and show here when it is connected."
    }
}

/// Describes a state of the connection. `own` is the page's host, `origin` its origin as browsers send it.
pub fn said(state: &State, address: &str, own: &str, origin: &str) -> ConnectionText {
    let pair = || vec!["ridgepoint pair".to_owned()];
    let plain =
        |title, text: &str| ConnectionText { title, text: text.to_owned(), commands: Vec::new() };
    match state {
        State::Idle if address::is_local(own) => ConnectionText {
            title: "Not connected",
            text: format!("This page comes from this machine, {own}. If a daemon serves it, Connect uses the pairing of this browser; without one, run this command, and open the link that it prints. If none runs, ridgepoint serve starts one and prints a link, too."),
            commands: pair(),
        },
        State::Idle => ConnectionText {
            title: "Not connected",
            text: "A daemon on the machine that is measured runs the kernels; this page talks to it and to nobody else. Start it, and open the link that it prints.".to_owned(),
            commands: vec!["ridgepoint serve".to_owned()],
        },
        State::NoCrypto => ConnectionText {
            title: "Not possible here",
            text: format!("The browser lets pages of {own} make no proofs, because they came over a plain network or stand in a frame. Open the page through a tunnel instead; the link that the daemon printed then works as it is."),
            commands: vec![format!("ssh -L 8000:localhost:8000 {}", own.rsplit_once(':').map_or(own, |it| it.0))],
        },
        State::Opening => {
            let asks = address != own && !address::is_local(own);
            let asks = if asks { " If the browser asks whether this page may reach programs on this device, allow it." } else { "" };
            plain("Connecting", &format!("Asking {address}.{asks}"))
        }
        State::Connected(session) => {
            let (may, commands) = permission::said(session);
            ConnectionText {
                title: "Connected",
                text: format!("{}{address}, ridgepoint {}.{may}", on_machine(&session.machine), session.version),
                commands,
            }
        }
        State::Unpaired(why) => ConnectionText {
            title: "Not paired",
            text: if why.is_empty() {
                format!("A daemon answers at {address}, and this browser has no key of it. Open the link that this prints:")
            } else {
                format!("The daemon at {address} says: {why}. Open the link that this prints:")
            },
            commands: pair(),
        },
        State::OtherVersion(version) => {
            let version = if version.is_empty() { "another version" } else { version };
            ConnectionText {
                title: "Another version",
                text: format!("The daemon at {address} is {version}, and page and daemon have no messages in common. Open the page that the daemon itself serves, http://{address}/, or update the older of the two."),
                commands: Vec::new(),
            }
        }
        State::Unreachable => away(address, own, origin),
        State::Blocked => plain(
            "Blocked by the browser",
            "The browser was told to keep this page from programs on this machine. Open the settings of this site, at the left of the address, and allow access to apps on this device or to the local network; then connect again.",
        ),
        State::Forbidden(allowed) => ConnectionText {
            title: "Not allowed",
            text: format!("This page may not ask {address}: its policy allows {} only. If a daemon runs there, open its own page, http://{address}/. If a server of llama.cpp, vLLM or SGLang runs there, this command reads it, and so does the card \u{201c}A running server\u{201d} of a connected page:", allowed_hosts(allowed, own)),
            commands: vec![format!("ridgepoint attach http://{address}")],
        },
        State::Lost(tries) => {
            let tries = number_text::count((*tries).into());
            let text = format!("The connection to {address} broke; the page goes on trying by itself, {tries} so far. If the daemon still runs, so do its jobs; nothing that they found is lost.");
            plain("Connection lost", &text)
        }
        State::Refused(why) => plain("Refused", why),
    }
}

/// The hosts that a policy allows to ask for a daemon, as words; `own` is the page's host.
fn allowed_hosts(policy: &str, own: &str) -> String {
    let mut hosts: Vec<&str> = Vec::new();
    for part in policy.split_whitespace() {
        let host = if part == "'self'" { Some(own) } else { part.strip_prefix("ws://") };
        hosts.extend(host.filter(|host| !host.is_empty() && !hosts.contains(host)));
    }
    if hosts.is_empty() { "its own daemon".to_owned() } else { hosts.join(" and ") }
}

/// Commands on the keys of a daemon whose state is not in the usual folder, and a remark on them; a path is never sent to a page.
pub fn of_own_state(commands: Vec<String>) -> (Vec<String>, &'static str) {
    let is_about_keys =
        |line: &str| line.starts_with("ridgepoint pair") || line.starts_with("ridgepoint keys");
    if !commands.iter().any(|line| is_about_keys(line)) {
        return (commands, "");
    }
    let named = |line: String| {
        if is_about_keys(&line) { format!("{line} --state FOLDER") } else { line }
    };
    (commands.into_iter().map(named).collect(), OWN_STATE)
}

/// The remark on `--state`.
const OWN_STATE: &str = "FOLDER is the folder after --state with which the daemon was started; it keeps its keys there, not in the usual place.";

fn on_machine(name: &str) -> String {
    if name.is_empty() { String::new() } else { format!("{name}, at ") }
}

/// Reason why no measurement can be started; empty if one can.
pub fn why_not(client: &Client) -> String {
    let reason = match &client.connection.state {
        State::Connected(session) if !session.may_measure() => {
            "This session may only look; its state above says how it may measure."
        }
        State::Connected(_) if client.is_starting() => {
            "The daemon has not confirmed the last order yet."
        }
        State::Connected(_) => "",
        _ => "Connect a daemon first.",
    };
    reason.to_owned()
}

/// Why the form waits, or what the next click uses; empty where nothing is to say.
pub const fn waiting(is_ready: bool, has_code: bool) -> &'static str {
    match (is_ready, has_code) {
        (false, _) => "The page still reads its own address.",
        (true, true) => "A link brought a pairing code; it is used when you connect.",
        (true, false) => "",
    }
}

/// Why an address is refused. `own` is the page's host.
pub fn wrong_address(own: &str) -> String {
    let own = if address::is_local(own) { String::new() } else { format!(", or {own}") };
    format!(
        "The page reaches daemons on this machine only: 127.0.0.1 or localhost with a port{own}. For another machine, ssh -L 8000:localhost:8000 brings its daemon here."
    )
}

/// A way to start or reach a daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupGuide {
    pub title: &'static str,
    /// Terminal commands.
    pub lines: String,
    /// Additional remark; may be empty.
    pub note: &'static str,
}

/// Ways to install, verify and start a daemon, and to reach a remote one.
pub fn ways() -> [SetupGuide; 4] {
    // The location of releases is known at build time only.
    let fetch = match option_env!("RIDGEPOINT_REPOSITORY") {
        Some(repository) => {
            let archives = format!("{repository}/releases/latest/download");
            format!("curl -LO {archives}/$file.tar.gz -LO {archives}/SHA256SUMS\n")
        }
        None => {
            "# fetch $file.tar.gz and SHA256SUMS from the releases of this project\n".to_owned()
        }
    };
    [
        SetupGuide {
            title: "Linux and macOS: download, check, run",
            lines: format!(
                "file=ridgepoint-$(uname -sm | tr 'A-Z ' 'a-z-')\n{fetch}sha256sum --check --ignore-missing SHA256SUMS\ntar xzf $file.tar.gz && cd $file\n./ridgepoint serve"
            ),
            note: "On macOS the third line begins with shasum -a 256. Go on only if it says OK.",
        },
        SetupGuide { title: "From a checkout", lines: "cargo xtask serve".to_owned(), note: "" },
        SetupGuide {
            title: "A machine that ssh reaches",
            lines: "ssh -L 8000:localhost:8000 HOST\n./ridgepoint serve".to_owned(),
            note: "The second line runs there; the link that it prints opens here.",
        },
        SetupGuide {
            title: "Windows",
            lines: "wsl --install".to_owned(),
            note: "Then the lines for Linux within WSL; the link opens in the browser of Windows.",
        },
    ]
}

/// No answer: the possible causes depend on the page's origin.
fn away(address: &str, own: &str, origin: &str) -> ConnectionText {
    let mut text = format!("Nobody answers at {address}. Most likely no daemon runs there.");
    let mut commands = vec!["ridgepoint serve".to_owned()];
    if address != own {
        text += &format!(" If one runs, it must be told that pages of {origin} may ask.");
        commands.push(format!("ridgepoint serve --allow-origin {origin}"));
        if address::is_local(own) {
            text += " A page that a daemon serves may ask that daemon only.";
        } else {
            text += " The browser may ask whether this page may reach programs on this machine: allow it. Safari allows it to no page; use the daemon's own page there.";
        }
    }
    ConnectionText { title: "Not running", text, commands }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::ability::{Abilities, ScopeOff};
    use protocol::scope::Scope;

    use super::*;
    use crate::link::session::DaemonSession;

    const OWN: &str = "pages.test";
    const ORIGIN: &str = "https://pages.test";

    fn of(state: &State) -> ConnectionText {
        said(state, "127.0.0.1:8000", OWN, ORIGIN)
    }

    #[test]
    fn every_state_says_what_to_do() {
        let up =
            |scopes| State::Connected(DaemonSession::simulated(scopes, "1.2.3", "a processor"));
        let read_only = || {
            let session = DaemonSession::simulated(vec![Scope::Read], "1.2.3", "a processor");
            let start = "without `--read-only`".to_owned();
            let off = vec![ScopeOff { scope: Scope::Bench, start }];
            let can = Some(Arc::new(Abilities { off, ..Abilities::default() }));
            State::Connected(DaemonSession { can, ..session })
        };
        let cases: [(State, &str, &str); 13] = [
            (read_only(), "Connected", "without `--read-only`"),
            (State::Idle, "Not connected", "ridgepoint serve"),
            (State::NoCrypto, "Not possible here", "ssh -L 8000:localhost:8000 pages.test"),
            (State::Opening, "Connecting", "allow it"),
            (
                up(vec![Scope::Read, Scope::Bench]),
                "Connected",
                "a processor, at 127.0.0.1:8000, ridgepoint 1.2.3",
            ),
            (up(vec![Scope::Read]), "Connected", "ridgepoint pair"),
            (State::Unpaired(String::new()), "Not paired", "ridgepoint pair"),
            (State::Unpaired("this code is used".into()), "Not paired", "this code is used"),
            (State::OtherVersion("0.9".into()), "Another version", "0.9"),
            (State::Unreachable, "Not running", "--allow-origin https://pages.test"),
            (State::Blocked, "Blocked by the browser", "settings of this site"),
            (
                State::Forbidden("'self' ws://localhost:8000 https://huggingface.co".into()),
                "Not allowed",
                "allows pages.test and localhost:8000 only",
            ),
            (State::Lost(3), "Connection lost", "3 so far"),
        ];
        for (state, title, part) in cases {
            let said = of(&state);
            let all = format!("{} {}", said.text, said.commands.join(" "));
            assert!(said.title == title && all.contains(part), "{state:?}: {all}");
        }
        let own = said(&State::Unreachable, OWN, OWN, ORIGIN);
        assert_eq!(own.commands, ["ridgepoint serve"], "its own daemon needs no permission");
        let served = said(&State::Idle, "", "localhost:8000", "http://localhost:8000");
        assert_eq!(served.commands, ["ridgepoint pair"], "a daemon serves this page already");
    }

    #[test]
    fn a_forbidden_address_has_a_command_and_the_hosts_of_the_policy_once() {
        let own = "127.0.0.1:8000";
        let state = State::Forbidden("'self' ws://127.0.0.1:8000 https://*.hf.co".into());
        let words = said(&state, "127.0.0.1:8080", own, "http://127.0.0.1:8000");
        assert!(
            words
                .text
                .contains("may not ask 127.0.0.1:8080: its policy allows 127.0.0.1:8000 only"),
            "{}",
            words.text
        );
        assert_eq!(words.commands, ["ridgepoint attach http://127.0.0.1:8080"]);
        assert_eq!(allowed_hosts("https://a.test", own), "its own daemon");
    }

    #[test]
    fn commands_on_keys_name_the_folder_of_a_daemon_that_has_its_own() {
        let owned = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let (commands, remark) =
            of_own_state(owned(&["ridgepoint keys grant 01 --scope bench", "ridgepoint serve"]));
        assert_eq!(
            commands,
            ["ridgepoint keys grant 01 --scope bench --state FOLDER", "ridgepoint serve"]
        );
        assert_eq!(remark, OWN_STATE);
        assert_eq!(of_own_state(owned(&["ridgepoint serve"])).1, "");
    }

    #[test]
    fn a_disabled_button_has_a_reason() {
        let mut client = Client::default();
        assert!(why_not(&client).contains("Connect"));
        for (scopes, reason) in
            [(vec![Scope::Read], "only look"), (vec![Scope::Read, Scope::Bench], "")]
        {
            let session = DaemonSession::simulated(scopes, "", "");
            client.connection.state = State::Connected(session);
            assert!(why_not(&client).contains(reason), "{}", why_not(&client));
        }
        assert_eq!(why_not(&client), "");
    }

    #[test]
    fn the_archive_is_checked_before_it_is_run() {
        let ways = ways();
        let lines: Vec<&str> = ways[0].lines.lines().collect();
        let place = |part: &str| lines.iter().position(|line| line.contains(part)).expect(part);
        assert!(place("SHA256SUMS") < place("--check") && place("--check") < place("serve"));
        for part in ["ssh -L 8000:localhost:8000", "wsl"] {
            assert!(ways.iter().any(|way| way.lines.contains(part)), "{part}");
        }
    }
}
