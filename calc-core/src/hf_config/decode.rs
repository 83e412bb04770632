//! Decoding of [`Entry`] with serde: any JSON value is accepted and classified as a value or a wrong type.
//!
//! This file is longer than 400 lines because it is one visitor with the conversions that it needs.

mod quantization;

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

use super::entry::{Entry, Found, Length, PerLayer, Present};
use super::fields::{HfConfig, Thinker, UnknownKey};
use super::part_fields::{
    AttentionOptions, Block, BlockPart, Blocks, CompressRates, ExpertOptions, LayerSizes,
    LinearAttention, NamedSizes, OtherHeads, SparseAttention,
};
use super::quantization_fields::{ModuleOptions, TensorScheme, TorchaoConfig, TorchaoScheme};
use super::stated::{Stated, States, looks_like_geometry, meaning};
use super::tower_fields::TowerConfig;

/// Maximum length of a text, in bytes; longer ones are invalid.
const MAX_TEXT: usize = 256;
/// Maximum length of a list; no model has more layers or module names.
const MAX_LIST: usize = 1 << 16;
/// Maximum number of unknown keys that are kept; a file has one or two dozen.
const MAX_UNKNOWN: usize = 256;
/// Fields that contain another configuration.
const NESTED: [&str; 5] =
    ["text_config", "llm_config", "language_config", "decoder_config", "thinker_config"];
/// Unknown objects that do not describe the language model, or not its geometry.
const OTHER_CONFIGS: [&str; 16] = [
    "generation_config",
    "vit_config",
    "projector_config",
    "speech_config",
    "talker_config",
    "token2wav_config",
    "code2wav_config",
    "encoder_config",
    "vq_config",
    "aligner_config",
    "gen_aligner_config",
    "gen_head_config",
    "gen_vision_config",
    "acoustic_tokenizer_config",
    "semantic_tokenizer_config",
    "diffusion_head_config",
];

/// Conversion from JSON values; a value that the type does not accept is `None`.
trait FromJson: Sized {
    fn flag(_: bool) -> Option<Self> {
        None
    }
    fn count(_: u64) -> Option<Self> {
        None
    }
    fn text(_: &str) -> Option<Self> {
        None
    }
    fn list<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}

impl FromJson for bool {
    fn flag(value: bool) -> Option<Self> {
        Some(value)
    }
}

/// A list with one entry per layer counts as a number if all are equal.
impl FromJson for u64 {
    fn count(value: u64) -> Option<Self> {
        Some(value)
    }
    fn list<'de, A: SeqAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        let Some(list) = collect::<Self, A>(items)? else { return Ok(None) };
        let first = list.first().copied();
        Ok(first.filter(|first| list.iter().all(|entry| entry == first)))
    }
}

impl FromJson for String {
    fn text(value: &str) -> Option<Self> {
        Some(value.into())
    }
}

/// Lists of one type.
macro_rules! lists {
    ($($entry:ty)+) => {
        $(impl FromJson for Vec<$entry> {
            fn list<'de, A: SeqAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
                collect(items)
            }
        })+
    };
}
lists!(String u64 bool);

impl FromJson for PerLayer {
    fn count(value: u64) -> Option<Self> {
        Some(Self::All(value))
    }
    fn list<'de, A: SeqAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        Ok(collect(items)?.map(Self::Each))
    }
}

impl FromJson for Blocks {
    fn list<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut blocks = Vec::new();
        while let Some(block) = items.next_element::<Entry<Box<Block>>>()? {
            if blocks.len() < MAX_LIST {
                blocks.push(block);
            }
        }
        Ok(Some(Self(blocks)))
    }
}

impl FromJson for LayerSizes {
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut layers = Vec::new();
        while let Some((index, sizes)) = items.next_entry::<String, Entry<Named>>()? {
            let sizes = sizes.value().map(|named| named.0.clone());
            if layers.len() < MAX_LIST {
                // An entry that is no object differs in something unknown.
                let unknown = || Vec::from([(String::new(), None)]);
                layers.push((clipped(&index).into(), sizes.unwrap_or_else(unknown)));
            }
        }
        Ok(Some(Self(layers)))
    }
}

