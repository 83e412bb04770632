//! The script of a test job: steps, then an act. It travels as the backend name of a bench job, `scripted-STEPS-STEP_MS-PREDICTED_MS-ACT`,
//! so that the public messages know no test job. The daemon's tests include this file.

use std::fmt::{self, Display};

/// A scripted test job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Script {
    /// Steps before the act; each sends its progress and one record.
    pub(crate) steps: u32,
    /// Duration of a step, in ms.
    pub(crate) step_ms: u32,
    /// Announced duration of the job, in ms; 1 at least, so that its exponent has no sign.
    pub(crate) predicted_ms: Option<f64>,
    pub(crate) act: Act,
}

/// The way in which a scripted job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Finish,
    Fail,
    /// Sends nothing for an hour, and does not notice the end of its stdin.
    Hang,
    /// Sends heartbeats until it is canceled.
    Linger,
    /// Sends heartbeats and ignores a cancellation.
    IgnoreCancel,
    /// Calls `abort`.
    Crash,
    /// Exits with code 0 without reporting a result.
    Vanish,
    /// Sends malformed lines.
    Garble,
    /// Sends one line without an end.
    Oversize,
    /// Sends more messages than a job may send.
    Flood,
    /// Reports a record that contradicts itself.
    Lie,
    /// Reports success and continues to send.
    Babble,
    /// Tries what a worker may not do, logs each result, and finishes.
    Try,
}

impl Act {
    const ALL: [(&'static str, Self); 13] = [
        ("finish", Self::Finish),
        ("fail", Self::Fail),
        ("hang", Self::Hang),
        ("linger", Self::Linger),
        ("ignore_cancel", Self::IgnoreCancel),
        ("crash", Self::Crash),
        ("vanish", Self::Vanish),
        ("garble", Self::Garble),
        ("oversize", Self::Oversize),
        ("flood", Self::Flood),
        ("lie", Self::Lie),
        ("babble", Self::Babble),
        ("try", Self::Try),
    ];

    fn key(self) -> &'static str {
        Self::ALL.iter().find(|(_, act)| *act == self).map_or("", |(key, _)| key)
    }
}

impl Script {
    /// The script that a backend name spells, if it spells one.
    pub(crate) fn parse(backend: &str) -> Option<Self> {
        let mut words = backend.strip_prefix("scripted-")?.split('-');
        let mut next = || words.next();
        let (steps, step_ms) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let predicted_ms = match next()? {
            "x" => None,
            milliseconds => Some(milliseconds.parse().ok()?),
        };
        let word = next()?;
        let (_, act) = Act::ALL.into_iter().find(|(key, _)| *key == word)?;
        Some(Self { steps, step_ms, predicted_ms, act }).filter(|_| next().is_none())
    }
}

/// The backend name that spells the script.
impl Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let predicted = self.predicted_ms.map_or("x".to_owned(), |ms| format!("{ms:e}"));
        write!(f, "scripted-{}-{}-{predicted}-{}", self.steps, self.step_ms, self.act.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_survive_a_round_trip() {
        for (_, act) in Act::ALL {
            for predicted_ms in [None, Some(100.0), Some(1e303)] {
                let script = Script { steps: 3, step_ms: 20, predicted_ms, act };
                assert_eq!(Script::parse(&script.to_string()), Some(script));
            }
        }
        for bad in ["cpu", "scripted-1", "scripted-1-1-x-dance", "scripted-1-1-x-finish-1"] {
            assert_eq!(Script::parse(bad), None, "{bad}");
        }
    }
}
