//! `keys`: lists, creates and revokes the keys of the daemon.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use protocol::hex::Hex;
use protocol::scope::Scope;
use report::output::summary::Document;
use report::output::table::{Align, Table};
use serde_json::json;

use super::{pair, state};
use crate::audit::Action;
use crate::clock::{Clock, Millis};
use crate::failure::Failure;
use crate::keys::{Book, Key, KeyKind, MAX_KEYS, MAX_NAME};
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::scopes::{GRANTED, names, with_read};

pub(super) fn command() -> Command {
    let list = Command::new("list").about("List all keys").arg(output::argument());
    let new = Command::new("new")
        .about("Create a token for a program, such as Prometheus; it is shown only once")
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .required(true)
                .help("Purpose of the token"),
        )
        .arg(pair::scopes());
    let key = |help: &'static str| Arg::new("key").value_name("KEY").required(true).help(help);
    let one = || key("Key number from `keys list`");
    let revoke = Command::new("revoke")
        .about("Revoke a key; its sessions end within a second")
        .arg(key("Key number from `keys list`, or `all`"));
    let grant = Command::new("grant")
        .about("Add scopes to a key; its pages reconnect with them within a second")
        .arg(one())
        .arg(pair::scopes().required(true).help("Scope to add"));
    let taken = GRANTED.into_iter().filter(|scope| *scope != Scope::Read).map(Scope::key);
    let withdraw = Command::new("withdraw")
        .about("Take scopes from a key; its sessions lose them within a second")
        .arg(one())
        .arg(
            pair::scopes()
                .required(true)
                .value_parser(PossibleValuesParser::new(taken))
                .help("Scope to take; a key without read would be of no use: revoke it"),
        );
    Command::new("keys")
        .about("List, create and revoke the keys of the daemon, and change their scopes")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([list, new, grant, withdraw, revoke].map(|command| command.arg(state::argument())))
        .after_help(
            "Examples:\n  ridgepoint keys list\n  ridgepoint keys new --name prometheus --scope read\n  \
             ridgepoint keys grant 0123456789abcdef --scope bench\n  ridgepoint keys revoke 0123456789abcdef",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    match matches.subcommand() {
        Some(("list", matches)) => list(matches),
        Some(("new", matches)) => new(matches),
        Some(("revoke", matches)) => revoke(matches),
        Some(("grant", matches)) => {
            let with = |had: &[Scope], named: &[Scope]| with_read(&[had, named].concat());
            change_scopes(matches, Action::GrantScopes, with)
        }
        Some(("withdraw", matches)) => {
            let without = |had: &[Scope], named: &[Scope]| {
                with_read(&had.iter().copied().filter(|it| !named.contains(it)).collect::<Vec<_>>())
            };
            change_scopes(matches, Action::WithdrawScopes, without)
        }
        other => unreachable!("clap lets only known verbs through, not {other:?}"),
    }
}

fn list(matches: &ArgMatches) -> Result<(), Failure> {
    let folder = state::folder(matches)?;
    let book = match state::missing(&folder) {
        None => state::keys(&folder)?.read()?,
        Some(why) => {
            eprintln!("{why}");
            None
        }
    };
    let now = Clock::default().now();
    let mut keys = book.map(|book| book.keys).unwrap_or_default();
    keys.retain(|key| key.is_fresh(now));
    let mut table = Table::new(&[
        ("key", Align::Left),
        ("kind", Align::Left),
        ("scopes", Align::Left),
        ("used", Align::Right),
        ("name", Align::Left),
    ]);
    for key in &keys {
        let (name, scopes) = (key.label.clone(), names(&key.scopes));
        table.push(vec![key.id.to_string(), kind(key).into(), scopes, ago(now, key.used_ms), name]);
    }
    let mut document = Document::default();
    document.heading(format!("{} of {MAX_KEYS} keys", keys.len()));
    document.table(table);
    let row = |key: &Key| {
        json!({
            "key": key.id, "kind": kind(key), "scopes": key.scopes, "name": key.label,
            "created_ms": key.created_ms, "used_ms": key.used_ms,
        })
    };
    let value = keys.iter().map(row).collect();
    Answer { document, value, rows: Rows::List }.print(Form::of(matches))
}

