//! Basic use of the library: the arithmetic intensity of Mistral-7B's prefill on a T4, phase by phase, and a roofline with
//! a measured point.
//!
//! ```text
//! cargo run -p calc-core --example basic_analysis [FILE.svg]
//! ```

use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::estimate::{EstimateRequest, estimate};
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::ComputeClass;
use calc_core::units::{FlopsPerByte, FlopsPerSec};
use calc_core::workload::Workload;
use chart::mark::mark;
use chart::roofline::{PointInput, Roofline};
use chart::scene::Size;
use chart::svg::roofline_svg;
use chart::theme::LIGHT;
use report::input::request::RequestError;
use report::number_text as n;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let svg = roofline_svg(&analyze()?, &LIGHT, Size { width: 960.0, height: 540.0 });
    let path = std::env::args().nth(1).unwrap_or_else(|| "mistral-7b-on-t4.svg".into());
    std::fs::write(&path, svg)?;
    println!("wrote {path}");
    Ok(())
}

/// Prints the intensity of prompts of several lengths and adds them to the T4's roofline.
fn analyze() -> Result<Roofline, RequestError> {
    let device = catalog::device("t4")?;
    let model = &catalog::model("mistral-7b-v0.1")?.arch;
    let precision = PrecisionChoice::weights(catalog::format("fp16")?);
    let calibration = &Calibration::FITTED;
    let (mode, weight_size, draft, engine) = (None, None, None, None);

    let mut chart = Roofline::of_device(device, mode, &[ComputeClass::Fp16])?;
    for prompt in [32, 512, 2048] {
        let workload = Workload::new(1, prompt);
        let answer = estimate(EstimateRequest {
            device,
            mode,
            memory_limit: None,
            model,
            precision,
            workload,
            weight_size,
            draft,
            engine,
            calibration,
            host: None,
            cards: None,
        })?;
        let (totals, ridge) = (&answer.prefill.totals, answer.prefill.ridge);
        let intensity = totals.cost.intensity();
        println!(
            "prefill of {prompt} tokens: {}, the ridge is at {}, {:?}-bound, at least {}",
            n::intensity(intensity),
            n::intensity(ridge),
            answer.prefill.bound,
            n::time(totals.ideal),
        );
        chart.points.push(point(
            &format!("prefill {prompt}"),
            intensity,
            totals.cost.flops / totals.ideal,
            true,
        ));
    }
    chart.points.push(point(
        "my model",
        FlopsPerByte::new(150.0),
        FlopsPerSec::from_tera(12.0),
        false,
    ));
    Ok(chart)
}

/// A point of the chart: predicted points are filled, measured ones hollow.
fn point(
    name: &str,
    intensity: FlopsPerByte,
    attained: FlopsPerSec,
    predicted: bool,
) -> PointInput {
    PointInput {
        key: name.into(),
        mark: mark("fp16"),
        label: name.into(),
        intensity,
        attained,
        expected: None,
        filled: predicted,
    }
}
