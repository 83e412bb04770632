//! Tests this page's messages to a daemon of before `hello.can`, by the types with which such a daemon reads them.

use protocol::bench::BenchKind;
use protocol::hex::Hex;
use protocol::job::{JobEvent, NumberedEvent};
use protocol::server::Accepted;

use super::*;
use crate::link::session::DaemonSession;
use crate::state::inputs::Inputs;
use crate::state::measure::form::{self, MeasuredDevice};
use crate::state::measure::machine::{calibration_job, roofs_job};
use crate::state::measure::spot::{SpotForm, SpotKind};

#[path = "../../../../companion/protocol/tests/v0/asks.rs"]
mod asks;

/// The page and the daemon of before.
struct Pair {
    page: Client,
    sent: usize,
}

impl Pair {
    /// Sends the messages among the actions, and returns the number of the last one.
    fn send(&mut self, actions: Vec<Action>) -> Option<u32> {
        let mut last = None;
        for action in actions {
            let Action::Send(ask) = action else { continue };
            let text = self.page.numbered(ask);
            let read = serde_json::from_str::<asks::Ask>(&text);
            assert!(read.is_ok(), "{text}: {read:?}");
            self.sent += 1;
            last = Some(self.page.last_id);
        }
        last
    }
}

#[test]
fn a_daemon_of_before_reads_all_that_this_page_sends() {
    let mut page = Client::default();
    let session = DaemonSession::simulated(Vec::new(), "", "");
    let device = MeasuredDevice::of(&session, "").expect("every daemon has a processor");
    page.connection.state = State::Connected(session);
    page.connection.server = Some(Hex([1; 16]));
    let mut pair = Pair { page, sent: 0 };

    let actions = pair.page.resumed(vec![Action::Resume]);
    pair.send(actions);
    // Such a daemon answers with one list, whatever there is.
    let actions = pair
        .page
        .receive(None, ServerMessage::Jobs { jobs: Vec::new(), more: false, passed_over: 0 });
    pair.send(actions);

    let inputs = Inputs::default();
    let measured = SpotKind::ALL.into_iter().filter(|kind| match kind {
        SpotKind::Product => true,
        SpotKind::Kernel(kernel) => device.has(*kernel),
    });
    let mut orders: Vec<JobSpec> = Vec::new();
    for kind in measured {
        let mut form = SpotForm::default();
        form.wanted = kind;
        let own = form.orders(&inputs, &device).expect("sizes as the page begins with them");
        orders.extend(own.into_iter().map(JobSpec::Bench));
    }
    let shapes = form::shapes("1 4096 4096\n512 4096 4096", &device.limits).expect("shapes");
    let (sweep, _) = form::jobs(&shapes, "", &device).expect("a sweep");
    assert!(sweep.iter().any(|job| job.what == BenchKind::Gemm), "{sweep:?}");
    orders.extend(sweep.into_iter().map(JobSpec::Bench));
    orders.extend([roofs_job(&device), calibration_job(&device)]);
    assert!(orders.len() >= 5, "{orders:?}");

    for (number, order) in (1_u8..).zip(orders) {
        let job = JobId(number.into());
        let actions = pair.page.start(vec![(Hex([number; 16]), order)]);
        let id = pair.send(actions).expect("a start");
        let accepted = ServerMessage::Accepted(Accepted { job, fresh: true });
        let actions = pair.page.receive(Some(id), accepted);
        pair.send(actions);
        let actions = pair.page.cancel(job);
        pair.send(actions);
        let event = JobEvent::Ended { state: JobState::Canceled, fault: None };
        let ended = NumberedEvent { job, seq: 1, at_ms: 0, event };
        let actions = pair.page.receive(None, ServerMessage::Event(ended));
        pair.send(actions);
        let actions = pair.page.show(job);
        pair.send(actions);
        let actions = pair.page.start_rest(vec![(Hex([0xa0 + number; 16]), job)]);
        pair.send(actions);
    }
    // A lost connection repeats what was not answered.
    let actions = pair.page.resumed(vec![Action::Resume]);
    pair.send(actions);
    assert!(pair.sent > 20, "{} messages", pair.sent);
}

/// The types refuse what they have to.
#[test]
fn a_message_with_a_later_field_is_found() {
    let mut page = Client::default();
    let text = page.numbered(ClientMessage::ListJobs { limit: 9, before: None, later: true });
    assert!(serde_json::from_str::<asks::Ask>(&text).is_err());
}
