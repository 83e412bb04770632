//! `serve`: the page and the daemon, for this machine only unless explicit flags allow more.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process;

use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use protocol::scope::Scope;

use super::link::{HOSTED, beside, hosted_link, link};
use super::{listen, state};
use crate::audit::Action;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::files;
use crate::hooks::Hooks;
use crate::scopes::{Restriction, USUAL, names};
use crate::server::embedded::PAGE;
use crate::server::static_files::Site;
use crate::server::{self, Bound, Config};
use crate::verbs::cuda_libs;

pub(super) fn command() -> Command {
    let site = Arg::new("site").long("site").value_name("DIR").value_hint(ValueHint::DirPath);
    let switch = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    let many = |name: &'static str, value: &'static str| {
        Arg::new(name).long(name).value_name(value).action(ArgAction::Append)
    };
    Command::new("serve")
        .about("Serve the page and the daemon that measures on this machine, and print the link that opens it")
        .arg(
            site.value_parser(value_parser!(PathBuf))
                .help("Folder of the built page; default: the page inside this program, else the folder `site` beside it"),
        )
        .args(listen::arguments())
        .arg(state::argument())
        .arg(many("allow-origin", "ORIGIN").help("Another page that may connect, such as https://example.org"))
        .arg(many("allow-host", "NAME").help("Another host name of this server"))
        .arg(cuda_libs())
        .arg(switch("read-only", "Sessions may read, but not start measurements"))
        .arg(switch("allow-root", "Run although the user is root"))
        .after_help(
            "The link works once and for five minutes; `ridgepoint pair` prints another.\n\
             Over ssh: `ssh -L 8000:localhost:8000 HOST`, then the same link here.\n\n\
             Example:\n  cargo xtask site\n  ridgepoint serve --site dist",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    refuse_root(matches.get_flag("allow-root"))?;
    let hooks = Hooks::read().map_err(Failure::BadInput)?;
    let site = site(matches.get_one::<PathBuf>("site"))?;
    let origins = origins(matches)?;
    let state = state::folder(matches)?;
    let keys = state::keys(&state)?;
    let _lock = state::lock(&state)?;
    // Last, so that a start that fails leaves no socket behind.
    let (bound, address) = listen::bind(matches)?;
    let clock = Clock::turned_by(hooks.clock());
    let restriction = Restriction {
        read_only: matches.get_flag("read-only"),
        on_network: bound.iter().any(Bound::is_on_network),
    };
    let scopes = if restriction.read_only { vec![Scope::Read] } else { USUAL.to_vec() };
    state::log(&state, Action::NewCode, &names(&scopes))?;
    let code = keys.change(|book| book.add_code(scopes, clock.now()))?;
    state::put(&state, "address", &address.own)?;
    state::put_off(&state, &restriction.all_off())?;
    let config = Config {
        site: site.clone(),
        hosts: address.hosts.clone(),
        origins,
        restriction,
        state: state.clone(),
        has_own_state: !state::is_usual(&state),
        hooks,
        clock,
    };
    let announce = || announce(&state, &address.own, &code, &site).map_err(unsaid);
    server::serve(config, bound, announce).map_err(Failure::Failed)
}

/// stdout is closed, so the address is unknown to everybody, and there is nothing to serve.
fn unsaid(failure: Failure) -> String {
    match failure {
        Failure::Failed(line)
        | Failure::BadInput(line)
        | Failure::NoDevice(line)
        | Failure::Permission(line) => line,
        Failure::NotMet(_) | Failure::NobodyReads => {
            "stdout is closed, so the address cannot be printed".into()
        }
    }
}

/// Prints the link if stdout is a terminal; a pipe or a journal gets the address without the code.
fn announce(state: &Path, address: &str, code: &str, site: &Site) -> Result<(), Failure> {
    let link = link(address, code);
    state::put(state, "link", &format!("{link}\n"))?;
    let mut out = io::stdout();
    if out.is_terminal() {
        writeln!(out, "{link}")?;
        if let Some(hosted) = hosted_link(address, code) {
            writeln!(out, "{hosted}")?;
        }
    } else {
        writeln!(out, "{address}")?;
        eprintln!("the link that pairs a page is in {}", state.join("link").display());
    }
    out.flush()?;
    eprintln!("serving {site}; results are kept in {}; Ctrl-C ends it", state.display());
    Ok(())
}

fn refuse_root(allowed: bool) -> Result<(), Failure> {
    if allowed || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    Err(Failure::Permission(
        "as root, a defect of this program would expose the whole machine; run it as another user, or add --allow-root"
            .into(),
    ))
}

fn origins(matches: &ArgMatches) -> Result<Vec<String>, Failure> {
    let given = matches.get_many::<String>("allow-origin").unwrap_or_default();
    let mut origins: Vec<String> = HOSTED.map(str::to_owned).into_iter().collect();
    for origin in given {
        if !server::is_plain(origin) {
            return Err(Failure::bad(format!(
                "`{origin}` is not an origin; give a scheme and a name in lower case, such as https://example.org"
            )));
        }
        origins.push(origin.clone());
    }
    Ok(origins)
}

/// The page to serve: the folder of `--site`, else the page in this program, else the folder beside it.
fn site(named: Option<&PathBuf>) -> Result<Site, Failure> {
    if let Some(folder) = named {
        let page = folder.join("index.html");
        return match page.metadata() {
            Ok(known) if known.is_file() => opened(folder),
            Ok(_) => Err(Failure::bad(format!("{} is not a file", page.display()))),
            Err(error) => Err(Failure::bad(format!(
                "no page in this folder, {}: {}",
                page.display(),
                files::said(&error)
            ))),
        };
    }
    if let Some(files) = PAGE {
        return Ok(Site::embedded(files));
    }
    let folder = beside().ok_or_else(|| {
        Failure::bad("no page in this program and none beside it; build one with `cargo xtask site`, then `ridgepoint serve --site dist`")
    })?;
    opened(&folder)
}

fn opened(folder: &Path) -> Result<Site, Failure> {
    let failed = |error| format!("cannot serve {}: {}", folder.display(), files::said(&error));
    Site::of(folder).map_err(|error| Failure::Failed(failed(error)))
}

/// The hidden verb of the worker process.
pub(super) fn worker() -> Result<(), Failure> {
    let hooks = Hooks::read().map_err(Failure::BadInput)?;
    crate::worker::run(&hooks).map_err(Failure::BadInput)
}

/// Exits with the exit code of a daemon; everything that must be on the disk is there.
pub(super) fn exit(code: u8) -> ! {
    process::exit(i32::from(code))
}
