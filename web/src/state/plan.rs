//! Answer of the Plan view: the recommended scheme in three cards, and all schemes by time and loss.

mod cards;
pub mod impasse;
mod rows;
mod seen;

use std::sync::Arc;

use calc_core::quality::QualityLoss;
use calc_core::recommend::{
    Flip, Outcome, Ranked, RecommendRequest, Recommendation, Task, rank, recommend,
};
use calc_core::scheme::Scheme;
use calc_core::units::{Seconds, TokensPerSec};
use calc_core::workload::Workload;
use chart::schemes::Schemes;
use report::number_text as text;
use report::output::words::{advice, core_error};

use super::advice::question::{repositories, with_model};
use super::advice::{ApplyCommand, SchemeFormats, ways};
use super::inputs::{Inputs, View};
use super::model::answer::{ModelShown, next as next_model};

pub use cards::{Card, RATE};
pub use rows::SchemeRow;
pub use seen::refusal;
use seen::{CardOutcome, dropped};

/// The last valid answer, and the inputs with the formats of its scheme.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanShown {
    pub answer: PlanAnswer,
    /// The inputs with the formats of the scheme in the cards; as they are without one.
    pub taken: Inputs,
    /// The model in the scheme of the cards; without one, in the formats of the inputs.
    pub model: ModelShown,
}

/// The verdict, the cards of one scheme, and all schemes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PlanAnswer {
    /// The verdict: "Take GGUF Q4_K_M: it fits, 19 token/s."
    pub sentence: String,
    /// The reason.
    pub line: String,
    pub cards: Vec<Card>,
    /// The numbers behind the cards; `None` if there are no cards.
    pub in_cards: Option<CardScheme>,
    /// Why there is no speed: nothing meets the bounds, or the picked scheme does not fit.
    pub no_speed: Option<String>,
    /// The picked scheme is out of the question; the inspector has the reason.
    pub is_refused: bool,
    /// All schemes, ranked ones first.
    pub rows: Vec<SchemeRow>,
    pub chart: Schemes,
    /// Head of the column with the ranked time.
    pub time_column: &'static str,
    /// Key of the scheme in the cards; empty without one.
    pub chosen: String,
    /// Name of the recommended scheme, where another one is in the cards.
    pub recommended: Option<String>,
}

impl PlanAnswer {
    /// Whether there are schemes and none of them meets the bounds.
    pub fn is_stuck(&self) -> bool {
        self.in_cards.is_none() && !self.rows.is_empty()
    }
}

/// The scheme in the cards with its numbers, for what compares scenarios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CardScheme {
    pub scheme: &'static Scheme,
    pub outcome: Outcome,
    pub quality: QualityLoss,
    /// Number of sequences.
    pub users: u64,
    /// The reader picked the scheme.
    pub is_picked: bool,
}

/// The next state to show: invalid inputs keep the last valid answer. A picked scheme that is out of the question takes the
/// cards; [`explained`] leaves them to the recommended one.
pub fn next(before: Option<&PlanShown>, inputs: &Inputs) -> PlanShown {
    shown(before, inputs, |answer, picked| CardOutcome::of(answer, picked))
}

/// The next state of the Plan view, where a picked scheme that is out of the question is explained beside the recommended one.
pub fn explained(before: Option<&PlanShown>, inputs: &Inputs) -> PlanShown {
    shown(before, inputs, |answer, picked| CardOutcome::runnable(answer, picked))
}

/// Chooses the scheme in the cards from the answer and the picked scheme.
type See = for<'a> fn(&'a Recommendation, Option<&'static Scheme>) -> Option<CardOutcome<'a>>;

fn shown(before: Option<&PlanShown>, inputs: &Inputs, see: See) -> PlanShown {
    let earlier = before.map(|shown| &shown.model);
    match (with_model(inputs, |request| derive((earlier, see), request, inputs)), before) {
        (Some(shown), _) => shown,
        (None, Some(before)) => before.clone(),
        (None, None) => PlanShown {
            answer: PlanAnswer {
                no_speed: Some("There is no answer before the input is right.".to_owned()),
                ..PlanAnswer::default()
            },
            model: next_model(None, &inputs.model, inputs.place()),
            taken: inputs.clone(),
        },
    }
}

