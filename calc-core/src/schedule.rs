//! Selects power mode, scheme and batch together, for a goal. Derivation: `docs/theory/recommendation.md`.

mod batches;
mod flips;

use alloc::vec::Vec;

use crate::catalog::schemes::SCHEMES;
use crate::device::{Device, PowerMode};
use crate::error::{Error, in_range, real_in_range};
use crate::quality::QualityLoss;
use crate::recommend::{
    Axis, Bounds, Chooser, FirstBy, Outcome, RankedPart, RecommendRequest, Standing, Task, order,
};
use crate::roofline::Roofs;
use crate::scheme::Scheme;
use crate::text::Text;
use crate::units::{Joules, Seconds, TokensPerSec, Watts};

pub use crate::recommend::Objective;
pub use batches::EACH;
pub use flips::SlotFlip;

use batches::batches;
use flips::flips;

/// The inputs of a schedule. The task's own batch is ignored.
#[derive(Debug, Clone, Copy)]
pub struct ScheduleRequest<'a> {
    /// The work to run; its power mode is ignored.
    pub task: Task<'a>,
    /// Time, time per token or energy per token; memory is refused.
    pub objective: Objective,
    /// Which part of the work counts.
    pub part: RankedPart,
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
    /// The values that determine its rank: seconds, seconds per sequence, joules or percent.
    pub standing: Standing,
    /// Power of the decode step at the stated context; `None` if unknown.
    pub power: Option<Watts>,
}

impl Slot {
    /// Token rate over the batch at the stated context.
    pub fn throughput(&self) -> TokensPerSec {
        self.rate(self.outcome.decode.expected.time)
    }

    /// Token rate over the batch in the mean over the generation.
    pub fn mean_throughput(&self) -> TokensPerSec {
        self.rate(self.outcome.token.expected.time)
    }

    fn rate(&self, time: Seconds) -> TokensPerSec {
        TokensPerSec::new(self.batch as f64 / time.get())
    }
}

/// The ranking of power modes, schemes and batches.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule {
    /// Best first; one row for each mode and scheme that meets the bounds.
    pub ranked: Vec<Slot>,
    /// The reason for the first place.
    pub first_by: FirstBy,
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
    let (placed, first_by) = self::ranked(&pairs, request.power_cap, request.bounds.quality);
    let ranked: Vec<Slot> =
        placed.iter().filter_map(|placed| slot(placed, &request.task)).collect();
    let flips = ranked.first().map_or_else(Vec::new, |best| flips(request, &pairs, best));
    let unknown = |mode: &&PowerMode| Roofs::new(request.task.device(), Some(mode)).is_err();
    let modes = request.task.device().power_modes.iter();
    let unknown_modes = modes.filter(unknown).map(|mode| mode.name.clone()).collect();
    Ok(Schedule { ranked, first_by, flips, unknown_modes })
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
pub(crate) fn budget(device: &Device, mode: Option<&PowerMode>) -> Option<Watts> {
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

/// The pairs within a power cap and a quality loss, best first, and the reason for the first place.
fn ranked<'a>(
    pairs: &'a [Pair<'a>],
    cap: Option<Watts>,
    quality: f64,
) -> (Vec<Placed<'a>>, FirstBy) {
    let bounds = Bounds { quality, ..Bounds::default() };
    let within = |pair: &&Pair<'_>| {
        cap.is_none_or(|cap| pair.setup.budget.is_some_and(|budget| budget <= cap))
            && bounds.admit_quality(&pair.quality).is_ok()
    };
    let mut placed: Vec<Placed<'a>> = pairs.iter().filter(within).filter_map(Pair::best).collect();
    let first_by = order(&mut placed, |placed| placed.standing);
    (placed, first_by)
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
        standing,
        outcome,
        power: token.map(|token| token * batch as f64 / time),
    })
}
