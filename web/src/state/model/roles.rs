//! The roles that a format is chosen for.

use calc_core::precision::{Precision, PrecisionChoice};
use calc_core::quant_format::QuantFormat;

/// What is stored or computed in a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Weights,
    Activations,
    KvCache,
    Embedding,
    Experts,
}

impl Role {
    /// In the order of the form.
    pub const ALL: [Self; 5] =
        [Self::Weights, Self::Experts, Self::Activations, Self::KvCache, Self::Embedding];

    /// Its name in the document and in the address.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Activations => "acts",
            Self::KvCache => "kv",
            Self::Embedding => "emb",
            Self::Experts => "experts",
        }
    }

    /// Its label.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Weights => "Weights",
            Self::Activations => "Activations",
            Self::KvCache => "KV cache",
            Self::Embedding => "Embedding, LM head",
            Self::Experts => "Experts",
        }
    }

    /// Whether a format can have this role: activations need one that is computed in.
    pub const fn takes(self, format: &QuantFormat) -> bool {
        !matches!(self, Self::Activations) || format.class.is_some()
    }

    /// Its format on a device.
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

/// The formats that the reader chose; `None` is as stored, or by the rule.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Formats([Option<&'static QuantFormat>; 5]);

impl Formats {
    /// The choice for a role.
    pub const fn get(&self, role: Role) -> Option<&'static QuantFormat> {
        self.0[role as usize]
    }

    /// Chooses for a role.
    pub const fn set(&mut self, role: Role, format: Option<&'static QuantFormat>) {
        self.0[role as usize] = format;
    }

    /// What was chosen over what is stored. Weights in another format leave all else to the rule, as on the command line.
    pub fn over(&self, stored: &PrecisionChoice) -> PrecisionChoice {
        let base = self.get(Role::Weights).map_or(*stored, PrecisionChoice::weights);
        PrecisionChoice {
            weights: base.weights,
            activations: self.get(Role::Activations).or(base.activations),
            kv_cache: self.get(Role::KvCache).or(base.kv_cache),
            embedding: self.get(Role::Embedding).or(base.embedding),
            experts: self.get(Role::Experts).or(base.experts),
        }
    }
}
