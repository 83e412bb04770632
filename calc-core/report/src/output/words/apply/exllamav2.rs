//! ExLlamaV2 commands, by its server TabbyAPI. Its options are the keys of `config_sample.yml` (`common/args.py`); the branch
//! `exl2-checkpoint` is the last one with ExLlamaV2.

use calc_core::calibration::Engine;
use calc_core::catalog::model_names::is_hub_id;
use calc_core::scheme::Scheme;

use super::{Deployment, Repositories, argument, make};

/// Commands, or a line with the reason why there are none.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> String {
    let Repositories { model, published, stored, has_half, .. } = to.repositories;
    let stored = stored.map(|stored| stored.weights.key);
    let (made_by, name) = match scheme.key {
        "half" if has_half => download(model),
        "as_published" if matches!(stored, Some("fp16" | "bf16" | "int4_gptq_g128")) => {
            download(published)
        }
        "int4_g128_gptq" if has_half => make::gptq(model),
        _ => {
            return "# ExLlamaV2 reads 16 bits, GPTQ and its own EXL2: no command is known that makes this scheme for it".to_owned();
        }
    };
    match flags(to) {
        Ok(flags) => format!(
            "{made_by}# in TabbyAPI, branch exl2-checkpoint\n\
             python main.py --model-dir models --model-name {}{flags}",
            argument(&name)
        ),
        Err(reason) => format!("# ExLlamaV2 {reason}"),
    }
}

/// The line that puts a repository or folder into TabbyAPI's folder of models, and its name there.
fn download(model: &str) -> (String, String) {
    let name = make::file_name(model);
    let folder = argument(&format!("models/{name}"));
    let from = argument(model);
    let line = if is_hub_id(model) {
        format!("hf download {from} --local-dir {folder}\n")
    } else {
        format!("cp -r {from} {folder}\n")
    };
    (line, name)
}

/// Arguments after the model, or the reason why there is no command.
fn flags(to: &Deployment<'_>) -> Result<String, String> {
    if let Some(reason) = to.too_long() {
        return Err(reason);
    }
    if to.drafts().is_some() {
        return Err("takes a draft model, but not its number of tokens".to_owned());
    }
    let mut flags = String::new();
    if let (Some((_, workload)), Some(tokens)) = (to.served, to.tokens()) {
        to.check_split(Engine::ExLlamaV2)?;
        // The cache is allocated in pages of 256 tokens.
        let cells = workload.batch.saturating_mul(tokens).div_ceil(256).saturating_mul(256);
        flags += &format!(
            " --max-seq-len {tokens} --cache-size {cells} --max-batch-size {}",
            workload.batch
        );
        if workload.parallel.tensor > 1 {
            flags += " --tensor-parallel true";
        }
    }
    match to.kv_cache.map(|format| (format.key, format.name)) {
        None | Some(("fp16", _)) => Ok(flags),
        Some((_, name)) => {
            Err(format!("has no KV cache in {name}; it keeps FP16, or its own Q8, Q6 and Q4"))
        }
    }
}
