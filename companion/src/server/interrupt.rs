//! Ctrl-C ends the program with exit code 130, whatever it is doing.

use std::thread;

/// Waits for Ctrl-C beside the work. The file of a sweep may then end in half a line, which the next run drops.
pub(crate) fn exits_with_130() {
    thread::spawn(|| {
        // Without a runtime the system's own answer to Ctrl-C stays: it ends the process, and shells say 130.
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() else {
            return;
        };
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            std::process::exit(130);
        }
    });
}
