//! ExLlamaV2 commands, by its server TabbyAPI. Its options are the keys of `config_sample.yml` (`common/args.py`); the branch
//! `exl2-checkpoint` is the last one with ExLlamaV2.

use calc_core::scheme::Scheme;

use super::{Deployment, argument, make};

/// Commands, or a line with the reason why there are none.
pub(super) fn command(scheme: &Scheme, to: &Deployment<'_>) -> String {
    let stored = to.repositories.stored.map(|stored| stored.key);
    let model = match scheme.key {
        "half" => to.repositories.model,
        "as_published" if matches!(stored, Some("fp16" | "bf16" | "int4_gptq_g128")) => {
            to.repositories.published
        }
        _ => {
            return "# ExLlamaV2 reads 16 bits, GPTQ and its own EXL2: no command is known that makes this scheme for it".to_owned();
        }
    };
    match flags(to) {
        Ok(flags) => {
            let name = make::file_name(model);
            let folder = argument(&format!("models/{name}"));
            format!(
                "hf download {} --local-dir {folder}\n\
                 # in TabbyAPI, branch exl2-checkpoint\n\
                 python main.py --model-dir models --model-name {}{flags}",
                argument(model),
                argument(&name)
            )
        }
        Err(reason) => format!("# ExLlamaV2 {reason}"),
    }
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
        if workload.parallel.devices() > workload.parallel.tensor {
            return Err(
                "splits by tensors only: it cannot run the estimated configuration".to_owned()
            );
        }
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
