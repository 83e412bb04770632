//! Elements and bytes of the KV cache: those that a model keeps, and those that an engine allots.

use super::pages::{Pooled, pages};
use crate::cost::compression::STATE_BYTES;
use crate::model_arch::{Attention, Compression, ModelArch, Recurrent};
use crate::precision::Precision;
use crate::software::CacheRule;
use crate::units::Bytes;
use crate::workload::Workload;

/// Number of elements that a model keeps for one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheElements {
    /// Keys and values, or latents, and the keys of indexers.
    pub attention: u64,
    /// States of recurrent layers, without their convolutions.
    pub state: u64,
    /// Inputs that the convolutions of recurrent layers keep.
    pub convolution: u64,
    /// Vectors and weights of tokens whose compressed entry is not complete.
    pub compression: u64,
}

/// Number of elements that a model keeps for one sequence of `tokens` tokens.
///
/// ```text
/// attention    sum over attention layers of row kept(L), + d_i L per layer with an indexer
/// row          g (d_k + d_v), or r + rope with latent attention
/// kept(L)      L, or min(L, w) with a window or chunks of w, or min(L, w) + L / r with entries for r tokens each
/// ```
///
/// An indexer with compressed keys has d_i for r tokens.
pub fn cache_elements(model: &ModelArch, tokens: u64) -> CacheElements {
    elements(model, tokens, &|window| window.min(tokens))
}

/// [`cache_elements`] with `windowed` tokens in a layer with a window.
fn elements(model: &ModelArch, tokens: u64, windowed: &impl Fn(u64) -> u64) -> CacheElements {
    let mut sum = CacheElements::default();
    for group in model.attention.iter() {
        for (layers, reach) in group.reaches() {
            // An indexer selects from all tokens, or from all entries, so all of them are kept.
            let selects = group.indexer.is_some() && group.compression.is_none();
            let kept = if selects { tokens } else { reach.kept(tokens, windowed) };
            sum.attention += layers * kept * group.cache_row();
        }
        let [_, keys, _] = group.qkv_outputs();
        let waiting = |one: Option<Compression>, width| one.map_or(0, |c| c.state_elements(width));
        sum.compression += group.layers() * waiting(group.compression, keys);
        if let Some(index) = group.indexer {
            sum.attention += index_keys(group, tokens);
            sum.compression += index.layers * waiting(index.compression, index.head_dim);
        }
    }
    for group in model.recurrent.iter() {
        sum.state += group.layers() * group.state_elements();
        sum.convolution += group.layers() * group.conv_elements();
    }
    sum
}

/// Number of elements of the keys of a group's indexers.
fn index_keys(group: &Attention, tokens: u64) -> u64 {
    group.indexer.map_or(0, |index| {
        let width = index.head_dim;
        let keys = index.compression.map_or(width * tokens, |one| one.kept(width, tokens));
        index.layers * keys
    })
}

/// Bytes of KV cache and recurrent state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CacheBytes {
    /// Bytes that the model has to keep.
    pub kept: Bytes,
    /// Bytes that the engine allots beside it.
    pub rounding: Bytes,
}

impl CacheBytes {
    pub(crate) fn total(&self) -> Bytes {
        self.kept + self.rounding
    }
}

impl core::ops::Mul<f64> for CacheBytes {
    type Output = Self;

    fn mul(self, share: f64) -> Self {
        Self { kept: self.kept * share, rounding: self.rounding * share }
    }
}

/// Bytes of KV cache and recurrent state of all sequences of a workload, see [`cache_elements`].
///
/// ```text
/// allotted = B (a sequence in whole blocks, with the tokens of its own in each window) + tokens that all sequences share
///          + B (its states)
/// ```
///
/// In [`super::Pages`], keys, values and states are allotted by the page.
pub(crate) fn cache_bytes(own: &Pooled<'_>, rule: &CacheRule, workload: &Workload) -> CacheBytes {
    let Pooled { model, precision, .. } = *own;
    let (batch, tokens) = (workload.batch, workload.longest());
    let kept = cache_elements(model, tokens);
    let element = precision.kv_cache.row_bytes_per_element();
    let waiting = kept.compression as f64 * STATE_BYTES;
    let states = state_bytes(model, |group| group.state_bytes(precision.carrier));
    let sequence = kept.attention as f64 * element + states + waiting;
    let kept = Bytes::new(batch as f64 * sequence);
    let allotted = if let Some(paged) = paged(&[*own], rule, workload) {
        paged
    } else {
        let drafts = workload.draft_tokens();
        let own = elements(model, rule.rounded(tokens), &|window| rule.own(window, tokens));
        // Only windows share: a sequence without tokens has nothing else.
        let shared = elements(model, 0, &|window| rule.shared(window, batch, tokens));
        let copies = rule.states.states(drafts) as f64;
        let states = copies * allotted_states(model, precision, rule);
        let one = own.attention as f64 * element + states + waiting;
        Bytes::new(batch as f64 * one + shared.attention as f64 * element)
    };
    CacheBytes { kept, rounding: (allotted - kept).max(Bytes::ZERO) }
}

/// Bytes of models in the pages of one pool, with the keys of indexers beside them; `None` without pages.
fn paged(pooled: &[Pooled<'_>], rule: &CacheRule, workload: &Workload) -> Option<Bytes> {
    let pages = pages(pooled, rule)?.bytes(rule, workload, workload.draft_tokens());
    let keys = |one: &Pooled<'_>| {
        let elements =
            one.model.attention.iter().map(|group| index_keys(group, workload.longest()));
        let row = one.precision.kv_cache.row_bytes_per_element();
        (elements.sum::<u64>() * one.times * workload.batch) as f64 * row
    };
    Some(pages + Bytes::new(pooled.iter().map(keys).sum()))
}

/// Bytes that a model and its draft model have in the pages of one pool beside those of each alone; never less than nothing, because
/// versions of an engine may group the draft model's layers apart.
pub(crate) fn pooled_rounding(
    pooled: &[Pooled<'_>],
    alone: Bytes,
    rule: &CacheRule,
    workload: &Workload,
) -> Bytes {
    paged(pooled, rule, workload).map_or(Bytes::ZERO, |all| (all - alone).max(Bytes::ZERO))
}

/// Bytes of one state of every recurrent layer as the engine allots it.
fn allotted_states(model: &ModelArch, precision: &Precision, rule: &CacheRule) -> f64 {
    let wide = |group: &Recurrent| group.state_elements() + group.conv_elements();
    state_bytes(model, |group| {
        let bytes = group.state_bytes(precision.carrier);
        if rule.states.wide {
            bytes.max(Bytes::new(wide(group) as f64 * STATE_BYTES))
        } else {
            bytes
        }
    })
}

fn state_bytes(model: &ModelArch, of: impl Fn(&Recurrent) -> Bytes) -> f64 {
    model.recurrent.iter().map(|group| group.layers() as f64 * of(group).get()).sum()
}
