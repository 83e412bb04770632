//! Measurements that are taken now, on this machine.

use calc_core::analysis::Operator;
use calc_core::cost::gemm::GemmShape;
use calc_core::units::Seconds;
use kernels::pack::Layout;
use report::request::{AnalyzeInputs, Fields, Files, Library};
use serde_json::{Map, Value, json};

use super::measured::Measured;
use crate::cli::{Failure, bench, files};

/// Measures what the flags of `compare` ask for.
pub(super) fn measure(
    backend: &str,
    fields: &Map<String, Value>,
) -> Result<Vec<Measured>, Failure> {
    bench::check_backend(backend)?;
    let list = fields.get("weights").and_then(Value::as_str);
    let list = list.ok_or_else(|| {
        Failure::bad(
            "weights is missing: name the formats to measure, such as --weights fp16,int4_g128",
        )
    })?;
    let read = Files::new(&files::read);
    let library = Library::with_files(&read);
    let mut wanted = Vec::new();
    for key in list.split(',').map(str::trim) {
        let mut fields = fields.clone();
        fields.insert("weights".into(), json!(key));
        let inputs = AnalyzeInputs::parse(Fields::new(fields), &library)?;
        wanted.push((shape(&inputs)?, layout(inputs.precision.weights.key)?));
    }
    let points: Vec<_> = wanted.iter().map(|(shape, layout)| (*layout, shape.n, shape.k)).collect();
    let records = bench::products(&points)?;
    let rows = records.into_iter().zip(wanted).map(|(record, (shape, layout))| Measured {
        weights: layout.format_key().into(),
        activations: record.precision.map(|precision| precision.activations),
        time: Seconds::new(record.time_s.median),
        shape: Some((shape.m, shape.n, shape.k)),
    });
    Ok(rows.collect())
}

fn shape(inputs: &AnalyzeInputs) -> Result<GemmShape, Failure> {
    match inputs.operator {
        Operator::Gemm(shape) if shape.m == 1 => Ok(shape),
        Operator::Gemm(shape) => Err(Failure::bad(format!(
            "the kernels of the processor take one row so far: -m must be 1; got {}",
            shape.m
        ))),
        _ => unreachable!("without --op the operator is a product"),
    }
}

fn layout(key: &str) -> Result<Layout, Failure> {
    Layout::by_key(key).ok_or_else(|| {
        let known = Layout::ALL.map(Layout::key).join(", ");
        Failure::bad(format!("there are no kernels for `{key}`; there are some for {known}"))
    })
}
