//! Sentences about fit and usable memory.

use calc_core::catalog;
use calc_core::device::{Device, MemoryPlatform, UsableMemory};
use calc_core::estimate::Estimate;
use calc_core::footprint::{MemoryFootprint, MemoryVerdict, Pages, WeightRole, reserve};
use calc_core::model_arch::ModelArch;
use calc_core::order::sort_short;
use calc_core::plan::CardLoad;
use calc_core::software::{CacheRule, HostTables, WindowRule};
use calc_core::units::Bytes;

use super::apply::engine_name;
use crate::input::request::EstimateInputs;
use crate::number_text as n;

/// Whether a model fits on each of the devices: `Does not fit: 40.5 GB short of 25.8 GB usable.`
pub fn fit(memory: &MemoryFootprint, devices: u64) -> String {
    let (needs, usable) = memory.both();
    let each = match devices {
        0 | 1 => String::new(),
        many => format!(" on each of {many} devices"),
    };
    match memory.verdict() {
        MemoryVerdict::Fits { headroom } => {
            let beside = memory.host.map_or(String::new(), |host| {
                let spare = n::bytes(host.spare());
                format!(" on the card and {spare} on the host")
            });
            format!("Fits with {} to spare{beside}{each}.", n::bytes(headroom))
        }
        MemoryVerdict::DoesNotFit { missing } => {
            format!("Does not fit: {}{each}.", shortage(missing, usable.bytes))
        }
        MemoryVerdict::Unknown { most } => format!(
            "Needs {}{each}; the installed memory is unknown, at most {} would be usable.",
            n::bytes(needs),
            n::bytes(most)
        ),
    }
}

/// Note on tables of the input that lie beside the card; `None` without them.
pub fn tables_on_host(inputs: &EstimateInputs, answer: &Estimate) -> Option<String> {
    let (memory, engine, model) = (&answer.memory, answer.basis.engine, &inputs.model.arch);
    let bytes = Some(memory.tables_on_host).filter(|bytes| *bytes > Bytes::ZERO)?;
    let has_more = HostTables::of(engine, &inputs.device) == HostTables::All
        && model.tables.iter().any(|table| table.is_split);
    let more = if has_more { " and the embeddings per layer" } else { "" };
    let shares = inputs.workload.speculation.is_some_and(|speculation| speculation.own_layers);
    let drafts =
        if memory.draft.is_some() && !shares { "with the tables of the draft model " } else { "" };
    let copy = if model.tied_embeddings && model.has_head {
        "; the card has its LM head, which is the same matrix"
    } else {
        ""
    };
    Some(format!(
        "{} keeps the input embedding{more}, {drafts}{}, in the memory of the machine and not on the card, also with all layers on the card{copy}",
        engine_name(engine),
        n::bytes(bytes)
    ))
}

/// Whether the model of a request fits, on each of equal devices or on the fullest of unlike cards.
pub fn fit_of(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let devices = inputs.workload.parallel.devices();
    if answer.cards.is_empty() {
        return fit(&answer.memory, devices);
    }
    let said = fit(&answer.memory, 1);
    format!("{} on the fullest of {devices} cards.", said.trim_end_matches('.'))
}

/// A role of weights: `routers, norms and biases`.
pub const fn role(role: WeightRole) -> &'static str {
    match role {
        WeightRole::Embedding => "embedding",
        WeightRole::LmHead => "LM head",
        WeightRole::Attention => "attention",
        WeightRole::Recurrent => "recurrent layers",
        WeightRole::Mlp => "MLP",
        WeightRole::Experts => "experts",
        WeightRole::SharedExperts => "shared experts",
        WeightRole::Vectors => "routers, norms and biases",
        WeightRole::Projections => "further projections",
    }
}

/// Roles of weights, the largest first.
pub fn largest_first(roles: &[(WeightRole, Bytes)]) -> Vec<(WeightRole, Bytes)> {
    let mut rows = roles.to_vec();
    sort_short(&mut rows, |(_, a), (_, b)| a > b);
    rows
}

/// The weights by role: `experts 19.2 GB, attention 1.08 GB`.
pub fn roles(roles: &[(WeightRole, Bytes)]) -> String {
    let texts = largest_first(roles)
        .into_iter()
        .map(|(one, bytes)| format!("{} {}", role(one), n::bytes(bytes)));
    texts.collect::<Vec<_>>().join(", ")
}

