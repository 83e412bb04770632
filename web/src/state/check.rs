//! "Is this possible?": the user's claim as typed, and the judgment as texts. Each view has its own claim.

use calc_core::analysis::AnalyzeRequest;
use calc_core::check::{CheckRequest, Claim, Work, check};
use calc_core::estimate::EstimateRequest;
use calc_core::units::{Seconds, TokensPerSec};
use report::input::number_input;
use report::output::words::advice::scheme_name;
use report::output::words::check::{Rates, explanations, rates, roofs_head, sentence};
use report::output::words::core_error;

use super::claim::{AMOUNT, CLAIM, ClaimUnit, TIME, UNIT};
use super::inputs::{Inputs, View};
use super::model::question::ModelQuestion;
use super::plan;

/// The chosen unit of a claim about a model.
pub fn chosen_unit(inputs: &Inputs) -> ClaimUnit {
    let key = typed(inputs, UNIT);
    ClaimUnit::ALL.into_iter().find(|unit| unit.key() == key).unwrap_or(ClaimUnit::Total)
}

/// Key of the number that a view's claim uses.
pub const fn number_of(view: View) -> &'static str {
    match view {
        View::Kernel | View::Trust | View::Measure => TIME,
        View::Plan | View::Compare | View::Explore | View::Model => AMOUNT,
    }
}

/// The text that was typed under a key.
pub fn typed(inputs: &Inputs, key: &str) -> String {
    let claims = CLAIM.iter().zip(&inputs.model.claim);
    claims
        .into_iter()
        .find(|(other, _)| **other == key)
        .map_or_else(String::new, |(_, typed)| typed.clone())
}

/// The claimed number of the current view; `None` for an empty field.
///
/// # Errors
/// Returns the allowed values as a sentence.
fn number(inputs: &Inputs) -> Result<Option<f64>, String> {
    let typed = typed(inputs, number_of(inputs.view));
    if typed.trim().is_empty() {
        return Ok(None);
    }
    let value = number_input::real(&typed).filter(|value| (1e-9..=1e12).contains(value));
    value.map(Some).ok_or_else(|| "It must be a number above 0, or empty.".to_owned())
}

/// Error of the current view's claim field, as a sentence; `None` for a valid or empty field.
pub fn fault(inputs: &Inputs) -> Option<String> {
    number(inputs).err()
}

/// A judgment as texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgment {
    /// The verdict and the shares of the ceilings.
    pub sentence: String,
    /// The scheme of the cards, in which a claim is judged in the Plan view; empty elsewhere.
    pub about: String,
    /// For DRAM and for arithmetic: the implied rate, that of the roof and the sustained one.
    pub rates: [Rates; 2],
    /// Name of the second of them, which a device of measured roofs has of its own.
    pub roofs_head: &'static str,
    /// Possible explanations of the claim, one sentence each.
    pub explanations: Vec<String>,
}

/// Result of judging a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judged {
    Nothing,
    Answer(Box<Judgment>),
    /// No judgment, with the reason.
    Refused(String),
}

/// Judges the claim of the current view; `None` while an input is invalid.
pub fn judge(inputs: &Inputs) -> Option<Judged> {
    let Some(number) = number(inputs).ok()? else { return Some(Judged::Nothing) };
    match inputs.view {
        View::Kernel | View::Trust | View::Measure => {
            let work = Work::Operator(AnalyzeRequest {
                device: &inputs.device,
                mode: inputs.power_mode(),
                operator: inputs.operator().ok()?,
                precision: inputs.precision(inputs.format()),
                engine: None,
                calibration: inputs.place().calibration(),
            });
            Some(answer(&CheckRequest { work, claim: Claim::Time(Seconds::new(number * 1e-6)) }))
        }
        View::Plan | View::Compare | View::Explore | View::Model => {
            let unit = chosen_unit(inputs);
            let (shown, scheme) = plan::shown_inputs(inputs);
            let question = ModelQuestion::read(&shown.model, shown.place()).ok()?;
            let mut judged = of_model(&question.request(question.workload), unit, number);
            if let (Judged::Answer(judgment), Some(scheme)) = (&mut judged, scheme) {
                let name = scheme_name(scheme);
                judgment.about = format!("This is for {name}, the scheme of the cards above.");
            }
            Some(judged)
        }
    }
}

