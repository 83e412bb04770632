//! `tiling`: the tiles and waves of a GEMM on a device.

use calc_core::analysis::Operator;
use calc_core::cost::gemm::GemmShape;
use calc_core::roofline::Roofs;
use calc_core::tiling::tilings;
use clap::{ArgMatches, Command};
use report::input::request::{AnalyzeInputs, Fields, Library, RequestError};
use report::output::json::{HardwareJson, tiling};
use report::output::summary;

use super::flags;
use crate::failure::Failure;
use crate::output;
use crate::output::{Answer, Form, Rows};
use crate::weight_files;

pub(super) fn command() -> Command {
    let command = Command::new("tiling")
        .about("Tiles, waves and traffic bounds of a GEMM on a device, best first");
    flags::add(command, flags::PRODUCT).arg(output::argument()).after_help(
        "Example:\n  ridgepoint tiling --hardware a100_80gb_sxm -m 4096 -n 4096 -k 4096 --weights fp16",
    )
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let files = weight_files::user_files();
    let fields = Fields::new(flags::fields(matches, flags::PRODUCT));
    answer(fields, &Library::with_files(&files))?.print(Form::of(matches))
}

/// The tilings of a GEMM; other operators have none.
pub(super) fn answer(fields: Fields, library: &Library<'_>) -> Result<Answer, RequestError> {
    let inputs = AnalyzeInputs::parse(fields, library)?;
    match inputs.operator {
        Operator::Gemm(shape) => tiled(&inputs, shape),
        _ => Err(RequestError::UnknownField { key: "op".into(), nearest: Vec::new() }),
    }
}

fn tiled(inputs: &AnalyzeInputs, shape: GemmShape) -> Result<Answer, RequestError> {
    let device = &inputs.device;
    let mode = inputs.power_mode.as_deref();
    let roofs = Roofs::new(device, mode.map(|name| device.power_mode(name)).transpose()?)?;
    let precision = inputs.precision.resolve(&roofs);
    let compute = roofs.compute_path(precision.weights, precision.activations)?.class;
    let all = tilings(device, &roofs, shape, &precision)?;
    let value =
        tiling::tilings(&HardwareJson::new(device, mode), shape, &precision, compute.key(), &all);
    let GemmShape { m, n, k } = shape;
    let mode = mode.map_or(String::new(), |mode| format!(" in mode {mode}"));
    let title = format!("Tilings of GEMM {m} × {n} × {k} on {}{mode}", device.name);
    Ok(Answer { document: summary::tilings(&title, &all), value, rows: Rows::At("/tiles") })
}