const fn kind(key: &Key) -> &'static str {
    match key.kind {
        KeyKind::Paired => "page",
        KeyKind::Token => "token",
    }
}

fn ago(now: Millis, then: Millis) -> String {
    let hours = now.saturating_sub(then) / 3_600_000;
    match hours {
        0 => "now".into(),
        1..48 => format!("{hours} h ago"),
        _ => format!("{} days ago", hours / 24),
    }
}

fn new(matches: &ArgMatches) -> Result<(), Failure> {
    let name = matches.get_one::<String>("name").cloned().unwrap_or_default();
    let is_shown = !name.trim().is_empty() && !name.contains(char::is_control);
    if !is_shown || name.chars().count() > MAX_NAME {
        return Err(Failure::bad(format!(
            "name must have 1 to {MAX_NAME} characters on one line; got `{name}`"
        )));
    }
    let (scopes, now) = (pair::named(matches), Clock::default().now());
    let label = name.clone();
    let add =
        |book: &mut Book| (book.keys.len() < MAX_KEYS).then(|| book.add_token(scopes, label, now));
    let folder = state::folder(matches)?;
    let keys = state::keys(&folder)?;
    // Granting is logged before it is done, revoking after.
    state::log(&folder, Action::NewToken, &name)?;
    let made = keys.change(add)?;
    let token = made.ok_or_else(|| Failure::Failed("too many keys; revoke some".into()))?;
    eprintln!("send it as `Authorization: Bearer TOKEN`; it is not shown again");
    output::print(&format!("{token}\n"))
}

/// Gives a key the scopes that follow from those that it has and those that were named.
fn change_scopes(
    matches: &ArgMatches,
    action: Action,
    changed: impl Fn(&[Scope], &[Scope]) -> Vec<Scope>,
) -> Result<(), Failure> {
    let given = given(matches);
    let key = Hex::parse(given).ok_or_else(|| no_number(given))?;
    let unknown = || Failure::bad(format!("there is no key {given}"));
    let (named, now) = (pair::named(matches), Clock::default().now());
    let folder = state::folder(matches)?;
    state::missing(&folder).map_or(Ok(()), |why| Err(Failure::bad(why)))?;
    let keys = state::keys(&folder)?;
    let book = keys.read()?;
    book.as_ref().and_then(|book| book.fresh(key, now)).ok_or_else(unknown)?;
    // Before it is done, as everything that grants a right.
    state::log_on(&folder, Some(key), action, &names(&named))?;
    let scopes = keys.change(|book| {
        let scopes = changed(&book.fresh(key, now)?.scopes, &named);
        book.set_scopes(key, &scopes);
        Some(scopes)
    })?;
    let scopes = scopes.ok_or_else(unknown)?;
    pair::say_off(&folder, &scopes);
    output::print(&format!("{given}: {}\n", names(&scopes)))
}

fn given(matches: &ArgMatches) -> &str {
    matches.get_one::<String>("key").map(String::as_str).unwrap_or_default()
}

fn no_number(given: &str) -> Failure {
    Failure::bad(format!("`{given}` is not a key number; `ridgepoint keys list` shows them"))
}

fn revoke(matches: &ArgMatches) -> Result<(), Failure> {
    let given = given(matches);
    let wanted = Hex::parse(given);
    if wanted.is_none() && given != "all" {
        return Err(no_number(given));
    }
    let drop = |book: &mut Book| {
        let before = book.keys.len();
        book.keys.retain(|key| wanted.is_some_and(|wanted| wanted != key.id));
        before - book.keys.len()
    };
    let folder = state::folder(matches)?;
    state::missing(&folder).map_or(Ok(()), |why| Err(Failure::bad(why)))?;
    match state::keys(&folder)?.change(drop)? {
        0 if given != "all" => Err(Failure::bad(format!("there is no key {given}"))),
        count => {
            state::log(&folder, Action::RevokeKeys, given)?;
            output::print(&format!("revoked: {count}\n"))
        }
    }
}
