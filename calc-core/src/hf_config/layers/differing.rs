//! Sizes of single layers that differ from those of the model (`per_layer_config`), where all layers of one kind have the same.

use super::super::attention::unsupported;
use super::super::part_fields::NamedSizes;
use super::super::reader::{Reader, value};
use super::super::refusal::{ConfigError, Unsupported};
use super::Kind;
use crate::error::in_range;
use crate::model_arch::MAX_WIDTH;

/// The sizes of the layers of a kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct OwnSizes<'a>(Option<&'a NamedSizes>);

impl OwnSizes<'_> {
    /// True if the file has the list.
    pub(super) const fn are_listed(self) -> bool {
        self.0.is_some()
    }

    /// The size that these layers have: their own, or that of the model where the list leaves it out. `other` reads a file
    /// without the list.
    pub(super) fn size<'r>(
        self,
        reader: &mut Reader<'r>,
        (name, same): (&'static str, u64),
        other: impl FnOnce(&mut Reader<'r>) -> Result<u64, ConfigError>,
    ) -> Result<u64, ConfigError> {
        let Some(sizes) = self.0 else { return other(reader) };
        let own = sizes.iter().find(|(other, _)| other == name).and_then(|(_, size)| *size);
        in_range(name, own.unwrap_or(same), 0, MAX_WIDTH).map_err(ConfigError::Value)
    }
}

/// Reads the sizes of the layers of a kind. A list with other layers, with names that the family does not know, or with sizes that
/// differ within the kind is refused.
pub(super) fn own_sizes<'a>(
    reader: &Reader<'a>,
    (kinds, kind): (&[Kind], Kind),
    known: &[&str],
) -> Result<OwnSizes<'a>, ConfigError> {
    let Some(listed) = value(&named!(reader.text, per_layer_config))? else {
        return Ok(OwnSizes(None));
    };
    let Some((_, first)) = listed.0.first() else { return Ok(OwnSizes(None)) };
    let is_of_kind = |index: &str| {
        let index = index.parse::<usize>().ok();
        index.and_then(|index| kinds.get(index)) == Some(&kind)
    };
    let names = first.iter().all(|(name, size)| known.contains(&&**name) && size.is_some());
    let same = listed.0.iter().all(|(index, sizes)| is_of_kind(index) && sizes == first);
    let layers = kinds.iter().filter(|other| **other == kind).count();
    if names && same && listed.0.len() == layers {
        Ok(OwnSizes(Some(first)))
    } else {
        Err(unsupported(reader, Unsupported::IrregularLayers))
    }
}
