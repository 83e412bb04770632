//! Selects power mode, scheme and batch together, for a goal. Derivation: `docs/theory/recommendation.md`.
//!
//! Memory and times grow with the batch, so the largest batch that meets the bounds is found by bisection, and the best for
//! latency is one. Time and energy per token fall while rows fill a tile, and rise where the next tile begins. So every batch
//! up to [`EACH`] is tried, then every [`ROWS`], and from [`FINE`] on steps of an eighth: the batches that fill their tiles.

use alloc::vec::Vec;

use crate::catalog::schemes::SCHEMES;
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range, real_in_range};
use crate::order::sort_short;
use crate::quality::QualityLoss;
use crate::recommend::{
    Axis, Bounds, Chooser, Outcome, Part, RecommendRequest, Standing, Task, largest, order,
};
use crate::roofline::Roofs;
use crate::scheme::Scheme;
use crate::text::Text;
use crate::units::{Joules, Seconds, TokensPerSec, Watts};

pub use crate::recommend::Objective;

/// Batches up to this one are tried one by one.
pub const EACH: u64 = 16;
/// Number of rows of the smallest tiles; up to [`FINE`] every multiple is tried.
const ROWS: u64 = 8;
const FINE: u64 = 128;
/// A limit on the quality loss that admits every scheme [%].
const ANY_LOSS: f64 = 1e6;

/// The inputs of a schedule. The task's own batch is ignored.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleRequest<'a> {
    /// The work to run; its power mode is ignored.
    pub task: Task<'a>,
    /// Time, time per token or energy per token; memory is refused.
    pub objective: Objective,
    pub part: Part,
    pub bounds: Bounds,
    /// Largest allowed power budget of a mode.
    pub power_cap: Option<Watts>,
    /// Largest batch that is tried.
    pub max_batch: u64,
}

/// A power mode with a scheme and a batch.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Name of the mode; `None` for the device's own peaks.
    pub mode: Option<Text>,
    /// Highest power that the device may draw in the mode.
    pub budget: Option<Watts>,
    pub scheme: &'static Scheme,
    /// Quality loss at the size of the model.
    pub quality: QualityLoss,
    pub batch: u64,
    /// Times, memory and energy with this choice.
    pub outcome: Outcome,
    /// Ranked value: seconds, seconds per sequence, joules or percent.
    pub score: f64,
    /// Mean power during decode; `None` if unknown.
    pub power: Option<Watts>,
}

impl Slot {
    /// Token rate over the batch during decode.
    pub fn throughput(&self) -> TokensPerSec {
        TokensPerSec::new(self.batch as f64 / self.outcome.decode.expected.time.get())
    }
}

/// A change that would make another slot the best.
#[derive(Debug, Clone, PartialEq)]
pub enum SlotFlip {
    /// With this power budget.
    Cap(Watts, Slot),
    /// If this quality loss is allowed [%].
    LossAllowed(f64, Slot),
    /// If less than this quality loss is allowed [%].
    LossBelow(f64, Slot),
    /// From this context on; `None` if no slot meets the bounds any more.
    Context(u64, Option<Slot>),
}

/// The ranking of power modes, schemes and batches.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Best first; one row for each mode and scheme that meets the bounds.
    pub ranked: Vec<Slot>,
    /// Changes that would make another slot the best.
    pub flips: Vec<SlotFlip>,
    /// Modes whose clocks are not published.
    pub unknown_modes: Vec<Text>,
}

