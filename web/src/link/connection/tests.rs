//! Tests the connection against a simulated daemon.

use protocol::ability::Abilities;
use protocol::fault::{Fault, FaultCode};
use protocol::limits::Limits;
use protocol::server::{Identified, Paired, Versions};

use super::*;

const KEY: Hex<8> = Hex([1; 8]);
const PROOF: Hex<32> = Hex([6; 32]);
const EPOCH: Hex<8> = Hex([7; 8]);

fn hello(min: u32) -> Event {
    let limits = Limits {
        message_bytes: 1,
        sessions: 1,
        messages_per_s: 1,
        subscriptions: 1,
        telemetry_hz: 1.0,
        queued_jobs: 1,
        jobs_per_key: 1,
        points: 1,
        dimension: 1,
        job_s: 1,
    };
    Event::Received(ServerMessage::Hello(Hello {
        protocol: Versions { min, max: min },
        server: Hex([4; 16]),
        nonce: Hex([5; 32]),
        version: "9.9.9".into(),
        limits,
        can: None,
    }))
}

fn opened() -> Event {
    Event::Opened { nonce: Hex([2; 32]), origin: "http://localhost:8000".into() }
}

fn identified() -> Event {
    Event::Received(ServerMessage::Identified(Identified {
        proof: PROOF,
        scopes: vec![Scope::Read, Scope::Bench],
        session: 1,
        epoch: EPOCH,
        machine: "a processor".into(),
        devices: Vec::new(),
        here: None,
    }))
}

fn signed(key: Option<Hex<8>>) -> Event {
    Event::Signed(Some(Signature { key, proof: PROOF }))
}

fn connect(code: &str) -> Connection {
    let mut connection = Connection::default();
    let connect = Event::Connect { address: "127.0.0.1:8000".into(), code: code.into() };
    assert_eq!(connection.on(connect), [Action::Open("127.0.0.1:8000".into())]);
    assert_eq!(connection.on(opened()), []);
    connection
}

fn up() -> Connection {
    let mut connection = connect("");
    assert!(matches!(&connection.on(hello(1))[..], [Action::Sign { code, .. }] if code.is_empty()));
    let said = connection.on(signed(Some(KEY)));
    assert!(matches!(&said[..], [Action::Send(ClientMessage::Identify(it))] if it.key == KEY));
    assert!(matches!(&connection.on(identified())[..], [Action::Sign { .. }]));
    assert_eq!(connection.on(signed(Some(KEY))), [Action::Resume]);
    connection
}

fn closed(code: u16) -> Event {
    Event::Closed { code, denied: false }
}

#[test]
fn a_kept_key_opens_a_session_after_both_sides_proved_it() {
    let connection = up();
    let State::Connected(session) = &connection.state else { panic!("{:?}", connection.state) };
    assert!(
        session.may_measure() && session.version == "9.9.9" && session.machine == "a processor"
    );
    assert_eq!(session.key, Some(KEY));
}

#[test]
fn a_code_becomes_a_key_and_is_forgotten() {
    let mut connection = connect("SECRET");
    assert!(
        matches!(&connection.on(hello(1))[..], [Action::Sign { code, .. }] if code == "SECRET")
    );
    assert!(matches!(&connection.on(signed(None))[..], [Action::Send(ClientMessage::Pair(_))]));
    let paired = Paired {
        key: KEY,
        proof: PROOF,
        scopes: vec![Scope::Read],
        session: 1,
        epoch: EPOCH,
        machine: String::new(),
        devices: Vec::new(),
        here: None,
    };
    connection.on(Event::Received(ServerMessage::Paired(paired)));
    let done = connection.on(signed(None));
    assert!(
        matches!(&done[..], [Action::StoreKey { key: KEY, code, .. }, Action::Resume] if code == "SECRET")
    );
    let State::Connected(session) = &connection.state else { panic!("{:?}", connection.state) };
    assert!(!session.may_measure() && session.key == Some(KEY));
    assert!(!format!("{connection:?}").contains("SECRET"));
}

#[test]
fn a_daemon_that_cannot_prove_itself_is_left() {
    for wrong in [Some(Signature { key: Some(KEY), proof: Hex([9; 32]) }), None] {
        let mut connection = connect("");
        connection.on(hello(1));
        connection.on(signed(Some(KEY)));
        connection.on(identified());
        assert_eq!(connection.on(Event::Signed(wrong)), [Action::Close]);
        assert!(matches!(connection.state, State::Refused(_)));
    }
}

#[test]
fn what_was_not_asked_for_opens_nothing() {
    let mut connection = connect("SECRET");
    connection.on(hello(1));
    assert_eq!(connection.on(identified()), [], "before our own proof");
    connection.on(signed(None));
    assert_eq!(connection.on(identified()), [], "a code is answered by a key");
    assert_eq!(connection.state, State::Opening);
}

/// Code of the close frame, whether the browser denies local connections, and the check of the state that follows.
type Case = (u16, bool, fn(&State) -> bool);

