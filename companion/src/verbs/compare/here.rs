//! Measures on this machine for `compare`.

use calc_core::analysis::Operator;
use calc_core::units::Seconds;
use kernels::devices::Device;
use report::input::request::{AnalyzeInputs, Fields, Library};
use serde_json::{Map, Value, json};

use super::measured::{Measured, same_format};
use crate::failure::Failure;
use crate::measure::machine;
use crate::measure::products::Products;
use crate::verbs::bench;
use crate::weight_files;

/// Rows of this machine, and a sentence if the chosen device is another one.
pub(super) fn measure(
    backend: &str,
    fields: &Map<String, Value>,
) -> Result<(Vec<Measured>, Option<String>), Failure> {
    let device = bench::device_named(Some(backend))?;
    let found = bench::point::found(device)?;
    let own = Products(found.support());
    let list = fields.get("weights").and_then(Value::as_str);
    let list = list.ok_or_else(|| {
        Failure::bad(
            "weights is missing; name the formats to measure, such as --weights fp16,int4_g128",
        )
    })?;
    let read = weight_files::user_files();
    let library = Library::with_files(&read);
    let (mut wanted, mut other) = (Vec::new(), None);
    for key in list.split(',').map(str::trim) {
        let mut request = fields.clone();
        request.insert("weights".into(), json!(key));
        let inputs = AnalyzeInputs::parse(Fields::new(request), &library)?;
        // Requests that the theory refuses are refused before measuring.
        inputs.analyze()?;
        let Operator::Gemm(shape) = inputs.operator else {
            unreachable!("without --op the operator is a product")
        };
        other = other_machine(&inputs.device, &found);
        let weights = inputs.precision.weights.key;
        let kernel = own.kernel(shape.m, shape.n, shape.k, weights).map_err(Failure::bad)?;
        let input = found.activations(kernel).map_or("", |format| format.key);
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
    Ok((rows.collect(), other))
}

/// A sentence where what is measured is not the device of the theory.
fn other_machine(chosen: &calc_core::device::Device, measured: &Device) -> Option<String> {
    let key =
        machine::catalog_key(measured.id, measured.catalog_key, &measured.name, measured.memory);
    // The device file of a measured machine has its name with a remark behind.
    let rest = chosen.name.strip_prefix(&*measured.name);
    let is_named = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
    (!is_named && key.as_deref() != Some(&*chosen.key)).then(|| {
        format!(
            "Measured on {}, which is not {}: the errors are those between two machines. `ridgepoint calibrate --export-device FILE` \
             writes a device file of the measured one, which --hardware takes.",
            measured.name, chosen.name
        )
    })
}