/// Ranks power modes, schemes and batches.
///
/// # Errors
/// Errors of the task itself; a bound or cap out of range; a ranking by memory; energy, or a cap, on a device whose power
/// is unknown.
pub fn schedule(request: &ScheduleRequest<'_>) -> Result<Schedule, Error> {
    check(request)?;
    let setups = setups(request)?;
    let pairs = pairs(request, &setups);
    let placed = self::ranked(&pairs, request.power_cap, request.bounds.quality);
    let ranked: Vec<Slot> =
        placed.iter().filter_map(|placed| slot(placed, &request.task)).collect();
    let flips = ranked.first().map_or_else(Vec::new, |best| flips(request, &pairs, best));
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

/// The modes with known clocks; the device's own peaks if it has no modes.
fn modes(device: &Device) -> impl Iterator<Item = Option<&PowerMode>> {
    let known = |mode: &&PowerMode| Roofs::new(device, Some(mode)).is_ok();
    let own = !device.power_modes.iter().any(|mode| known(&mode));
    device.power_modes.iter().filter(known).map(Some).chain(own.then_some(None))
}

/// Highest power that a device may draw in a mode.
fn budget(device: &Device, mode: Option<&PowerMode>) -> Option<Watts> {
    match mode {
        Some(mode) => mode.watts.or(device.tdp.map(|tdp| tdp.value)),
        None => device.tdp.map(|tdp| tdp.value),
    }
}

/// A power mode with a scheme and its batches.
struct Pair<'a> {
    setup: &'a Setup<'a>,
    scheme: &'static Scheme,
    quality: QualityLoss,
    /// All batches that were tried and meet the bounds, with their standing, smallest first.
    tried: Vec<(u64, Standing)>,
}

/// A power mode with its budget and the request in it.
struct Setup<'a> {
    mode: Option<&'a PowerMode>,
    budget: Option<Watts>,
    chooser: Chooser<'a>,
}

impl Pair<'_> {
    /// The batch with the least score.
    fn best(&self) -> Option<Placed<'_>> {
        let least = |a: &&(u64, Standing), b: &&(u64, Standing)| a.1.score.total_cmp(&b.1.score);
        let (batch, standing) = self.tried.iter().min_by(least)?;
        Some(Placed { pair: self, batch: *batch, standing: *standing })
    }

    fn is(&self, slot: &Slot) -> bool {
        let name = self.setup.mode.map(|mode| &mode.name);
        (name, self.scheme.key) == (slot.mode.as_ref(), slot.scheme.key)
    }
}

/// A pair with its best batch.
#[derive(Clone, Copy)]
struct Placed<'a> {
    pair: &'a Pair<'a>,
    batch: u64,
    standing: Standing,
}

/// The request in each power mode.
fn setups<'a>(request: &ScheduleRequest<'a>) -> Result<Vec<Setup<'a>>, Error> {
    let device = request.task.device();
    let setup = |mode| {
        let task = request.task.on(device, mode);
        let ScheduleRequest { objective, part, bounds, .. } = *request;
        let chooser = Chooser::new(&RecommendRequest { task, objective, part, bounds })?;
        Ok(Setup { mode, budget: budget(device, mode), chooser })
    };
    modes(device).map(setup).collect()
}

/// All modes and schemes with the batches that meet the bounds. The power cap and the quality bound are ignored here:
/// neither affects a time.
fn pairs<'a>(request: &ScheduleRequest<'_>, setups: &'a [Setup<'a>]) -> Vec<Pair<'a>> {
    let mut pairs = Vec::new();
    for setup in setups {
        let chooser = &setup.chooser;
        for scheme in SCHEMES.into_iter().filter(|scheme| chooser.takes(scheme)) {
            let tried = batches(request, chooser.task(), (chooser, scheme), request.max_batch);
            let quality = chooser.quality(scheme);
            pairs.push(Pair { setup, scheme, quality, tried });
        }
    }
    pairs
}

/// The tried batches up to a largest one, with their standing.
fn batches(
    request: &ScheduleRequest<'_>,
    task: &Task<'_>,
    candidate: (&Chooser<'_>, &'static Scheme),
    most: u64,
) -> Vec<(u64, Standing)> {
    let (chooser, scheme) = candidate;
    let fits = |batch| chooser.limits_of_batch(&task.at(Axis::Batch, batch), scheme).is_none();
    let Some(most) = largest(most, fits) else { return Vec::new() };
    let mut tried = Vec::new();
    let mut batch = 1;
    while batch <= most && (tried.is_empty() || !is_single(request)) {
        tried.extend(standing(request, task, candidate, batch).map(|standing| (batch, standing)));
        let next = next_batch(batch);
        batch = if batch < most { next.min(most) } else { next };
    }
    tried
}

