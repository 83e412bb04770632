//! Roles that a format is chosen for.

use calc_core::precision::{Precision, PrecisionChoice};
use calc_core::quant_format::{ComputeClass, QuantFormat};
use report::output::address::key;

/// A role of a format in a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Weights,
    Activations,
    KvCache,
    Embedding,
    Experts,
}

impl Role {
    /// All roles, in the order of the form.
    pub const ALL: [Self; 5] =
        [Self::Weights, Self::Experts, Self::Activations, Self::KvCache, Self::Embedding];

    /// Id in the document, and key in the address.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Weights => key::WEIGHTS,
            Self::Activations => key::ACTIVATIONS,
            Self::KvCache => key::KV_CACHE,
            Self::Embedding => key::EMBEDDING,
            Self::Experts => key::EXPERTS,
        }
    }

    /// Label in the form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weights => "Weights",
            Self::Activations => "Activations",
            Self::KvCache => "KV cache",
            Self::Embedding => "Embedding, LM head",
            Self::Experts => "Experts",
        }
    }

    /// Whether a format can have this role: activations need a format that can be computed in.
    pub const fn takes(self, format: &QuantFormat) -> bool {
        !matches!(self, Self::Activations) || format.class.is_some()
    }

    /// Whether weights have this role.
    pub const fn is_of_weights(self) -> bool {
        matches!(self, Self::Weights | Self::Embedding | Self::Experts)
    }

    /// The role's format on a device.
    pub const fn of(self, precision: &Precision) -> &'static QuantFormat {
        match self {
            Self::Weights => precision.weights,
            Self::Activations => precision.activations,
            Self::KvCache => precision.kv_cache,
            Self::Embedding => precision.embedding,
            Self::Experts => precision.experts,
        }
    }
}

/// The user's choice for each role; `None`: as stored, or by the default rule.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Formats([Option<&'static QuantFormat>; 5]);

impl Formats {
    /// The choice for a role.
    pub const fn get(&self, role: Role) -> Option<&'static QuantFormat> {
        self.0[role as usize]
    }

    /// Sets the choice for a role.
    pub const fn set(&mut self, role: Role, format: Option<&'static QuantFormat>) {
        self.0[role as usize] = format;
    }

    /// Whether weights are in other formats than the stored ones; floats of one size count as equal.
    pub fn changes_weights(&self, stored: &PrecisionChoice) -> bool {
        let bits = |format: &QuantFormat| format.bits_per_element().to_bits();
        let is_float = |format: &QuantFormat| format.class.is_some_and(ComputeClass::is_carrier);
        let differs = |role, is: Option<&'static QuantFormat>| {
            let Some(chosen) = self.get(role) else { return false };
            is.is_none_or(|is| {
                let is_same_float = is_float(chosen) && is_float(is) && bits(chosen) == bits(is);
                chosen != is && !is_same_float
            })
        };
        differs(Role::Weights, Some(stored.weights))
            || differs(Role::Experts, stored.experts.or(Some(stored.weights)))
            || differs(Role::Embedding, stored.embedding)
    }

    /// Applies the choices to the stored formats. As on the command line, another weight format resets the other roles to the
    /// rule.
    pub fn over(&self, stored: &PrecisionChoice) -> PrecisionChoice {
        let chosen = self.get(Role::Weights);
        let base = chosen.map_or(*stored, |format| PrecisionChoice::of_weights(format, stored));
        self.named(base.weights).over(&base)
    }

    /// The choices alone, with these weights where none are chosen.
    pub fn named(&self, weights: &'static QuantFormat) -> PrecisionChoice {
        PrecisionChoice {
            activations: self.get(Role::Activations),
            kv_cache: self.get(Role::KvCache),
            embedding: self.get(Role::Embedding),
            experts: self.get(Role::Experts),
            ..PrecisionChoice::weights(self.get(Role::Weights).unwrap_or(weights))
        }
    }
}