fn of_model(request: &EstimateRequest<'_>, unit: ClaimUnit, number: f64) -> Judged {
    let rate = TokensPerSec::new(number);
    let (work, claim) = match unit {
        ClaimUnit::Total => (Work::Token(*request), Claim::Rate { rate, per_user: false }),
        ClaimUnit::User => (Work::Token(*request), Claim::Rate { rate, per_user: true }),
        ClaimUnit::Seconds => (Work::Answer(*request), Claim::Time(Seconds::new(number))),
    };
    answer(&CheckRequest { work, claim })
}

fn answer(request: &CheckRequest<'_>) -> Judged {
    match check(request) {
        Ok(answer) => Judged::Answer(Box::new(Judgment {
            sentence: sentence(&answer),
            about: String::new(),
            rates: rates(&answer),
            roofs_head: roofs_head(&answer),
            explanations: explanations(&answer),
        })),
        Err(error) => Judged::Refused(format!("{}.", core_error(&error))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::fields::Field;
    use crate::state::model::url;

    fn claimed(view: View, pairs: &[(&'static str, &str)]) -> Inputs {
        let mut inputs = Inputs { view, ..Inputs::default() };
        for (key, value) in pairs {
            url::put(&mut inputs.model, key, value);
        }
        inputs
    }

    fn sentence_of(inputs: &Inputs) -> String {
        match judge(inputs) {
            Some(Judged::Answer(judgment)) => judgment.sentence,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_view_judges_its_own_claim() {
        let kernel = claimed(View::Kernel, &[(TIME, "60"), (AMOUNT, "x")]);
        assert!(sentence_of(&kernel).starts_with("Not possible: 1.45 times"));
        let model = claimed(View::Model, &[(AMOUNT, "1"), (TIME, "x")]);
        let sentence = sentence_of(&model);
        assert!(
            sentence.starts_with("Not possible: does not fit, ")
                && sentence.contains(" By the roofs alone possible: "),
            "{sentence}"
        );
        assert_eq!(judge(&claimed(View::Model, &[(TIME, "60")])), Some(Judged::Nothing));
    }

    #[test]
    fn a_claim_in_plan_is_answered_with_yes_or_no_for_the_scheme_of_the_cards() {
        let asked = |number: &str| {
            let mut inputs = claimed(View::Plan, &[(AMOUNT, number)]);
            let device = calc_core::catalog::device("h100_sxm").expect("catalog key");
            inputs.set_device(std::borrow::Cow::Borrowed(device));
            url::put(&mut inputs.model, "model", "llama-3.1-70b");
            match judge(&inputs) {
                Some(Judged::Answer(judgment)) => *judgment,
                other => panic!("{other:?}"),
            }
        };
        let no = asked("60");
        assert!(no.sentence.starts_with("Not possible: 1.29 times"), "{}", no.sentence);
        assert!(no.about.contains("FP8 weights and activations"), "{}", no.about);
        assert!(asked("20").sentence.starts_with("Possible: "));
    }

    #[test]
    fn the_unit_says_what_the_number_is_about() {
        let with = |unit: ClaimUnit| {
            let mut inputs = claimed(View::Model, &[(AMOUNT, "30"), (UNIT, unit.key())]);
            inputs.model.set_text(Field::Batch, "4".to_owned());
            assert_eq!(chosen_unit(&inputs), unit);
            inputs
        };
        let shares = ClaimUnit::ALL.map(|unit| sentence_of(&with(unit)));
        assert!(shares[0] != shares[1] && shares[1] != shares[2] && shares[0] != shares[2]);
        let mut long = with(ClaimUnit::Seconds);
        long.model.set_text(Field::Generate, "131072".to_owned());
        assert!(matches!(judge(&long), Some(Judged::Answer(_))));
        long.model.set_text(Field::Generate, "131073".to_owned());
        assert!(matches!(judge(&long), Some(Judged::Refused(text)) if text.contains("131072")));
    }

    #[test]
    fn what_is_no_number_is_said_and_keeps_the_last_answer() {
        for text in ["0", "-4", "fast", "1,5", "1e99", "NaN"] {
            for (view, key) in [(View::Kernel, TIME), (View::Model, AMOUNT)] {
                let inputs = claimed(view, &[(key, text)]);
                assert!(fault(&inputs).is_some_and(|fault| fault.contains("above 0")), "{text}");
                assert_eq!(judge(&inputs), None, "{text}");
            }
        }
        let mut unread = claimed(View::Model, &[(AMOUNT, "5")]);
        unread.model.set_text(Field::Batch, "many".to_owned());
        assert_eq!((fault(&unread), judge(&unread)), (None, None));
    }
}
