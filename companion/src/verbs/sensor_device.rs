//! `--device` of `telemetry` and `monitor`: a device that runs kernels, or a card whose sensors are read.

use std::time::Duration;

use clap::{Arg, ArgMatches, ValueHint};
use kernels::devices::Device;

use crate::failure::Failure;
use crate::hooks::Hooks;
use crate::measure::machine::{self, NotFound};
use crate::measure::sensors::{Gpu, PatientSensors};
use crate::telemetry::Owner;

/// Longest wait for the drivers of cards.
const LIMIT: Duration = Duration::from_secs(1);

pub(super) fn argument(help: &'static str) -> Arg {
    Arg::new("device").long("device").value_name("NAME").value_hint(ValueHint::Other).help(help)
}

/// The device that the flag names; one that runs kernels and is a card has the sensors of that card.
///
/// # Errors
/// A device that this machine lacks, and a text that names no device.
pub(super) fn asked(matches: &ArgMatches) -> Result<Option<Owner>, Failure> {
    let Some(asked) = matches.get_one::<String>("device") else { return Ok(None) };
    let devices = machine::devices(&Hooks::read().map_err(Failure::BadInput)?, Some(asked));
    let found = machine::find(&devices, Some(asked));
    if let Ok(device @ Device { address: None, .. }) = found {
        return Ok(Some(Owner::Kernels(device.id)));
    }
    let sensors = PatientSensors::here(LIMIT);
    let cards = sensors.ask("the drivers of GPUs", |sensors| Ok(sensors.gpus()));
    // Without an answer it is not known that the card is missing, and the sentence says so.
    let cards = cards.map_err(Failure::Failed)?;
    let missing = match found {
        Ok(device) => return card_of(device, &cards).map(Some),
        Err(missing) => missing,
    };
    if let Some(card) = cards.iter().find(|card| card.name == *asked) {
        return Ok(Some(Owner::Card(card.name.clone())));
    }
    let is_card =
        asked.split_once('@').is_some_and(|(driver, at)| !driver.is_empty() && !at.is_empty());
    let there = cards.iter().map(|card| format!("{} ({})", card.name, card.model));
    let there: Vec<String> = there.collect();
    Err(match missing {
        NotFound::Absent { asked, there: kernels } => absent(asked, there, kernels),
        NotFound::NoName(name, _) if is_card => {
            let kernels = devices.iter().map(|device| format!("{} ({})", device.id, device.name));
            absent(name, there, kernels.collect::<Vec<_>>().join(", "))
        }
        none @ NotFound::NoName(..) => Failure::BadInput(format!(
            "{none}, or a card by driver and address such as amdgpu@0000:03:00.0"
        )),
    })
}

/// The card that a device is, by its place on its bus.
fn card_of(device: &Device, cards: &[Gpu]) -> Result<Owner, Failure> {
    let address = device.address.as_deref().unwrap_or_default();
    let card = Gpu::at(cards, address);
    let card =
        card.map_err(|why| Failure::NoDevice(format!("no sensors of {}: {why}", device.id)))?;
    Ok(Owner::Card(card.name.clone()))
}

fn absent(asked: String, mut there: Vec<String>, kernels: String) -> Failure {
    there.push(kernels);
    Failure::NoDevice(NotFound::Absent { asked, there: there.join(", ") }.to_string())
}