/// Tokens and states that an engine allots beside the KV cache: `whole blocks of 256 tokens; each window with the 512 tokens of a
/// step`.
pub fn rounding(rule: &CacheRule, model: &ModelArch, pages: Option<&Pages>, drafts: u64) -> String {
    let has_windows = model.attention.iter().any(|group| group.windowed_layers > 0);
    let blocks = match pages {
        Some(pages) => paged(pages),
        None => format!("whole blocks of {} tokens", n::count(rule.block)),
    };
    let windows = if has_windows { windows(rule.windows) } else { String::new() };
    let states = if model.recurrent.is_empty() { String::new() } else { states(rule, drafts) };
    format!("{blocks}{windows}{states}")
}

/// Pages of layers that differ: `pages of 784 tokens, 3.21 MB each; 8 layers more, so that all groups have 10`.
fn paged(pages: &Pages) -> String {
    let more = match pages.padding() {
        0 => String::new(),
        1 => format!("; a layer more, so that all groups have {}", pages.group),
        more => format!("; {more} layers more, so that all groups have {}", pages.group),
    };
    format!("pages of {} tokens, {} each{more}", n::count(pages.block), n::bytes(pages.page))
}

fn windows(rule: WindowRule) -> String {
    let count = |tokens: u64| n::count(tokens);
    match rule {
        WindowRule::Alone => String::new(),
        WindowRule::AllTokens => "; layers with a window keep all tokens".to_owned(),
        WindowRule::WithStep { step } => {
            format!("; each window with the {} tokens of a step", count(step))
        }
        WindowRule::SharedStep { step, least, spare } => {
            let more = match (least, spare) {
                (0, spare) => format!("with {} tokens more", count(spare)),
                (least, _) => format!("of at least {} tokens", count(least)),
            };
            format!("; each window {more}, and {} tokens of a step for all sequences", count(step))
        }
    }
}

/// States of recurrent layers: `; 2 states of a sequence`.
fn states(rule: &CacheRule, drafts: u64) -> String {
    let wide = if rule.states.wide { ", in FP32" } else { "" };
    match rule.states.states(drafts) {
        1 if !rule.states.wide => String::new(),
        1 => "; states in FP32".to_owned(),
        many => format!("; {many} states of each sequence{wide}"),
    }
}

/// The missing memory: `40.5 GB short of 25.8 GB usable`.
pub fn shortage(missing: Bytes, usable: Bytes) -> String {
    format!("{} short of {} usable", n::bytes(missing), n::bytes(usable))
}

/// Notes on the installed memory: unknown, or that of another version of the chip.
pub fn notes(device: &Device, usable: UsableMemory) -> Vec<String> {
    unknown(device, usable).into_iter().chain(other_version(device)).collect()
}

/// Note on a memory that is that of another version of the chip, with another bandwidth.
fn other_version(device: &Device) -> Option<String> {
    let installed = device.installed_memory()?;
    let own = catalog::device(device.catalog_key()).ok()?;
    if own.installed_memory() == Some(installed) {
        return None;
    }
    let other = catalog::version_with(device, installed)?;
    Some(format!(
        "{} is the memory of {}, which has {} and not {}: name that device if it is the one",
        n::capacity(installed),
        other.name,
        n::bandwidth(other.bandwidth.value),
        n::bandwidth(device.bandwidth.value)
    ))
}

/// Advice to state the installed memory where it is unknown; `None` where it is known.
fn unknown(device: &Device, usable: UsableMemory) -> Option<String> {
    (!usable.is_known).then(|| {
        format!(
            "{} takes at most {}; the installed memory is unknown, so it is open whether a model fits: give the installed memory (memory_gb) or a limit on its use (memory_limit_gb)",
            device.name,
            n::capacity(device.memory.value)
        )
    })
}

/// [`origin`] of the memory of an answer, which on unlike cards is that of the one with the least to spare.
pub fn origin_of(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let fullest = fullest_card(answer).and_then(|index| inputs.devices().nth(index));
    origin(fullest.unwrap_or(&inputs.device), answer.memory.usable)
}

/// The card with the least memory to spare among unlike cards; `None` for other answers.
pub fn fullest_card(answer: &Estimate) -> Option<usize> {
    let spare = |load: &CardLoad| {
        load.memory.as_ref().map(|memory| (memory.usable.bytes - memory.total()).get())
    };
    let spares = answer.cards.iter().enumerate();
    let spares = spares.filter_map(|(index, load)| Some((index, spare(load)?)));
    spares.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(index, _)| index)
}

