//! `cargo xtask serve`: build the page and the binary side by side, then become the server.

use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread;
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context, anyhow};

use crate::child::{cargo, run, short_line};
use crate::lock::FolderLock;
use crate::page;
use crate::places::Places;
use crate::setup::toolchain;

pub(crate) fn serve(places: &Places, port: Option<u16>) -> anyhow::Result<ExitCode> {
    toolchain::ensure_target(toolchain::BROWSER)?;
    let site = places.own.join("site");
    let program = places.own.join(format!("ridgepoint{}", std::env::consts::EXE_SUFFIX));
    build_both(places, &site, &program)?;
    let mut server = Command::new(program);
    server.arg("serve").arg("--site").arg(site);
    if let Some(port) = port {
        server.args(["--port", &port.to_string()]);
    }
    if is_root() {
        // Another user could not read the cache folder of this one, where page and binary lie.
        println!("running as root: passing --allow-root to the daemon");
        server.arg("--allow-root");
    }
    become_the(&mut server)
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout.trim_ascii() == b"0")
}

/// The page's last step keeps one core busy for long, so the binary is built at the same time, by a cargo of its own.
/// The two do not wait for each other: their profiles build in different folders.
fn build_both(places: &Places, site: &Path, program: &Path) -> anyhow::Result<()> {
    let _lock = FolderLock::of_target(places)?;
    fs::create_dir_all(&places.own)?;
    let (page, binary) = thread::scope(|scope| {
        let binary = scope.spawn(|| build_binary(places, program));
        let page = page::build(places, site);
        (
            page,
            binary
                .join()
                .unwrap_or_else(|_| Err(anyhow!("the thread that builds the binary panicked"))),
        )
    });
    page.and(binary)
}

fn build_binary(places: &Places, program: &Path) -> anyhow::Result<()> {
    let start = Instant::now();
    run(cargo(places).args(["build", "--profile", "native", "--package", "companion"]))?;
    put_in_place(&places.built_program("native", "ridgepoint"), program)?;
    println!("binary built in {:.1} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Copies beside `to` and renames, because a running program cannot be overwritten.
pub(crate) fn put_in_place(from: &Path, to: &Path) -> anyhow::Result<()> {
    let unfinished = to.with_extension(std::process::id().to_string());
    let copied = fs::copy(from, &unfinished).and_then(|_| fs::rename(&unfinished, to));
    copied.with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Replaces this process where the system can, so that a signal to us ends the server.
#[cfg(unix)]
fn become_the(server: &mut Command) -> anyhow::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let error: io::Error = server.exec();
    Err(error).with_context(|| format!("cannot start `{}`", short_line(server)))
}

#[cfg(not(unix))]
fn become_the(server: &mut Command) -> anyhow::Result<ExitCode> {
    let status: io::Result<_> = server.status();
    let status = status.with_context(|| format!("cannot start `{}`", short_line(server)))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
