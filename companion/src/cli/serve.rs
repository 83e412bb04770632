//! `serve`: the built page, to this machine only.

use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};

use super::{Failure, files};
use crate::server;

/// Where to listen when nobody says; the next ones follow when it is taken.
const FIRST_PORT: u16 = 8000;
const PORTS: u16 = 100;

pub(super) fn command() -> Command {
    let site = Arg::new("site").long("site").value_name("DIR").value_hint(ValueHint::DirPath);
    let port = Arg::new("port").long("port").value_name("PORT").value_hint(ValueHint::Other);
    Command::new("serve")
        .about("Serve the built page on 127.0.0.1 and print its address")
        .arg(
            site.value_parser(value_parser!(PathBuf))
                .help("Folder of the built page; without it the folder `site` beside this program"),
        )
        .arg(
            port.value_parser(value_parser!(u16))
                .allow_negative_numbers(true)
                .help("Port; 0 takes any; without it 8000, or the next free one"),
        )
        .after_help("Example:\n  cargo xtask site\n  ridgepoint serve --site dist")
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let site = site(matches.get_one::<PathBuf>("site"))?;
    let (listener, port) = listen(matches.get_one::<u16>("port").copied())?;
    let mut out = io::stdout();
    writeln!(out, "http://127.0.0.1:{port}/")?;
    out.flush()?;
    eprintln!("serving {} to this machine; Ctrl-C ends it", site.display());
    server::serve(listener, &site)
        .map_err(|error| Failure::Failed(format!("the server failed: {error}")))
}

/// The folder to serve: it must hold a page.
fn site(named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    if let Some(folder) = named {
        let page = folder.join("index.html");
        return match page.metadata() {
            Ok(known) if known.is_file() => Ok(folder.clone()),
            Ok(_) => Err(Failure::bad(format!("{} is not a file", page.display()))),
            Err(error) => Err(Failure::bad(format!(
                "no page there, {}: {}",
                page.display(),
                files::said(&error)
            ))),
        };
    }
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| program.parent().map(|folder| folder.join("site")));
    beside.filter(|folder| has_page(folder)).ok_or_else(|| {
        Failure::bad("no page beside this program; build one with `cargo xtask site`, then `ridgepoint serve --site dist`")
    })
}

fn has_page(folder: &Path) -> bool {
    folder.join("index.html").is_file()
}

/// Only ever this machine: the address is not for the user to choose.
fn listen(port: Option<u16>) -> Result<(TcpListener, u16), Failure> {
    let bind = |port: u16| {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        Ok::<_, io::Error>((listener, port))
    };
    let failed = |port: u16, error: &io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::Failed(format!(
            "port {port} is taken; choose another with --port, or leave it out"
        )),
        _ => Failure::Failed(format!("cannot listen on 127.0.0.1:{port}: {}", files::said(error))),
    };
    if let Some(port) = port {
        return bind(port).map_err(|error| failed(port, &error));
    }
    for port in FIRST_PORT..FIRST_PORT + PORTS {
        match bind(port) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            done => return done.map_err(|error| failed(port, &error)),
        }
    }
    Err(Failure::Failed(format!("ports {FIRST_PORT} to {} are all taken", FIRST_PORT + PORTS - 1)))
}
