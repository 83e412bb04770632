//! Reads fields by the rules: types, ranges, defaults, and the list of assumptions.

use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Entry, FieldType, Found};
use super::family::plain_name;
use super::fields::{HfConfig, Named};
use super::order::Order;
use super::refusal::{ConfigError, Unsupported};
use super::rules::{Norms, Rules, Switch};
use super::size_table::{self, Sizes};
use super::{AssumedField, AssumedValue, AssumedWhy, Remark};
use crate::error::{Error, in_range};
use crate::model_arch::{MAX_COUNT, MAX_WIDTH, NormKind};
use crate::text::Text;

/// A file being read.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    /// The configuration of the whole file.
    pub(super) outer: &'a HfConfig,
    /// The language model's configuration; the whole file if nothing is nested.
    pub(super) text: &'a HfConfig,
    why: AssumedWhy,
    pub(super) assumed: Vec<AssumedField>,
    pub(super) remarks: Vec<Remark>,
    pub(super) order: Order,
    /// Default sizes of the class, where they may stand for absent ones.
    sizes: Option<Sizes>,
}

/// Norms of a model.
#[derive(Debug, Clone, Copy)]
pub(super) struct LayerNorms {
    pub(super) kind: NormKind,
    /// Number per layer that first add the residual.
    pub(super) add: u64,
    /// Number of others per layer.
    pub(super) post: u64,
    /// A norm precedes the LM head.
    pub(super) last: bool,
}

impl<'a> Reader<'a> {
    pub(super) fn new(outer: &'a HfConfig, text: &'a HfConfig, known: bool) -> Self {
        let why = if known { AssumedWhy::FamilyDefault } else { AssumedWhy::Guessed };
        let sizes = if known { defaults(outer, text) } else { None };
        let order = Order::default();
        Self { outer, text, why, assumed: Vec::new(), remarks: Vec::new(), order, sizes }
    }

    pub(super) fn is_nested(&self) -> bool {
        !core::ptr::eq(self.outer, self.text)
    }

    /// Records the value assumed for a field that is missing from the file.
    pub(super) fn assume(&mut self, field: &'static str, value: AssumedValue) {
        if self.assumed.iter().all(|known| known.field != field) {
            self.assumed.push(AssumedField { field: Text::Borrowed(field), value, why: self.why });
        }
    }

    /// Takes back an assumption: the file states the field in another place.
    pub(super) fn forget(&mut self, field: &str) {
        self.assumed.retain(|known| known.field != field);
    }

    /// Records the value assumed for a size that decides the memory, before all that does not.
    pub(super) fn assume_size(&mut self, field: &'static str, size: u64) {
        if self.why != AssumedWhy::FamilyDefault || size == 0 {
            return self.assume(field, AssumedValue::Count(size));
        }
        let is_size = |known: &AssumedField| known.why == AssumedWhy::ClassSize;
        if self.assumed.iter().any(|known| known.field == field) {
            return;
        }
        let place = self.assumed.iter().take_while(|known| is_size(known)).count();
        let (value, why) = (AssumedValue::Count(size), AssumedWhy::ClassSize);
        self.assumed.insert(place, AssumedField { field: Text::Borrowed(field), value, why });
    }

    /// Reads a size that decides the memory, with the default of its class.
    pub(super) fn size_or(
        &mut self,
        field: &Named<'_, u64>,
        default: u64,
    ) -> Result<u64, ConfigError> {
        if let Some(value) = Self::count(field)? {
            return Ok(value);
        }
        self.assume_size(field.name, default);
        Ok(default)
    }

    /// Records it first in the list, for the field with the largest effect.
    pub(super) fn assume_first(&mut self, field: &'static str, value: AssumedValue) {
        let field = Text::Borrowed(field);
        self.assumed.insert(0, AssumedField { field, value, why: self.why });
    }

