//! Meters of a card: its counter of energy, and its power now.

use super::super::super::{MeterOf, PowerMeter, Reading, Shows};
use super::super::{CardSample, Gpu};
use super::faults::said;
use super::library::opened;
use super::{Answer, Clock, card, clock, energy, powers, reasons, scope};

/// Both meters, each with its value or its reason.
pub(in super::super) fn meters(gpu: &Gpu) -> Reading<Vec<PowerMeter>> {
    let opened = opened()?;
    let card = card(&opened, gpu)?;
    let scope = scope(&card);
    let meter = |what: &str, (asked, found): Answer, shows: fn(f64) -> Shows| PowerMeter {
        name: format!("{} {what}", gpu.name),
        source: format!("NVML of {}, {asked}{scope}", gpu.name),
        of: MeterOf::Address(gpu.address.clone()),
        shows: told((asked, found)).map(shows),
    };
    let [power, _] = powers(&card);
    Ok(vec![
        meter("energy", energy(&card), |joules| Shows::Energy { joules, range: None }),
        meter("power", power, Shows::Power),
    ])
}

/// Energy, power, clock and reasons of a card while it is measured. Where power of now is not told apart, it is the power that the driver has.
pub(in super::super) fn sample(gpu: &Gpu) -> Reading<CardSample> {
    let opened = opened()?;
    let card = card(&opened, gpu)?;
    let [watts, _] = powers(&card);
    let throttle = "nvmlDeviceGetCurrentClocksThrottleReasons";
    Ok(CardSample {
        joules: told(energy(&card)),
        watts: told(watts),
        clock: told(("nvmlDeviceGetClockInfo (SM)", clock(&card, Clock::SM))),
        reasons: reasons::of(&card).map_err(|error| said(throttle, &error)),
    })
}

/// The counter of energy [J].
pub(in super::super) fn counter(gpu: &Gpu) -> Reading<f64> {
    told(energy(&card(&*opened()?, gpu)?))
}

fn told((asked, found): Answer) -> Reading<f64> {
    found.map_err(|error| said(asked, &error))
}
