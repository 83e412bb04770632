//! The permission of a session in words: what it may do, and the way to more.

use protocol::scope::Scope;

use crate::link::session::DaemonSession;

/// The permission in a sentence that follows another one, and the command that lets the session do more.
pub fn said(session: &DaemonSession) -> (String, Vec<String>) {
    if session.may_measure() {
        return (" This session may look and measure.".to_owned(), Vec::new());
    }
    let (more, commands) = match (session.start_to_measure(), session.command_for(Scope::Bench)) {
        (Some(start), _) => (format!("start the daemon {start} for more."), Vec::new()),
        (None, Some(command)) => ("this command lets it measure, too:".to_owned(), vec![command]),
        (None, None) => ("pair again for more.".to_owned(), vec!["ridgepoint pair".to_owned()]),
    };
    (format!(" This session may look, and start nothing; {more}"), commands)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use protocol::ability::{Abilities, ScopeOff};
    use protocol::hex::Hex;

    use super::*;

    fn session(scopes: Vec<Scope>, can: Option<Abilities>) -> DaemonSession {
        let session = DaemonSession::simulated(scopes, "1.2.3", "a processor");
        DaemonSession { key: Some(Hex([1; 8])), can: can.map(Arc::new), ..session }
    }

    #[test]
    fn a_session_that_only_looks_has_a_way_to_more() {
        let grants = vec![Scope::Read, Scope::Bench];
        let granting = Abilities { grants: grants.clone(), ..Abilities::default() };
        let start = "without `--read-only`".to_owned();
        let off =
            Abilities { off: vec![ScopeOff { scope: Scope::Bench, start }], ..granting.clone() };
        let command = "ridgepoint keys grant 0101010101010101 --scope bench";
        for (scopes, can, part, commands) in [
            (grants, None, "look and measure", &[][..]),
            (vec![Scope::Read], Some(granting), "this command", &[command][..]),
            // Where the daemon gives the scope to nobody, the key is not the reason.
            (vec![Scope::Read], Some(off), "without `--read-only`", &[]),
            // An earlier daemon has no such command.
            (vec![Scope::Read], Some(Abilities::default()), "pair again", &["ridgepoint pair"]),
            (vec![Scope::Read], None, "pair again", &["ridgepoint pair"]),
        ] {
            let (text, found) = said(&session(scopes, can));
            assert!(text.contains(part), "{text}");
            assert_eq!(found, commands);
        }
    }
}
