//! Flags that vLLM, SGLang and TensorRT-LLM share but for their names: context, sequences, split, and memory.

use calc_core::calibration::Engine;
use calc_core::footprint::reserve;
use calc_core::parallel::Parallel;
use calc_core::scheme::largest_share;

use super::Deployment;

/// Share of a device's memory that the servers take by default (`gpu_memory_utilization` of vLLM's `CacheConfig`).
const DEFAULT_SHARE: f64 = 0.9;

/// Names of an engine's flags.
pub(super) struct Names {
    pub(super) tokens: &'static str,
    pub(super) sequences: &'static str,
    pub(super) tensor: &'static str,
    pub(super) pipeline: &'static str,
    /// Spreads experts over the devices of a tensor split; it cannot be stated beside one.
    pub(super) expert: &'static str,
}

/// Context, sequences and split, or the reason why the engine cannot run the estimated configuration.
pub(super) fn workload(to: &Deployment<'_>, names: &Names) -> Result<String, String> {
    if let Some(reason) = to.too_long() {
        return Err(reason);
    }
    let (Some((_, workload)), Some(tokens)) = (to.served, to.tokens()) else {
        return Ok(String::new());
    };
    let Parallel { tensor, pipeline, expert } = workload.parallel;
    if expert > 1 {
        return Err(format!(
            "spreads experts only over devices that share every layer ({}): it cannot run the estimated configuration",
            names.expert
        ));
    }
    let mut flags = format!(" {} {tokens} {} {}", names.tokens, names.sequences, workload.batch);
    for (flag, ways) in [(names.tensor, tensor), (names.pipeline, pipeline.stages())] {
        if ways > 1 {
            flags += &format!(" {flag} {ways}");
        }
    }
    Ok(flags)
}

/// Flag with the share of the device's memory that the scheme needs, in whole percent; empty where the default suffices. An error
/// where weights, KV cache and activations need more than the engine's largest share; the reserve is outside of it.
pub(super) fn memory(to: &Deployment<'_>, engine: Engine, flag: &str) -> Result<String, String> {
    let known = to.device.installed_memory().zip(largest_share(engine));
    let Some((installed, most)) = known else { return Ok(String::new()) };
    if (to.memory - reserve(to.device.class)) / installed > most {
        let most = most * 100.0;
        return Err(format!(
            "takes at most {most:.0} % of a device's memory ({flag}), and this configuration needs more: choose a shorter context, fewer sequences or fewer bits"
        ));
    }
    let share = to.memory / installed;
    if share <= DEFAULT_SHARE {
        return Ok(String::new());
    }
    Ok(format!(" {flag} {:.2}", ((share * 100.0).ceil() / 100.0).min(most)))
}
