//! Power mode, scheme and batch together, for a goal. Derivation: `docs/theory/recommendation.md`.
//!
//! Memory and times grow with the batch, so the largest one that meets the bounds is found by bisection, and the best for
//! latency is one. Time and energy per token mostly fall, but not always: an unfilled wave of tiles, or a kernel that a second
//! sequence needs, costs more than it brings. So every batch up to [`EACH`] is tried, and beyond it steps of a thirty-second.

use alloc::vec::Vec;

use crate::catalog::schemes::SCHEMES;
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range, real_in_range};
use crate::order::sort_short;
use crate::quality::QualityLoss;
use crate::recommend::{Axis, Bounds, Chooser, Outcome, Part, RecommendRequest, Task, largest};
use crate::roofline::Roofs;
use crate::scheme::Scheme;
use crate::text::Text;
use crate::units::{Joules, Seconds, TokensPerSec, Watts};

pub use crate::recommend::Objective;

/// Batches up to this one are tried one by one.
pub const EACH: u64 = 128;

/// What is asked. The batch of the task does not count.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleRequest<'a> {
    /// What is to be run; its power mode does not count.
    pub task: Task<'a>,
    /// Time, time per token or energy per token; memory is refused.
    pub objective: Objective,
    /// Which part of the work counts.
    pub part: Part,
    /// What must hold.
    pub bounds: Bounds,
    /// Largest power budget.
    pub power_cap: Option<Watts>,
    /// Largest batch that is considered.
    pub max_batch: u64,
}

/// A power mode with a scheme and a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Name of the mode; `None` for the device's own peaks.
    pub mode: Option<Text>,
    /// Most that the device may draw in it.
    pub budget: Option<Watts>,
    /// Scheme.
    pub scheme: &'static Scheme,
    /// Its loss of quality.
    pub quality: QualityLoss,
    /// Batch.
    pub batch: u64,
    /// What it comes to.
    pub outcome: Outcome,
    /// What the ranking is by: seconds, seconds per sequence, or joules.
    pub score: f64,
    /// Mean power while decoding.
    pub power: Option<Watts>,
}

impl Slot {
    /// Tokens per second over the batch while decoding.
    pub fn throughput(&self) -> TokensPerSec {
        TokensPerSec::new(self.batch as f64 / self.outcome.decode.expected.time.get())
    }
}

/// What would give another best slot.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotFlip {
    /// With this power budget.
    Cap(Watts, Slot),
    /// If this loss of quality is allowed [%].
    LossAllowed(f64, Slot),
    /// If less than this loss of quality is allowed [%].
    LossBelow(f64, Slot),
    /// From this context on; `None` when nothing meets the bounds any more.
    Context(u64, Option<Slot>),
}

/// Which power mode, scheme and batch to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Best first; one row for each mode and scheme that meets the bounds.
    pub ranked: Vec<Slot>,
    /// What would give another best one.
    pub flips: Vec<SlotFlip>,
    /// Modes whose clocks nobody has published.
    pub unknown_modes: Vec<Text>,
}

/// Ranks power modes, schemes and batches.
///
/// # Errors
/// Anything that makes the task itself impossible; a bound or cap out of range; a ranking by memory; energy, or a cap, on a
/// device whose power is unknown.
pub fn schedule(request: &ScheduleRequest<'_>) -> Result<Schedule, Error> {
    check(request)?;
    let ranked = slots(request)?;
    let flips = ranked.first().map_or_else(Vec::new, |best| flips(request, best));
    let unknown = |mode: &&PowerMode| Roofs::new(request.task.device(), Some(mode)).is_err();
    let modes = request.task.device().power_modes.iter();
    let unknown_modes = modes.filter(unknown).map(|mode| mode.name.clone()).collect();
    Ok(Schedule { ranked, flips, unknown_modes })
}

fn check(request: &ScheduleRequest<'_>) -> Result<(), Error> {
    in_range("max_batch", request.max_batch, 1, crate::workload::MAX_BATCH)?;
    if let Some(cap) = request.power_cap {
        real_in_range("power_cap_w", cap.get(), 1e-3, 1e9)?;
    }
    let device = request.task.device();
    let needs_power = request.power_cap.is_some() || request.objective == Objective::Energy;
    if needs_power && modes(device).all(|mode| budget(device, mode).is_none()) {
        return Err(Error::UnknownFact { device: device.key.clone(), fact: "power" });
    }
    if request.objective == Objective::Memory {
        return Err(Error::Conflict {
            first: "objective memory",
            second: "schedule",
            needs: false,
        });
    }
    Ok(())
}

/// The modes in which the clocks are known; the device's own peaks where it has none.
fn modes(device: &Device) -> impl Iterator<Item = Option<&PowerMode>> {
    let known = |mode: &&PowerMode| Roofs::new(device, Some(mode)).is_ok();
    let own = !device.power_modes.iter().any(|mode| known(&mode));
    device.power_modes.iter().filter(known).map(Some).chain(own.then_some(None))
}

/// Most that a device may draw in a mode.
fn budget(device: &Device, mode: Option<&PowerMode>) -> Option<Watts> {
    match mode {
        Some(mode) => mode.watts.or(device.tdp.map(|tdp| tdp.value)),
        None => device.tdp.map(|tdp| tdp.value),
    }
}

