//! Memory of a plan: one device of the group, the draft model included.

use super::Plan;
use super::request::EstimateRequest;
use crate::error::{Error, real_in_range};
use crate::footprint::{
    DraftMemory, MemoryFootprint, footprint, kv_cache_bytes, stage_share, weight_bytes,
};
use crate::model_arch::ModelArch;
use crate::precision::Precision;
use crate::units::Bytes;
use crate::weight_size::{WEIGHT_BITS, WEIGHT_GB, WeightSize};
use crate::workload::Workload;

impl Plan<'_> {
    /// Memory of one device of the group.
    pub fn footprint(&self) -> MemoryFootprint {
        self.footprint_of(&self.request.workload)
    }

    /// Memory of one device of the group for another workload with the same split, and of its host.
    pub fn footprint_of(&self, workload: &Workload) -> MemoryFootprint {
        self.memory_of(workload)
    }

    /// Memory of one device of the group if all of the model lies on it.
    pub(super) fn on_card(&self, workload: &Workload) -> MemoryFootprint {
        let EstimateRequest { device, memory_limit, .. } = self.request;
        let (model, precision) = (self.model(), &self.precision);
        let place = (device, self.tuned.engine, memory_limit);
        let largest = (self.largest_step(workload), self.weight_scale);
        let own = footprint(place, model, precision, workload, largest);
        let draft = self.draft_stored().map(|(model, precision)| {
            let workload = workload.alone();
            let largest = (self.largest_step(&workload), 1.0);
            let MemoryFootprint { weights, kv_cache, activations, .. } =
                footprint(place, model, &precision, &workload, largest);
            DraftMemory { weights, kv_cache, activations }
        });
        MemoryFootprint { draft, ..own }
    }

    /// KV cache bytes of one device, including the draft model's, at a context, or at the end of the generation where that is
    /// longer.
    pub fn kv_caches_at(&self, context: u64) -> Bytes {
        let workload = Workload { context, ..self.request.workload };
        let (batch, tokens) = (workload.batch, workload.longest());
        let share = stage_share(self.model(), &workload.parallel);
        let own = kv_cache_bytes(self.model(), &self.precision, batch, tokens) * share;
        let draft = self.draft_stored().map_or(Bytes::ZERO, |(model, precision)| {
            kv_cache_bytes(model, &precision, batch, tokens)
        });
        own + draft
    }

    /// The draft model and its formats, as its own plan has them.
    fn draft_stored(&self) -> Option<(&ModelArch, Precision)> {
        let EstimateRequest { device, model, engine, precision, .. } = self.draft_request()?;
        let filled = precision.filled(engine, device, model, &self.roofs);
        let precision = filled.resolve_model(model, &self.roofs);
        Some((model, precision))
    }
}

/// Ratio of the known weight bytes to those computed from the formats.
pub(super) fn weight_scale(
    model: &ModelArch,
    precision: &Precision,
    size: Option<WeightSize>,
) -> Result<f64, Error> {
    let computed = weight_bytes(model, precision);
    let known = match size {
        // `Plan::new` scales by the streamed bytes, because that needs the kernels of a step.
        None | Some(WeightSize::Streamed(_)) => return Ok(1.0),
        Some(WeightSize::Total(bytes)) => {
            // A file may have at most as many bits per weight as `weight_bits` allows.
            let widest = Bytes::from_bits(WEIGHT_BITS.1 * model.n_params() as f64).get() / 1e9;
            Bytes::from_gb(real_in_range("weight_gb", bytes.get() / 1e9, WEIGHT_GB.0, widest)?)
        }
        Some(WeightSize::BitsPerWeight(bits)) => Bytes::from_bits(
            real_in_range("weight_bits", bits, WEIGHT_BITS.0, WEIGHT_BITS.1)?
                * model.n_params() as f64,
        ),
    };
    Ok(known / computed)
}