/// The sizes of one layer.
struct Named(NamedSizes);

impl FromJson for Named {
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut sizes = Vec::new();
        while let Some((name, size)) = items.next_entry::<String, Entry<u64>>()? {
            if sizes.len() < MAX_UNKNOWN {
                sizes.push((clipped(&name).into(), size.value().copied()));
            }
        }
        Ok(Some(Self(sizes)))
    }
}

impl FromJson for Length {
    fn count(_: u64) -> Option<Self> {
        Some(Self(1))
    }
    fn list<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut entries = 0;
        while items.next_element::<IgnoredAny>()?.is_some() {
            entries += 1;
        }
        Ok(Some(Self(entries)))
    }
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut entries = 0;
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
            entries += 1;
        }
        Ok(Some(Self(entries)))
    }
}

impl FromJson for Present {
    fn list<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some(Self))
    }
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        while items.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Some(Self))
    }
    fn flag(_: bool) -> Option<Self> {
        Some(Self)
    }
    fn count(_: u64) -> Option<Self> {
        Some(Self)
    }
    fn text(_: &str) -> Option<Self> {
        Some(Self)
    }
}

/// Structs that are read field by field.
trait Fields {}
macro_rules! read_by_field {
    ($($name:ty)+) => { $(impl Fields for $name {})+ };
}
read_by_field!(ModuleOptions TensorScheme TorchaoScheme TorchaoConfig Thinker LinearAttention CompressRates AttentionOptions ExpertOptions OtherHeads SparseAttention Block BlockPart TowerConfig);

impl<T: Fields + for<'a> Deserialize<'a>> FromJson for Box<T> {
    fn object<'de, A: MapAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(items)).map(|fields| Some(Self::new(fields)))
    }
}

/// A nested configuration cannot be nested again: a file of 100,000 levels must not overflow the stack.
impl FromJson for Box<HfConfig> {
    fn object<'de, A: MapAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        config(items, true).map(|fields| Some(Self::new(fields)))
    }
}

impl<'de> Deserialize<'de> for HfConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(WholeFile)
    }
}

/// Visitor for the object of a whole file.
struct WholeFile;

impl<'de> Visitor<'de> for WholeFile {
    type Value = HfConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, items: A) -> Result<HfConfig, A::Error> {
        config(items, false)
    }
}

/// Reads the fields of an object, and its other keys that look like geometry.
fn config<'de, A: MapAccess<'de>>(items: A, nested: bool) -> Result<HfConfig, A::Error> {
    let (mut unknown, mut others) = (Vec::new(), Vec::new());
    // The derived function visits a map with the names of all fields.
    let object = Object { items, nested, fields: &[], unknown: &mut unknown, others: &mut others };
    let mut config = HfConfig::deserialize(object)?;
    config.unknown = unknown;
    config.others = others;
    Ok(config)
}

/// An object whose unknown keys are inspected as well. Within a nested one, a further nested configuration is skipped.
struct Object<'u, A> {
    items: A,
    nested: bool,
    fields: &'static [&'static str],
    unknown: &'u mut Vec<UnknownKey>,
    others: &'u mut Vec<UnknownKey>,
}

