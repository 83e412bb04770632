//! The rules on scopes, as the documents of the protocol have them, and answers as a trace shows them.

use protocol::client::ClientMessage;
use protocol::scope::Scope;
use protocol::server::ServerMessage;

use crate::server::peer::Peer;

/// The scopes that a session may have: over the network it only reads.
pub(super) fn allowed(scopes: &[Scope], peer: Peer) -> Vec<Scope> {
    let is_near = !matches!(peer, Peer::Network(_));
    scopes.iter().copied().filter(|scope| *scope == Scope::Read || is_near).collect()
}

/// The scope that a message needs.
pub(super) const fn needed(ask: &ClientMessage) -> Option<Scope> {
    match ask {
        ClientMessage::Identify(_)
        | ClientMessage::Pair(_)
        | ClientMessage::RevokeKey {}
        | ClientMessage::Ping {} => None,
        ClientMessage::StartJob(_)
        | ClientMessage::ContinueJob(_)
        | ClientMessage::CancelJob { .. }
        | ClientMessage::WatchEngine(_) => Some(Scope::Bench),
        ClientMessage::ListJobs { .. }
        | ClientMessage::SubscribeJob { .. }
        | ClientMessage::UnsubscribeJob { .. }
        | ClientMessage::SubscribeTelemetry { .. }
        | ClientMessage::UnsubscribeTelemetry {}
        | ClientMessage::UnwatchEngine {} => Some(Scope::Read),
    }
}

/// An answer in a few words, without what differs from run to run.
pub(super) fn shown(answer: &ServerMessage) -> String {
    match answer {
        ServerMessage::Accepted(accepted) => format!("job {} ({})", accepted.job.0, accepted.fresh),
        ServerMessage::Jobs { jobs, more, passed_over } => {
            format!("{} jobs, more {more}, {passed_over} passed over", jobs.len())
        }
        ServerMessage::Snapshot { job, after } => {
            format!("job {} is {}, after {after} of {}", job.job.0, job.state.key(), job.last_seq)
        }
        ServerMessage::Fault(fault) => format!("fault {}", fault.code.key()),
        ServerMessage::Identified(identified) => format!("scopes {:?}", identified.scopes),
        ServerMessage::Ok => "ok".into(),
        ServerMessage::Pong => "pong".into(),
        other => format!("{other:?}"),
    }
}
