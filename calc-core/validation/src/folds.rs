//! Folds of the cross-validation.

use crate::predict::Prepared;

/// Unit of cross-validation: the rows that a fold holds out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaveOut {
    /// The rows of one board, model and engine; everything else is known.
    Group,
    Device,
    /// A model, or the shapes of an operator.
    Model,
    /// All rows of one engine.
    Engine,
}

impl LeaveOut {
    /// All units in the order of the tables.
    pub const ALL: [Self; 4] = [Self::Group, Self::Device, Self::Model, Self::Engine];

    /// Title of the unit's tables.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Group => "Left out: a board with a model and an engine at a time",
            Self::Device => "Left out: a device at a time",
            Self::Model => "Left out: a model at a time, or a shape of products",
            Self::Engine => "Left out: an engine at a time",
        }
    }

    fn key(self, row: &Prepared<'_>) -> String {
        let row = row.row;
        match self {
            Self::Group => row.group.clone(),
            Self::Device => row.device.key.to_string(),
            Self::Model => row.model(),
            Self::Engine => row.engine_text.clone(),
        }
    }

    /// The folds: indices of the rows that each holds out.
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
