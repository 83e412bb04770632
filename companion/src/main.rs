//! The `ridgepoint` binary: words in, exit code out. What it can do is in `cli`.

mod cli;
mod measure;
mod server;

use std::process::ExitCode;

fn main() -> ExitCode {
    server::interrupt::exits_with_130();
    cli::main(std::env::args_os())
}
