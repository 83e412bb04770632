//! A model split over several devices: the shard of one device, and the traffic on the links.
//! Derivation: `docs/theory/parallel.md`.

mod split;
mod stages;

pub use split::{NoSplit, check_split};
pub use stages::{Pipeline, Stage, stage_layers};

use crate::device::Link;
use crate::error::{Error, in_range};
use crate::lowering::Step;
use crate::model_arch::{Attention, MatrixSplit, ModelArch, Recurrent};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, BytesPerSec, Seconds};

/// Number of devices per kind of split; a single device has 1 for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parallel {
    /// Tensor parallelism: every matrix is split.
    pub tensor: u64,
    /// Pipeline parallelism: layers are split into stages, which a request passes in sequence.
    pub pipeline: Pipeline,
    /// Expert parallelism: experts are distributed.
    pub expert: u64,
}

/// Most stages of a pipeline: several times the layers of any published model, and few enough to compute each.
const MOST_STAGES: u64 = 1024;

impl Default for Parallel {
    fn default() -> Self {
        Self { tensor: 1, pipeline: Pipeline::ONE, expert: 1 }
    }
}

impl Parallel {
    /// Number of devices in the group.
    pub const fn devices(&self) -> u64 {
        self.tensor.saturating_mul(self.pipeline.stages()).saturating_mul(self.expert)
    }

    /// True if several devices compute one layer together and so exchange data over a link.
    pub const fn exchanges(&self) -> bool {
        self.tensor > 1 || self.expert > 1
    }

    /// Checks that the model can be split evenly over equal devices.
    ///
    /// # Errors
    /// The count that does not divide, and its divisor.
    pub fn check(&self, model: &ModelArch) -> Result<(), Error> {
        let most = model.n_layers.min(MOST_STAGES);
        in_range("pipeline_parallel", self.pipeline.stages(), 1, most)?;
        self.check_layers(model)
    }

    /// Checks that each layer can be split evenly, whatever the stages.
    ///
    /// # Errors
    /// The count that does not divide, and its divisor.
    pub(crate) fn check_layers(&self, model: &ModelArch) -> Result<(), Error> {
        in_range("tensor_parallel", self.tensor, 1, 1 << 16)?;
        in_range("expert_parallel", self.expert, 1, 1 << 16)?;
        if self.tensor > 1 {
            check_tensor(model, self.tensor)?;
        }
        if self.expert > 1 {
            if !model.has_experts() {
                return Err(Error::Inapplicable {
                    input: "expert_parallel",
                    part: "a model without experts",
                });
            }
            for moe in model.moe.iter() {
                divides("expert_parallel", self.expert, "experts", moe.n_experts)?;
            }
        }
        Ok(())
    }
}

fn divides(parallel: &'static str, ways: u64, what: &'static str, count: u64) -> Result<(), Error> {
    if count.is_multiple_of(ways) {
        Ok(())
    } else {
        Err(Error::UnevenSplit { parallel, ways, what, count })
    }
}

fn check_tensor(model: &ModelArch, ways: u64) -> Result<(), Error> {
    let check = |what, count| divides("tensor_parallel", ways, what, count);
    for group in model.attention.iter().filter(|group| group.layers() > 0) {
        check("attention heads", group.n_heads)?;
        if let Some(output) = &group.output {
            check("groups of the output projection", output.groups)?;
        }
        let kv = group.n_kv_heads;
        if !kv.is_multiple_of(ways) && !ways.is_multiple_of(kv) {
            check("key-value heads", kv)?;
        }
    }
    for group in model.recurrent.iter() {
        let (what, count) = group.split();
        check(what, count)?;
    }
    for group in model.dense.iter().filter(|group| group.layers > 0) {
        check("the MLP width", group.width)?;
    }
    for moe in model.moe.iter() {
        check("the expert width", moe.expert_width)?;
        check("the shared expert width", moe.shared_width)?;
    }
    Ok(())
}

impl ModelArch {
    /// The shard of one of `ways` tensor-parallel devices: heads, widths and vocabulary are divided, the rest is whole.
    #[must_use]
    pub fn shard(&self, ways: u64) -> Self {
        let mut part = self.clone();
        if ways > 1 {
            for group in part.attention.to_mut() {
                group.n_heads /= ways;
                group.n_kv_heads = (group.n_kv_heads / ways).max(1);
                group.gate_outputs /= ways;
                if let Some(output) = &mut group.output {
                    output.groups /= ways;
                }
            }
            for group in part.recurrent.to_mut() {
                group.shard(ways);
            }
            part.vocab_size = part.vocab_size.div_ceil(ways);
            for table in part.tables.to_mut().iter_mut().filter(|table| table.is_split) {
                table.rows = table.rows.div_ceil(ways);
            }
            for matrix in part.projections.to_mut() {
                match matrix.split {
                    MatrixSplit::Whole => {}
                    MatrixSplit::Outputs => matrix.rows = matrix.rows.div_ceil(ways),
                    MatrixSplit::Inputs => matrix.cols = matrix.cols.div_ceil(ways),
                }
            }
            for group in part.dense.to_mut() {
                group.width /= ways;
            }
            for moe in part.moe.to_mut() {
                moe.expert_width /= ways;
                moe.shared_width /= ways;
            }
        }
        part
    }
}

