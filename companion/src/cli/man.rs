//! `man`: the manual pages, generated from the same definitions as the help.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use clap_mangen::Man;

use crate::failure::Failure;
use crate::files;
use crate::output;

pub(super) fn command() -> Command {
    let folder = Arg::new("dir").long("dir").value_name("DIR").value_hint(ValueHint::DirPath);
    Command::new("man")
        .about("The manual: the main page on stdout, or one page per verb into a folder")
        .arg(folder.value_parser(value_parser!(PathBuf)).help("Write all pages into this folder"))
        .after_help("Examples:\n  ridgepoint man | man -l -\n  ridgepoint man --dir ~/.local/share/man/man1")
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let Some(folder) = matches.get_one::<PathBuf>("dir") else {
        let mut page = Vec::new();
        Man::new(super::command()).render(&mut page)?;
        return output::print(&String::from_utf8_lossy(&page));
    };
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::bad(format!("{} is not a folder", folder.display())));
    }
    write_all(folder).map_err(|error| {
        Failure::Failed(format!("cannot write to {}: {}", folder.display(), files::said(&error)))
    })
}

fn write_all(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    clap_mangen::generate_to(super::command().disable_help_subcommand(true), folder)
}
