//! `plot`: the roofline chart of the page as SVG or PNG.

mod png;

use std::path::Path;

use calc_core::analysis::{Analysis, Operator};
use calc_core::device::Device;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{FlopsPerByte, FlopsPerSec};
use chart::mark::{Mark, Shape, mark};
use chart::roofline::{PointInput, Roofline};
use chart::scene::Size;
use chart::svg::roofline_svg;
use chart::theme::{DARK, Hue, LIGHT, Theme};
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint, value_parser};
use report::input::number_input;
use report::input::request::{AnalyzeInputs, Fields, Library, RequestError};
use serde_json::json;

use super::flags;
use crate::failure::Failure;
use crate::files;
use crate::output;
use crate::weight_files;

/// Formats whose peaks are drawn by default.
const USUAL: [ComputeClass; 6] = [
    ComputeClass::Fp16,
    ComputeClass::Bf16,
    ComputeClass::Fp8,
    ComputeClass::Int8,
    ComputeClass::Fp4,
    ComputeClass::Int4,
];

/// Marker shapes of the user's own points, used in turn.
const SHAPES: [Shape; 6] =
    [Shape::Circle, Shape::Square, Shape::Diamond, Shape::Triangle, Shape::Hexagon, Shape::Star];

pub(super) fn command() -> Command {
    let point = Arg::new("point")
        .long("point")
        .value_name("NAME,FLOP_PER_BYTE,TFLOPS")
        .action(ArgAction::Append);
    let theme = Arg::new("theme").long("theme").value_name("THEME").value_parser(["light", "dark"]);
    let out = Arg::new("out")
        .short('o')
        .long("output")
        .value_name("FILE")
        .value_hint(ValueHint::FilePath);
    let pixels = |name: &'static str, default: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("PIXELS")
            .value_parser(value_parser!(u16).range(200..=4096))
            .default_value(default)
            .help(format!("{}{} of the picture, 200 to 4096", name[..1].to_uppercase(), &name[1..]))
    };
    flags::add(Command::new("plot"), flags::PRODUCT)
        .mut_arg("weights", |arg| {
            arg.help("Formats of the weights, separated by commas: a point each, with -m -n -k")
        })
        .about("Roofline of a device as SVG or PNG, with points of a GEMM or of your own")
        .arg(point.value_hint(ValueHint::Other).help("A measured point; may be repeated"))
        .arg(theme.default_value("light").help("Colors"))
        .arg(pixels("width", "960"))
        .arg(pixels("height", "600"))
        .arg(out.help("Output file, .svg or .png; default, or with -: SVG on stdout"))
        .after_help(
            "Examples:\n  ridgepoint plot --hardware gb10 -o gb10.svg\n  \
             ridgepoint plot --hardware t4 -m 1 -n 4096 -k 4096 --weights fp16,int4_g128 \\\n    \
             --point 'my kernel,3.8,0.9' --theme dark -o t4.png",
        )
}

/// The destination of the picture.
enum Target<'a> {
    Stdout,
    Svg(&'a str),
    Png(&'a str),
}

pub(super) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let target = target(matches.get_one::<String>("out").map(String::as_str))?;
    let svg = picture(matches)?;
    match target {
        Target::Stdout => output::print(&svg),
        Target::Svg(path) => files::write(Path::new(path), svg.as_bytes()),
        Target::Png(path) => {
            files::write(Path::new(path), &png::of_svg(&svg).map_err(Failure::Failed)?)
        }
    }
}

fn target(out: Option<&str>) -> Result<Target<'_>, Failure> {
    let Some(path) = out.filter(|path| *path != "-") else { return Ok(Target::Stdout) };
    match path.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase()).as_deref() {
        Some("svg") => Ok(Target::Svg(path)),
        Some("png") => Ok(Target::Png(path)),
        _ => Err(Failure::bad(format!("output must end in .svg or .png; got `{path}`"))),
    }
}

