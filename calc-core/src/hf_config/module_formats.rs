//! The format of each matrix by the lists of modules in a `quantization_config`: what it leaves unquantized, and what it
//! quantizes otherwise. The bytes are those of all matrices, each in its own format; layers and experts are named by the format
//! that most of their weights have.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use super::entry::Entry;
use super::fields::Named;
use super::modules::{
    self, ATTENTION, DENSE, EXPERTS, Modules, NamedLayers, PIECES, Pieces, SHARED, STATE,
};
use super::quantization::{self, QuantizerFormats};
use super::quantization_fields::{ModuleOptions, QuantizationConfig};
use super::reader::value;
use super::refusal::ConfigError;
use super::stored_format::Stored;
use super::{Remark, StoredPart};
use crate::mixture::{MixedBytes, Ratios};
use crate::model_arch::{LayerGroup, LayerPart, Matrix, ModelArch, Parts};
use crate::op::OpKind;
use crate::quant_format::QuantFormat;

/// Most steps of the expressions of a file; published ones take thousands.
const MOST_STEPS: u64 = 20_000_000;

/// Modules with a format of their own; the first rule for a matrix counts.
struct Rule {
    modules: Modules,
    stored: Stored,
}

/// Formats of the layers of a file.
#[derive(Debug)]
pub(super) struct LayerFormats {
    pub(super) layers: &'static QuantFormat,
    pub(super) experts: &'static QuantFormat,
    pub(super) ratios: Option<Ratios>,
    pub(super) remarks: Vec<Remark>,
}

/// A file whose lists name modules.
#[derive(Debug, Clone, Copy)]
pub(super) struct File<'a> {
    pub(super) config: &'a QuantizationConfig,
    pub(super) scheme: &'a QuantizerFormats,
    /// The format of what the file does not quantize.
    pub(super) kept: &'static QuantFormat,
    /// The experts of a layer are beside its MLP, not in it.
    pub(super) experts_beside: bool,
    /// NamedLayers with a state have the names of attention, as those of Kimi.
    pub(super) state_in_attention: bool,
}

/// The formats of all matrices of the layers.
pub(super) fn read(file: &File<'_>, arch: &ModelArch) -> Result<LayerFormats, ConfigError> {
    let rules = rules(file)?;
    let mut is_bound = rules.iter().any(|rule| rule.modules.is_bound);
    let defaults = defaults(file);
    let mut steps = MOST_STEPS;
    let mut layers: Vec<[Stored; PIECES]> = Vec::new();
    for layer in 0..arch.n_layers {
        let mut pieces = defaults;
        let mut open = modules::ALL;
        for rule in &rules {
            let named = rule.modules.pieces(layer, &mut steps).unwrap_or_else(|| {
                is_bound = true;
                modules::ALL
            });
            let named = if file.state_in_attention { with_state(named) } else { named };
            let named = if file.experts_beside && named & DENSE != 0 && named != modules::ALL {
                named & !EXPERTS
            } else {
                named
            };
            for (place, piece) in pieces.iter_mut().enumerate() {
                if named & open & (1 << place) != 0 {
                    *piece = rule.stored;
                }
            }
            open &= !named;
        }
        layers.push(pieces);
    }
    let mut found = counted(&layers, &defaults, arch);
    if is_bound {
        found.remarks.push(Remark::ModulesUnclear);
    }
    Ok(found)
}

/// The matrices of a layer with a state whose modules bear the names of attention.
const fn with_state(named: Pieces) -> Pieces {
    let inputs = if named & modules::QUERIES != 0 { STATE & !modules::STATE_OUT } else { 0 };
    let output = if named & modules::OUTPUT != 0 { modules::STATE_OUT } else { 0 };
    named | inputs | output
}