    /// Reads a count; `None` if absent or null.
    pub(super) fn count(field: &Named<'_, u64>) -> Result<Option<u64>, ConfigError> {
        let Some(value) = value(field)? else { return Ok(None) };
        in_range(field.name, *value, 0, MAX_WIDTH).map(Some).map_err(ConfigError::Value)
    }

    /// Reads a count with a default.
    pub(super) fn count_or(
        &mut self,
        field: &Named<'_, u64>,
        default: u64,
    ) -> Result<u64, ConfigError> {
        if let Some(value) = Self::count(field)? {
            return Ok(value);
        }
        self.assume(field.name, AssumedValue::Count(default));
        Ok(default)
    }

    /// Reads a required count, or takes the default of the class; a default of 0 is none.
    pub(super) fn size(
        &mut self,
        field: fn(&HfConfig) -> Named<'_, u64>,
        default: fn(&Sizes) -> u64,
    ) -> Result<u64, ConfigError> {
        let field = field(self.text);
        let default = self.sizes.as_ref().map(default).filter(|&size| size > 0);
        match (Self::count(&field)?, default) {
            (Some(value), _) => {
                in_range(field.name, value, 1, MAX_WIDTH).map_err(ConfigError::Value)
            }
            (None, Some(default)) => self.size_or(&field, default),
            (None, None) => Err(ConfigError::Missing { field: field.name }),
        }
    }

    /// Reads the number of layers, limited so that layers can be counted one by one. A list with the kind of each layer states
    /// it, too.
    pub(super) fn layers(&mut self) -> Result<u64, ConfigError> {
        let text = self.text;
        let blocks = text.layers_block_type.value().map(|blocks| blocks.len() as u64);
        let layers = match blocks.filter(|_| !text.layers().entry.is_given()) {
            Some(blocks) => blocks,
            None => self.size(HfConfig::layers, |sizes| sizes.n_layers)?,
        };
        in_range(self.text.layers().name, layers, 1, MAX_COUNT).map_err(ConfigError::Value)
    }

    /// Reads a flag; `None` if absent or null.
    pub(super) fn flag(field: &Named<'_, bool>) -> Result<Option<bool>, ConfigError> {
        Ok(value(field)?.copied())
    }

    /// Reads a flag with a default.
    pub(super) fn flag_or(
        &mut self,
        field: &Named<'_, bool>,
        default: bool,
    ) -> Result<bool, ConfigError> {
        if let Some(value) = Self::flag(field)? {
            return Ok(value);
        }
        self.assume(field.name, AssumedValue::Flag(default));
        Ok(default)
    }