/// Time of a step on the links, in addition to its operators; it is part of `expected` only.
///
/// ```text
/// tensor n    an all-reduce of A = T H b_o after each attention and each MLP, each 2 (n-1)/n A / link + 2 h latency
///             one after the embedding, whose rows are split, and one of T C b_o after each split table of C columns
///             an all-gather of the logits, (n-1)/n S V b_o / link + h latency
/// expert n    two all-to-alls of A k / n per MoE layer, each A k / n / link + h latency
/// pipeline n  A from each stage to the next, n - 1 times A / link + latency
/// h           n - 1 around a ring, 1 where a switch or a full mesh joins all devices
/// link        between as many devices as the split reaches: those of tensors lie side by side, experts are spread over groups of
///             these, and stages over all
/// ```
pub fn link_time(
    model: &ModelArch,
    parallel: &Parallel,
    step: Step,
    carrier: &QuantFormat,
    link: &Link,
) -> Seconds {
    let element = carrier.bytes_per_element();
    let column = Bytes::new(step.tokens() as f64 * element);
    let message = hidden_states(model, step, carrier);
    let mut time = Seconds::ZERO;
    if parallel.tensor > 1 {
        let group = Group::new(link, parallel.tensor, parallel.tensor);
        time += group.all_reduce(message) * (all_reduces(model) + 1.0);
        for table in model.tables.iter().filter(|table| table.is_split) {
            time += group.all_reduce(column * table.cols as f64);
        }
        let logits = step.logits() as f64 * model.vocab_size as f64;
        if model.has_head {
            time += group.all_gather(Bytes::new(logits * element));
        }
    }
    let experts =
        Group::new(link, parallel.expert, parallel.tensor.saturating_mul(parallel.expert));
    for moe in model.moe.iter().filter(|_| parallel.expert > 1) {
        let exchange = experts.exchange(message * moe.experts_per_token as f64);
        time += exchange * (2.0 * moe.layers as f64);
    }
    let stages = parallel.pipeline.stages();
    time + hand_over(message, link, parallel.devices()) * (stages as f64 - 1.0)
}

/// Time in which a stage hands hidden states to the next, which a link joins with all `devices` of the split.
///
/// ```text
/// A / link + latency
/// ```
pub(crate) fn hand_over(states: Bytes, link: &Link, devices: u64) -> Seconds {
    let (bandwidth, _) = link.among(devices);
    states / bandwidth + link.latency
}

/// Bytes of the hidden states of a step.
pub(crate) fn hidden_states(model: &ModelArch, step: Step, carrier: &QuantFormat) -> Bytes {
    Bytes::new(step.tokens() as f64 * carrier.bytes_per_element()) * model.hidden_size as f64
}

/// Devices that exchange data.
#[derive(Debug, Clone, Copy)]
struct Group {
    devices: f64,
    bandwidth: BytesPerSec,
    /// Latency from a device to all others.
    hops: Seconds,
}

impl Group {
    /// A group whose devices lie among the first `reach` of a split.
    fn new(link: &Link, devices: u64, reach: u64) -> Self {
        let (bandwidth, hops) = link.among(reach);
        let hops = if hops > 1 { devices - 1 } else { 1 };
        Self { devices: devices as f64, bandwidth, hops: link.latency * hops as f64 }
    }

    /// Time in which every device gets the parts of `bytes` that the others have.
    fn all_gather(&self, bytes: Bytes) -> Seconds {
        bytes / self.bandwidth * ((self.devices - 1.0) / self.devices) + self.hops
    }

    /// Time in which every device gets the sum of all: parts of it are summed, and then gathered.
    fn all_reduce(&self, bytes: Bytes) -> Seconds {
        self.all_gather(bytes) * 2.0
    }

    /// Time in which the devices exchange `bytes` of each, an equal part with each device.
    fn exchange(&self, bytes: Bytes) -> Seconds {
        bytes / self.bandwidth * (1.0 / self.devices) + self.hops
    }
}

