//! Outputs of products as numbers in a file, one product per line, and their comparison with those of another device.
//!
//! Both devices pack the same weights, but each reads the tokens in its own format. An output a of one device and b of the other may
//! therefore differ by both tolerances and by the difference of their references, which itself is small if the operands are the same:
//!
//! ```text
//! |a − b| ≤ t_a + t_b + |r_a − r_b|,      |r_a − r_b| ≤ Σ|w|·|x| / 256
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use kernels::compare::SampledOutput;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::files;

/// Σ|w|·|x| over the largest difference of two references. Tokens in INT8 and in BF16, the coarsest formats, differ by a tenth of that
/// with 512 inputs; other operands differ by 20 times as much.
const OPERANDS: f64 = 256.0;

/// The outputs of a device by product.
pub(super) struct Vectors {
    device: String,
    products: BTreeMap<String, Vec<SampledOutput>>,
}

impl Vectors {
    pub(super) fn new(device: &str) -> Self {
        Self { device: device.to_owned(), products: BTreeMap::new() }
    }

    /// The device that computed them.
    pub(super) fn device(&self) -> &str {
        &self.device
    }

    /// Takes the outputs of a kernel, if it shows any.
    pub(super) fn add(&mut self, point: String, outputs: Vec<SampledOutput>) {
        if !outputs.is_empty() {
            self.products.insert(point, outputs);
        }
    }

    /// The outputs of a product.
    pub(super) fn of(&self, point: &str) -> Option<&[SampledOutput]> {
        self.products.get(point).map(|outputs| &**outputs)
    }

    /// The lines of the file.
    pub(super) fn text(&self) -> String {
        let output =
            |it: &SampledOutput| json!([it.at, it.got, it.expected, it.magnitude, it.tolerance]);
        let line = |(point, outputs): (&String, &Vec<SampledOutput>)| {
            let outputs: Vec<Value> = outputs.iter().map(output).collect();
            let line =
                json!({ "schema": 1, "device": self.device, "point": point, "outputs": outputs });
            format!("{line}\n")
        };
        self.products.iter().map(line).collect()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read or is none of these.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let refused = |why: &str| Failure::bad(format!("{}: {why}", path.display()));
        let text = files::read_text(path).map_err(|why| refused(&why))?;
        Self::parse(&text).ok_or_else(|| refused("it is no file of `bench selftest --vectors`"))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut found: Option<Self> = None;
        for line in text.lines() {
            let value: Value = serde_json::from_str(line).ok()?;
            let vectors = found
                .get_or_insert_with(|| Self::new(value["device"].as_str().unwrap_or_default()));
            let outputs: Option<Vec<SampledOutput>> =
                value["outputs"].as_array()?.iter().map(output).collect();
            vectors.add(value["point"].as_str()?.to_owned(), outputs?);
        }
        found
    }
}

/// An output of a file; a number that JSON has none for, as NaN, is null there and NaN again.
fn output(value: &Value) -> Option<SampledOutput> {
    let [at, numbers @ ..] = &value.as_array()?[..] else { return None };
    let number = |value: &Value| value.as_f64().or_else(|| value.is_null().then_some(f64::NAN));
    let numbers: Vec<f64> = numbers.iter().map(number).collect::<Option<_>>()?;
    let [got, expected, magnitude, tolerance] = numbers[..] else { return None };
    let at = usize::try_from(at.as_u64()?).ok()?;
    Some(SampledOutput { at, got, expected, magnitude, tolerance })
}

/// The comparison of the outputs of two devices.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Agreement {
    /// The largest difference over what passes; infinite for NaN, and where the outputs are not the same ones.
    pub(super) worst: f64,
    /// Outputs that were compared.
    pub(super) outputs: usize,
}

impl Agreement {
    pub(super) fn of(own: &[SampledOutput], other: &[SampledOutput]) -> Self {
        let are_same = own.len() == other.len()
            && !own.is_empty()
            && own.iter().zip(other).all(|(a, b)| a.at == b.at);
        let worst = if are_same {
            own.iter().zip(other).map(|(a, b)| share(a, b)).fold(0.0, f64::max)
        } else {
            f64::INFINITY
        };
        Self { worst, outputs: own.len().min(other.len()) }
    }

    pub(super) fn passed(self) -> bool {
        self.worst <= 1.0
    }
}

fn share(a: &SampledOutput, b: &SampledOutput) -> f64 {
    let operands = (a.expected - b.expected).abs();
    let difference = (a.got - b.got).abs() / (a.tolerance + b.tolerance + operands);
    let operands = operands * OPERANDS / a.magnitude.min(b.magnitude);
    let worst = |share: f64| if share.is_nan() { f64::INFINITY } else { share };
    worst(difference).max(worst(operands))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: SampledOutput =
        SampledOutput { at: 3, got: 1.0, expected: 1.0, magnitude: 25.6, tolerance: 0.01 };

    #[test]
    fn outputs_agree_within_both_tolerances_and_the_difference_of_the_tokens() {
        for (other, passes) in [
            (OUTPUT, true),
            (SampledOutput { got: 1.019, ..OUTPUT }, true),
            (SampledOutput { got: 1.021, ..OUTPUT }, false),
            (SampledOutput { got: 1.021, expected: 1.002, ..OUTPUT }, true),
            // Other operands: both are right by their own references.
            (SampledOutput { got: 1.2, expected: 1.2, ..OUTPUT }, false),
            (SampledOutput { got: f64::NAN, ..OUTPUT }, false),
            (SampledOutput { expected: f64::NAN, ..OUTPUT }, false),
            (SampledOutput { at: 4, ..OUTPUT }, false),
        ] {
            assert_eq!(Agreement::of(&[OUTPUT], &[other]).passed(), passes, "{other:?}");
            assert_eq!(Agreement::of(&[other], &[OUTPUT]).passed(), passes, "{other:?}");
        }
        assert!(!Agreement::of(&[], &[]).passed() && !Agreement::of(&[OUTPUT], &[]).passed());
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let mut vectors = Vectors::new("a device");
        vectors
            .add("gemv int8 1 2 3 hot".to_owned(), vec![OUTPUT, SampledOutput { at: 5, ..OUTPUT }]);
        vectors.add("read".to_owned(), Vec::new());
        let read = Vectors::parse(&vectors.text()).expect("a file");
        assert_eq!((read.device(), &read.products), ("a device", &vectors.products));
        assert_eq!(read.products.len(), 1);
        for text in ["", "{}", "[]", "no JSON", "{\"point\":\"x\",\"outputs\":[[1,2]]}"] {
            assert!(Vectors::parse(text).is_none(), "{text}");
        }
    }
}
