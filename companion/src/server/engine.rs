//! The process that reads an inference server for a session: HTTP and the headers of its weights stay out of the daemon. It ends with the
//! session, and when it is dropped.

use std::collections::BTreeMap;
use std::io;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use protocol::engine::WatchEngine;
use protocol::fault::Fault;
use protocol::server::ServerMessage;
use tokio::io::{AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep, timeout};

use crate::jobs::{line, program};
use crate::keys::KeyId;
use crate::reason::Reason;
use crate::verbs::attach::EngineLine;

/// Most servers that all sessions of a daemon read at once.
const MOST: usize = 4;
/// Most servers that the sessions of a key read at once, so that one key leaves places to others.
const MOST_OF_A_KEY: usize = 2;

/// Longest time until the process has its order.
const START: Duration = Duration::from_secs(5);

/// Interval in which a place is tried again.
const LOOK: Duration = Duration::from_millis(10);

/// The servers that are read.
#[derive(Debug, Clone, Default)]
pub(super) struct EnginePlaces(Arc<Mutex<Taken>>);

#[derive(Debug, Default)]
struct Taken {
    /// Places by the key of their session.
    by_key: BTreeMap<KeyId, usize>,
    /// Places whose process was killed and has not ended yet.
    ending: usize,
}

/// Longest wait for a process that was killed to end, and for its place.
const END: Duration = Duration::from_secs(1);

/// A place, until it is dropped.
#[derive(Debug)]
struct EnginePlace {
    places: EnginePlaces,
    key: KeyId,
    is_ending: bool,
}

impl EnginePlace {
    /// Its process was killed.
    fn end(&mut self) {
        self.is_ending = true;
        self.places.taken().ending += 1;
    }
}

impl EnginePlaces {
    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place, also one whose process is about to end.
    async fn take_soon(&self, key: KeyId) -> Result<EnginePlace, Fault> {
        let start = Instant::now();
        loop {
            match self.take(key) {
                Err(_) if start.elapsed() < END && self.taken().ending > 0 => sleep(LOOK).await,
                taken => return taken,
            }
        }
    }

    fn take(&self, key: KeyId) -> Result<EnginePlace, Fault> {
        let mut taken = self.taken();
        let all: usize = taken.by_key.values().sum();
        let of_key = taken.by_key.get(&key).copied().unwrap_or_default();
        if of_key >= MOST_OF_A_KEY {
            return Err(Reason::EnginesOfKey.with(&[&MOST_OF_A_KEY]));
        }
        if all >= MOST {
            return Err(Reason::EnginesFull.with(&[&MOST]));
        }
        taken.by_key.insert(key, of_key + 1);
        Ok(EnginePlace { places: self.clone(), key, is_ending: false })
    }
}

impl Drop for EnginePlace {
    fn drop(&mut self) {
        let mut taken = self.places.taken();
        taken.ending -= usize::from(self.is_ending);
        let of_key = taken.by_key.get(&self.key).copied().unwrap_or_default();
        if of_key > 1 {
            taken.by_key.insert(self.key, of_key - 1);
        } else {
            taken.by_key.remove(&self.key);
        }
    }
}

/// A process with its place, which is free when the process has ended.
#[derive(Debug)]
struct EngineProcess(Option<(Child, EnginePlace)>);

impl Drop for EngineProcess {
    fn drop(&mut self) {
        let Some((mut child, mut place)) = self.0.take() else { return };
        // It may have ended already.
        let _ = child.start_kill();
        place.end();
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            let _ = child.wait().await;
            drop(place);
        });
    }
}

/// A server that is read.
#[derive(Debug)]
pub(super) struct EngineWatch {
    /// Killed when it is dropped.
    _process: EngineProcess,
    /// The process ends when this closes.
    _stdin: ChildStdin,
    lines: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl EngineWatch {
    /// Starts to read the server of an order that is allowed.
    ///
    /// # Errors
    /// Too many servers, and a process that does not start.
    pub(super) async fn start(
        places: &EnginePlaces,
        key: KeyId,
        order: &WatchEngine,
    ) -> Result<Self, Fault> {
        let place = places.take_soon(key).await?;
        let started = timeout(START, Self::spawn(order, place)).await;
        let started = started.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
        started.map_err(|error| Reason::EngineUnread.with(&[&error]))
    }

    async fn spawn(order: &WatchEngine, place: EnginePlace) -> io::Result<Self> {
        let mut command = Command::new(program()?);
        command.arg("read-engine").env_clear().current_dir("/").kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take());
        let process = EngineProcess(Some((child, place)));
        let (Some(mut stdin), Some(stdout)) = pipes else {
            return Err(io::Error::other("a process without pipes"));
        };
        let mut text = serde_json::to_vec(order)?;
        text.push(b'\n');
        stdin.write_all(&text).await?;
        let (lines, line) = (BufReader::new(stdout), Vec::new());
        Ok(Self { _process: process, _stdin: stdin, lines, line })
    }

    /// The next message for the client. The future can be dropped without loss: an incomplete line is kept.
    pub(super) async fn next(&mut self) -> ServerMessage {
        let ended = |why: &str| ServerMessage::EngineEnded { why: why.to_owned() };
        if !matches!(line(&mut self.lines, &mut self.line).await, Ok(true)) {
            return ended("the process that reads the server ended");
        }
        let said = serde_json::from_slice(&self.line);
        self.line.clear();
        match said {
            Ok(EngineLine::Report(report)) => ServerMessage::Engine(*report),
            Ok(EngineLine::Ended(why)) => ended(&why),
            Err(_) => ended("the process that reads the server wrote no report"),
        }
    }
}

/// The next message of a server that is read; without one, never.
pub(super) async fn next(watch: &mut Option<EngineWatch>) -> ServerMessage {
    match watch {
        Some(watch) => watch.next().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_two_places_and_all_keys_four() {
        let keys = [[1; 8], [2; 8], [3; 8]].map(protocol::hex::Hex);
        let places = EnginePlaces::default();
        let said = |key: KeyId| places.take(key).unwrap_err().message;
        let first: Vec<EnginePlace> = (0..2).map(|_| places.take(keys[0]).unwrap()).collect();
        assert!(said(keys[0]).starts_with("a key may have at most 2 servers read"));
        let _second: Vec<EnginePlace> = (0..2).map(|_| places.take(keys[1]).unwrap()).collect();
        assert!(said(keys[2]).starts_with("this daemon reads at most 4 servers"));
        drop(first);
        let _third = places.take(keys[2]).unwrap();
        let _again = places.take(keys[0]).unwrap();
        assert!(said(keys[2]).starts_with("this daemon reads at most 4 servers"));
    }

    #[tokio::test]
    async fn a_place_is_free_when_its_process_has_ended() {
        let key = protocol::hex::Hex([1; 8]);
        let places = EnginePlaces::default();
        let _first = places.take(key).unwrap();
        let started = |place| {
            let mut command = Command::new("sleep");
            let child = command.arg("60").kill_on_drop(true).spawn().unwrap();
            (child.id().unwrap(), EngineProcess(Some((child, place))))
        };
        let (id, process) = started(places.take(key).unwrap());
        drop(process);
        places.take(key).expect_err("it has not ended yet");
        let _next = places.take_soon(key).await.expect("it ends soon");
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        assert_eq!(status, "", "the process is gone");
        assert_eq!(places.taken().ending, 0);
        // A clock that stands still passes the time of a wait at once, and no other.
        tokio::time::pause();
        let begin = Instant::now();
        places.take_soon(key).await.expect_err("nothing ends");
        assert_eq!(begin.elapsed(), Duration::ZERO, "it does not wait");
    }
}
