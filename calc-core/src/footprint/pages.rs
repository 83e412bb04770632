//! Pages of vLLM: where layers differ in what they keep, all pages have one size, and groups of equally many layers share them.
//! Derivation: `docs/theory/memory.md`.

use alloc::vec::Vec;

use crate::model_arch::{Attention, ModelArch, Reach};
use crate::precision::Precision;
use crate::software::{CacheRule, PoolRule};
use crate::units::Bytes;
use crate::workload::Workload;

/// Pages of a model whose layers differ in what they keep, on one device.
///
/// Read in 2026: `get_kv_cache_groups`, `_project_kv_cache_groups_to_worker` and `_align_hybrid_block_size` of vLLM. Assumed: a page
/// that no whole number of smaller blocks fills is padded.
#[derive(Debug, Clone, PartialEq)]
pub struct Pages {
    /// Number of tokens per page of the layers with the largest rows.
    pub block: u64,
    /// Size of a page: that of a block of the largest rows, which holds a state.
    pub page: Bytes,
    /// Number of layers per group on this device: that of the largest group.
    pub group: u64,
    /// Number of layers that groups of the whole model have.
    whole_group: u64,
    kinds: Vec<Kind>,
}

/// A model whose layers take pages of a pool: the one that is asked about, or the one that drafts for it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pooled<'a> {
    /// Its layers on this device.
    pub model: &'a ModelArch,
    /// All of its layers, from which the groups follow.
    pub whole: &'a ModelArch,
    pub precision: &'a Precision,
    /// Number of times that its layers are there: several layers of a model may draft, each with a cache of its own.
    pub times: u64,
}

/// Layers that keep the same.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kind {
    /// Number of layers on all devices.
    layers: u64,
    /// Number of layers on this device.
    here: u64,
    keeps: Keeps,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Keeps {
    /// Keys and values of tokens: bytes per token, sizes by which layers of other heads differ, and the window if there is one.
    Tokens { row: f64, heads: [u64; 3], window: Option<u64> },
    /// A state, with its bytes.
    State(f64),
}