/// Number of all-reduces: one after each attention, recurrence and MLP; two per regular layer.
fn all_reduces(model: &ModelArch) -> f64 {
    let attention: u64 = model.attention.iter().map(Attention::layers).sum();
    let recurrent: u64 = model.recurrent.iter().map(Recurrent::layers).sum();
    let dense: u64 = model.dense.iter().map(|group| group.layers).sum();
    let experts: u64 = model.moe.iter().map(|group| group.layers).sum();
    (attention + recurrent + dense + experts) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model_arch::{Projection, Table};
    use crate::text::List;
    use alloc::vec::Vec;

    #[test]
    fn bytes_on_links_by_hand() {
        // Llama 3.1 70B on two B200, 32 sequences: A = 32 · 8192 · 2 B, logits of 32 · 128,256 · 2 B; 900 GB/s and 5 µs.
        let model = &catalog::model("llama-3.1-70b").expect("catalog key").arch;
        let time = |key: &str, tensor, tokens| {
            let link = catalog::links::find(key).expect("catalog key").link;
            let parallel = Parallel { tensor, ..Parallel::default() };
            let carrier = &catalog::formats::BF16;
            link_time(model, &parallel, Step::decode(tokens, 1024), carrier, &link).get()
        };
        let reduce = 2.0 * 0.5 * 524_288.0 / 900e9 + 2.0 * 5e-6;
        let gather = 0.5 * 8_208_384.0 / 900e9 + 5e-6;
        assert!((time("nvlink5", 2, 32) - 161.0 * reduce - gather).abs() < 1e-12);
        // Four V100 are a full mesh and eight pass data around: 1 and 7 hops for each half.
        let hops = |tensor| time("nvlink2", tensor, 1) / (323.0 * 5e-6);
        assert!((1.0..1.1).contains(&hops(4)) && (7.0..7.1).contains(&hops(8)), "{}", hops(8));
        // A bridge joins two cards; among four PCIe carries the data.
        let hops = time("nvlink_bridge", 4, 1) - time("pcie_4_x16", 4, 1);
        assert!(hops.abs() < 1e-12, "{hops}");
    }

    #[test]
    fn a_bridge_carries_only_what_the_innermost_split_exchanges() {
        let mut model = catalog::model("llama-3.1-70b").expect("catalog key").arch.clone();
        let time = |model: &ModelArch, key: &str, parallel: Parallel, step| {
            let link = catalog::links::find(key).expect("catalog key").link;
            link_time(model, &parallel, step, &catalog::formats::BF16, &link).get()
        };
        // Two pairs: 2048 · 8192 · 2 B from one pair to the other cross PCI Express at 25 GB/s.
        let pairs = Parallel { tensor: 2, pipeline: Pipeline::of(2), expert: 1 };
        let pair = Parallel { tensor: 2, ..Parallel::default() };
        let step = Step::prefill(1, 2048);
        let bridge = |model, parallel| time(model, "nvlink_bridge", parallel, step);
        let hand_over = bridge(&model, pairs) - bridge(&model, pair);
        let by_hand = 33_554_432.0 / 25e9 + 5e-6;
        assert!((hand_over - by_hand).abs() < 1e-9, "{hand_over} {by_hand}");
        // Alone, two stages are the two cards of a bridge.
        let stages = Parallel { tensor: 1, ..pairs };
        assert!((bridge(&model, stages) - 33_554_432.0 / 56.25e9 - 5e-6).abs() < 1e-9);
        // Experts over two pairs meet the other pair, and alone the card beside them.
        model = catalog::model("mixtral-8x7b").expect("catalog key").arch.clone();
        let experts = Parallel { expert: 2, ..pair };
        let apart = |key| time(&model, key, experts, step) - time(&model, key, pair, step);
        assert!((apart("nvlink_bridge") - apart("pcie_4_x16")).abs() < 1e-9);
        let alone = |key| time(&model, key, Parallel { tensor: 1, ..experts }, step);
        assert!(alone("nvlink_bridge") < 0.5 * alone("pcie_4_x16"));
    }

    #[test]
    fn latents_indexers_and_routing_tables_are_whole_on_each_device() {
        for key in ["deepseek-v3", "deepseek-v4-flash"] {
            let model = &catalog::model(key).expect("catalog key").arch;
            let part = model.shard(8);
            assert_eq!((&part.tables, &part.projections), (&model.tables, &model.projections));
            for (part, all) in part.attention.iter().zip(model.attention.iter()) {
                assert_eq!(part.n_heads, all.n_heads / 8, "{key}");
                assert_eq!(
                    (part.cache_row(), part.latent, part.indexer, part.query_rank),
                    (all.cache_row(), all.latent, all.indexer, all.query_rank),
                    "{key}"
                );
            }
        }
    }

    #[test]
    fn embeddings_per_layer_are_split_as_the_vocabulary() {
        let mut model = catalog::model("llama-3.2-1b").expect("catalog key").arch.clone();
        let of = |split| Projection { rows: 100, cols: 64, split, ..Projection::PLAIN };
        let all = [MatrixSplit::Whole, MatrixSplit::Outputs, MatrixSplit::Inputs].map(of);
        model.projections = all.into_iter().collect();
        let table = Table { rows: 1001, cols: 256, is_split: true };
        model.tables = [table, Table { is_split: false, ..table }].into_iter().collect::<List<_>>();
        let part = model.shard(8);
        let sizes: Vec<_> = part.projections.iter().map(|one| (one.rows, one.cols)).collect();
        assert_eq!(sizes, [(100, 64), (13, 64), (100, 8)]);
        let rows: Vec<_> = part.tables.iter().map(|one| (one.rows, one.cols)).collect();
        assert_eq!(rows, [(126, 256), (1001, 256)]);
    }
}