fn picture(matches: &ArgMatches) -> Result<String, Failure> {
    let files = weight_files::user_files();
    let library = Library::with_files(&files);
    let analyses = analyses(matches, &library)?;
    let name =
        matches.get_one::<String>("hardware").ok_or(RequestError::Missing { key: "hardware" })?;
    let device = library.device(name)?;
    let mut roofline = roofline(&device, matches.get_one::<String>("power_mode"), &analyses)?;
    roofline.points = analyses.iter().map(predicted).collect();
    for (i, text) in matches.get_many::<String>("point").into_iter().flatten().enumerate() {
        roofline.points.push(measured(text, i)?);
    }
    let side = |name: &str| f64::from(matches.get_one::<u16>(name).copied().unwrap_or(200));
    let size = Size { width: side("width"), height: side("height") };
    Ok(roofline_svg(&roofline, theme(matches), size))
}

fn theme(matches: &ArgMatches) -> &'static Theme {
    if matches.get_one::<String>("theme").is_some_and(|theme| theme == "dark") {
        &DARK
    } else {
        &LIGHT
    }
}

/// One point per format.
fn analyses(matches: &ArgMatches, library: &Library<'_>) -> Result<Vec<Analysis>, Failure> {
    let mut fields = flags::fields(matches, flags::PRODUCT);
    let shaped = ["m", "n", "k"].iter().any(|key| fields.contains_key(*key));
    match (shaped, fields.remove("weights")) {
        (false, None) => Ok(Vec::new()),
        (false, Some(_)) => Err(Failure::bad("weights needs a shape: add -m -n -k")),
        (true, None) => Err(Failure::bad(
            "a shape needs formats: add --weights, such as --weights fp16,int4_g128",
        )),
        (true, Some(weights)) => {
            let keys = weights.as_str().unwrap_or_default().split(',');
            keys.map(|key| {
                let mut fields = fields.clone();
                fields.insert("weights".into(), json!(key.trim()));
                let inputs = AnalyzeInputs::parse(Fields::new(fields), library)?;
                debug_assert!(matches!(inputs.operator, Operator::Gemm(_)), "there is no --op");
                Ok(inputs.analyze()?)
            })
            .collect()
        }
    }
}

/// The roofs that the points run on, or the default ones.
fn roofline(
    device: &Device,
    mode: Option<&String>,
    analyses: &[Analysis],
) -> Result<Roofline, Failure> {
    let mode = mode.map(|name| device.power_mode(name)).transpose()?;
    let mut classes: Vec<ComputeClass> =
        analyses.iter().map(|analysis| analysis.path.class).collect();
    classes.sort_by_key(|class| class.index());
    classes.dedup();
    let drawn = if classes.is_empty() { &USUAL[..] } else { &classes };
    let mut roofline = Roofline::of_device(device, mode, drawn)?;
    roofline.main = analyses.first().map(|analysis| analysis.path.class);
    Ok(roofline)
}

fn predicted(analysis: &Analysis) -> PointInput {
    let format = analysis.precision.weights;
    PointInput {
        key: format.key.into(),
        mark: mark(format.key),
        label: format.key.into(),
        intensity: analysis.cost.intensity(),
        attained: analysis.attainable,
        expected: Some(analysis.cost.flops / analysis.expected.time),
        filled: true,
    }
}

/// Parses `NAME,FLOP_PER_BYTE,TFLOPS`; the name may contain commas.
fn measured(text: &str, index: usize) -> Result<PointInput, Failure> {
    let refused = || {
        Failure::bad(format!(
            "point must be NAME,FLOP_PER_BYTE,TFLOPS with two numbers from 1e-9 to 1e9; got `{text}`"
        ))
    };
    let number =
        |text: &str| number_input::real(text).filter(|number| (1e-9..=1e9).contains(number));
    let (rest, rate) = text.rsplit_once(',').ok_or_else(refused)?;
    let (name, intensity) = rest.rsplit_once(',').ok_or_else(refused)?;
    let (intensity, rate) =
        (number(intensity).ok_or_else(refused)?, number(rate).ok_or_else(refused)?);
    Ok(PointInput {
        key: format!("point{index}"),
        mark: Mark { shape: SHAPES[index % SHAPES.len()], hue: Hue::Gray },
        label: output::one_line(name.trim()),
        intensity: FlopsPerByte::new(intensity),
        attained: FlopsPerSec::from_tera(rate),
        expected: None,
        filled: false,
    })
}
