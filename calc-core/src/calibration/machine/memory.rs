//! The expected time of the DRAM traffic.

use crate::math;
use crate::op::{ProductShape, Shape};

use super::{Kernel, Machine, Setting, TILE, Width, unpacks, width};

impl Machine<'_> {
    /// Time of the DRAM traffic, including everything that is read twice.
    pub(super) fn memory(&self, kernel: &Kernel<'_>) -> f64 {
        let c = self.constants;
        let traffic = &kernel.cost.traffic;
        let all = traffic.total().get();
        if all <= 0.0 {
            return 0.0;
        }
        let per_byte = kernel.time.memory.get() / all / self.read;
        let engine = self.engine_memory(kernel.setting);
        let (mut weights, mut extra) = (traffic.weights.get(), 0.0);
        match kernel.shape {
            Shape::Product(product) => {
                extra = self.reread(kernel, product, 1.0);
            }
            Shape::Experts { product, distinct } => {
                extra = self.reread(kernel, product, *distinct);
            }
            Shape::Attention { .. } | Shape::Scan | Shape::Stream => {}
        }
        if let Some(product) = kernel.shape.product() {
            let bits = product.weights.bits_per_element();
            if bits < 7.5 {
                let native = width(kernel.path.class) == Width::Four;
                weights /= if native { c.weights_fp4 } else { c.weights_int4 };
            }
        }
        let mut cache = traffic.kv_cache.get();
        if matches!(kernel.shape, Shape::Attention { .. })
            && kernel.format.bits_per_element() < 12.0
        {
            cache /= c.cache_8bit;
        }
        let mut time = ((weights + cache) / engine + traffic.activations.get() + extra) * per_byte;
        if let (Shape::Attention { head_dim, .. }, Setting::Step { batch, .. }) =
            (kernel.shape, kernel.setting)
            && batch > 1.0
            && self.is_llama_cpp()
        {
            time /= self.head_size(*head_dim);
        }
        time
    }

    /// Bytes of inputs that unpacking kernels read again because they do not fit in L2.
    fn reread(&self, kernel: &Kernel<'_>, product: &ProductShape, matrices: f64) -> f64 {
        if !unpacks(kernel, product) {
            return 0.0;
        }
        let rows = product.rows / matrices;
        let panel = rows * product.inputs * f64::from(kernel.path.class.width()) / 8.0;
        let missed = (1.0 - self.l2 / panel).max(0.0);
        let columns = math::ceil(product.outputs / TILE) - 1.0;
        columns * panel * missed * self.constants.reread * matrices
    }
}
