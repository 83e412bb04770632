//! Which rows are left out together.

use crate::predict::Prepared;

/// What a fold leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOut {
    /// One part of the groups in ten: everything is known but the very rows.
    Group,
    /// A device.
    Device,
    /// A model, or the shapes of an operator.
    Model,
    /// An engine.
    Engine,
}

/// Parts of the groups.
const PARTS: u64 = 10;

impl LeaveOut {
    /// In the order of the tables.
    pub const ALL: [Self; 4] = [Self::Group, Self::Device, Self::Model, Self::Engine];

    /// What the tables say of it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Group => "Left out: a tenth of the groups of board, model and engine",
            Self::Device => "Left out: a device at a time",
            Self::Model => "Left out: a model at a time, or a shape of products",
            Self::Engine => "Left out: an engine at a time",
        }
    }

    fn key(self, row: &Prepared<'_>) -> String {
        let row = row.row;
        match self {
            Self::Group => (hash(&row.group) % PARTS).to_string(),
            Self::Device => row.device.key.to_string(),
            Self::Model => row.model(),
            Self::Engine => row.engine_text.clone(),
        }
    }

    /// The folds: places of the rows that each leaves out.
    pub fn folds(self, rows: &[Prepared<'_>]) -> Vec<Vec<usize>> {
        let mut folds: Vec<(String, Vec<usize>)> = Vec::new();
        for (place, row) in rows.iter().enumerate() {
            let key = self.key(row);
            match folds.iter_mut().find(|(known, _)| *known == key) {
                Some((_, places)) => places.push(place),
                None => folds.push((key, vec![place])),
            }
        }
        folds.into_iter().map(|(_, places)| places).collect()
    }
}

/// A hash that is the same everywhere (FNV-1a), so that a part always holds the same groups.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