/// The format of each piece that no list names.
fn defaults(file: &File<'_>) -> [Stored; PIECES] {
    let File { config, scheme, kept, .. } = *file;
    let listed = config.quantized_layers.is_given() && config.quant_algo.is_given();
    let targets = config.config_groups.value().filter(|_| !config.quant_algo.is_given());
    let linear = targets.is_none_or(|groups| {
        groups.0.iter().any(|group| {
            quantization::names_all(group.targets.value().map_or(&[][..], Vec::as_slice))
        })
    });
    let is_fp8 = config.quant_method.value().is_some_and(|name| name == "fp8");
    let is_kept = (listed && !is_fp8) || !linear;
    let layers = if is_kept { Stored::plain(kept) } else { Stored::of(scheme) };
    let experts = match scheme.experts {
        // Where lists name the experts, the others of a file of ModelOpt are as the layers.
        Some(format) => Stored::plain(format),
        None => layers,
    };
    // Kernels of scales per block take no matrix of so few rows, and no engine quantizes those that weigh heads.
    core::array::from_fn(|place| match 1 << place {
        piece if piece & EXPERTS != 0 => experts,
        modules::INDEX_WEIGHTS => Stored::plain(kept),
        modules::STATE_GATES if layers.format.tile.is_some() => Stored::plain(kept),
        _ => layers,
    })
}

/// The lists of a file: what it keeps comes before what it quantizes otherwise.
fn rules(file: &File<'_>) -> Result<Vec<Rule>, ConfigError> {
    let File { config, kept, .. } = *file;
    let kept = Stored::plain(kept);
    let lists = [
        &config.modules_to_not_convert,
        &config.ignore,
        &config.exclude_modules,
        &config.llm_int8_skip_modules,
    ];
    let entries = lists.iter().filter_map(|list| list.value()).flatten();
    let mut rules: Vec<Rule> = entries
        .filter_map(|entry| Modules::read(entry))
        .map(|modules| Rule { modules, stored: kept })
        .collect();
    let own = |options: &Entry<Box<ModuleOptions>>| match options.value() {
        Some(options) => quantization::of_module(options, config).map_or(kept, |f| Stored::of(&f)),
        None => kept,
    };
    if let Some(list) = config.dynamic.value() {
        rules.extend(list.0.iter().filter_map(|(name, options)| {
            let expression = name.strip_prefix("+:").unwrap_or(name);
            let (expression, stored) = match expression.strip_prefix("-:") {
                Some(left_out) => (left_out, kept),
                None => (expression, own(options)),
            };
            Some(Rule { modules: Modules::expression(expression)?, stored })
        }));
    }
    let listed =
        [Some(&config.modules), config.extra_config.value(), config.quantized_layers.value()];
    for list in listed.into_iter().flatten() {
        rules.extend(list.0.iter().filter_map(|(name, options)| {
            Some(Rule { modules: Modules::read(name)?, stored: own(options) })
        }));
    }
    let groups = value(&Named { name: "config_groups", entry: &config.config_groups })?;
    for group in groups.iter().flat_map(|groups| &groups.0) {
        let Some(one) = quantization::group_formats(group)? else { continue };
        for target in group.targets.value().iter().flat_map(|targets| targets.iter()) {
            let is_class = !target.contains(['.', ':']) && target.starts_with(char::is_uppercase);
            let modules = if quantization::names_experts(target) && is_class {
                Some(Modules { layers: NamedLayers::All, pieces: EXPERTS, is_bound: false })
            } else {
                Modules::read(target).filter(|_| !is_class)
            };
            rules.extend(modules.map(|modules| Rule { modules, stored: Stored::of(&one) }));
        }
    }
    Ok(rules)
}

