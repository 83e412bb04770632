//! The addresses on which the daemon listens: on this machine, at one fixed port, because `ssh -L` names it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, value_parser};

use super::socket;
use crate::failure::Failure;
use crate::files;
use crate::server::Bound;

const PORT: u16 = 8000;

/// Address of the page where a daemon runs on this machine as usual.
pub(super) fn usual_address() -> String {
    format!("http://localhost:{PORT}/")
}
/// Number of attempts to find a free port: with port 0 the port of one address may be taken at the other.
const TRIES: usize = 20;

pub(super) fn arguments() -> [Arg; 4] {
    [
        Arg::new("port")
            .long("port")
            .value_name("PORT")
            .value_parser(value_parser!(u16))
            .allow_negative_numbers(true)
            .help("Port on 127.0.0.1 and [::1]; 0 for any free port; default 8000"),
        Arg::new("listen")
            .long("listen")
            .value_name("ADDRESS:PORT|unix:PATH")
            .conflicts_with("port")
            .help("Listen on this address instead, or on a Unix socket that only this user can open"),
        Arg::new("lan-plaintext").long("lan-plaintext").action(ArgAction::SetTrue).help(
            "Let other machines on the network read, unencrypted; they cannot start jobs. Better: ssh -L",
        ),
        Arg::new("dangerously-listen-all").long("dangerously-listen-all").action(ArgAction::SetTrue).help(
            "Listen on every network that this machine is or will be in. Prefer --listen with one address",
        ),
    ]
}

/// Binds the requested addresses.
pub(super) fn bind(matches: &ArgMatches) -> Result<(Vec<Bound>, Address), Failure> {
    let mut hosts: Vec<String> =
        matches.get_many::<String>("allow-host").unwrap_or_default().cloned().collect();
    if let Some(bad) = hosts.iter().find(|host| !is_name(host)) {
        return Err(Failure::bad(format!("`{bad}` is not a host name")));
    }
    let Some(given) = matches.get_one::<String>("listen") else {
        let (bound, port) = loopback(matches.get_one::<u16>("port").copied().unwrap_or(PORT))?;
        return Ok((bound, Address::of(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), hosts)));
    };
    if let Some(path) = given.strip_prefix("unix:") {
        // For a socket without a name the system would choose one that every user may open.
        let path = std::path::absolute(path)
            .map_err(|_empty| Failure::bad("`--listen unix:` needs the path of a socket"))?;
        return on_socket(&path, hosts);
    }
    let address = permitted(given, matches)?;
    let listener = TcpListener::bind(address).map_err(|error| failed(address, &error))?;
    let bound = listener.local_addr()?;
    let is_local = bound.ip().to_canonical().is_loopback();
    if !is_local && !bound.ip().is_unspecified() {
        hosts.push(match bound.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
    }
    Ok((vec![Bound::Tcp { listener, is_local }], Address::of(bound, hosts)))
}

/// The link contains the port to which `ssh -L` usually forwards.
fn on_socket(path: &Path, hosts: Vec<String>) -> Result<(Vec<Bound>, Address), Failure> {
    let listener = socket::bind(path)?;
    eprintln!(
        "listening on {}; `ssh -L {PORT}:{} HOST` forwards it to port {PORT} of the browser's machine",
        path.display(),
        path.display()
    );
    let there = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
    Ok((vec![Bound::Unix { listener, path: path.into() }], Address::of(there, hosts)))
}

/// Accepts an address only in its canonical spelling, and only if its flags allow it.
fn permitted(given: &str, matches: &ArgMatches) -> Result<SocketAddr, Failure> {
    let address: SocketAddr = given.parse().map_err(|_unparsed| {
        Failure::bad(format!(
            "`{given}` is not an address; give numbers and a port, such as 192.168.1.20:8000, or unix: and a path"
        ))
    })?;
    let ip = address.ip().to_canonical();
    if ip.is_unspecified() {
        if !matches.get_flag("dangerously-listen-all") {
            return Err(Failure::bad(format!(
                "{given} means every network of this machine; give one address"
            )));
        }
        eprintln!(
            "WARNING: everybody in every network of this machine can reach this daemon, unencrypted"
        );
    }
    if !ip.is_loopback() && !matches.get_flag("lan-plaintext") {
        return Err(Failure::bad(format!(
            "{given} can be reached from other machines, unencrypted; use {}, or add --lan-plaintext",
            tunnel()
        )));
    }
    if !ip.is_loopback() {
        eprintln!(
            "other machines can read here, unencrypted, and start nothing; to measure from one, start without --listen, and use {} there",
            tunnel()
        );
    }
    Ok(address)
}

/// The command that brings a usual daemon to the browser of another machine.
fn tunnel() -> String {
    format!("`ssh -L {PORT}:localhost:{PORT} HOST`")
}

/// Both loopback addresses, at the same port. A machine without IPv6 has one.
fn loopback(port: u16) -> Result<(Vec<Bound>, u16), Failure> {
    let mut last = None;
    for _ in 0..TRIES {
        let four = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let first = TcpListener::bind(four).map_err(|error| failed(four, &error))?;
        let six = SocketAddr::from((Ipv6Addr::LOCALHOST, first.local_addr()?.port()));
        let mut bound = vec![Bound::Tcp { listener: first, is_local: true }];
        match TcpListener::bind(six) {
            Ok(listener) => bound.push(Bound::Tcp { listener, is_local: true }),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                last = Some(failed(six, &error));
                if port != 0 {
                    break;
                }
                continue;
            }
            Err(_) => eprintln!("this machine has no [::1]; listening on 127.0.0.1 only"),
        }
        return Ok((bound, six.port()));
    }
    Err(last.unwrap_or_else(|| Failure::Failed("no port is free".into())))
}

fn failed(address: SocketAddr, error: &io::Error) -> Failure {
    if error.kind() == io::ErrorKind::AddrInUse {
        let port = address.port();
        return Failure::Failed(format!("port {port} is taken; choose another with --port"));
    }
    Failure::Failed(format!("cannot listen on {address}: {}", files::said(error)))
}

/// A bound address, in the form that the user opens in a browser.
#[derive(Debug)]
pub(super) struct Address {
    /// URL with a slash at its end.
    pub(super) own: String,
    /// Allowed host names in addition to those of this machine.
    pub(super) hosts: Vec<String>,
}

impl Address {
    pub(super) fn of(bound: SocketAddr, hosts: Vec<String>) -> Self {
        let own = if bound.ip().is_loopback() {
            format!("http://localhost:{}/", bound.port())
        } else {
            format!("http://{bound}/")
        };
        Self { own, hosts }
    }
}

fn is_name(host: &str) -> bool {
    !host.is_empty()
        && host.len() < 256
        && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-[]:".contains(&byte))
}
