//! Measures on this machine for `compare`.

use calc_core::analysis::Operator;
use calc_core::units::Seconds;
use report::input::request::{AnalyzeInputs, Fields, Library};
use serde_json::{Map, Value, json};

use super::measured::{Measured, same_format};
use crate::failure::Failure;
use crate::measure::products;
use crate::verbs::bench;
use crate::weight_files;

pub(super) fn measure(
    backend: &str,
    fields: &Map<String, Value>,
) -> Result<Vec<Measured>, Failure> {
    let device = bench::device_named(Some(backend))?;
    let list = fields.get("weights").and_then(Value::as_str);
    let list = list.ok_or_else(|| {
        Failure::bad(
            "weights is missing; name the formats to measure, such as --weights fp16,int4_g128",
        )
    })?;
    let read = weight_files::user_files();
    let library = Library::with_files(&read);
    let mut wanted = Vec::new();
    for key in list.split(',').map(str::trim) {
        let mut request = fields.clone();
        request.insert("weights".into(), json!(key));
        let inputs = AnalyzeInputs::parse(Fields::new(request), &library)?;
        // Requests that the theory refuses are refused before measuring.
        inputs.analyze()?;
        let Operator::Gemm(shape) = inputs.operator else {
            unreachable!("without --op the operator is a product")
        };
        let weights = inputs.precision.weights.key;
        let kernel = products::kernel(shape.m, shape.n, shape.k, weights).map_err(Failure::bad)?;
        let input = products::input(kernel);
        let asked = fields.get("activations").and_then(Value::as_str);
        if let Some(asked) = asked.filter(|asked| !same_format(asked, input)) {
            return Err(Failure::bad(format!(
                "the kernel for {weights} reads its input in {input}, not in {asked}; omit --activations"
            )));
        }
        if wanted.iter().any(|(_, known, _)| *known == weights) {
            return Err(Failure::bad(format!("weights has {weights} twice")));
        }
        wanted.push((shape, weights, kernel));
    }
    let points: Vec<_> = wanted.iter().map(|(_, _, kernel)| *kernel).collect();
    let records = bench::products(device, &points)?;
    let rows = records.into_iter().zip(wanted).map(|(record, (shape, weights, _))| Measured {
        weights: weights.into(),
        activations: record.precision.map(|precision| precision.activations),
        time: Seconds::new(record.time_s.median),
        shape: Some((shape.m, shape.n, shape.k)),
    });
    Ok(rows.collect())
}
