//! The `ridgepoint` binary. Start at `cli`, then `verbs` (calculating, measuring) or `server` (the daemon).

mod audit;
mod cli;
mod clock;
mod failure;
mod files;
mod hooks;
mod interrupt;
mod jobs;
mod keys;
mod mcp;
mod measure;
mod output;
mod reason;
mod sandbox;
mod scopes;
mod server;
mod telemetry;
mod verbs;
mod weight_files;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main(std::env::args_os())
}