#[test]
fn each_end_says_why() {
    let cases: [Case; 7] = [
        (TOO_LARGE, false, |state| matches!(state, State::Refused(why) if why.contains("larger"))),
        (1006, false, |state| *state == State::Unreachable),
        (1006, true, |state| *state == State::Blocked),
        (
            close::UNAUTHENTICATED,
            false,
            |state| matches!(state, State::Unpaired(why) if why == "why"),
        ),
        (close::VERSION, false, |state| matches!(state, State::OtherVersion(_))),
        (close::RATE, false, |state| matches!(state, State::Refused(why) if why == "why")),
        (close::FORBIDDEN, false, |state| matches!(state, State::Unpaired(why) if why == "why")),
    ];
    for (code, denied, expected) in cases {
        let mut connection = connect("");
        let bye = ServerMessage::Bye(Fault::new(FaultCode::Internal, "why"));
        connection.on(Event::Received(bye));
        assert_eq!(connection.on(Event::Closed { code, denied }), [], "{code}");
        assert!(expected(&connection.state), "{code}: {:?}", connection.state);
    }
    let mut connection = connect("");
    assert_eq!(connection.on(hello(2)), [Action::Close]);
    connection.on(closed(1006));
    assert_eq!(connection.state, State::OtherVersion("9.9.9".into()));
    let mut connection = connect("");
    connection.on(hello(1));
    assert_eq!(connection.on(Event::Signed(None)), [Action::Close]);
    assert_eq!(connection.state, State::Unpaired(String::new()));
}

#[test]
fn a_used_link_opens_the_session_of_a_key_that_is_kept_and_else_says_why() {
    let refused = || {
        let mut connection = connect("SECRET");
        connection.on(hello(1));
        connection.on(signed(None));
        connection.on(Event::Received(ServerMessage::Bye(Fault::new(FaultCode::Internal, "used"))));
        let again = connection.on(closed(close::UNAUTHENTICATED));
        assert_eq!(again, [Action::Open("127.0.0.1:8000".into())]);
        connection.on(opened());
        let asked = connection.on(hello(1));
        assert!(matches!(&asked[..], [Action::Sign { code, .. }] if code.is_empty()), "{asked:?}");
        connection
    };
    let mut kept = refused();
    kept.on(signed(Some(KEY)));
    kept.on(identified());
    assert_eq!(kept.on(signed(Some(KEY))), [Action::Resume]);
    let mut none = refused();
    assert_eq!(none.on(Event::Signed(None)), [Action::Close]);
    assert_eq!(none.state, State::Unpaired("used".into()));
    // A key that is refused, too, is not tried again.
    let mut revoked = refused();
    revoked.on(signed(Some(KEY)));
    assert_eq!(revoked.on(closed(close::UNAUTHENTICATED)), []);
    assert!(matches!(revoked.state, State::Unpaired(_)));
}

#[test]
fn what_was_up_comes_back_by_itself_and_later_each_time() {
    let mut connection = up();
    let mut waits = Vec::new();
    for tries in 1..=8 {
        let Action::RetryAfter(ms) = connection.on(closed(1006))[0] else { panic!("a wait") };
        waits.push(ms);
        assert_eq!(connection.state, State::Lost(tries));
        assert_eq!(connection.on(Event::Retry), [Action::Open("127.0.0.1:8000".into())]);
    }
    assert!(waits.is_sorted() && waits[0] == 500 && waits[7] == LONGEST_WAIT, "{waits:?}");
    connection.on(opened());
    connection.on(hello(1));
    connection.on(signed(Some(KEY)));
    connection.on(identified());
    assert_eq!(connection.on(signed(Some(KEY))), [Action::Resume]);
    let lost = connection.on(closed(1006));
    assert_eq!(lost, [Action::RetryAfter(LONGEST_WAIT)], "a session that was lost at once");
    assert_eq!(connection.on(Event::Retry), [Action::Open("127.0.0.1:8000".into())]);
    connection.on(opened());
    connection.on(hello(1));
    connection.on(signed(Some(KEY)));
    connection.on(identified());
    connection.on(signed(Some(KEY)));
    connection.is_sound();
    let Action::RetryAfter(500) = connection.on(closed(1006))[0] else { panic!("begins anew") };
    assert_eq!(connection.on(Event::Disconnect), [Action::Close]);
    assert_eq!(connection.on(Event::Retry), [], "who left does not come back");
}

/// A daemon that changed the scopes of the key ends the session; the next one is asked for by itself, and has them.
#[test]
fn changed_scopes_are_a_reason_to_connect_again() {
    let mut connection = up();
    assert_eq!(connection.on(closed(close::SCOPES)), [Action::RetryAfter(500)]);
    assert_eq!(connection.on(Event::Retry), [Action::Open("127.0.0.1:8000".into())]);
}

#[test]
fn an_address_that_the_policy_forbids_is_not_taken_for_an_absent_daemon() {
    let mut connection = connect("");
    assert_eq!(connection.on(Event::Forbidden("'self'".into())), []);
    assert_eq!(connection.state, State::Forbidden("'self'".into()));
    assert_eq!(connection.on(closed(1006)), []);
    assert_eq!(connection.state, State::Forbidden("'self'".into()));
}

#[test]
fn a_state_folder_of_its_own_is_known_before_the_browser_is_paired() {
    for own_state in [false, true] {
        let mut connection = connect("");
        let Event::Received(ServerMessage::Hello(mut hello)) = hello(1) else { panic!("a hello") };
        hello.can = Some(Box::new(Abilities { own_state, ..Abilities::default() }));
        connection.on(Event::Received(ServerMessage::Hello(hello)));
        connection.on(Event::Signed(None));
        assert!(matches!(connection.state, State::Unpaired(_)));
        assert_eq!(connection.has_own_state, own_state);
    }
}