/// The inputs of an export: in the Plan view with the formats of the scheme in the cards, and that scheme.
pub fn shown_inputs(inputs: &Inputs) -> (Inputs, Option<&'static Scheme>) {
    let (mut taken, mut scheme) = (inputs.clone(), None);
    if inputs.view == View::Plan {
        with_model(inputs, |request| {
            if let Ok(found) = rank(request)
                && let Some(seen) = CardOutcome::runnable(&found, inputs.model.scheme)
            {
                SchemeFormats::of(seen.scheme, &seen.outcome.precision).of_model(&mut taken);
                scheme = Some(seen.scheme);
            }
        });
    }
    (taken, scheme)
}

fn derive(
    (earlier, see): (Option<&ModelShown>, See),
    request: &RecommendRequest<'_>,
    inputs: &Inputs,
) -> PlanShown {
    let model = |inputs: &Inputs| next_model(earlier, &inputs.model, inputs.place());
    let found = match rank(request) {
        Ok(found) => found,
        Err(error) => {
            let sentence = format!("{}.", core_error(&error));
            let no_speed = no_speed(None);
            let answer = PlanAnswer { sentence, no_speed, ..PlanAnswer::default() };
            return PlanShown { answer, model: model(inputs), taken: inputs.clone() };
        }
    };
    let seen = see(&found, inputs.model.scheme);
    let mut taken = inputs.clone();
    if let Some(seen) = &seen {
        SchemeFormats::of(seen.scheme, &seen.outcome.precision).of_model(&mut taken);
    } else if let Some((row, outcome)) = impasse::nearest(request, &found) {
        // The memory is that of the scheme which the verdict names.
        SchemeFormats::of(row.scheme, &outcome.precision).of_model(&mut taken);
    }
    let mut model = model(&taken);
    if seen.is_none() {
        // A change after which this scheme fits may still miss another bound; the ways out are tried.
        if let Some(answer) = Arc::get_mut(&mut model.answer) {
            let room = "This is the nearest scheme; the ways out are above.";
            room.clone_into(&mut answer.memory.room);
            answer.memory.changes.clear();
        }
    }
    let mut answer = answer(request, &found, seen.as_ref(), (&model, inputs.model.scheme));
    if let (Some(beside), Task::Model(task), Some(_)) = (&inputs.model.beside, &request.task, seen)
    {
        beside.say(&model.answer.estimate, task.request.model, &mut answer.line);
    }
    PlanShown { answer, taken, model }
}

fn answer(
    request: &RecommendRequest<'_>,
    found: &Recommendation,
    seen: Option<&CardOutcome<'_>>,
    (model, picked): (&ModelShown, Option<&'static Scheme>),
) -> PlanAnswer {
    let (sentence, line) = verdict(request, found, seen);
    let first = found.ranked.first();
    let is_other = |seen: &CardOutcome<'_>, first: &Ranked| {
        seen.scheme.key != first.scheme.key || seen.instead.is_some()
    };
    let other = first.filter(|first| seen.is_some_and(|seen| is_other(seen, first)));
    PlanAnswer {
        sentence,
        line,
        in_cards: seen.map(|seen| in_cards(request, seen, picked)),
        no_speed: no_speed(seen),
        cards: seen.map_or_else(Vec::new, |seen| cards::cards(request, found, seen, &model.answer)),
        rows: rows::rows(request, found),
        chart: rows::chart(request, found),
        is_refused: picked.is_some_and(|picked| dropped(found, picked).is_some()),
        time_column: rows::part_name(request.part),
        chosen: seen.map_or_else(String::new, |seen| seen.scheme.key.to_owned()),
        recommended: other.map(|first| advice::scheme_name(first.scheme)),
    }
}

fn in_cards(
    request: &RecommendRequest<'_>,
    seen: &CardOutcome<'_>,
    picked: Option<&'static Scheme>,
) -> CardScheme {
    CardScheme {
        scheme: seen.scheme,
        outcome: *seen.outcome,
        quality: *seen.quality,
        users: workload(request).map_or(1, |workload| workload.batch),
        is_picked: picked.is_some_and(|picked| picked.key == seen.scheme.key),
    }
}

/// Changes that would put another scheme first; the inspector has their words.
pub fn flips(inputs: &Inputs) -> Vec<Flip> {
    let found = with_model(inputs, |request| recommend(request).ok()).flatten();
    found.and_then(|found| found.ranked.into_iter().next()).map_or_else(Vec::new, |row| row.flips)
}