    /// Reads a text; `None` if absent or null.
    pub(super) fn text_of<'b>(field: &Named<'b, String>) -> Result<Option<&'b str>, ConfigError> {
        Ok(value(field)?.map(String::as_str))
    }

    /// Reads a list with an entry per layer; `None` if absent or null.
    pub(super) fn per_layer<'b, T>(
        field: &Named<'b, Vec<T>>,
        layers: u64,
    ) -> Result<Option<&'b [T]>, ConfigError>
    where
        Vec<T>: FieldType,
    {
        let Some(list) = value(field)? else { return Ok(None) };
        let entries = list.len() as u64;
        if entries == layers {
            return Ok(Some(list));
        }
        Err(ConfigError::ListLength { field: field.name, entries, layers })
    }

    /// Refuses lists of kinds that have other lengths than the model has layers, whether the family reads them or not.
    pub(super) fn lists_of_layers(&self, layers: u64) -> Result<(), ConfigError> {
        let text = self.text;
        let drafts = text.draft_layers().entry.value().copied().unwrap_or(0);
        if !text.layer_types.is_given() {
            text.settle(&["layer_types"]);
        }
        let words = [
            ("layer_types", &text.layer_types),
            ("mlp_layer_types", &text.mlp_layer_types),
            ("indexer_types", &text.indexer_types),
            ("layers_block_type", &text.layers_block_type),
        ];
        let counts = [
            ("attn_type_list", &text.attn_type_list),
            ("hybrid_layer_pattern", &text.hybrid_layer_pattern),
            ("num_attention_heads_per_layer", &text.num_attention_heads_per_layer),
        ];
        let words = words.map(|(name, entry)| (name, entry.value().map(Vec::len)));
        let counts = counts.map(|(name, entry)| (name, entry.value().map(Vec::len)));
        for (field, entries) in words.into_iter().chain(counts) {
            let Some(entries) = entries.map(|entries| entries as u64) else { continue };
            // Some lists go on with the layers that draft further tokens; an empty one says nothing.
            if entries != layers && entries != layers.saturating_add(drafts) && entries > 0 {
                return Err(ConfigError::ListLength { field, entries, layers });
            }
        }
        Ok(())
    }

    /// Evaluates a bias or another switch of the family.
    pub(super) fn switch(&mut self, switch: Switch) -> Result<bool, ConfigError> {
        match switch {
            Switch::Never => Ok(false),
            Switch::Always => Ok(true),
            Switch::Field(field, default) => self.flag_or(&field(self.text), default),
        }
    }

    /// Reads the longest context; unknown if absent and the family has no default.
    pub(super) fn context(&mut self, rules: &Rules) -> Result<Option<u64>, ConfigError> {
        let field = self.text.positions();
        let context = match rules.context {
            Some(default) => self.count_or(&field, default).map(Some),
            None => Self::count(&field),
        };
        // A link has zero where a model states no context.
        let positive = |size| in_range(field.name, size, 1, u64::MAX).map_err(ConfigError::Value);
        context?.map(positive).transpose()
    }

    /// Reads whether embedding and LM head share one matrix; the outer file takes precedence.
    pub(super) fn tied(&mut self, rules: &Rules) -> Result<bool, ConfigError> {
        let outer = &self.outer.tie_word_embeddings;
        // In a model that speaks the part that thinks decides, not its text part.
        let entry = match self.outer.thinker_config.value() {
            // One that only listens leaves it to its text part.
            Some(thinker) if self.is_asr() && !thinker.tie_word_embeddings.is_given() => {
                &self.text.tie_word_embeddings
            }
            Some(thinker) => &thinker.tie_word_embeddings,
            None if outer.is_given() => outer,
            None => &self.text.tie_word_embeddings,
        };
        self.flag_or(&Named { name: "tie_word_embeddings", entry }, rules.tied)
    }

    fn is_asr(&self) -> bool {
        self.outer.model_type.value().is_some_and(|name| name == "qwen3_asr")
    }

    /// Reads the norms of the model.
    pub(super) fn norms(&mut self, rules: &Rules) -> Result<LayerNorms, ConfigError> {
        let two = LayerNorms { kind: rules.norm, add: 2, post: 0, last: true };
        let one = LayerNorms { add: 1, ..two };
        Ok(match rules.norms {
            Norms::Two => two,
            Norms::One => one,
            Norms::Four => LayerNorms { post: 2, ..two },
            Norms::ParallelResidual => {
                let parallel =
                    switched_on("use_parallel_residual", &self.text.use_parallel_residual)?;
                if parallel { one } else { two }
            }
            Norms::Falcon(new) => {
                if self.falcon_has_one_norm(new)? {
                    one
                } else {
                    two
                }
            }
            Norms::Opt => self.opt_norms(two)?,
        })
    }

    /// Falcon: true for one norm per layer. The new architecture has one per branch unless the file states 1.
    fn falcon_has_one_norm(&mut self, new: bool) -> Result<bool, ConfigError> {
        let text = self.text;
        if self.falcon_is_new(new)? {
            let norms = text.named("num_ln_in_parallel_attn", &text.num_ln_in_parallel_attn);
            return Ok(self.count_or(&norms, 2)? == 1);
        }
        self.flag_or(&text.named("parallel_attn", &text.parallel_attn), true)
    }

    /// True for Falcon-40B and later.
    pub(super) fn falcon_is_new(&mut self, default: bool) -> Result<bool, ConfigError> {
        let entry = &self.text.new_decoder_architecture;
        self.flag_or(&self.text.named("new_decoder_architecture", entry), default)
    }

    fn opt_norms(&mut self, norms: LayerNorms) -> Result<LayerNorms, ConfigError> {
        let text = self.text;
        let hidden = text.hidden();
        let projected = text.named("word_embed_proj_dim", &text.word_embed_proj_dim);
        let projected = Self::count(&projected)?;
        let default = self.sizes.as_ref().map(|sizes| sizes.hidden_size);
        let hidden = hidden.entry.value().copied().or(default);
        if projected.is_some_and(|width| Some(width) != hidden) {
            let model = text.model_type.value().cloned().unwrap_or_default();
            return Err(ConfigError::Unsupported { part: Unsupported::EmbeddingProjection, model });
        }
        let before = text.named("do_layer_norm_before", &text.do_layer_norm_before);
        let learned = Named {
            name: "layer_norm_elementwise_affine",
            entry: &text.layer_norm_elementwise_affine,
        };
        let removed = switched_on("_remove_final_layer_norm", &text.remove_final_layer_norm)?;
        let kind =
            if Self::flag(&learned)?.unwrap_or(true) { norms.kind } else { NormKind::NoParameters };
        Ok(LayerNorms { kind, last: self.flag_or(&before, true)? && !removed, ..norms })
    }
}

