//! `calibrate`: writes a device's own measurements as a calibration file, which takes precedence over the fitted factors.

mod from;
mod here;

use clap::{Arg, ArgMatches, Command, ValueHint};

use super::{bench, flags};
use crate::failure::Failure;
use crate::output;

pub(super) fn command() -> Command {
    let file = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("FILE").value_hint(ValueHint::FilePath).help(help)
    };
    let hardware = Arg::new("hardware").long("hardware").value_name("KEY");
    let hardware = hardware.help("Catalog key of this machine, for the datasheet values of --export-device; with --from the device, if the file has several");
    let about = Arg::new("about").long("about").value_name("TEXT").requires("from");
    let about = about.help(
        "With --from: when, how and with what it was measured; stored in the calibration file",
    );
    Command::new("calibrate")
        .about("Measure the factors of this machine (some 120 points in four minutes, on a GPU up to some 180), or fit them to a file of measurements")
        .args([
            file("out", "Write the calibration to this file, for --calibration and for the page"),
            file("export-device", "Write a device file with the measured ceilings, for --hardware and for the page")
                .conflicts_with("from"),
            file("from", "Fit own measurements instead of measuring: CSV with the columns that `validate` reads"),
            bench::device().conflicts_with("from"),
            bench::cuda_libs(),
            flags::known(hardware, flags::Kind::Hardware),
            about,
            output::argument(),
        ])
        .after_help(
            "Examples:\n  ridgepoint calibrate --out here.calibration.json --export-device here.json\n  \
             ridgepoint compare --hardware here.json --calibration here.calibration.json \\\n    \
             -m 1 -n 14336 -k 4096 --weights fp16,int4_g128 --backend cpu\n  \
             ridgepoint calibrate --from mine.csv --out mine.json",
        )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    if matches.contains_id("from") { from::run(matches) } else { here::run(matches) }
}
