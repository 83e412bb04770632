//! The scheme in the cards of the Plan view, chosen from the ranking and the picked scheme.

use calc_core::quality::QualityLoss;
use calc_core::recommend::{Dropped, Outcome, Recommendation, rank};
use calc_core::scheme::Scheme;
use report::number_text as text;
use report::output::lesson;
use report::output::verdict::explain::Explanation;
use report::output::words::advice;

use crate::state::advice::question::with_model;
use crate::state::inputs::Inputs;

/// The scheme in the cards: the one that was picked, else the recommended one.
pub(super) struct CardOutcome<'a> {
    pub(super) scheme: &'static Scheme,
    pub(super) outcome: &'a Outcome,
    pub(super) quality: &'a QualityLoss,
    /// Reason why it is out of the question.
    pub(super) refused: Option<String>,
    pub(super) is_first: bool,
    /// Sentence on a picked scheme that the device cannot run, where this one stands for it.
    pub(super) instead: Option<String>,
}

impl<'a> CardOutcome<'a> {
    /// Like [`Self::of`], but a scheme that is out of the question gives way to the recommended one, if there is one.
    pub(super) fn runnable(
        answer: &'a Recommendation,
        picked: Option<&'static Scheme>,
    ) -> Option<Self> {
        let seen = Self::of(answer, picked)?;
        let Some(reason) = &seen.refused else { return Some(seen) };
        let instead = left_out(seen.scheme, reason);
        let recommended = Self::of(answer, None);
        recommended.map(|first| Self { instead: Some(instead), ..first }).or(Some(seen))
    }

    pub(super) fn of(answer: &'a Recommendation, picked: Option<&'static Scheme>) -> Option<Self> {
        let is_picked = |scheme: &Scheme| picked.is_some_and(|picked| picked.key == scheme.key);
        let ranked = answer.ranked.iter().enumerate().find(|(_, row)| is_picked(row.scheme));
        let dropped = answer.dropped.iter().find(|row| is_picked(row.scheme));
        let refused = dropped.and_then(|row| {
            let outcome = row.outcome.as_ref()?;
            let refused = Some(advice::dropped(&row.reason, &row.quality));
            Some(Self {
                scheme: row.scheme,
                outcome,
                quality: &row.quality,
                refused,
                is_first: false,
                instead: None,
            })
        });
        refused.or_else(|| {
            let (place, row) = ranked.or_else(|| answer.ranked.iter().enumerate().next())?;
            let instead = dropped.map(|dropped| {
                let reason = advice::dropped(&dropped.reason, &dropped.quality);
                left_out(dropped.scheme, &reason)
            });
            Some(Self {
                instead,
                scheme: row.scheme,
                outcome: &row.outcome,
                quality: &row.quality,
                refused: None,
                is_first: place == 0,
            })
        })
    }
}

/// Sentence on a picked scheme for which another one stands.
fn left_out(scheme: &Scheme, reason: &str) -> String {
    format!("{} is left out: {reason}.", advice::scheme_name(scheme))
}

/// The row of a picked scheme that is out of the question.
pub(super) fn dropped<'a>(found: &'a Recommendation, picked: &Scheme) -> Option<&'a Dropped> {
    found.dropped.iter().find(|row| row.scheme.key == picked.key)
}

/// Why the picked scheme is out of the question, with its numbers; `None` if it is not.
pub fn refusal(inputs: &Inputs) -> Option<Explanation> {
    let found = with_model(inputs, |request| rank(request).ok())??;
    dropped(&found, inputs.model.scheme?).map(explained_drop)
}

fn explained_drop(row: &Dropped) -> Explanation {
    let loss = advice::quality(&row.quality);
    let values = match &row.outcome {
        Some(outcome) => {
            let usable = text::bytes(outcome.usable.bytes);
            format!("Needs {} of {usable}; {loss}", text::bytes(outcome.memory))
        }
        None => loss,
    };
    Explanation {
        title: format!("{} is refused", advice::scheme_name(row.scheme)),
        formula: advice::capital(&advice::dropped(&row.reason, &row.quality)),
        values,
        provenance: row.quality.provenance,
        source: row.quality.source.into(),
        lesson: lesson::SCHEMES,
    }
}
