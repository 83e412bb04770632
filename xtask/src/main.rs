//! Jobs that cargo has no command for: build the page, serve it, run all tests, check the rules of the tree.
//!
//! Run it as `cargo xtask JOB`. Start reading at `arguments.rs` (the jobs), then `test.rs` (the stages).
#![forbid(unsafe_code)]

use std::env;
use std::process::ExitCode;

use arguments::Job;
use places::Places;

mod arguments;
mod book;
mod child;
mod lock;
mod page;
mod places;
mod release;
mod serve;
mod setup;
mod test;
mod tidy;

fn main() -> ExitCode {
    if let Some(code) = page::stand_in::answer_if_called_as_wasm_bindgen() {
        return code;
    }
    let words: Vec<String> = env::args().skip(1).collect();
    arguments::parse(&words).and_then(perform).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn perform(job: Job) -> anyhow::Result<ExitCode> {
    let places = Places::find()?;
    match job {
        Job::Help => println!("{}", arguments::USAGE),
        Job::Serve { port } => return serve::serve(&places, port),
        Job::Site { out } => {
            page::publish(&places, &out.unwrap_or_else(|| places.root.join("dist")))?;
        }
        Job::Docs { out } => {
            let out = out.unwrap_or_else(|| places.root.join("dist-docs"));
            book::write(&book::render(&places.root)?, &out)?;
            println!("the documents are in {}", out.join("learn/index.html").display());
        }
        Job::Release { out } => {
            release::pack(&places, &out.unwrap_or_else(|| places.root.join("dist-release")))?;
        }
        Job::Test { quick } => return test::run_stages(&places, quick),
        Job::Kernels => {
            let out = setup::cuda_compilers::compile(&places)?;
            println!("the binaries and the table of registers are in {}", out.display());
        }
        Job::Soak => test::soak(&places)?,
        Job::Bench => test::bench(&places)?,
        Job::Lighthouse => test::browser::lighthouse(&places)?,
        Job::Fit => test::fit(&places)?,
        Job::Tidy => tidy::check_tree(&places)?,
        Job::Tables => tidy::print_tables(&places)?,
    }
    Ok(ExitCode::SUCCESS)
}
