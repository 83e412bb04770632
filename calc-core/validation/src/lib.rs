//! Expected times against published measurements: reading their files, predicting each row, scoring, and the fit of the
//! constants. The files are in `data`; their columns are described there.

pub mod counts;
pub mod fit;
pub mod folds;
pub mod own;
pub mod pairs;
pub mod predict;
pub mod read;
pub mod row;
pub mod score;
pub mod tiers;
pub mod waves;

/// Published measurements of whole model steps.
pub const STEPS: &str = include_str!("../data/steps.csv");
/// Published measurements of single operators.
pub const OPERATORS: &str = include_str!("../data/operators.csv");

/// The published measurements.
///
/// # Errors
/// A file that is not readable as a table.
pub fn published() -> Result<read::File, String> {
    let mut file = read::read(STEPS)?;
    let operators = read::read(OPERATORS)?;
    file.rows.extend(operators.rows);
    file.refused.extend(operators.refused);
    file.ceilings += operators.ceilings;
    Ok(file)
}

/// The rows of a file, lowered to kernels.
///
/// # Errors
/// A row that the model refuses.
pub fn prepared(file: &read::File) -> Result<Vec<predict::Prepared<'_>>, String> {
    let prepare = |row| predict::Prepared::new(row).map_err(|error| format!("{}: {error}", row.id));
    file.rows.iter().map(prepare).collect()
}
