//! The layers of a model in words: each part of them, and their order.

use calc_core::model_arch::{
    Attention, LayerGroup, LayerPart, LayerRun, LayerSection, ModelArch, Moe, Recurrent,
};

use super::catalog::recurrence;
use crate::number_text as n;

/// A part of layers in a few words: `attention to a window of 128 tokens, 64 heads of 64`.
pub fn part(model: &ModelArch, part: LayerPart) -> String {
    match part.group {
        LayerGroup::Whole => "all else: embedding, norms, LM head, links".to_owned(),
        LayerGroup::Attention(index) => {
            model.attention.get(index).map_or_else(String::new, |group| attention(group, part))
        }
        LayerGroup::Recurrent(index) => {
            let name = |group: &Recurrent| recurrence(group.kind()).to_owned();
            model.recurrent.get(index).map_or_else(String::new, name)
        }
        LayerGroup::Dense(index) => {
            let width = model.dense.get(index).map_or(0, |group| group.width);
            format!("MLP of width {}", n::count(width))
        }
        LayerGroup::Experts(index) => model.moe.get(index).map_or_else(String::new, experts),
    }
}

fn attention(group: &Attention, part: LayerPart) -> String {
    let latent = if group.latent.is_some() { "latent " } else { "" };
    let reach = match (part.windowed, group.chunked, group.indexer) {
        (true, true, _) => format!(" to chunks of {} tokens", n::count(group.window)),
        (true, false, _) => format!(" to a window of {} tokens", n::count(group.window)),
        (false, _, Some(indexer)) => format!(" to the best {} tokens", n::count(indexer.top_k)),
        (false, _, None) => String::new(),
    };
    let entries = group.compression.map_or_else(String::new, |compression| {
        format!(" and entries for {} tokens", compression.ratio)
    });
    format!("{latent}attention{reach}{entries}, {} heads of {}", group.n_heads, group.head_dim)
}

fn experts(group: &Moe) -> String {
    let shared = if group.shared_width > 0 { ", and a shared one" } else { "" };
    format!("{} experts, {} per token{shared}", group.n_experts, group.experts_per_token)
}

/// A part in one word or two, for a pattern: `window`, `delta net`, `experts`.
fn short(model: &ModelArch, part: LayerPart) -> &'static str {
    match part.group {
        LayerGroup::Whole => "",
        LayerGroup::Attention(index) => {
            let group = model.attention.get(index);
            match (part.windowed, group.is_some_and(|group| group.chunked)) {
                (true, true) => "chunk",
                (true, false) => "window",
                (false, _) => "attention",
            }
        }
        LayerGroup::Recurrent(index) => {
            model.recurrent.get(index).map_or("", |group| recurrence(group.kind()))
        }
        LayerGroup::Dense(_) => "MLP",
        LayerGroup::Experts(_) => "experts",
    }
}

/// The order of the layers: `10 × (3 delta net + experts, attention + experts)`; `None` if it is unknown.
pub fn pattern(model: &ModelArch) -> Option<String> {
    let sections = model.sections()?;
    let texts: Vec<String> = sections.iter().map(|one| section(model, one)).collect();
    Some(texts.join(", "))
}

fn section(model: &ModelArch, section: &LayerSection) -> String {
    let runs: Vec<String> = section.runs.iter().map(|one| run(model, one)).collect();
    match section.repeat {
        1 => runs.join(", "),
        repeat => format!("{repeat} × ({})", runs.join(", ")),
    }
}

fn run(model: &ModelArch, run: &LayerRun) -> String {
    let parts: Vec<&str> = run.parts.iter().map(|one| short(model, *one)).collect();
    let parts = parts.join(" + ");
    if run.count == 1 { parts } else { format!("{} {parts}", run.count) }
}

#[cfg(test)]
mod tests {
    use calc_core::catalog;

    use super::*;

    fn arch(key: &str) -> &'static ModelArch {
        &catalog::model(key).expect("catalog key").arch
    }

    #[test]
    fn the_order_of_layers_is_said() {
        for (key, said) in [
            ("llama-3.1-8b", "32 attention + MLP"),
            ("gpt-oss-20b", "12 × (window + experts, attention + experts)"),
            ("qwen3.5-35b-a3b", "10 × (3 delta net + experts, attention + experts)"),
            ("deepseek-v3", "3 attention + MLP, 58 attention + experts"),
            ("gemma-3-1b", "4 × (5 window + MLP, attention + MLP), 2 window + MLP"),
            ("llama-4-scout", "12 × (3 chunk + experts, attention + experts)"),
        ] {
            assert_eq!(pattern(arch(key)).as_deref(), Some(said), "{key}");
        }
    }

    #[test]
    fn parts_say_what_tells_them_apart() {
        let said = |key: &str| -> Vec<String> {
            let model = arch(key);
            model.layer_parts().into_iter().map(|(one, _)| part(model, one)).collect()
        };
        assert_eq!(
            said("gpt-oss-20b"),
            [
                "attention, 64 heads of 64",
                "attention to a window of 128 tokens, 64 heads of 64",
                "32 experts, 4 per token",
            ]
        );
        let latent = said("deepseek-v3.2");
        assert_eq!(latent[0], "latent attention to the best 2\u{202f}048 tokens, 128 heads of 192");
        for model in catalog::models::all() {
            for (one, _) in model.arch.layer_parts() {
                assert!(!part(&model.arch, one).is_empty(), "{}", model.key);
            }
        }
    }
}
