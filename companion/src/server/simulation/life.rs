//! One life of the daemon: from the files that the life before left to a kill, a loss of power, or an end by a signal.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::DirBuilderExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use protocol::hex::Hex;
use protocol::scope::Scope;
use rusqlite::Connection;
use tokio::time::{Instant, sleep, timeout};

use super::around::Around;
use super::dice::Dice;
use super::disk::{Disk, Fate, Moment};
use super::ledger::{JobRow, LONGEST, rows};
use super::seat::Seat;
use super::stage::Stage;
use super::step;
use super::{HeldKey, LONGEST_MS, World};
use crate::clock::Clock;
use crate::hooks::{Hooks, Spoil, Watcher};
use crate::jobs::Workers;
use crate::keys::{Book, Key, KeyFile, KeyKind, Secret};
use crate::scopes::Restriction;
use crate::server::connections::{self, Connections};
use crate::server::daemon::{Config, Daemon};
use crate::server::static_files::Site;

/// Steps of a life.
const STEPS: u64 = 36;
/// Size of a store that drops ended jobs, in bytes.
const SMALL: u64 = 160 << 10;

/// A daemon that lives, with its clients.
pub(super) struct Life<'w> {
    pub(super) world: &'w mut World,
    pub(super) daemon: Arc<Daemon>,
    pub(super) connections: Connections,
    pub(super) disk: Arc<Disk>,
    pub(super) stage: Arc<Stage>,
    pub(super) seats: Vec<Seat>,
    pub(super) keys: KeyFile,
    /// A view of the database that does not go through the daemon.
    pub(super) db: Connection,
    pub(super) folder: PathBuf,
    begin: Instant,
    wall: Arc<AtomicU64>,
    broken_since: Option<u64>,
}

/// Simulates one life. The last one is lived until every job has ended.
pub(super) fn live(world: &mut World, is_last: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a runtime");
    let fate = fate(world, is_last);
    world.trace.push(format!("life {}: {fate:?}", world.life));
    let folder = prepared(world);
    let disk = Arc::new(Disk::new(&folder, fate));
    runtime.block_on(async {
        let Some(mut life) = Life::begin(world, folder, &disk, fate) else { return };
        life.run(is_last).await;
    });
    drop(runtime);
    let next = folder_of(world, world.life + 1);
    fs::create_dir_all(&next).expect("the simulation has room");
    let mut dice = world.dice.fork();
    disk.leave(&next, &mut dice);
}

fn fate(world: &mut World, is_last: bool) -> Fate {
    let dice = &mut world.dice;
    let at = 1 + dice.below(70);
    let moment = dice.pick(&[Moment::Before, Moment::Within, Moment::After]);
    let spoil = dice.pick(&[Spoil::Before, Spoil::After]);
    match dice.below(100) {
        _ if is_last => Fate::Calm,
        0..20 => Fate::Calm,
        20..45 => Fate::Fails(at, spoil),
        45..65 => Fate::Killed(at, moment),
        65..90 => Fate::PowerLost(at, moment),
        _ => Fate::KilledInRecovery,
    }
}

fn folder_of(world: &World, life: u64) -> PathBuf {
    world.folder.join(format!("life-{life}"))
}

/// The state folder of a life, with the keys of the one before.
fn prepared(world: &mut World) -> PathBuf {
    let folder = folder_of(world, world.life);
    if world.life == 0 {
        fs::create_dir_all(&world.folder).expect("the simulation has room");
        DirBuilder::new().mode(0o700).create(&folder).expect("a folder of its own");
        let keys = KeyFile::of(&folder).expect("a private folder");
        let held: Vec<HeldKey> = (0..3).map(|_| held_key(&mut world.dice)).collect();
        let add =
            |book: &mut Book| book.keys.extend(held.iter().map(|key| stored(key, world.wall_ms)));
        keys.change(add).expect("a file of keys");
        world.keys = held;
    } else {
        let private = <fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o700);
        fs::set_permissions(&folder, private).expect("our folder");
        let before = folder_of(world, world.life - 1);
        fs::copy(before.join("keys.json"), folder.join("keys.json")).expect("the keys");
        let _ = fs::remove_dir_all(before);
        step::damage(world, &folder);
    }
    folder
}

fn held_key(dice: &mut Dice) -> HeldKey {
    let scopes = if dice.chance(75) { vec![Scope::Read, Scope::Bench] } else { vec![Scope::Read] };
    let (id, secret) = (Hex(dice.bytes()), Secret::new(dice.bytes()));
    HeldKey { id, secret, scopes, is_revoked: false }
}

fn stored(key: &HeldKey, now: u64) -> Key {
    Key {
        id: key.id,
        kind: KeyKind::Paired,
        secret: key.secret.clone(),
        scopes: key.scopes.clone(),
        label: "simulated".into(),
        created_ms: now,
        used_ms: now,
    }
}

