//! Requests that compare scenarios: the fields of `estimate`, once for each scenario.

use calc_core::estimate::Estimate;
use calc_core::recommend::rank;
use calc_core::scheme::Scheme;

use super::{EstimateInputs, Fields, Library, RecommendInputs, RequestError};

/// Fewest and most scenarios; the page compares as many.
pub const SCENARIOS: (usize, usize) = (2, 4);

/// A scenario with its answer.
#[derive(Debug)]
pub struct Scenario {
    pub inputs: EstimateInputs,
    pub answer: Estimate,
    /// The scheme that is this scenario; `None` if no scheme of the catalog is.
    pub scheme: Option<&'static Scheme>,
}

/// A request that compares scenarios.
#[derive(Debug)]
pub struct ScenariosInputs {
    asked: Vec<(EstimateInputs, Option<RecommendInputs>)>,
}

impl ScenariosInputs {
    /// Parses a list of objects under `scenarios`, each with the fields of `estimate`. Other fields are shared by all of them.
    ///
    /// # Errors
    /// The first invalid field.
    pub fn parse(mut fields: Fields, library: &Library<'_>) -> Result<Self, RequestError> {
        let scenarios = fields.objects("scenarios", SCENARIOS)?;
        let parsed = scenarios.into_iter().enumerate().map(|(index, own)| {
            let all = fields.overlaid(own);
            let in_scenario =
                |error| RequestError::InScenario { number: index + 1, error: Box::new(error) };
            let inputs = EstimateInputs::parse(all.clone(), library).map_err(in_scenario)?;
            // A request that `recommend` refuses belongs to no scheme.
            Ok((inputs, RecommendInputs::parse(all, library).ok()))
        });
        Ok(Self { asked: parsed.collect::<Result<_, RequestError>>()? })
    }

    /// Computes every scenario.
    ///
    /// # Errors
    /// Every refusal of `calc-core`.
    pub fn answers(self) -> Result<Vec<Scenario>, RequestError> {
        let answered = self.asked.into_iter().enumerate().map(|(index, (inputs, recommend))| {
            let answer = inputs.estimate().map_err(|error| RequestError::InScenario {
                number: index + 1,
                error: Box::new(error),
            })?;
            let scheme = recommend.and_then(|asked| scheme_of(&asked, &answer));
            Ok(Scenario { inputs, answer, scheme })
        });
        answered.collect()
    }
}

/// The scheme with the memory and the times of an estimate; its formats may have other names of the same size, as FP16 and BF16.
fn scheme_of(asked: &RecommendInputs, answer: &Estimate) -> Option<&'static Scheme> {
    let found = rank(&asked.request().ok()?).ok()?;
    let ranked = found.ranked.iter().map(|row| (row.scheme, Some(&row.outcome)));
    let dropped = found.dropped.iter().map(|row| (row.scheme, row.outcome.as_ref()));
    ranked
        .chain(dropped)
        .filter_map(|(scheme, outcome)| Some((scheme, outcome?)))
        .find(|(_, outcome)| {
            outcome.memory == answer.memory.total()
                && outcome.token.expected == answer.mean.expected
        })
        .map(|(scheme, _)| scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<ScenariosInputs, RequestError> {
        ScenariosInputs::parse(Fields::from_line(line).expect("JSON"), &Library::CATALOGS)
    }

    #[test]
    fn scenarios_share_the_other_fields_and_find_their_scheme() {
        let line = r#"{"model":"llama-3.1-8b","weights":"q4_k_m","scenarios":[{"hardware":"rtx_4090"},{"hardware":"h100","weights":"bf16"}]}"#;
        let answers = parsed(line).expect("a request").answers().expect("valid");
        let schemes: Vec<_> =
            answers.iter().map(|row| row.scheme.map(|scheme| scheme.key)).collect();
        assert_eq!(schemes, [Some("gguf_q4_k"), Some("half")]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_scenario() {
        for (line, says) in [
            (r#"{"model":"llama-3.1-8b"}"#, "scenarios is missing"),
            (r#"{"scenarios":{}}"#, "scenarios must be a list of 2 to 4 JSON objects"),
            (r#"{"scenarios":[{}]}"#, "scenarios must be a list of 2 to 4 JSON objects"),
            (r#"{"scenarios":[1,2]}"#, "scenarios must be a list of 2 to 4 JSON objects"),
            (
                r#"{"model":"llama-3.1-8b","scenarios":[{"hardware":"t4"},{"hardware":"h100","bach":1}]}"#,
                "scenario 2: unknown field `bach`; did you mean batch, static_batch, cached_prefix?",
            ),
        ] {
            assert_eq!(parsed(line).expect_err(line).to_string(), says);
        }
    }
}
