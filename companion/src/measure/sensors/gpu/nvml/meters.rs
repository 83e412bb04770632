//! Meters of a card: its counter of energy, and its power now.

use super::super::super::{MeterOf, PowerMeter, Reading, Shows};
use super::super::Gpu;
use super::library::said;
use super::{Answer, card, energy, instant, powers, scope};

/// Both meters, each with its value or its reason.
pub(in super::super) fn meters(gpu: &Gpu) -> Reading<Vec<PowerMeter>> {
    let card = card(gpu)?;
    let scope = scope(&card);
    let meter = |what: &str, (asked, found): Answer, shows: fn(f64) -> Shows| PowerMeter {
        name: format!("{} {what}", gpu.name),
        source: format!("NVML of {}, {asked}{scope}", gpu.name),
        of: MeterOf::Address(gpu.address.clone()),
        shows: found.map(shows).map_err(|error| said(asked, &error)),
    };
    let [power, _] = powers(&card);
    Ok(vec![
        meter("energy", energy(&card), |joules| Shows::Energy { joules, range: None }),
        meter("power", power, Shows::Power),
    ])
}

/// Energy [J] and instant power [W], which must agree over time.
pub(in super::super) fn both_meters(gpu: &Gpu) -> Reading<(f64, f64)> {
    let card = card(gpu)?;
    let of = |(asked, found): Answer| found.map_err(|error| said(asked, &error));
    Ok((of(energy(&card))?, of(instant(&card))?))
}