fn opened(folder: &Path) -> Connection {
    let db = Connection::open(folder.join("jobs.db")).expect("a database");
    db.busy_timeout(Duration::ZERO).expect("a setting");
    db
}

impl<'w> Life<'w> {
    /// Opens the daemon; `None` if it was killed meanwhile.
    fn begin(world: &'w mut World, folder: PathBuf, disk: &Arc<Disk>, fate: Fate) -> Option<Self> {
        let mut hooks = serde_json::json!({
            "scripted": true,
            "silence_ms": 2_000,
            "slack_ms": 2_000,
            "longest_ms": LONGEST_MS,
            "memory_byte": 64_u64 << 30,
        });
        if world.ledger.drops_ended {
            hooks["store_byte"] = SMALL.into();
        }
        let hooks: Hooks = serde_json::from_value(hooks).expect("hooks");
        let hooks = hooks.watched(Watcher(Arc::clone(disk) as _));
        let wall = Arc::new(AtomicU64::new(world.wall_ms));
        let stage = Arc::new(Stage::default());
        let workers = Workers::Played(stage.cast(world.dice.fork()));
        let config = Config {
            site: Site::of(&world.folder).expect("a folder"),
            state: folder.clone(),
            has_own_state: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            restriction: Restriction::default(),
            hooks,
            clock: Clock::scripted(Arc::clone(&wall)),
        };
        let open = AssertUnwindSafe(|| Daemon::open(config, workers));
        let (daemon, desk) = match catch_unwind(open) {
            Ok(opened) => opened.expect("a daemon opens what the one before left"),
            Err(_killed) => {
                world.count("kill in recovery");
                return None;
            }
        };
        disk.learn(desk.synchronous());
        let (daemon, pauses) = (Arc::new(daemon), Mutex::new(world.dice.fork()));
        tokio::spawn(desk.play(move || {
            let ms = {
                let mut dice = pauses.lock().unwrap_or_else(PoisonError::into_inner);
                if dice.chance(25) { 1 + dice.below(15) } else { 0 }
            };
            async move {
                match ms {
                    0 => tokio::task::yield_now().await,
                    _ => sleep(Duration::from_millis(ms)).await,
                }
            }
        }));
        let follower = Arc::clone(&daemon);
        tokio::spawn(async move { follower.keys.follow().await });
        let db = opened(&folder);
        let mut files = fs::read_dir(&folder).expect("a folder").flatten();
        if files.any(|file| file.file_name().to_string_lossy().contains("damaged")) {
            world.ledger.blame(format!("{fate:?} follows a database that was put aside"));
        }
        world.ledger.begin();
        world.ledger.hold(&db);
        let found = rows(&db);
        world.ledger.all_ended(&found);
        world.ledger.look(&found, 0, false);
        Some(Self {
            keys: KeyFile::of(&folder).expect("a private folder"),
            world,
            daemon,
            connections: connections::none(),
            disk: Arc::clone(disk),
            stage,
            seats: Vec::new(),
            db,
            folder,
            begin: Instant::now(),
            wall,
            broken_since: None,
        })
    }

    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.begin.elapsed().as_millis()).expect("a short life")
    }

    pub(super) fn around(&mut self) -> (Around<'_>, &mut Vec<Seat>) {
        let (now, is_broken) = (self.now(), self.disk.has_failed());
        let Self { world, daemon, db, seats, .. } = self;
        (Around { world, daemon, db, now, is_broken }, seats)
    }

    pub(super) fn note(&mut self, line: &str) {
        self.around().0.note(line);
    }

    fn is_over(&self) -> bool {
        self.world.ledger.wrong.is_some() || self.disk.is_killed()
    }

    async fn run(&mut self, is_last: bool) {
        let runner = tokio::spawn(Arc::clone(&self.daemon.jobs).run());
        let steps = STEPS / 2 + self.world.dice.below(STEPS);
        for _ in 0..steps {
            step::take(self);
            // Six of them are longer than a message may take.
            let (longest, times) = match self.world.dice.below(100) {
                0..2 => (4_000, 6),
                2..10 => (4_000, 1),
                _ => (60, 1),
            };
            for _ in 0..times {
                let pause = self.world.dice.below(longest);
                self.pass(pause).await;
            }
            if self.is_over() {
                return self.killed();
            }
        }
        if is_last || self.world.dice.chance(40) {
            self.settle().await;
        }
        if self.is_over() {
            return self.killed();
        }
        if self.world.dice.chance(50) {
            self.note("it is ended by a signal");
            self.world.count("end by signal");
            self.daemon.ending.send_replace(true);
            self.daemon.jobs.end();
            let _ = timeout(Duration::from_secs(3), runner).await;
            self.daemon.jobs.store().settle().await;
            self.seats.iter_mut().for_each(|seat| seat.may_be_closed = true);
            self.look();
            self.count_slow();
        } else {
            self.note("it is killed");
            self.disk.kill();
            self.killed();
        }
    }

    /// Counts what the daemon counted.
    fn count_slow(&mut self) {
        if self.daemon.counters.closed_slow.load(Ordering::Relaxed) > 0 {
            self.world.count("slow client");
        }
    }

    fn killed(&mut self) {
        self.count_slow();
        self.world.wall_ms = self.wall.load(Ordering::Relaxed) + 1000;
        if self.disk.is_killed() {
            let writes = self.disk.writes();
            self.note(&format!("it was killed at write {writes}"));
            let is_lost = matches!(self.disk.fate(), Fate::PowerLost(..));
            self.world.count(if is_lost { "loss of power" } else { "kill" });
        }
    }

    /// Lets time pass, then looks at everything.
    pub(super) async fn pass(&mut self, ms: u64) {
        sleep(Duration::from_millis(1 + ms)).await;
        let wall = self.world.wall_ms + self.now();
        self.wall.store(wall, Ordering::Relaxed);
        // A client that reads makes room for more.
        for _ in 0..100 {
            if !self.look() {
                break;
            }
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Checks database, workers and clients; true if a client heard something. A daemon that was killed says nothing more.
    fn look(&mut self) -> bool {
        if self.disk.is_killed() {
            return false;
        }
        let is_broken = self.disk.has_failed();
        if is_broken && self.broken_since.is_none() {
            self.broken_since = Some(self.now());
            self.world.count("write that fails");
            self.note("a write failed");
        }
        let (found, now) = (rows(&self.db), self.now());
        self.world.ledger.look(&found, now, is_broken);
        let (seen, tried) = (self.stage.seen(), self.disk.tried_after());
        if seen.most > 1 {
            self.world.ledger.blame(format!("{} workers at once", seen.most));
        }
        if tried > 0 {
            self.world.ledger.blame("a write was tried after one had failed".into());
        }
        let broken_since = self.broken_since;
        if broken_since.is_some_and(|since| now > since + LONGEST) && seen.now > 0 {
            self.world.ledger.blame("a worker runs on after a write had failed".into());
        }
        let mut has_heard = false;
        let (mut around, seats) = self.around();
        for seat in seats.iter_mut() {
            has_heard |= seat.hear(&mut around);
            let waited =
                broken_since.is_some_and(|since| now > since.max(seat.asleep_until) + 2_000);
            let is_told = seat.told_broken || seat.session.is_none() || seat.client.is_closed();
            if waited && !is_told && !seat.came_after(broken_since) {
                let name = seat.name;
                around.world.ledger.blame(format!("client {name} was not told that writes fail"));
            }
        }
        seats.retain(|seat| !seat.client.is_closed());
        if self.stage.seen().continued > 0 {
            self.world.count("continued job");
        }
        has_heard
    }

    /// Lets every job end and every client hear of it.
    async fn settle(&mut self) {
        self.note("all jobs are to end");
        self.seats.iter_mut().for_each(|seat| seat.asleep_until = 0);
        let open = self.db.query_row(
            "SELECT count(*) FROM jobs WHERE state IN ('queued', 'running')",
            [],
            |row| row.get::<_, u64>(0),
        );
        let longest = (1 + open.expect("a count")) * LONGEST;
        let begin = self.now();
        loop {
            self.pass(1_000).await;
            if self.is_over() || self.disk.has_failed() {
                return;
            }
            let found = rows(&self.db);
            let (outside, own): (Vec<_>, Vec<_>) =
                found.into_iter().filter(JobRow::is_open).partition(JobRow::is_from_outside);
            let is_open = !own.is_empty();
            let follows_own = |job: &u64| outside.iter().all(|row| row.job != *job);
            let follows = self.seats.iter().any(|seat| seat.follows.keys().any(follows_own));
            if !(is_open || follows) {
                return;
            }
            if self.now() > begin + longest + 5_000 {
                let left = self.seats.iter().map(|seat| (seat.name, &seat.follows));
                let left: Vec<_> = left.collect();
                let what = format!("after {longest} ms: open {is_open}, followed {left:?}");
                return self.world.ledger.blame(what);
            }
        }
    }

    /// Changes the keys as a verb on the command line does.
    pub(super) fn change_keys(&mut self, change: impl FnOnce(&mut Book)) {
        self.keys.change(change).expect("a file of keys");
        // A time of its own, so that the daemon sees the change and reads the file once.
        self.world.key_changes += 1;
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000 + self.world.key_changes);
        let file = File::open(self.folder.join("keys.json")).expect("the keys");
        file.set_modified(time).expect("our file");
    }
}