/// The pieces of a matrix with their rows.
fn pieces_of(matrix: &Matrix) -> Vec<(Pieces, u64)> {
    use modules::{
        DOWN, EXPERT_DOWN, EXPERT_GATE, EXPERT_UP, GATE, INDEXER, KEYS, KEYS_UP, LATENT, OUTPUT,
        QUERIES, QUERIES_UP, SHARED_DOWN, SHARED_GATE, SHARED_UP, STATE_IN, STATE_OTHER, STATE_OUT,
        UP, VALUES,
    };
    let is_shared = matches!(matrix.group, LayerGroup::Experts(_)) && !matrix.expert;
    let rows = matrix.rows;
    let one = |pieces| Vec::from([(pieces, rows)]);
    let two = |gate, up| Vec::from([(gate, rows / 2), (up, rows - rows / 2)]);
    let small = |most, own, parts: Parts| match parts.kept_rows() {
        0 => one(most),
        kept => Vec::from([(most, rows - kept), (own, kept)]),
    };
    match (matrix.kind, matrix.parts) {
        (OpKind::Qkv, Parts::Qkv([queries, keys, values])) => {
            Vec::from([(QUERIES, queries), (KEYS, keys), (VALUES, values)])
        }
        (OpKind::Qkv | OpKind::QkvA, _) => one(QUERIES | KEYS | VALUES),
        (OpKind::QB, _) => one(QUERIES_UP),
        (OpKind::KvB, _) => one(KEYS_UP),
        (OpKind::OProj, _) => one(OUTPUT),
        (OpKind::IndexProj, parts) => small(INDEXER, modules::INDEX_WEIGHTS, parts),
        (OpKind::InProj, parts) => small(STATE_IN, modules::STATE_GATES, parts),
        (OpKind::OutProj, _) => one(STATE_OUT),
        (OpKind::ExpertGateUp, _) => two(EXPERT_GATE, EXPERT_UP),
        (OpKind::ExpertUp, _) => one(EXPERT_UP),
        (OpKind::ExpertDown, _) => one(EXPERT_DOWN),
        (OpKind::GateUp, _) if is_shared => two(SHARED_GATE, SHARED_UP),
        (OpKind::Up, _) if is_shared => one(SHARED_UP),
        (OpKind::Down, _) if is_shared => one(SHARED_DOWN),
        (OpKind::GateUp, _) => two(GATE, UP),
        (OpKind::Up, _) => one(UP),
        (OpKind::Down, _) => one(DOWN),
        (_, _) if is_shared => one(LATENT),
        (_, _) if matches!(matrix.group, LayerGroup::Recurrent(_)) => one(STATE_OTHER),
        _ => Vec::new(),
    }
}

/// The largest format of some pieces.
fn largest(pieces: Pieces, layer: &[Stored; PIECES]) -> Option<Stored> {
    let named = layer.iter().enumerate().filter(|(place, _)| pieces & (1 << place) != 0);
    named.map(|(_, stored)| *stored).max_by(|a, b| a.bits().total_cmp(&b.bits()))
}

/// Weights of one matrix of a layer in their formats.
struct Weights {
    matrix: Matrix,
    /// Its layer, counted from 0; `None` for matrices beside the layers.
    layer: Option<usize>,
    /// Number of rows of this piece of it.
    rows: u64,
    /// Number of matrices in this layer.
    count: f64,
    stored: Stored,
}

/// The bytes of the matrices of all layers.
fn counted(
    layers: &[[Stored; PIECES]],
    defaults: &[Stored; PIECES],
    arch: &ModelArch,
) -> LayerFormats {
    let all = weights(layers, defaults, arch);
    let main = |of_experts: bool| -> Option<&'static QuantFormat> {
        let mut sums: Vec<(&'static QuantFormat, f64)> = Vec::new();
        for one in all.iter().filter(|one| one.matrix.expert == of_experts) {
            let elements = one.rows as f64 * one.matrix.cols as f64 * one.count;
            match sums.iter_mut().find(|(format, _)| *format == one.stored.format) {
                Some((_, sum)) => *sum += elements,
                None => sums.push((one.stored.format, elements)),
            }
        }
        sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(format, _)| format)
    };
    let of_layers = main(false).unwrap_or(defaults[0].format);
    let of_experts = main(true).unwrap_or(of_layers);
    let mut sums = MixedBytes::NONE;
    let mut by_layer = vec![MixedBytes::NONE; layers.len() + 1];
    for one in &all {
        let base = if one.matrix.expert { of_experts } else { of_layers };
        let (rows, cols) = (one.rows, one.matrix.cols);
        let stored = one.stored.bytes(rows, cols) * one.count;
        let plain = base.stored_bytes(rows, cols) * one.count;
        for sums in [&mut sums, &mut by_layer[one.layer.unwrap_or(layers.len())]] {
            sums.add(one.matrix.kind, stored, plain);
        }
    }
    let ratios = Ratios::of(&sums, &by_layer);
    let remarks = remarks(layers, arch, (of_layers, of_experts));
    LayerFormats { layers: of_layers, experts: of_experts, ratios, remarks }
}

