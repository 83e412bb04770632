//! Random numbers as kernels store them.

use kernels::backend::StoredFloat;
use kernels::random::Random;

use crate::processor::Data;

pub(crate) fn normals(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.normal() as f32).collect()
}

/// Numbers rounded to a format between operators, and their bytes.
pub(crate) fn stored(format: StoredFloat, values: &[f32]) -> (Vec<f64>, Data) {
    let bytes = format.store(values);
    let values = format.read(&bytes).into_iter().map(f64::from).collect();
    (values, Data::of(bytes))
}
