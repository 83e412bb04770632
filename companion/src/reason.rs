//! The refusals and failures that the daemon sends over a socket, in one table: the code for programs and the sentence for people,
//! with `{}` in place of a detail. Each has an entry in docs/guides/troubleshooting.md, which a test checks.

use std::fmt::Display;

use protocol::fault::{Fault, FaultCode};

macro_rules! reasons {
    ($($name:ident: $code:ident, $text:literal;)*) => {
        /// A refusal or failure of the daemon.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Reason {
            $($name,)*
        }

        impl Reason {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code for programs.
            pub(crate) const fn code(self) -> FaultCode {
                match self {
                    $(Self::$name => FaultCode::$code,)*
                }
            }

            const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

reasons! {
    // The handshake.
    Late: Unauthenticated, "no proof within 5 s";
    FirstMessage: Malformed, "the first message must be `identify` or `pair`";
    NoProof: Unauthenticated, "the first message must prove a key or a pairing code";
    Version: Version, "page and daemon have no common version; open the page that this daemon serves";
    KeyUnknown: Unauthenticated, "this key is unknown to the daemon; pair again with `ridgepoint pair`";
    CodeWrong: Unauthenticated, "this pairing code is wrong, used, or older than 5 minutes; `ridgepoint pair` prints a new link";
    KeysFull: Rate, "too many keys; revoke some with `ridgepoint keys revoke`";
    KeyUnkept: Storage, "the new key cannot be stored; see the daemon's messages";
    PairingsTooMany: Rate, "too many programs pair at this moment; wait a second";
    SessionsTooFast: Rate, "this key opens too many sessions per second; wait a second";
    SessionsFull: Rate, "all sessions are taken; close another page";

    // The end of a session.
    KeyRevoked: Unauthenticated, "this key was revoked; pair again with `ridgepoint pair`";
    ScopesChanged: Unauthenticated, "the scopes of this key were changed; connect again";
    Draining: Draining, "the daemon is shutting down; start it again and reconnect";
    Flood: Rate, "too many messages";
    Strikes: Malformed, "too many malformed messages";
    NotText: Malformed, "messages must be text";

    // Refused messages of a session.
    TooFast: Rate, "more than {} messages per second";
    NoMessage: Malformed, "malformed message: {}";
    Proved: BadInput, "this session is authenticated already";
    ScopeLacking: Forbidden, "this session lacks the scope `{}`; `ridgepoint keys grant {} --scope {}` adds it to the key";
    ScopeOff: Forbidden, "no session of this daemon has the scope `{}`; start it {}";
    KeyStays: Storage, "the key cannot be revoked, because the keys cannot be written; see the daemon's messages";
    SubscriptionsFull: Rate, "a session may subscribe to at most {} jobs";
    EngineRefused: BadInput, "this server is not read: {}";
    EnginesFull: Rate, "this daemon reads at most {} servers at once; end one";
    EnginesOfKey: Rate, "a key may have at most {} servers read at once; end one";
    EngineUnread: Internal, "the server cannot be read: {}";
    NoJob: NotFound, "there is no job {}";
    JobDropped: NotFound, "job {} was dropped with its results, because later jobs need its room";
    NotCut: Conflict, "job {} is {}; only a canceled or an interrupted job can be continued";
    CalibrationCut: BadInput, "roofs and calibrations are not continued, because their points are compared with each other; start a new one";
    LaterJob: Unsupported, "job {} is of a later version of ridgepoint; continue it with that version";
    RequestTaken: Conflict, "this request id has started another job; choose a new one";
    QueueFull: QueueFull, "the queue is full; cancel a job or wait";
    ShareFull: QueueFull, "this key has the largest allowed number of jobs; cancel a job or wait";
    OutOfRange: BadInput, "{} is {}; it must be from {} to {}";
    NoName: BadInput, "{} is not a valid name";
    DeviceUnknown: BadInput, "the device of the job is not there: {}";
    KernelUnknown: BadInput, "{} is not measured on {}; it measures {}";
    PointsFull: BadInput, "{} points; a job has at most {}";
    TimeShort: BadInput, "{} points take about {} s, and a job may take {} s; at most {} points fit, or more with fewer iterations";
    ShapeNeeded: BadInput, "{} needs at least one shape";
    ShapeUnneeded: BadInput, "{} has no shape";
    SizesNeeded: BadInput, "{} needs sizes by name";
    SizesUnneeded: BadInput, "{} has no sizes by name";
    SizesImpossible: BadInput, "these sizes cannot be measured: {}";
    OperandTooLarge: BadInput, "an operand has more than {} elements";
    FormatUnknown: BadInput, "a format cannot be measured: {}";
    MemoryShort: BadInput, "the job needs {} of memory, but {} is available; choose a smaller shape or format, or close other programs";
    Unlogged: Storage, "the audit log cannot be written, so no job is started; see the daemon's messages";
    Unwritable: Storage, "results cannot be stored: writing to the state folder failed; free disk space or repair the disk, then start the daemon again";
    StoreBroke: Storage, "results can no longer be stored; the running job is interrupted";
    Unreadable: Storage, "the results cannot be read; see the daemon's messages";
    StoreFull: Storage, "results fill the space that they may have, and no ended job is left to drop; wait for a running job or cancel one";
    JobUnreadable: Storage, "job {} cannot be read: it is damaged, or a later version wrote it; the other jobs are as they were";
    EventUnreadable: Storage, "this part of the job cannot be read; the others are as they were";
    StoreLost: Internal, "the daemon lost its store; start it again";

    // The end of a job.
    LineNoMessage: Garbled, "the worker wrote a malformed line";
    LineEndless: Garbled, "the worker wrote a line without an end";
    SaidTooMuch: Garbled, "the worker wrote more messages than a job is allowed";
    ResultsFull: Garbled, "the job has more results than allowed";
    ResultsLarge: Garbled, "the results of the job take more space than one job may have";
    Contradiction: Garbled, "the result contradicts itself: {}";
    CalibrationBad: Garbled, "the file that the job made cannot be read: {}";
    Silent: Hung, "the worker sent nothing for {} s";
    TooLong: Hung, "the job took longer than the allowed {} s";
    WouldTakeTooLong: Failed, "the job would take about {} s, and jobs of its kind may take {} s; split the sweep";
    MemoryOut: Failed, "the job was ended because only {} of memory was left, before the machine would swap; choose a smaller shape or format, or close other programs";
    TurnTaken: Failed, "another ridgepoint has its turn to measure on this machine, and as far as the system tells it did not run for {} s; end it, then start the job again";
    Wedged: Hung, "the worker on {} was killed and has not ended; no job starts there until it has, and if it never does, restart the machine";
    NotStarted: Crashed, "the worker cannot be started: {}";
    NoLastWord: Crashed, "the worker exited without reporting a result ({})";
    GaveUp: Failed, "the measurement failed: {}";
    OrderUnreadable: Storage, "the order of this job cannot be read: it is damaged, or a later version wrote it; start the job again";
    Defect: Internal, "a defect of the daemon ended the job; see its messages";
    EndedWhileRunning: Interrupted, "the daemon was ended while the job ran; start it again";
    EndedWaiting: Interrupted, "the daemon ended while the job waited; start it again";
    EndedBefore: Interrupted, "the daemon ended before the job did; start it again";
}

impl Reason {
    /// The fault of a reason without details.
    pub(crate) fn fault(self) -> Fault {
        self.with(&[])
    }

    /// The fault with its details in order; the last detail fills all remaining places.
    pub(crate) fn with(self, details: &[&dyn Display]) -> Fault {
        let mut parts = self.text().split("{}");
        let mut message = parts.next().unwrap_or_default().to_owned();
        let mut details = details.iter();
        let mut last = String::new();
        for part in parts {
            last = details.next().map_or(last, ToString::to_string);
            message = message + &last + part;
        }
        Fault { code: self.code(), message, retry_after_ms: self.retry_after_ms() }
    }

    /// The delay after which the request may be repeated.
    const fn retry_after_ms(self) -> Option<u32> {
        match self {
            Self::TooFast
            | Self::PairingsTooMany
            | Self::SessionsTooFast
            | Self::QueueFull
            | Self::ShareFull => Some(1000),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use protocol::close;

    use super::*;
    use crate::server::Refusal;

    const PAGE: &str = include_str!("../../docs/guides/troubleshooting.md");

    /// The first cells of the page's tables.
    fn entries() -> Vec<&'static str> {
        let cells = PAGE.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        cells.collect()
    }

    /// A sentence up to its advice, as an entry shows it.
    fn shown(sentence: &str) -> String {
        let first = sentence.split(';').next().unwrap_or_default();
        first.replace("{}", "…").replace('`', "")
    }

    #[test]
    fn every_reason_has_an_entry_in_troubleshooting() {
        let entries: Vec<String> = entries().iter().map(|entry| entry.replace('`', "")).collect();
        let has = |text: &str| entries.iter().any(|entry| entry.contains(text));
        for reason in Reason::ALL {
            // Sentences that differ only behind the semicolon share an entry.
            assert!(has(&shown(reason.text())), "{reason:?}: {}", reason.text());
        }
        for refusal in Refusal::ALL {
            let entry = format!("{} ({})", shown(refusal.sentence()), refusal.status().as_u16());
            assert!(has(&entry), "{refusal:?}: {entry}");
        }
        for (code, name) in close::ALL {
            assert!(has(&format!("{code} {name}")), "{code} {name}");
        }
        for code in FaultCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.key());
            assert!(has(code.key()), "{code:?}");
        }
        assert!(!has("a message that nobody writes"));
    }

    /// The titles of the page's states are in the page's source, which this program does not contain.
    #[test]
    fn every_state_of_the_page_has_an_entry() {
        let source = include_str!("../../web/src/state/measure/words.rs");
        let source = source.split("pub fn said(").nth(1).unwrap_or_default();
        let source = source.split("\n}\n").next().unwrap_or_default();
        let source = source.split_whitespace().collect::<Vec<_>>().join(" ").replace("( \"", "(\"");
        let after = |mark| source.split(mark).skip(1).filter_map(|rest| rest.split('"').next());
        let titles: Vec<&str> = after("title: \"").chain(after("plain(\"")).collect();
        assert!(titles.len() >= 9, "{titles:?}");
        for title in titles.into_iter().filter(|title| !["Connecting", "Connected"].contains(title))
        {
            assert!(entries().contains(&&*format!("`{title}`")), "{title}");
        }
    }

    #[test]
    fn details_fill_their_places() {
        let said = |reason: Reason, details: &[&dyn Display]| reason.with(details).message;
        assert_eq!(said(Reason::OutOfRange, &[&"m", &0, &1, &9]), "m is 0; it must be from 1 to 9");
        let lacking = said(Reason::ScopeLacking, &[&"bench", &"01", &"bench"]);
        assert!(lacking.contains("`ridgepoint keys grant 01 --scope bench`"), "{lacking}");
        assert_eq!(Reason::QueueFull.fault().retry_after_ms, Some(1000));
    }

    /// The table is complete only if no other file builds faults.
    #[test]
    fn faults_are_made_here_and_nowhere_else() {
        let mut folders = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut looked = 0;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.file_name() != Some("reason.rs".as_ref()) {
                    assert!(!makes_faults(&path), "{}", path.display());
                    looked += 1;
                }
            }
        }
        assert!(looked > 50, "{looked}");
    }

    fn makes_faults(path: &Path) -> bool {
        let text = fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        code.contains("Fault::new(") || code.contains("code: FaultCode")
    }
}