/// The matrices of all layers. Where the order of the layers is not known, a part has the layers in which it is largest.
fn weights(
    layers: &[[Stored; PIECES]],
    defaults: &[Stored; PIECES],
    arch: &ModelArch,
) -> Vec<Weights> {
    let order = arch.layers_in_order();
    let parts = arch.layer_parts();
    let mut all = Vec::new();
    arch.matrices(&mut |matrix| {
        let own = parts.iter().filter(|(part, _)| part.group == matrix.group);
        let of: u64 = own.map(|(_, layers)| *layers).sum();
        let per_layer = if of > 0 { matrix.count as f64 / of as f64 } else { matrix.count as f64 };
        let mut add = |layer: Option<usize>, formats: &[Stored; PIECES]| {
            for (pieces, rows) in pieces_of(&matrix) {
                let Some(stored) = largest(pieces, formats) else { continue };
                all.push(Weights { matrix, layer, rows, count: per_layer, stored });
            }
        };
        match (&order, matrix.group) {
            (_, LayerGroup::Whole) => add(None, defaults),
            (Some(order), group) => {
                let has = |parts: &[LayerPart]| parts.iter().any(|part| part.group == group);
                let all = order.iter().zip(layers).enumerate();
                let own = all.filter(|(_, (parts, _))| has(parts));
                own.for_each(|(index, (_, formats))| add(Some(index), formats));
            }
            (None, _) => {
                let bits = |layer: &[Stored; PIECES]| -> f64 {
                    let pieces = pieces_of(&matrix);
                    pieces
                        .iter()
                        .filter_map(|(p, rows)| Some(largest(*p, layer)?.bits() * *rows as f64))
                        .sum()
                };
                let mut by_size: Vec<&[Stored; PIECES]> = layers.iter().collect();
                by_size.sort_by(|a, b| bits(b).total_cmp(&bits(a)));
                let of = usize::try_from(of).unwrap_or(usize::MAX);
                let own = by_size.into_iter().take(of).enumerate();
                own.for_each(|(index, formats)| add(Some(index), formats));
            }
        }
    });
    all
}

/// A remark for each part of the layers and each format that it has beside the main one.
fn remarks(
    layers: &[[Stored; PIECES]],
    arch: &ModelArch,
    (of_layers, of_experts): (&'static QuantFormat, &'static QuantFormat),
) -> Vec<Remark> {
    let order = arch.layers_in_order();
    let parts = [
        (StoredPart::Attention, ATTENTION & !modules::INDEX_WEIGHTS, of_layers),
        (StoredPart::Recurrent, STATE & !modules::STATE_GATES, of_layers),
        (StoredPart::Mlp, DENSE, of_layers),
        (StoredPart::SharedMlp, SHARED, of_layers),
        (StoredPart::Experts, EXPERTS, of_experts),
    ];
    let mut remarks = Vec::new();
    for (part, pieces, base) in parts {
        let is_part = |group: LayerGroup| match (part, group) {
            (StoredPart::Attention, LayerGroup::Attention(_))
            | (StoredPart::Recurrent, LayerGroup::Recurrent(_))
            | (StoredPart::Mlp, LayerGroup::Dense(_))
            | (StoredPart::Experts, LayerGroup::Experts(_)) => true,
            (StoredPart::SharedMlp, LayerGroup::Experts(index)) => {
                arch.moe.get(index).is_some_and(|moe| moe.shared_width > 0)
            }
            _ => false,
        };
        let mut has: Pieces = 0;
        arch.matrices(&mut |matrix| {
            if is_part(matrix.group) {
                has |= pieces_of(&matrix).iter().fold(0, |all, (pieces, _)| all | pieces);
            }
        });
        let pieces = pieces & has;
        let of: u64 =
            arch.layer_parts().iter().filter(|(p, _)| is_part(p.group)).map(|(_, n)| *n).sum();
        let is_here = |index: usize| match &order {
            Some(order) => {
                order.get(index).is_some_and(|parts| parts.iter().any(|part| is_part(part.group)))
            }
            None => true,
        };
        let mut counts: Vec<(&'static QuantFormat, u64)> = Vec::new();
        for (_, layer) in layers.iter().enumerate().filter(|(index, _)| is_here(*index)) {
            let mut own: Vec<&'static QuantFormat> = Vec::new();
            for (place, stored) in layer.iter().enumerate() {
                let counts = pieces & (1 << place) != 0 && stored.format != base;
                if counts && !own.contains(&stored.format) {
                    own.push(stored.format);
                }
            }
            for format in own {
                match counts.iter_mut().find(|(known, _)| *known == format) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((format, 1)),
                }
            }
        }
        remarks.extend(counts.into_iter().map(|(format, layers)| Remark::OwnFormat {
            part,
            layers: layers.min(of),
            of,
            format,
        }));
    }
    remarks
}
