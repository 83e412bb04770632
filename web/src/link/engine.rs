//! The inference server that the daemon reads for this page: its latest state, and why it is not read any more.

use protocol::engine::EngineReport;

/// A server that is read, or was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WatchedEngine {
    /// The daemon reads it.
    pub is_on: bool,
    /// Number of the request to read it.
    pub id: Option<u32>,
    /// The daemon has begun; what came before is of another server.
    pub is_begun: bool,
    pub report: Option<EngineReport>,
    /// Reason of the end; empty while it is read.
    pub why: String,
}

impl WatchedEngine {
    /// Takes a state; one that was under way when the reader stopped it is dropped.
    pub fn told(&mut self, report: EngineReport) {
        if self.is_on && self.is_begun {
            self.report = Some(report);
        }
    }

    /// The daemon does not read it any more; its last state stays.
    pub fn ended(&mut self, why: String) {
        if self.is_on {
            let (report, is_begun) = (self.report.take(), self.is_begun);
            *self = Self { is_begun, report, why, ..Self::default() };
        }
    }

    /// The connection was lost, and the daemon reads for sessions only.
    pub fn lost(&mut self) {
        self.ended("the connection to the daemon was lost".to_owned());
    }

    /// Whether a request with this number started it.
    pub fn asked(&self, id: Option<u32>) -> bool {
        self.is_on && id.is_some() && self.id == id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_state_stays_with_the_reason_of_the_end() {
        let report =
            |heading: &str| EngineReport { heading: heading.into(), ..EngineReport::default() };
        let mut engine = WatchedEngine { is_on: true, id: Some(3), ..WatchedEngine::default() };
        engine.told(report("of another server"));
        assert_eq!(engine.report, None);
        engine.is_begun = true;
        assert!(engine.asked(Some(3)) && !engine.asked(Some(4)) && !engine.asked(None));
        engine.told(report("first"));
        engine.ended("nothing answers".into());
        engine.told(report("late"));
        engine.lost();
        assert_eq!(engine.report, Some(report("first")));
        assert_eq!((engine.is_on, &*engine.why), (false, "nothing answers"));
        assert!(!engine.asked(Some(3)));
    }
}
