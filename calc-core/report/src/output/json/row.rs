//! A row of a catalog as a JSON object: every value with its provenance.

use calc_core::provenance::{Fact, Provenance};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{ProvenanceJson, Sourced};

/// A JSON object whose values share a source.
pub(super) struct CatalogRow<'a> {
    values: Map<String, Value>,
    source: &'a str,
}

impl<'a> CatalogRow<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self { values: Map::new(), source }
    }

    /// Adds a name or description, which has no provenance of its own.
    pub(super) fn plain(mut self, key: &str, value: impl Serialize) -> Self {
        self.values.insert(key.into(), json!(value));
        self
    }

    /// Adds a value with its provenance.
    pub(super) fn sourced(mut self, key: &str, value: impl Serialize, kind: Provenance) -> Self {
        self.values.insert(
            key.into(),
            json!(Sourced::new(json!(value), ProvenanceJson::in_row(kind, self.source))),
        );
        self
    }

    /// Adds a fact; unknown ones become null.
    pub(super) fn fact<T: Copy>(
        mut self,
        key: &str,
        fact: Option<Fact<T>>,
        in_unit: impl Fn(T) -> f64,
    ) -> Self {
        let value = fact.map(|fact| (json!(in_unit(fact.value)), fact.provenance));
        self.values.insert(key.into(), json!(in_row(value, self.source)));
        self
    }

    pub(super) fn done(self) -> Value {
        Value::Object(self.values)
    }
}

/// A value with the provenance and source of its row; `None` is unknown.
pub(super) fn in_row<T>(value: Option<(T, Provenance)>, source: &str) -> Sourced<T> {
    value.map_or(Sourced::UNKNOWN, |(value, kind)| {
        Sourced::new(value, ProvenanceJson::in_row(kind, source))
    })
}
