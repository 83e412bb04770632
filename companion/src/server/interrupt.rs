//! Ctrl-C ends the program with exit code 130.

use std::thread;

/// Waits for Ctrl-C in a thread. The file of a sweep may then end in an incomplete line, which the next run drops.
pub(crate) fn exits_with_130() {
    thread::spawn(|| {
        // Without a runtime the system's default for Ctrl-C stays: it ends the process, and shells report 130.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
            return;
        };
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            std::process::exit(130);
        }
    });
}
