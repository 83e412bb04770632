//! `tiling`: how a product falls into tiles and waves on a device.

use calc_core::analysis::Operator;
use calc_core::cost::gemm::GemmShape;
use calc_core::roofline::Roofs;
use calc_core::tiling::tilings;
use clap::{ArgMatches, Command};
use report::json::{HardwareJson, tiling};
use report::request::{AnalyzeInputs, Fields, Files, Library};
use report::summary;

use super::output::{Answer, Form, Rows};
use super::{Failure, files, flags, output};

pub(super) fn command() -> Command {
    let command = Command::new("tiling")
        .about("Tiles, waves and traffic bounds of a product on a device, best first");
    flags::add(command, &flags::PRODUCT).arg(output::argument()).after_help(
        "Example:\n  ridgepoint tiling --hardware a100_80gb_sxm -m 4096 -n 4096 -k 4096 --weights fp16",
    )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let files = Files::new(&files::read);
    let fields = Fields::new(flags::fields(matches, &flags::PRODUCT));
    let inputs = AnalyzeInputs::parse(fields, &Library::with_files(&files))?;
    let Operator::Gemm(shape) = inputs.operator else {
        unreachable!("without --op the operator is a product")
    };
    answer(&inputs, shape)?.print(Form::of(matches))
}

fn answer(inputs: &AnalyzeInputs, shape: GemmShape) -> Result<Answer, Failure> {
    let device = &inputs.device;
    let mode = inputs.power_mode.as_deref();
    let roofs = Roofs::new(device, mode.map(|name| device.power_mode(name)).transpose()?)?;
    let precision = inputs.precision.resolve(&roofs);
    let compute = roofs.compute_path(precision.weights, precision.activations)?.class;
    let all = tilings(device, &roofs, shape, &precision)?;
    let value =
        tiling::tilings(&HardwareJson::new(device, mode), shape, &precision, compute.key(), &all);
    let rows = value["tiles"].as_array().cloned().unwrap_or_default();
    let GemmShape { m, n, k } = shape;
    let mode = mode.map_or(String::new(), |mode| format!(" in mode {mode}"));
    let title = format!("Tilings of GEMM {m} × {n} × {k} on {}{mode}", device.name);
    Ok(Answer { document: summary::tilings(&title, &all), value, rows: Rows::Inside(rows) })
}
