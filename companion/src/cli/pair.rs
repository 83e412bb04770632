//! `pair`: prints another link for a running daemon.

use clap::{Arg, ArgAction, ArgMatches, Command};
use protocol::scope::Scope;

use super::link::{hosted_link, link};
use super::state;
use crate::audit::Action;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::output;

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
        .value_parser([Scope::Read.key(), Scope::Bench.key()])
        .help("Scope of the key: read, or bench, which includes read; default: both")
}

/// The scopes that the user named, by default both. `bench` includes `read`, which is the only way to get results.
pub(super) fn named(matches: &ArgMatches) -> Vec<Scope> {
    let Some(named) = matches.get_many::<String>("scope") else {
        return vec![Scope::Read, Scope::Bench];
    };
    let named: Vec<&str> = named.map(String::as_str).collect();
    let is_named = |scope: Scope| named.contains(&scope.key());
    let granted =
        |scope: &Scope| is_named(*scope) || (*scope == Scope::Read && is_named(Scope::Bench));
    Scope::ALL.into_iter().filter(granted).collect()
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
    let granted: Vec<&str> = scopes.iter().map(|scope| scope.key()).collect();
    state::log(&state, Action::NewCode, &granted.join(","))?;
    let code = keys.change(|book| book.add_code(scopes, clock.now()))?;
    let hosted = hosted_link(&address, &code).map(|link| format!("{link}\n")).unwrap_or_default();
    output::print(&format!("{}\n{hosted}", link(&address, &code)))
}