const fn next_batch(batch: u64) -> u64 {
    if batch < EACH {
        batch + 1
    } else if batch < FINE {
        (batch / ROWS + 1) * ROWS
    } else {
        (batch + batch / 8) / (2 * ROWS) * (2 * ROWS)
    }
}

/// The standing of a batch, if it meets the bounds: by seconds, seconds per sequence, joules or percent.
fn standing(
    request: &ScheduleRequest<'_>,
    task: &Task<'_>,
    (chooser, scheme): (&Chooser<'_>, &'static Scheme),
    batch: u64,
) -> Option<Standing> {
    let standing = chooser.probe(&task.at(Axis::Batch, batch), scheme).ok()?;
    Some(match request.objective {
        Objective::Throughput => standing.over(batch),
        Objective::Latency | Objective::Energy | Objective::Memory | Objective::Quality => standing,
    })
}

/// The pairs within a power cap and a quality loss, best first.
fn ranked<'a>(pairs: &'a [Pair<'a>], cap: Option<Watts>, quality: f64) -> Vec<Placed<'a>> {
    let bounds = Bounds { quality, ..Bounds::default() };
    let within = |pair: &&Pair<'_>| {
        cap.is_none_or(|cap| pair.setup.budget.is_some_and(|budget| budget <= cap))
            && bounds.admit_quality(&pair.quality).is_ok()
    };
    let mut placed: Vec<Placed<'a>> = pairs.iter().filter(within).filter_map(Pair::best).collect();
    order(&mut placed, |placed| placed.standing);
    placed
}

fn slot(placed: &Placed<'_>, task: &Task<'_>) -> Option<Slot> {
    let Placed { pair, batch, standing } = *placed;
    let task = task.on(task.device(), pair.setup.mode).at(Axis::Batch, batch);
    let outcome = pair.setup.chooser.run(&task, pair.scheme).ok()?;
    let token: Option<Joules> = outcome.decode.energy;
    let time: Seconds = outcome.decode.expected.time;
    Some(Slot {
        mode: pair.setup.mode.map(|mode| mode.name.clone()),
        budget: pair.setup.budget,
        scheme: pair.scheme,
        quality: pair.quality,
        batch,
        score: standing.score,
        outcome,
        power: token.map(|token| token * batch as f64 / time),
    })
}

/// The best slots under changed conditions, if they are different ones.
fn flips(request: &ScheduleRequest<'_>, pairs: &[Pair<'_>], best: &Slot) -> Vec<SlotFlip> {
    let (task, cap, quality) = (&request.task, request.power_cap, request.bounds.quality);
    let other = |cap, quality| {
        let first = ranked(pairs, cap, quality).into_iter().next();
        first.filter(|first| !first.pair.is(best)).and_then(|first| slot(&first, task))
    };
    let mut flips = Vec::new();
    if let Some(cap) = cap {
        let device = request.task.device();
        let larger = modes(device).filter_map(|mode| budget(device, mode)).filter(|w| *w > cap);
        if let Some(next) = larger.min_by(|a, b| a.get().total_cmp(&b.get())) {
            flips.extend(other(Some(next), quality).map(|slot| SlotFlip::Cap(next, slot)));
        }
    }
    let below = best.quality.high * (1.0 - 1e-6) - 1e-9;
    if below >= 0.0 {
        let then = other(cap, below);
        flips.extend(then.map(|slot| SlotFlip::LossBelow(best.quality.high, slot)));
    }
    if let Some(any) = other(cap, ANY_LOSS) {
        flips.push(SlotFlip::LossAllowed(any.quality.high, any));
    }
    flips.extend(context_flip(request, &ranked(pairs, cap, quality), best));
    flips
}

