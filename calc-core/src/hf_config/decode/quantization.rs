//! Objects of a `quantization_config` that are not read field by field.

use alloc::string::String;
use alloc::vec::Vec;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, IgnoredAny, MapAccess};

use super::super::quantization_fields::{
    KvCacheScheme, QuantGroup, QuantGroups, QuantizationConfig, QuantizedLayer, QuantizedLayers,
    TensorScheme,
};
use super::{FromJson, MAX_LIST, MAX_UNKNOWN};

impl FromJson for KvCacheScheme {
    fn text(value: &str) -> Option<Self> {
        Some(Self::Named(value.into()))
    }
    fn object<'de, A: MapAccess<'de>>(items: A) -> Result<Option<Self>, A::Error> {
        TensorScheme::deserialize(MapAccessDeserializer::new(items))
            .map(|scheme| Some(Self::Scheme(scheme)))
    }
}

impl FromJson for QuantizedLayers {
    fn object<'de, A: MapAccess<'de>>(mut items: A) -> Result<Option<Self>, A::Error> {
        let mut found: Vec<QuantizedLayer> = Vec::new();
        while let Some((module, layer)) = items.next_entry::<String, QuantizationConfig>()? {
            let Some(algorithm) = layer.quant_algo.value().cloned() else { continue };
            let one = QuantizedLayer { algorithm, of_experts: module.contains(".experts") };
            if found.len() < MAX_UNKNOWN && !found.contains(&one) {
                found.push(one);
            }
        }
        Ok(Some(Self(found)))
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