/// Ways to apply the scheme in the cards. The inspector computes them: its chunk has their words.
pub fn ways_of(shown: &PlanShown, inputs: &Inputs) -> Vec<ApplyCommand> {
    let found = shown.answer.in_cards.and_then(|CardScheme { scheme, outcome, .. }| {
        let own = repositories(&inputs.model);
        with_model(inputs, |request| ways(scheme, &outcome, request, own))
    });
    found.unwrap_or_default()
}

/// Why the scheme in the cards has no speed; `None` if it runs.
fn no_speed(seen: Option<&CardOutcome<'_>>) -> Option<String> {
    let Some(seen) = seen else {
        let reason = "Nothing meets the bounds, so there is no speed to show. A scheme of the table that fits has its own.";
        return Some(reason.to_owned());
    };
    let fits = seen.outcome.verdict().may_fit();
    let name = || advice::scheme_name(seen.scheme);
    (!fits).then(|| format!("{} does not fit, so there is no speed to show.", name()))
}

/// A loss of quality: the number, and the name of what is lost; empty without a loss.
fn loss_parts(loss: &QualityLoss) -> (String, String) {
    let whole = advice::quality(loss);
    match whole.split_once('%') {
        Some((number, metric)) => (format!("{number}%"), metric.trim_start().to_owned()),
        None => (whole, String::new()),
    }
}

/// The workload of a request; `None` for a single product, which this view never asks about.
fn workload<'a>(request: &'a RecommendRequest<'_>) -> Option<&'a Workload> {
    match &request.task {
        Task::Shape(_) => None,
        Task::Model(task) => Some(&task.request.workload),
    }
}

/// Number of sequences.
fn batch(request: &RecommendRequest<'_>) -> f64 {
    workload(request).map_or(1.0, |workload| workload.batch as f64)
}

/// Rate over the batch, from a time per token.
fn rate(request: &RecommendRequest<'_>, token: Seconds) -> String {
    text::token_rate(TokensPerSec::new(batch(request) / token.get()))
}

/// Length of a sequence and the model's limit, where the sequence is longer.
fn beyond_limit(request: &RecommendRequest<'_>) -> Option<(String, String)> {
    let Task::Model(task) = &request.task else { return None };
    let longest = task.request.workload.longest();
    let limit = task.request.model.max_context.filter(|limit| longest > *limit)?;
    Some((text::count(longest), text::count(limit)))
}