/// The first context at which another slot is best, found by doubling and bisection.
fn context_flip(
    request: &ScheduleRequest<'_>,
    ranked: &[Placed<'_>],
    best: &Slot,
) -> Option<SlotFlip> {
    const MOST: u64 = 1 << 20;
    let Task::Model(_) = request.task else { return None };
    let longest = request.task.most(Axis::Context);
    let mut hopeful: Vec<Placed<'_>> = ranked.to_vec();
    sort_short(&mut hopeful, |a, b| a.standing.score < b.standing.score);
    let first = |context| first_at(request, &hopeful, context);
    let holds = |placed: Option<(usize, u64)>| {
        placed.is_some_and(|(place, _)| hopeful[place].pair.is(best))
    };
    let mut good = request.task.get(Axis::Context).max(1);
    let mut bad = good;
    while bad < MOST.min(longest) && holds(first(bad)) {
        good = bad;
        bad = (bad * 2).min(longest);
    }
    if holds(first(bad)) {
        return None;
    }
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(first(middle)) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    let then = first(bad).and_then(|(place, batch)| {
        let task = request.task.at(Axis::Context, bad);
        slot(&Placed { batch, ..hopeful[place] }, &task)
    });
    Some(SlotFlip::Context(bad, then))
}

/// The first-ranked pair at a larger context: its index in `hopeful`, and its batch. Scores only rise with the context, so
/// the search ends at the first pair that was too far behind before.
fn first_at(
    request: &ScheduleRequest<'_>,
    hopeful: &[Placed<'_>],
    context: u64,
) -> Option<(usize, u64)> {
    let mut found: Vec<(usize, u64, Standing)> = Vec::new();
    let mut reach = f64::INFINITY;
    for (place, placed) in hopeful.iter().enumerate() {
        if placed.standing.score > reach {
            break;
        }
        let Some((batch, standing)) = best_at(request, placed.pair, context) else { continue };
        reach = reach.min(standing.reach());
        found.push((place, batch, standing));
    }
    order(&mut found, |(.., standing)| *standing);
    found.first().map(|(place, batch, _)| (*place, *batch))
}

/// The best batch of a pair at a larger context.
fn best_at(
    request: &ScheduleRequest<'_>,
    pair: &Pair<'_>,
    context: u64,
) -> Option<(u64, Standing)> {
    let chooser = &pair.setup.chooser;
    let task = chooser.task().at(Axis::Context, context);
    let most = pair.tried.last()?.0;
    let least = |tried: &[(u64, Standing)]| {
        tried.iter().min_by(|a, b| a.1.score.total_cmp(&b.1.score)).copied()
    };
    if !is_without_context(request) {
        return least(&batches(request, &task, (chooser, pair.scheme), most));
    }
    // Only the memory has changed: earlier results hold up to the largest batch that still fits.
    let fits = |batch| chooser.limits_of_batch(&task.at(Axis::Batch, batch), pair.scheme).is_none();
    let most = largest(most, fits)?;
    let known = pair.tried.partition_point(|(batch, _)| *batch <= most);
    let now = |batch| {
        let standing = standing(request, &task, (chooser, pair.scheme), batch)?;
        Some((batch, standing))
    };
    let best = least(&pair.tried[..known]).and_then(|(batch, _)| now(batch));
    let last = if is_single(request) { None } else { now(most) };
    least(&[best, last].into_iter().flatten().collect::<Vec<_>>())
}

/// True if the order of the batches does not depend on the context. The energy of a whole request uses the power of decode
/// at the context, which is the same for all batches.
fn is_without_context(request: &ScheduleRequest<'_>) -> bool {
    request.part != Part::Decode && request.bounds.rate.is_none()
}

/// True if the smallest batch that meets the bounds is the best: a larger one is slower with the same quality loss.
const fn is_single(request: &ScheduleRequest<'_>) -> bool {
    match request.objective {
        Objective::Latency | Objective::Quality => true,
        Objective::Throughput | Objective::Energy | Objective::Memory => false,
    }
}
