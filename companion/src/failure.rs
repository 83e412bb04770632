//! Failures of a command: the line for people, and the exit code that follows from the kind.

use std::fmt;
use std::io;

use report::input::request::RequestError;

/// Guide with an entry for every message of the daemon; a checkout and a release archive contain it.
pub(crate) const TROUBLESHOOTING: &str = "docs/guides/troubleshooting.md";

/// The reason why a command ends without its answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Usage or bad input: exit code 2.
    BadInput(String),
    /// The answer is printed, and a threshold is not met: exit code 4.
    NotMet(String),
    /// The user lacks a permission: exit code 5.
    Permission(String),
    /// No such device, no driver for it, or a program that cannot be started: exit code 3.
    NoDevice(String),
    /// The system failed: exit code 1.
    Failed(String),
    /// stdout was closed by its reader, as by `| head`: exit code 0.
    NobodyReads,
}

impl Failure {
    pub(crate) fn bad(line: impl Into<String>) -> Self {
        Self::BadInput(line.into())
    }

    /// Adds the name of the guide that explains the daemon's messages.
    pub(crate) fn with_page(self) -> Self {
        let with = |line: String| format!("{line} (see {TROUBLESHOOTING})");
        match self {
            Self::BadInput(line) => Self::BadInput(with(line)),
            Self::Permission(line) => Self::Permission(with(line)),
            Self::Failed(line) => Self::Failed(with(line)),
            other @ (Self::NotMet(_) | Self::NoDevice(_) | Self::NobodyReads) => other,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadInput(line)
            | Self::NotMet(line)
            | Self::Permission(line)
            | Self::NoDevice(line)
            | Self::Failed(line) => line,
            Self::NobodyReads => "nobody reads the answer",
        })
    }
}

impl From<RequestError> for Failure {
    fn from(error: RequestError) -> Self {
        Self::BadInput(error.to_string())
    }
}

impl From<calc_core::error::Error> for Failure {
    fn from(error: calc_core::error::Error) -> Self {
        RequestError::from(error).into()
    }
}

/// Errors of reading stdin and writing stdout; errors of named files are complete sentences already.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Failed(format!("cannot read stdin or write stdout: {error}")),
        }
    }
}