fn verdict(
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
    seen: Option<&CardOutcome<'_>>,
) -> (String, String) {
    let Some(seen) = seen else { return impasse::verdict(request, answer) };
    let name = advice::scheme_name(seen.scheme);
    if let Some(reason) = &seen.refused {
        return (format!("{name} is out of the question: {reason}."), String::new());
    }
    let speed = rate(request, seen.outcome.token.expected.time);
    let all = if batch(request) > 1.0 { " in all" } else { "" };
    let take = if seen.is_first { "Take" } else { "With" };
    let without = if request.task.lacks_link() { " without the link" } else { "" };
    let it = advice::it(seen.scheme);
    let mut sentence = format!("{take} {it}{name}: it fits, {speed}{all}{without}.");
    let mut line: Vec<String> = seen.instead.iter().cloned().collect();
    line.extend(request.task.lacks_link().then(|| advice::WITHOUT_LINK.to_owned()));
    if let Some((longest, limit)) = beyond_limit(request) {
        line.insert(0, format!("In a model made for {longest} tokens: {sentence}"));
        sentence = format!("The model is made for {limit} tokens, not for {longest}.");
    }
    if let Some(row) = answer.ranked.iter().find(|row| row.scheme.key == seen.scheme.key) {
        line.push(advice::regime(row, request.part, &answer.baseline));
        if seen.is_first {
            line.extend(advice::first_by(answer.first_by, &row.standing));
        }
    }
    (sentence, line.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::fields::Field;
    use crate::state::model::inputs::ModelSource;
    use calc_core::catalog::{self, devices, models, schemes};
    use std::borrow::Cow;

    fn inputs(device: &str, model: &str) -> Inputs {
        let mut inputs = Inputs { view: View::Plan, ..Inputs::default() };
        inputs.set_device(Cow::Borrowed(catalog::device(device).expect("catalog key")));
        inputs.model.set_base(ModelSource::Catalog(catalog::model(model).expect("catalog key")));
        inputs.model.set_text(Field::Prompt, "4096".into());
        inputs.model.set_text(Field::Generate, "128".into());
        inputs
    }

    #[test]
    fn the_recommended_scheme_is_in_the_cards_and_its_formats_are_taken() {
        let inputs = inputs("jetson_orin_nano_8gb_super", "llama-3.1-8b");
        let shown = next(None, &inputs);
        let answer = &shown.answer;
        assert!(answer.sentence.starts_with("Take GGUF Q4_K_M: it fits, "), "{}", answer.sentence);
        let names: Vec<&str> = answer.cards.iter().map(|card| card.name).collect();
        assert_eq!(names, ["Fits", "Speed", "Quality"]);
        assert_eq!(answer.chosen, "gguf_q4_k");
        assert_eq!(answer.rows[0].picks[0], "recommended");
        let taken = shown.model.answer.estimate.precision.weights.key;
        assert_eq!(taken, "gguf_q4_k");
        let fits = &answer.cards[0].lines[1];
        assert!(fits.starts_with("room for "), "{fits}");
        assert!(ways_of(&shown, &inputs).iter().any(|way| way.text.contains("llama-server")));
    }

    #[test]
    fn a_picked_scheme_takes_the_cards_and_the_recommended_one_is_named() {
        let mut inputs = inputs("h100_sxm", "llama-3.1-8b");
        inputs.model.scheme = schemes::scheme("gguf_q6_k");
        let answer = next(None, &inputs).answer;
        assert_eq!(answer.chosen, "gguf_q6_k");
        assert!(answer.recommended.is_some() && answer.sentence.starts_with("With GGUF Q6_K"));
        inputs.model.scheme = schemes::scheme("int2_g64_rtn");
        let refused = next(None, &inputs).answer;
        assert!(refused.sentence.contains("out of the question"), "{}", refused.sentence);
        assert_eq!(refused.no_speed, None, "it loses too much, but it runs");
    }

    #[test]
    fn a_refused_scheme_is_explained_and_the_recommended_verdict_stays() {
        let mut inputs = inputs("h100_sxm", "llama-3.1-8b");
        let free = explained(None, &inputs).answer;
        for (key, says) in [("int2_g64_rtn", "5\u{202f}% allowed"), ("gguf_q2_k", "allowed")] {
            inputs.model.scheme = schemes::scheme(key);
            let Some(name) = inputs.model.scheme.map(advice::scheme_name) else { continue };
            let answer = explained(None, &inputs).answer;
            assert_eq!((&answer.sentence, &answer.chosen), (&free.sentence, &free.chosen));
            assert!(answer.line.starts_with(&format!("{name} is left out: ")), "{}", answer.line);
            assert!(answer.recommended.is_some(), "there is a way back");
            assert!(answer.is_refused);
            let refused = refusal(&inputs).expect("it is refused");
            assert_eq!(refused.title, format!("{name} is refused"));
            assert!(refused.formula.contains(says), "{}", refused.formula);
        }
    }

    #[test]
    fn what_does_not_fit_has_no_speed() {
        let shown = next(None, &inputs("jetson_orin_nano_8gb_super", "llama-3.1-405b"));
        let answer = shown.answer;
        assert_eq!(answer.sentence, "Nothing meets the bounds.");
        assert!(answer.cards.is_empty() && answer.line.contains("short of"), "{}", answer.line);
        assert!(answer.no_speed.is_some());
        assert!(answer.rows.iter().all(|row| row.rate.is_empty() && row.refused.is_some()));
    }

    #[test]
    fn a_picked_scheme_that_does_not_fit_has_no_speed() {
        let mut inputs = inputs("jetson_orin_nano_8gb_super", "llama-3.1-8b");
        inputs.model.scheme = schemes::scheme("half");
        let answer = next(None, &inputs).answer;
        assert!(answer.cards.iter().all(|card| card.name != "Speed"), "{:?}", answer.cards);
        assert!(answer.no_speed.is_some_and(|reason| reason.contains("does not fit")));
    }

    #[test]
    fn every_model_on_every_device_has_a_sentence() {
        let everywhere = devices::all().map(|device| (&*device.key, "gpt-oss-20b"));
        let all = models::all().map(|model| ("h100_sxm", model.key));
        for (device, model) in everywhere.chain(all) {
            let shown = next(None, &inputs(device, model));
            assert!(!shown.answer.sentence.is_empty(), "{device} {model}");
            let front = &shown.answer.chart.front;
            let points = &shown.answer.chart.points;
            assert!(front.windows(2).all(|two| points[two[0]].loss > points[two[1]].loss));
        }
    }
}