impl<'de, A: MapAccess<'de>> Deserializer<'de> for Object<'_, A> {
    type Error = A::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, A::Error> {
        visitor.visit_map(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.fields = fields;
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

impl<'de, A: MapAccess<'de>> Object<'_, A> {
    /// Keeps an unknown key that looks like geometry, or an object with such a key, and apart from them any other.
    fn keep(&mut self, key: &str) -> Result<(), A::Error> {
        let is_other = OTHER_CONFIGS.contains(&key);
        let is_named = !is_other && looks_like_geometry(key);
        if is_other || self.unknown.len() >= MAX_UNKNOWN {
            self.set_aside(key, Stated::default());
            return self.items.next_value::<IgnoredAny>().map(|_| ());
        }
        let stated = self.items.next_value::<Entry<Stated>>()?.states();
        if is_named || !stated.inner.is_empty() {
            self.unknown.push(UnknownKey { name: clipped(key).into(), stated });
        } else {
            self.set_aside(key, stated);
        }
        Ok(())
    }

    fn set_aside(&mut self, key: &str, stated: Stated) {
        if self.others.len() < MAX_UNKNOWN {
            self.others.push(UnknownKey { name: clipped(key).into(), stated });
        }
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Object<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.items.next_key::<String>()? {
            let skipped = self.nested && NESTED.contains(&&*key);
            if self.fields.contains(&&*key) && !skipped {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            if skipped {
                self.items.next_value::<IgnoredAny>()?;
            } else {
                self.keep(&key)?;
            }
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.items.next_value_seed(seed)
    }
}

impl FromJson for Stated {
    fn flag(value: bool) -> Option<Self> {
        Some(Self::flag(value))
    }
    fn count(value: u64) -> Option<Self> {
        Some(Self::count(value))
    }
    fn text(value: &str) -> Option<Self> {
        Some(Self::word(value))
    }
    fn list<'de, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut found = Self::list(core::iter::empty());
        while let Some(entry) = items.next_element::<Entry<Scalar>>()? {
            found = Self::list([found, entry.states()].into_iter());
        }
        Ok(Some(found))
    }
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let (mut on, mut inner) = (false, Vec::new());
        while let Some(key) = items.next_key::<String>()? {
            let stated = items.next_value::<Entry<Scalar>>()?.states();
            on |= stated.on;
            if stated.on && meaning(&key, stated.kind).is_some() && inner.len() < MAX_UNKNOWN {
                inner.push(clipped(&key).into());
            }
        }
        Ok(Some(Self::object(on, inner)))
    }
}

/// An element of a list or object; its content is not inspected.
struct Scalar(Stated);

impl FromJson for Scalar {
    fn flag(value: bool) -> Option<Self> {
        Some(Self(Stated::flag(value)))
    }
    fn count(value: u64) -> Option<Self> {
        Some(Self(Stated::count(value)))
    }
    fn text(value: &str) -> Option<Self> {
        Some(Self(Stated::word(value)))
    }
}

impl States for Scalar {
    fn states(&self) -> Stated {
        self.0.clone()
    }
}

/// Collects the elements of a list; `None` if one has another type or there are too many.
fn collect<'de, T: FromJson, A: SeqAccess<'de>>(mut items: A) -> Result<Option<Vec<T>>, A::Error> {
    let (mut list, mut whole) = (Vec::new(), true);
    while let Some(entry) = items.next_element::<Entry<T>>()? {
        match entry {
            Entry::Value(value) if list.len() < MAX_LIST => list.push(value),
            Entry::Value(_) | Entry::Absent | Entry::Null | Entry::Wrong(_) => whole = false,
        }
    }
    Ok(whole.then_some(list))
}

/// Visitor that classifies any JSON value as [`Entry`].
struct AnyJson<T>(PhantomData<T>);

fn sorted<T>(value: Option<T>, found: Found) -> Entry<T> {
    value.map_or(Entry::Wrong(found), Entry::Value)
}

/// The longest prefix of whole characters that fits in [`MAX_TEXT`].
fn clipped(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

impl<'de, T: FromJson> Visitor<'de> for AnyJson<T> {
    type Value = Entry<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Entry::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(sorted(T::flag(value), Found::Flag(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(sorted(T::count(value), Found::Number(value as f64)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(sorted(u64::try_from(value).ok().and_then(T::count), Found::Number(value as f64)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(sorted(whole(value).and_then(T::count), Found::Number(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        let value = clipped(value);
        Ok(sorted(T::text(value), Found::Text(value.into())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Ok(sorted(T::list(items)?, Found::List))
    }

    fn visit_map<A: MapAccess<'de>>(self, items: A) -> Result<Self::Value, A::Error> {
        Ok(sorted(T::object(items)?, Found::Object))
    }
}

/// Converts an integral float such as 4096.0, which some writers print, to an integer.
fn whole(value: f64) -> Option<u64> {
    let exact = (0.0..9_007_199_254_740_992.0).contains(&value)
        && libm::trunc(value).total_cmp(&value).is_eq();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, and between 0 and 2^53"
    )]
    exact.then_some(value as u64)
}

impl<'de, T: FromJson> Deserialize<'de> for Entry<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyJson(PhantomData))
    }
}
