//! The `ridgepoint` binary: words in, exit code out. What it can do is in `cli`.

mod audit;
mod cli;
mod clock;
mod hooks;
mod jobs;
mod keys;
mod measure;
mod reason;
mod server;
mod telemetry;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
