//! A simulation of the daemon: store, queue, connections and sessions in one thread, by one seed. Its clock is simulated, its
//! workers are played, its clients talk through pipes in memory, and its disk fails, or is what a kill or a loss of power left.
//!
//! After every step the rules of `ledger` and `seat` are checked. A seed that breaks one is printed with its trace.

mod around;
mod client;
mod dice;
mod disk;
mod ledger;
mod life;
mod rules;
mod seat;
mod stage;
mod step;

use std::collections::BTreeMap;
use std::path::PathBuf;

use protocol::scope::Scope;

use crate::keys::{KeyId, Secret};
use dice::Dice;
use ledger::Ledger;

/// Longest duration of a job, in ms.
const LONGEST_MS: u64 = 8_000;
/// Seeds of the ordinary tests, and of `soak`.
#[cfg(not(feature = "soak"))]
const SEEDS: u64 = 300;
#[cfg(feature = "soak")]
const SEEDS: u64 = 10_000;

/// A key of a simulation.
#[derive(Debug, Clone)]
struct HeldKey {
    id: KeyId,
    secret: Secret,
    scopes: Vec<Scope>,
    is_revoked: bool,
}

/// The part of a simulation that outlives a life of the daemon.
#[derive(Debug)]
struct World {
    dice: Dice,
    folder: PathBuf,
    keys: Vec<HeldKey>,
    ledger: Ledger,
    trace: Vec<String>,
    /// How often something happened that a seed is for.
    counts: BTreeMap<&'static str, u64>,
    life: u64,
    /// Wall clock at the start of the life, in ms.
    wall_ms: u64,
    /// Changes of the file of keys, which give it a time of its own.
    key_changes: u64,
}

impl World {
    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }
}

/// The result of a seed.
#[derive(Debug)]
struct Outcome {
    trace: Vec<String>,
    wrong: Option<String>,
    counts: BTreeMap<&'static str, u64>,
    ends: BTreeMap<String, u64>,
}

/// A folder in memory where the system has one, since SQLite waits for the disk after every commit.
fn folder(seed: u64, run: &str) -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let base = if memory.is_dir() { memory } else { std::env::temp_dir() };
    base.join(format!("ridgepoint-simulation-{}-{seed}-{run}", std::process::id()))
}

/// Simulates a seed: several lives of a daemon in the same state.
fn simulate(seed: u64, run: &str) -> Outcome {
    let folder = folder(seed, run);
    let mut dice = Dice::of(seed);
    let mut world = World {
        folder: folder.clone(),
        keys: Vec::new(),
        ledger: Ledger::dropping(dice.chance(15)),
        trace: Vec::new(),
        counts: BTreeMap::new(),
        life: 0,
        wall_ms: 1_800_000_000_000,
        key_changes: 0,
        dice,
    };
    let lives = 2 + world.dice.below(2);
    for life in 0..lives {
        world.life = life;
        life::live(&mut world, life + 1 == lives);
        if world.ledger.wrong.is_some() {
            break;
        }
    }
    let _ = std::fs::remove_dir_all(folder);
    let (trace, counts) = (world.trace, world.counts);
    Outcome { trace, wrong: world.ledger.wrong, counts, ends: world.ledger.ends }
}

/// Simulates seeds, and returns how often each thing happened.
fn simulate_all(seeds: impl Iterator<Item = u64>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    for seed in seeds {
        let Outcome { trace, wrong, counts: seen, ends } = simulate(seed, "all");
        if let Some(wrong) = wrong {
            panic!("seed {seed}: {wrong}\n{}\nseed {seed}: {wrong}", trace.join("\n"));
        }
        let ends = ends.into_iter().map(|(state, count)| (format!("ended: {state}"), count));
        let seen = seen.into_iter().map(|(what, count)| (what.to_owned(), count));
        for (what, count) in seen.chain(ends) {
            *counts.entry(what).or_insert(0) += count;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events that the seeds together must have met, so that the rules are about something.
    const MET: &[&str] = &[
        "ended: done",
        "ended: failed",
        "ended: canceled",
        "ended: interrupted",
        "kill",
        "kill in recovery",
        "loss of power",
        "write that fails",
        "end by signal",
        "resumed subscription",
        "revoked key",
        "key revoked by its session",
        "withdrawn scope",
        "refused scope",
        "refused proof",
        "too many messages",
        "continued job",
        "damaged row",
        "row of a later version",
        "slow client",
        "told that the store broke",
        "session over the network",
        "reading",
    ];

    /// Two threads share the seeds. `RIDGEPOINT_SEED` chooses one.
    #[test]
    fn no_seed_breaks_a_rule() {
        if let Some(seed) = std::env::var("RIDGEPOINT_SEED").ok().and_then(|it| it.parse().ok()) {
            simulate_all(std::iter::once(seed));
            return;
        }
        let halves = [0, 1].map(|half| {
            std::thread::spawn(move || simulate_all((0..SEEDS).filter(|seed| seed % 2 == half)))
        });
        let mut counts = BTreeMap::new();
        for half in halves {
            let half = half.join().unwrap_or_else(|panicked| std::panic::resume_unwind(panicked));
            for (what, count) in half {
                *counts.entry(what).or_insert(0) += count;
            }
        }
        println!("{SEEDS} seeds: {counts:?}");
        let missed: Vec<_> = MET.iter().filter(|what| !counts.contains_key(**what)).collect();
        assert!(missed.is_empty(), "no seed met {missed:?}: {counts:?}");
    }

    #[test]
    fn the_same_seed_gives_the_same_trace() {
        for seed in 0..12 {
            let (one, two) = (simulate(seed, "one"), simulate(seed, "two"));
            assert!(one.trace.len() > 50, "{:?}", one.trace);
            for (at, (one, two)) in one.trace.iter().zip(&two.trace).enumerate() {
                assert_eq!(one, two, "seed {seed}, line {at}");
            }
            assert_eq!(one.trace.len(), two.trace.len(), "seed {seed}");
        }
        assert_ne!(simulate(1, "one").trace, simulate(2, "one").trace);
    }
}
