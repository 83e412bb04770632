//! Schemes of the columns: whether they differ although the reader did not ask for that, and one that all can hold.

use calc_core::scheme::Scheme;
use report::output::words::advice;

use super::super::inputs::Inputs;
use super::super::{pins, url};
use super::{CompareColumn, ScenarioAnswer};
use crate::state::scenario::BEST;

/// A change of the scheme of all columns at once.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemeChange {
    pub label: String,
    /// `None`: the recommended one of each.
    pub scheme: Option<&'static Scheme>,
}

/// True if the columns leave the scheme to the page, or pick the same one, and have different ones.
pub(super) fn differ(answered: &[&ScenarioAnswer]) -> bool {
    let taken: Vec<&str> = answered
        .iter()
        .filter_map(|answered| answered.in_cards().map(|found| found.scheme.key))
        .collect();
    picks(answered).windows(2).all(|pair| pair[0] == pair[1])
        && taken.windows(2).any(|pair| pair[0] != pair[1])
}

/// Keys of the schemes that the reader picked.
fn picks(answered: &[&ScenarioAnswer]) -> Vec<Option<&'static str>> {
    answered.iter().map(|answered| answered.inputs.model.scheme.map(|scheme| scheme.key)).collect()
}

/// The change that a click makes: one scheme in all columns, or back to the recommended one of each.
pub(super) fn hold(columns: &[CompareColumn]) -> Option<SchemeChange> {
    let answered: Vec<&ScenarioAnswer> =
        columns.iter().filter_map(|column| column.answered.as_deref().ok()).collect();
    if answered.len() < 2 {
        return None;
    }
    if let [first, others @ ..] = picks(&answered).as_slice()
        && first.is_some()
        && others.iter().all(|other| other == first)
    {
        let label = format!("{} for each", advice::capital(BEST));
        return Some(SchemeChange { label, scheme: None });
    }
    if !differ(&answered) {
        return None;
    }
    let scheme = shared(&answered)?;
    let label = format!("Same scheme in all: {}", advice::scheme_name(scheme));
    Some(SchemeChange { label, scheme: Some(scheme) })
}

/// A scheme that no column refuses: one of the columns' own if there is one.
fn shared(answered: &[&ScenarioAnswer]) -> Option<&'static Scheme> {
    let runs = |answered: &ScenarioAnswer, key: &str| {
        answered.shown.answer.rows.iter().any(|row| row.key == key && row.refused.is_none())
    };
    let own = answered.iter().filter_map(|answered| Some(answered.in_cards()?.scheme.key));
    let others = answered.first()?.shown.answer.rows.iter().map(|row| row.key);
    let key = own.chain(others).find(|key| answered.iter().all(|answered| runs(answered, key)))?;
    calc_core::catalog::schemes::scheme(key)
}

/// Sets the scheme of every pinned scenario that can be read; `None`: the recommended one of each.
pub fn set(inputs: &mut Inputs, scheme: Option<&'static Scheme>) {
    for pin in &mut inputs.pins.list {
        if let Ok(mut found) = url::scenario(pin, &inputs.pins.fragment_parts) {
            found.model.scheme = scheme;
            *pin = pins::text(&found);
        }
    }
    super::pinning::show(inputs);
}