/// The best slot of each mode and scheme, best first.
fn slots(request: &ScheduleRequest<'_>) -> Result<Vec<Slot>, Error> {
    let device = request.task.device();
    let mut found = Vec::new();
    for mode in modes(device) {
        let budget = budget(device, mode);
        if request.power_cap.is_some_and(|cap| budget.is_none_or(|budget| budget > cap)) {
            continue;
        }
        let task = request.task.on(device, mode);
        let chooser = Chooser::new(&RecommendRequest {
            task,
            objective: request.objective,
            part: request.part,
            bounds: request.bounds,
        })?;
        for scheme in SCHEMES {
            if let Some((batch, outcome)) = best_batch(request, &chooser, &task, scheme) {
                let name = mode.map(|mode| mode.name.clone());
                found.push(slot(request, &chooser, (name, budget), scheme, (batch, outcome)));
            }
        }
    }
    let key = |slot: &Slot| (slot.score, slot.quality.high, slot.outcome.memory);
    sort_short(&mut found, |a, b| key(a) < key(b));
    Ok(found)
}

fn best_batch(
    request: &ScheduleRequest<'_>,
    chooser: &Chooser<'_>,
    task: &Task<'_>,
    scheme: &'static Scheme,
) -> Option<(u64, Outcome)> {
    if !chooser.considers(scheme) {
        return None;
    }
    let admitted = |batch| chooser.admit(&task.at(Axis::Batch, batch), scheme).ok();
    if request.objective == Objective::Latency {
        return admitted(1).map(|outcome| (1, outcome));
    }
    let most = largest(request.max_batch, |batch| admitted(batch).is_some())?;
    let mut best: Option<(f64, u64, Outcome)> = None;
    let mut batch = 1;
    while batch <= most {
        if let Some(outcome) = admitted(batch) {
            let score = score(request, chooser, &outcome, batch);
            if best.as_ref().is_none_or(|(least, ..)| score < *least) {
                best = Some((score, batch, outcome));
            }
        }
        let next = if batch < EACH { batch + 1 } else { batch + batch / 32 };
        batch = if batch < most { next.min(most) } else { next };
    }
    best.map(|(_, batch, outcome)| (batch, outcome))
}

/// What the ranking is by: seconds, seconds per sequence, or joules.
fn score(
    request: &ScheduleRequest<'_>,
    chooser: &Chooser<'_>,
    outcome: &Outcome,
    batch: u64,
) -> f64 {
    match request.objective {
        Objective::Throughput => chooser.score(outcome) / batch as f64,
        Objective::Latency | Objective::Energy | Objective::Memory => chooser.score(outcome),
    }
}

fn slot(
    request: &ScheduleRequest<'_>,
    chooser: &Chooser<'_>,
    (mode, budget): (Option<Text>, Option<Watts>),
    scheme: &'static Scheme,
    (batch, outcome): (u64, Outcome),
) -> Slot {
    let token: Option<Joules> = outcome.decode.energy;
    let time: Seconds = outcome.decode.expected.time;
    Slot {
        mode,
        budget,
        scheme,
        quality: chooser.quality(scheme),
        batch,
        score: score(request, chooser, &outcome, batch),
        outcome,
        power: token.map(|token| token * batch as f64 / time),
    }
}

/// The best slot under other circumstances, where it is another.
fn flips(request: &ScheduleRequest<'_>, best: &Slot) -> Vec<SlotFlip> {
    let first = |request: &ScheduleRequest<'_>| {
        slots(request).ok().and_then(|slots| slots.into_iter().next())
    };
    let is_other = |slot: &Slot| (&slot.mode, slot.scheme.key) != (&best.mode, best.scheme.key);
    let mut flips = Vec::new();
    if let Some(cap) = request.power_cap {
        let device = request.task.device();
        let larger = modes(device).filter_map(|mode| budget(device, mode)).filter(|w| *w > cap);
        if let Some(next) = larger.min_by(|a, b| a.get().total_cmp(&b.get())) {
            let then = first(&ScheduleRequest { power_cap: Some(next), ..*request });
            flips.extend(then.filter(is_other).map(|slot| SlotFlip::Cap(next, slot)));
        }
    }
    let at_quality =
        |quality| ScheduleRequest { bounds: Bounds { quality, ..request.bounds }, ..*request };
    let below = best.quality.high * (1.0 - 1e-6) - 1e-9;
    if below >= 0.0 {
        let then = first(&at_quality(below)).filter(is_other);
        flips.extend(then.map(|slot| SlotFlip::LossBelow(best.quality.high, slot)));
    }
    if let Some(any) = first(&at_quality(1e6)).filter(is_other) {
        flips.push(SlotFlip::LossAllowed(any.quality.high, any));
    }
    flips.extend(context_flip(request, best));
    flips
}

/// The first context, by doubling and then narrowing down, at which another slot is best.
fn context_flip(request: &ScheduleRequest<'_>, best: &Slot) -> Option<SlotFlip> {
    const MOST: u64 = 1 << 20;
    let Task::Model(_) = request.task else { return None };
    let longest = request.task.most(Axis::Context);
    let at = |context: u64| {
        let task = request.task.at(Axis::Context, context);
        slots(&ScheduleRequest { task, ..*request }).ok().and_then(|slots| slots.into_iter().next())
    };
    let holds = |slot: &Option<Slot>| {
        slot.as_ref()
            .is_some_and(|slot| (&slot.mode, slot.scheme.key) == (&best.mode, best.scheme.key))
    };
    let mut good = request.task.get(Axis::Context).max(1);
    let mut bad = good;
    while bad < MOST.min(longest) && holds(&at(bad)) {
        good = bad;
        bad = (bad * 2).min(longest);
    }
    if holds(&at(bad)) {
        return None;
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(&at(middle)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(SlotFlip::Context(bad, at(bad)))
}