/// The pages of a model, and of the draft model that takes pages of the same pool; `None` where the engine has none, and where all
/// layers keep the same.
pub(crate) fn pages(pooled: &[Pooled<'_>], rule: &CacheRule) -> Option<Pages> {
    // Compressed entries have groups of their own, which are not known.
    let compressed = |one: &Pooled<'_>| one.whole.attention.iter().any(|g| g.compression.is_some());
    if rule.pool == PoolRule::Apart || pooled.iter().any(compressed) {
        return None;
    }
    let kinds = kinds(pooled);
    let states = kinds.iter().filter_map(Kind::state);
    let state = states.fold(0.0, f64::max);
    let reaches = |kind: &Kind| kind.tokens().map(|(_, window)| window);
    let alike = |pair: &[Kind]| matches!(pair, [a, b] if reaches(a) == reaches(b));
    if state <= 0.0 && kinds.windows(2).all(alike) {
        return None;
    }
    let rows = || kinds.iter().filter_map(Kind::tokens);
    let full = rows().find(|(_, window)| window.is_none()).or_else(|| rows().next());
    let raised = full.map_or(1, |(row, _)| times(state, rule.block as f64 * row));
    let block = rule.block * raised;
    let page = rows().map(|(row, _)| block as f64 * row).fold(state, f64::max);
    let whole_group = group_size(&kinds);
    let group = kinds.iter().map(|kind| kind.most_here(whole_group)).max().unwrap_or(0);
    Some(Pages { block, page: Bytes::new(page), group, whole_group, kinds })
}

impl Pages {
    /// Bytes of all pages of a workload, with `drafts` draft tokens per round.
    ///
    /// ```text
    /// page * sum over kinds of (groups of the model) (layers of the largest group here) (pages of the sequences in one layer)
    /// ```
    pub(crate) fn bytes(&self, rule: &CacheRule, workload: &Workload, drafts: u64) -> Bytes {
        let pages: f64 =
            self.kinds.iter().map(|kind| self.of_kind(kind, rule, workload, drafts)).sum();
        self.page * pages
    }

    /// Number of layers that the groups have beside those of this device.
    pub fn padding(&self) -> u64 {
        self.kinds.iter().map(|kind| self.slots(kind) - kind.here).sum()
    }

    /// Number of layers of a kind if each of its groups has as many as the largest group.
    const fn slots(&self, kind: &Kind) -> u64 {
        kind.groups(self.whole_group) * self.group
    }

    /// Number of pages of all layers of a kind.
    fn of_kind(&self, kind: &Kind, rule: &CacheRule, workload: &Workload, drafts: u64) -> f64 {
        let (batch, tokens) = (workload.batch, workload.longest());
        let each = match kind.keeps {
            Keeps::State(_) => batch as f64 * rule.states.states(drafts) as f64,
            Keeps::Tokens { row, window, .. } => {
                let fills = whole(self.page.get() / (rule.block as f64 * row));
                let rule = rule.with_block(rule.block * fills.max(1));
                let (own, shared) = match window {
                    None => (rule.rounded(tokens), 0),
                    Some(window) => (rule.own(window, tokens), rule.shared(window, batch, tokens)),
                };
                (own as f64 * batch as f64 + shared as f64) / rule.block as f64
            }
        };
        self.slots(kind) as f64 * each
    }
}

impl Kind {
    /// Number of groups of all devices.
    const fn groups(&self, whole_group: u64) -> u64 {
        self.layers.div_ceil(whole_group)
    }

    /// Number of layers on this device in the group that has the most of them: the layers of a kind go to its groups in turn, and
    /// those of a device follow each other.
    const fn most_here(&self, whole_group: u64) -> u64 {
        self.here.div_ceil(self.groups(whole_group))
    }

    fn tokens(&self) -> Option<(f64, Option<u64>)> {
        match self.keeps {
            Keeps::Tokens { row, window, .. } => Some((row, window)),
            Keeps::State(_) => None,
        }
    }

    fn state(&self) -> Option<f64> {
        match self.keeps {
            Keeps::State(bytes) => Some(bytes),
            Keeps::Tokens { .. } => None,
        }
    }
}

/// The kinds of layers that keep something, on all devices and on this one.
fn kinds(pooled: &[Pooled<'_>]) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::new();
    for Pooled { model, whole, precision, times } in pooled {
        each_kind(whole, precision, &mut |layers, keeps| {
            let layers = layers * times;
            match kinds.iter_mut().find(|kind| kind.keeps == keeps) {
                Some(kind) => kind.layers += layers,
                None => kinds.push(Kind { layers, here: 0, keeps }),
            }
        });
        each_kind(model, precision, &mut |layers, keeps| {
            let kind = kinds.iter_mut().find(|kind| kind.keeps == keeps);
            kind.expect("a part of a model keeps what the model keeps").here += layers * times;
        });
    }
    kinds
}

/// Visits the numbers of layers of a model that keep the same.
fn each_kind(model: &ModelArch, precision: &Precision, add: &mut impl FnMut(u64, Keeps)) {
    let element = precision.kv_cache.row_bytes_per_element();
    for group in model.attention.iter().filter(|group| group.cache_row() > 0) {
        for (layers, reach) in group.reaches().into_iter().filter(|(layers, _)| *layers > 0) {
            add(layers, keeps(group, reach, element));
        }
    }
    for group in model.recurrent.iter().filter(|group| group.layers() > 0) {
        add(group.layers(), Keeps::State(group.state_bytes(precision.carrier).get()));
    }
}

fn keeps(group: &Attention, reach: Reach, element: f64) -> Keeps {
    let window = match reach {
        Reach::Window(tokens) | Reach::Chunk(tokens) if group.indexer.is_none() => Some(tokens),
        Reach::All | Reach::Window(_) | Reach::Chunk(_) | Reach::Compressed { .. } => None,
    };
    let heads = [group.n_kv_heads, group.head_dim, group.v_head_dim];
    Keeps::Tokens { row: group.cache_row() as f64 * element, heads, window }
}

/// Number of layers per group of the whole model: that of the rarest kind, or that of the most frequent one if it has fewer than 1.5 times as many.
fn group_size(kinds: &[Kind]) -> u64 {
    let counts = || kinds.iter().map(|kind| kind.layers);
    let (least, most) = (counts().min().unwrap_or(1), counts().max().unwrap_or(1));
    if 2 * most < 3 * least { most } else { least.max(1) }
}

/// How many times `unit` fits whole into a page.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive, below 2^53")]
const fn whole(ratio: f64) -> u64 {
    ratio as u64
}

/// How many units of `unit` bytes hold `bytes`; at least one.
fn times(bytes: f64, unit: f64) -> u64 {
    if unit > 0.0 { whole(crate::math::ceil(bytes / unit)).max(1) } else { 1 }
}
