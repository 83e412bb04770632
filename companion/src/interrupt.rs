//! Ctrl-C ends the program with the exit code of the verb: 130, or 0 where it is the usual end.

use std::thread;

use tokio::signal::unix::{SignalKind, signal};

/// Exit code of an interrupted verb, as shells have it.
pub(crate) const INTERRUPTED: i32 = 130;

/// Waits for Ctrl-C in a thread, and ends the program with `code`. The file of a sweep may then end in an incomplete line, which the next run drops.
pub(crate) fn exits_with(code: i32) {
    // Without a runtime the system's default for Ctrl-C remains: it ends the process, and shells report 130.
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
        return;
    };
    // Registered before the work begins, so that its first moments have the same exit code.
    let listening = {
        let _inside = runtime.enter();
        signal(SignalKind::interrupt())
    };
    let Ok(mut interrupts) = listening else { return };
    thread::spawn(move || {
        if runtime.block_on(interrupts.recv()).is_some() {
            std::process::exit(code);
        }
    });
}
