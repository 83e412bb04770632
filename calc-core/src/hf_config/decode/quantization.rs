//! Objects of a `quantization_config` that are not read field by field.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeSeed, IgnoredAny, IntoDeserializer, MapAccess};

use super::super::entry::Entry;
use super::super::quantization_fields::{
    KvCacheScheme, ModuleList, ModuleOptions, QuantGroup, QuantGroups, QuantizationConfig,
    TensorScheme,
};
use super::{FromJson, MAX_LIST, clipped};

impl FromJson for KvCacheScheme {
    fn text(value: &str) -> Option<Self> {
        Some(Self::Named(value.into()))
    }
    fn object<'de, A: MapAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        TensorScheme::deserialize(MapAccessDeserializer::new(items))
            .map(|scheme| Some(Self::Scheme(scheme)))
    }
}

impl FromJson for ModuleList {
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut found = Self::default();
        while let Some(module) = items.next_key::<String>()? {
            found.add(&module, items.next_value()?);
        }
        Ok(Some(found))
    }
}

/// Number of the last entries among which an equal one is looked for: the experts of a layer follow each other.
const LAST: usize = 16;

impl ModuleList {
    fn add(&mut self, module: &str, options: Entry<Box<ModuleOptions>>) {
        let one = (without_expert(clipped(module)), options);
        if self.0.len() < MAX_LIST && !self.0.iter().rev().take(LAST).any(|other| *other == one) {
            self.0.push(one);
        }
    }
}

/// The name of a module with `*` for the number of its expert.
fn without_expert(module: &str) -> String {
    let Some((before, after)) = module.split_once(".experts.") else { return module.into() };
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    if end == 0 { module.into() } else { format!("{before}.experts.*{}", &after[end..]) }
}

/// The settings of a whole file, with the modules beside them.
impl FromJson for Box<QuantizationConfig> {
    fn object<'de, A: MapAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        let mut modules = ModuleList::default();
        let apart = ModulesApart { items, modules: &mut modules };
        let mut config = QuantizationConfig::deserialize(MapAccessDeserializer::new(apart))?;
        config.modules = modules;
        Ok(Some(Self::new(config)))
    }
}

/// An object whose keys with a period are modules.
struct ModulesApart<'m, A> {
    items: A,
    modules: &'m mut ModuleList,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ModulesApart<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.items.next_key::<String>()? {
            if !key.contains('.') {
                return seed.deserialize(key.into_deserializer()).map(Some);
            }
            let options = self.items.next_value()?;
            self.modules.add(&key, options);
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.items.next_value_seed(seed)
    }
}

impl FromJson for QuantGroups {
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut groups = Vec::new();
        while let Some((_, group)) = items.next_entry::<IgnoredAny, QuantGroup>()? {
            if groups.len() < MAX_LIST {
                groups.push(group);
            }
        }
        Ok(Some(Self(groups)))
    }
}