/// Derivation of the usable memory: `24 GiB × 2/3, Metal's limit up to 36 GiB`.
pub fn origin(device: &Device, usable: UsableMemory) -> String {
    let installed = device.memory.value;
    let capacity = n::capacity(installed);
    let share = device.memory_platform.share(installed);
    let all = match device.memory_platform {
        MemoryPlatform::Dedicated => capacity,
        MemoryPlatform::Shared => format!("{capacity} × {share}, the rest is the system's"),
        MemoryPlatform::Metal if share < 0.7 => {
            format!("{capacity} × 2/3, Metal's limit up to 36 GiB")
        }
        MemoryPlatform::Metal => format!("{capacity} × {share}, Metal's limit above 36 GiB"),
        MemoryPlatform::Sockets => {
            format!("at most {capacity} × {share}; the installed memory is unknown")
        }
    };
    if let Some(share) = usable.engine_share {
        let reserve = n::bytes(reserve(device.class));
        return format!(
            "{all} × {share}, which vLLM and SGLang allot at most, + {reserve} reserve"
        );
    }
    let is_capped = usable.on_device < device.usable_memory(None).on_device;
    if is_capped { format!("the given limit; without it {all}") } else { all }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(gb: f64, usable: UsableMemory, devices: u64) -> String {
        let weights = Bytes::from_gb(gb);
        let (towers, kv_cache, cache_rounding, activations, reserve) =
            (Bytes::ZERO, Bytes::ZERO, Bytes::ZERO, Bytes::ZERO, Bytes::ZERO);
        let memory = MemoryFootprint {
            weights,
            tables_on_host: Bytes::ZERO,
            towers,
            other_towers: Bytes::ZERO,
            kv_cache,
            cache_rounding,
            activations,
            reserve,
            draft: None,
            usable,
            host: None,
        };
        super::fit(&memory, devices)
    }

    #[test]
    fn the_shortage_is_stated_first() {
        let device = catalog::device("rtx_4090").expect("catalog key");
        let usable = device.usable_memory(None);
        for (needs, devices, text) in [
            (66.3, 1, "Does not fit: 40.5\u{202f}GB short of 25.8\u{202f}GB usable."),
            (
                66.3,
                2,
                "Does not fit: 40.5\u{202f}GB short of 25.8\u{202f}GB usable on each of 2 devices.",
            ),
            (5.8, 1, "Fits with 20.0\u{202f}GB to spare."),
        ] {
            assert_eq!(fit(needs, usable, devices), text);
        }
    }

    #[test]
    fn a_processor_is_not_said_to_fit() {
        let device = catalog::device("epyc_9654").expect("catalog key");
        let usable = device.usable_memory(None);
        let text = fit(16.1, usable, 1);
        assert!(
            text.starts_with("Needs 16.1\u{202f}GB; the installed memory is unknown"),
            "{text}"
        );
        assert!(unknown(device, usable).is_some_and(|text| text.contains("at most 6")));
        let told = device.clone().with_memory(Bytes::from_gib(64.0));
        assert!(fit(16.1, told.usable_memory(None), 1).starts_with("Fits with"));
        assert_eq!(unknown(&told, told.usable_memory(None)), None);
    }

    #[test]
    fn the_memory_of_another_version_of_a_chip_is_said() {
        let notes = |key: &str, gib: f64| {
            let device = catalog::device(key).expect("catalog key").clone();
            let device = device.with_memory(Bytes::from_gib(gib));
            super::notes(&device, device.usable_memory(None))
        };
        assert_eq!(
            notes("apple_m4_max", 36.0),
            [
                "36\u{202f}GiB is the memory of Apple M4 Max (32-core), which has 410\u{202f}GB/s and not 546\u{202f}GB/s: name that device if it is the one"
            ]
        );
        for (key, gib) in [("apple_m4_max", 64.0), ("apple_m4_max_32core", 36.0), ("h100", 94.0)] {
            assert!(notes(key, gib).is_empty(), "{key}");
        }
        for device in catalog::devices::all().filter(|device| device.installed_memory().is_some()) {
            let notes = super::notes(device, device.usable_memory(None));
            assert!(notes.is_empty(), "{}: {notes:?}", device.key);
        }
    }

    #[test]
    fn the_origin_names_the_platform_and_the_limit() {
        let origin = |key: &str, limit: Option<f64>| {
            let device = catalog::device(key).expect("catalog key");
            super::origin(device, device.usable_memory(limit.map(Bytes::from_gb)))
        };
        for (key, limit, expected) in [
            ("h100_sxm", None, "80\u{202f}GiB"),
            ("apple_m2", None, "24\u{202f}GiB × 2/3, Metal's limit up to 36 GiB"),
            ("apple_m4_max", None, "128\u{202f}GiB × 0.75, Metal's limit above 36 GiB"),
            ("gb10", None, "128\u{202f}GiB × 0.925, the rest is the system's"),
            ("h100_sxm", Some(40.0), "the given limit; without it 80\u{202f}GiB"),
            ("h100_sxm", Some(400.0), "80\u{202f}GiB"),
        ] {
            assert_eq!(origin(key, limit), expected);
        }
    }
}
