//! `power`: power, limit, energy, clocks and reasons for low clocks of each card, and the rails of a board, once or again and again.

use std::thread;

use clap::{Arg, ArgMatches, Command, value_parser};

use super::interval;
use super::telemetry::{Asked, INTERVALS, USUAL, chosen, print_again};
use super::{sensor_device, watch};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::output::{self, Form};
use crate::telemetry::{Owner, Quantity, SPAN, Sensed, Sensor, SensorReader};

pub(super) fn command() -> Command {
    let device = || {
        sensor_device::argument(
            "Only this card: a GPU that runs kernels such as cuda:0, or a card as telemetry names it, such as nvidia@0000:01:00.0",
        )
    };
    Command::new("power")
        .about("Power, limit, energy, clocks and reasons for low clocks of each graphics card, and the rails of a board")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([
            Command::new("get")
                .about("What the meters show now, each with its source")
                .args([device(), output::argument()])
                .after_help("Example:\n  ridgepoint power get -o json"),
            Command::new("watch")
                .about("What the meters show at intervals, until Ctrl-C or a number of readings")
                .args([
                    interval::argument("Time between two readings, 200ms to 1h; default 1s"),
                    Arg::new("count")
                        .long("count")
                        .value_name("N")
                        .value_parser(value_parser!(u64).range(1..))
                        .help("End after so many readings; default: at Ctrl-C, with exit code 0"),
                    device(),
                    output::argument(),
                ])
                .after_help("Example:\n  ridgepoint power watch --interval 500ms --count 20 -o jsonl"),
        ])
        .after_help(
            "A value that the driver does not tell is listed with the reason. Exit code 3 if no card and no rail shows its power.\n\n\
             Example:\n  ridgepoint power get",
        )
}

/// Whether these flags read until Ctrl-C.
pub(super) fn watches(matches: &ArgMatches) -> bool {
    matches.subcommand_name() == Some("watch")
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let (is_watch, matches) = match matches.subcommand() {
        Some((verb, matches)) => (verb == "watch", matches),
        None => unreachable!("clap requires one of the two"),
    };
    let form =
        if is_watch { watch::endless_form(matches, "power watch")? } else { Form::of(matches) };
    // Wrong words come before a device that the machine lacks.
    let watched = if is_watch {
        let interval = interval::of(matches, USUAL, INTERVALS)?;
        Some((interval, matches.get_one::<u64>("count").copied()))
    } else {
        None
    };
    let device = sensor_device::asked(matches)?;
    let device = device.as_ref();
    let mut reader = SensorReader::prepared(Clock::default());
    // Power that follows from energy is a difference of two readings.
    reader.sensed();
    thread::sleep(SPAN);
    let first = reader.sensed();
    has_power(&first, device, reader.unseen())?;
    let asked =
        Asked { device, others: "that are not about power; `ridgepoint telemetry` has all" };
    let answer = |sensed: &Sensed| chosen(sensed, &asked, |it| is_shown(it, sensed, device));
    let Some((interval, count)) = watched else { return answer(&first).print(form) };
    let mut sensed = first;
    for taken in 1_u64.. {
        print_again(&answer(&sensed), form)?;
        if count == Some(taken) {
            break;
        }
        thread::sleep(interval);
        sensed = reader.sensed();
    }
    Ok(())
}

/// Whether a sensor is about the power of a card or of a rail: what it draws, and what limits it.
fn is_shown(sensor: &Sensor, all: &Sensed, device: Option<&Owner>) -> bool {
    let of = sensor.of.device.as_ref();
    if device.is_some() && of != device {
        return false;
    }
    let about = match sensor.quantity {
        Quantity::Watts | Quantity::Joules | Quantity::Hertz | Quantity::Reasons => true,
        // A card that does not answer has one row, of another quantity.
        _ => all.sensors.iter().filter(|it| it.of.device.as_ref() == of).count() == 1,
    };
    sensor.is_of_rail() || (about && matches!(of, Some(Owner::Card(_))))
}

/// Fails with the first reason where nothing shows a power or an energy; `unseen` is the one why no card is listed.
fn has_power(sensed: &Sensed, device: Option<&Owner>, unseen: Option<&str>) -> Result<(), Failure> {
    let mut shown = sensed.sensors.iter().filter(|it| is_shown(it, sensed, device));
    let is_meter = |it: &Sensor| {
        matches!(it.quantity, Quantity::Watts | Quantity::Joules) && !it.is_power_cap()
    };
    if shown.clone().any(|it| is_meter(it) && it.value.is_ok()) {
        return Ok(());
    }
    let said = |it: &Sensor| {
        let of = it.of.device.as_ref().map_or_else(|| it.source.clone(), ToString::to_string);
        Some(format!("{of}: {}", it.value.as_ref().err()?))
    };
    let why = shown.find_map(said).or_else(|| unseen.map(str::to_owned));
    let why = why.unwrap_or_else(|| "no graphics card and no rail with a meter is found".into());
    Err(Failure::NoDevice(format!("no power can be read: {why}")))
}
