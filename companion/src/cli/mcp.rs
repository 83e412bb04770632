//! `mcp`: the Model Context Protocol over standard input and output.

use std::io;

use clap::{Arg, ArgMatches, Command, ValueHint};

use super::link::HOSTED;
use super::listen;
use crate::failure::Failure;
use crate::mcp::{self, Context, Source};

pub(super) fn command() -> Command {
    let page = Arg::new("page").long("page").value_name("URL").value_hint(ValueHint::Url);
    Command::new("mcp")
        .about("Answer programs that talk to a language model: the Model Context Protocol over stdin and stdout")
        .arg(page.help("Address of the page in links; default: the hosted page, else that of `serve` on this machine"))
        .after_help(
            "Tools: resolve_model, list_devices, estimate, recommend, check, compare, fit_plan, explain.\n\
             The client starts this program; docs/guides/programs.md has its configuration. The daemon answers the same at /mcp.\n\n\
             Example:\n  ridgepoint mcp",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let page = match matches.get_one::<String>("page") {
        Some(page) => checked(page)?,
        None => HOSTED.map_or_else(listen::usual_address, |page| format!("{page}/")),
    };
    let context = Context { source: Source::Files, page };
    mcp::serve(io::stdin().lock(), io::stdout(), &context)
}

/// The address with a slash at its end.
fn checked(page: &str) -> Result<String, Failure> {
    let is_web = page.starts_with("http://") || page.starts_with("https://");
    let is_plain = !page.contains(['?', '#']) && !page.contains(char::is_whitespace);
    if !is_web || !is_plain {
        return Err(Failure::bad(format!(
            "`{page}` is not the address of a page; give one such as https://example.org/ridgepoint/"
        )));
    }
    Ok(format!("{}/", page.trim_end_matches('/')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_address_is_a_page() {
        assert_eq!(checked("https://a.test").ok().as_deref(), Some("https://a.test/"));
        assert_eq!(checked("http://a.test/b/").ok().as_deref(), Some("http://a.test/b/"));
        for bad in
            ["a.test", "ftp://a.test", "https://a.test/?x", "https://a.test/#x", "https://a b"]
        {
            assert!(checked(bad).is_err(), "{bad}");
        }
    }
}
