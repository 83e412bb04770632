//! `pair`: prints another link for a running daemon.

use std::path::Path;

use clap::{Arg, ArgAction, ArgMatches, Command};
use protocol::ability::ScopeOff;
use protocol::scope::Scope;

use super::link::{hosted_link, link};
use super::state;
use crate::audit::Action;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::output;
use crate::scopes::{GRANTED, USUAL, names, with_read};

pub(super) fn command() -> Command {
    Command::new("pair")
        .about("Print a link that opens and pairs one page; it works once, for five minutes")
        .arg(scopes())
        .arg(state::argument())
        .after_help("Examples:\n  ridgepoint pair\n  ridgepoint pair --scope read")
}

pub(super) fn scopes() -> Arg {
    Arg::new("scope")
        .long("scope")
        .value_name("SCOPE")
        .action(ArgAction::Append)
        .value_delimiter(',')
        .value_parser(GRANTED.map(Scope::key))
        .help(format!(
            "Scope of the key; every other one includes read; default: {}",
            names(&USUAL)
        ))
}

/// The scopes that the user named, or the usual ones.
pub(super) fn named(matches: &ArgMatches) -> Vec<Scope> {
    let Some(named) = matches.get_many::<String>("scope") else { return USUAL.to_vec() };
    let named: Vec<&str> = named.map(String::as_str).collect();
    let scopes: Vec<Scope> =
        Scope::ALL.into_iter().filter(|scope| named.contains(&scope.key())).collect();
    with_read(&scopes)
}

/// Says which of these scopes no session of the running daemon has, and how it is started so that they have them.
pub(super) fn say_off(state: &Path, scopes: &[Scope]) {
    for ScopeOff { scope, start } in state::off(state) {
        if scopes.contains(&scope) {
            eprintln!("no session of this daemon has the scope {}; start it {start}", scope.key());
        }
    }
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let state = state::folder(matches)?;
    let address =
        state::address(&state).filter(|_| state::is_running(&state)).ok_or_else(|| {
            Failure::Failed(format!(
                "no daemon uses {}; start one with `ridgepoint serve`",
                state.display()
            ))
        })?;
    let hooks = Hooks::read().map_err(Failure::BadInput)?;
    let clock = Clock::turned_by(hooks.clock());
    let scopes = named(matches);
    let keys = state::keys(&state)?;
    say_off(&state, &scopes);
    state::log(&state, Action::NewCode, &names(&scopes))?;
    let code = keys.change(|book| book.add_code(scopes, clock.now()))?;
    let hosted = hosted_link(&address, &code).map(|link| format!("{link}\n")).unwrap_or_default();
    output::print(&format!("{}\n{hosted}", link(&address, &code)))
}