/// The default sizes of the class of a file. A nested configuration leaves out what its class has, unless the file states sizes
/// beside it. A whole file does so only if it names its class and no width that it states is another one: then it describes the
/// model of the defaults.
fn defaults(outer: &HfConfig, text: &HfConfig) -> Option<Sizes> {
    let name = text.model_type.value().or(outer.model_type.value())?;
    let sizes = size_table::sizes(&plain_name(name))?;
    let stated = [
        (text.hidden(), sizes.hidden_size),
        (text.heads(), sizes.n_heads),
        (text.width(), sizes.ffn_size),
        (text.vocabulary(), sizes.vocab_size),
    ];
    let is_nested = !core::ptr::eq(outer, text) && !outer.hidden().entry.is_given();
    let same = |(field, default): &(Named<'_, u64>, u64)| match field.entry {
        Entry::Absent | Entry::Null => true,
        Entry::Value(size) => size == default,
        Entry::Wrong(_) => false,
    };
    let is_whole = core::ptr::eq(outer, text) && stated.iter().all(same);
    (is_nested || is_whole).then_some(sizes)
}

/// Reads a flag that is false when absent; the default is not listed as assumed.
fn switched_on(name: &'static str, entry: &Entry<bool>) -> Result<bool, ConfigError> {
    Ok(Reader::flag(&Named { name, entry })?.unwrap_or(false))
}

/// The value, if it has the expected type; `None` if absent or null.
pub(super) fn value<'b, T: FieldType>(field: &Named<'b, T>) -> Result<Option<&'b T>, ConfigError> {
    match field.entry {
        Entry::Absent | Entry::Null => Ok(None),
        Entry::Value(value) => Ok(Some(value)),
        Entry::Wrong(Found::Number(number)) if is_outside(*number) => {
            Err(outside(field.name, *number))
        }
        Entry::Wrong(found) => Err(ConfigError::WrongType {
            field: field.name,
            allowed: T::ALLOWED,
            found: found.clone(),
        }),
    }
}

/// True for a number outside the range of counts, as opposed to a fraction.
fn is_outside(number: f64) -> bool {
    !(0.0..=MAX_WIDTH as f64).contains(&number)
}

fn outside(field: &'static str, value: f64) -> ConfigError {
    let (min, max) = (0.0, MAX_WIDTH as f64);
    ConfigError::Value(Error::OutOfRange { what: Text::Borrowed(field), value, min, max })
}
