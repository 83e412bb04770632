//! One reading of a running server, independent of the engine, and the rates between two readings.

use std::collections::BTreeMap;

use calc_core::calibration::Engine;

use super::energy::CardPower;
use super::machine_state::{self, MachineState};

/// An engine whose server can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Server {
    LlamaCpp,
    Vllm,
    Sglang,
}

impl Server {
    pub(super) const ALL: [Self; 3] = [Self::LlamaCpp, Self::Vllm, Self::Sglang];

    /// The engine of the expected times.
    pub(super) const fn engine(self) -> Engine {
        match self {
            Self::LlamaCpp => Engine::LlamaCpp,
            Self::Vllm => Engine::Vllm,
            Self::Sglang => Engine::Sglang,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::LlamaCpp => "llama.cpp",
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
        }
    }
}

/// Words of a server about itself and its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) server: Server,
    pub(super) version: Option<String>,
    /// Name of the served model.
    pub(super) model: Option<String>,
    /// Folder, file or repository from which the server read it.
    pub(super) path: Option<String>,
    pub(super) parameters: Option<u64>,
    /// Devices over which the server splits every layer.
    pub(super) tensor_parallel: Option<u64>,
}

/// Tokens of speculative decoding since the start of the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DraftCounters {
    pub(super) drafted: f64,
    pub(super) accepted: f64,
}

/// The sum and the number of the values of a histogram.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct HistogramTotal {
    pub(super) seconds: f64,
    pub(super) count: f64,
}

/// How a server counts the tokens that it generates.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Generated {
    /// All tokens since the start of the server, those of unfinished requests included.
    Total(f64),
    /// All tokens of the requests that have ended.
    AtEnd(f64),
    /// Tokens of the running requests only, by request.
    Running(BTreeMap<u64, f64>),
    /// A rate in token/s that the server computes itself.
    Rate(f64),
}

/// One reading.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ServerReading {
    pub(super) generated: Option<Generated>,
    /// Prompt tokens computed since the start of the server.
    pub(super) prompt: Option<f64>,
    pub(super) running: Option<u64>,
    pub(super) waiting: Option<u64>,
    /// Cached tokens of all running requests together.
    pub(super) cached: Option<f64>,
    /// Share of the KV cache in use, 0 to 1.
    pub(super) cache_usage: Option<f64>,
    /// Times between two tokens of a request.
    pub(super) token_times: Option<HistogramTotal>,
    pub(super) drafts: Option<DraftCounters>,
    /// State of the machine on which the server runs, if it is this one.
    pub(super) machine: Option<MachineState>,
    /// Why a value is missing, with the flag of the engine that turns it on, and other remarks.
    pub(super) notes: Vec<String>,
}

impl ServerReading {
    /// Cached tokens of one running request, in the mean.
    fn context(&self) -> Option<f64> {
        let running = self.running.filter(|running| *running > 0)?;
        self.cached.map(|cached| cached / running as f64)
    }
}

/// The state of a server between two readings.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Live {
    /// Time between the readings, in s.
    pub(super) seconds: f64,
    /// Generated tokens per second of all requests together.
    pub(super) rate: Option<f64>,
    /// How the rate was found.
    pub(super) basis: &'static str,
    /// Prompt tokens per second.
    pub(super) prompt_rate: Option<f64>,
    /// Running requests at the first and the second reading.
    pub(super) running: Option<[u64; 2]>,
    pub(super) waiting: Option<u64>,
    /// Cached tokens of a running request, in the mean.
    pub(super) context: Option<f64>,
    pub(super) cache_usage: Option<f64>,
    /// Mean time between two tokens of a request, in s.
    pub(super) token_time: Option<f64>,
    /// Drafted and accepted tokens between the readings.
    pub(super) drafts: Option<DraftCounters>,
    /// The server counts drafted tokens, also where there are none.
    pub(super) counts_drafts: bool,
    /// Mean power of the only graphics card of this machine, where the server runs on it.
    pub(super) card: Option<CardPower>,
    pub(super) notes: Vec<String>,
}

/// A counter that fell: the server was started anew.
const FELL: &str = "the counters of the server fell between the two readings: it was started anew, so these two give no rate";
const ENDED: &str = "a request ended between the two readings, and the server tells its last tokens in its counters only, so there is no rate";
const AT_END: &str = "the server counts the tokens of a request when the request ends, so the rate is that of ended requests";

const ONLY_PROMPTS: &str =
    "the server counts prompt tokens alone, and no rate of generated tokens follows from them";

impl Live {
    /// Energy of the card per generated token [J]; `None` without tokens or a meter.
    pub(super) fn joule_per_token(&self) -> Option<f64> {
        let rate = self.rate.filter(|rate| *rate > 0.0)?;
        Some(self.card.as_ref()?.watts / rate)
    }

    /// The state between two readings that lie `seconds` apart.
    pub(super) fn between(before: &ServerReading, after: &ServerReading, seconds: f64) -> Self {
        let mut notes = after.notes.clone();
        let [generated, prompt] = [
            generated(before.generated.as_ref(), after.generated.as_ref(), seconds),
            grown(before.prompt, after.prompt).map(|tokens| tokens.map(|tokens| tokens / seconds)),
        ];
        if generated == Some(None) || prompt == Some(None) {
            notes.insert(0, FELL.to_owned());
        }
        if after.generated.is_none() && after.prompt.is_some() {
            notes.push(ONLY_PROMPTS.to_owned());
        }
        if matches!(after.generated, Some(Generated::AtEnd(_))) {
            notes.push(AT_END.to_owned());
        }
        if let (Some(Generated::Running(then)), Some(Generated::Running(now))) =
            (&before.generated, &after.generated)
            && then.keys().any(|id| !now.contains_key(id))
        {
            notes.push(ENDED.to_owned());
        }
        let mut card = None;
        if let (Some(before), Some(after)) = (&before.machine, &after.machine) {
            notes.extend(machine_state::notes(before, after));
            match after.card_power(before) {
                Some(Ok(power)) => card = Some(power),
                Some(Err(why)) => notes.push(format!("energy per token is unknown: {why}")),
                None => {}
            }
        }
        let contexts = [before, after].map(ServerReading::context);
        let known: Vec<f64> = contexts.into_iter().flatten().collect();
        Self {
            seconds,
            rate: generated.flatten(),
            basis: basis(after.generated.as_ref()),
            prompt_rate: prompt.flatten(),
            card,
            running: before.running.zip(after.running).map(|(first, second)| [first, second]),
            waiting: after.waiting,
            context: (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64),
            cache_usage: after.cache_usage,
            token_time: token_time(before, after),
            drafts: drafts(before, after),
            counts_drafts: after.drafts.is_some(),
            notes,
        }
    }

    /// The batch that was decoded, in the mean; `None` unless requests ran at both readings.
    pub(super) fn batch(&self) -> Option<u64> {
        let [first, second] = self.running?;
        (first > 0 && second > 0).then(|| first.midpoint(second))
    }
}

/// Largest number that a server may count; a larger one is an error of it.
const MOST: f64 = 1e15;

/// A count that a server writes as a decimal.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn whole(value: f64) -> Option<u64> {
    (0.0..=MOST).contains(&value).then(|| value.round() as u64)
}

/// Growth of a counter; `Some(None)` where it fell.
#[expect(clippy::option_option, reason = "missing and fallen counters are different answers")]
fn grown(before: Option<f64>, after: Option<f64>) -> Option<Option<f64>> {
    let growth = after? - before?;
    Some((growth >= 0.0).then_some(growth))
}

#[expect(clippy::option_option, reason = "missing and fallen counters are different answers")]
fn generated(
    before: Option<&Generated>,
    after: Option<&Generated>,
    seconds: f64,
) -> Option<Option<f64>> {
    let tokens = match (before?, after?) {
        (_, Generated::Rate(rate)) => return Some(Some(*rate)),
        (Generated::Total(before), Generated::Total(after))
        | (Generated::AtEnd(before), Generated::AtEnd(after)) => {
            grown(Some(*before), Some(*after))?
        }
        (Generated::Running(before), Generated::Running(after)) => {
            // The last tokens of a request that ended are nowhere.
            if before.keys().any(|id| !after.contains_key(id)) {
                return None;
            }
            let new = |(id, tokens): (&u64, &f64)| tokens - before.get(id).copied().unwrap_or(0.0);
            let tokens: f64 = after.iter().map(new).sum();
            (tokens >= 0.0).then_some(tokens)
        }
        _ => return None,
    };
    Some(tokens.map(|tokens| tokens / seconds))
}

const fn basis(generated: Option<&Generated>) -> &'static str {
    match generated {
        None => "no counter",
        Some(Generated::Total(_)) => "tokens between two readings",
        Some(Generated::AtEnd(_)) => "tokens of requests that ended between two readings",
        Some(Generated::Running(_)) => "tokens of running requests between two readings",
        Some(Generated::Rate(_)) => "the server's own rate over its last steps",
    }
}

fn token_time(before: &ServerReading, after: &ServerReading) -> Option<f64> {
    let (before, after) = (before.token_times?, after.token_times?);
    let (seconds, count) = (after.seconds - before.seconds, after.count - before.count);
    (seconds > 0.0 && count >= 1.0).then(|| seconds / count)
}

fn drafts(before: &ServerReading, after: &ServerReading) -> Option<DraftCounters> {
    let (before, after) = (before.drafts?, after.drafts?);
    let drafted = after.drafted - before.drafted;
    let accepted = after.accepted - before.accepted;
    // A drafted token that is accepted between the readings may have been drafted before them.
    (drafted > 0.0 && accepted >= 0.0)
        .then(|| DraftCounters { drafted, accepted: accepted.min(drafted) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(generated: Generated, prompt: f64) -> ServerReading {
        ServerReading {
            generated: Some(generated),
            prompt: Some(prompt),
            running: Some(2),
            cached: Some(900.0),
            ..ServerReading::default()
        }
    }

    #[test]
    fn rates_are_growth_over_time() {
        let before = of(Generated::Total(100.0), 10.0);
        let after = ServerReading { cached: Some(1100.0), ..of(Generated::Total(180.0), 10.0) };
        let live = Live::between(&before, &after, 2.0);
        assert_eq!((live.rate, live.prompt_rate), (Some(40.0), Some(0.0)));
        assert_eq!((live.batch(), live.context), (Some(2), Some(500.0)));
        assert!(live.notes.is_empty(), "{live:?}");
    }

    #[test]
    fn a_counter_that_fell_gives_no_rate_and_says_so() {
        let live =
            Live::between(&of(Generated::Total(100.0), 5.0), &of(Generated::Total(7.0), 5.0), 2.0);
        assert_eq!(live.rate, None);
        assert!(live.notes[0].contains("started anew"), "{live:?}");
        // A counter that is missing did not fall.
        let live = Live::between(&ServerReading::default(), &of(Generated::Total(7.0), 5.0), 2.0);
        assert_eq!((live.rate, live.notes.len()), (None, 0));
    }

    #[test]
    fn prompt_tokens_are_never_the_rate() {
        let prompts = |prompt| ServerReading { prompt: Some(prompt), ..ServerReading::default() };
        let live = Live::between(&prompts(100.0), &prompts(900.0), 2.0);
        assert_eq!((live.rate, live.prompt_rate), (None, Some(400.0)));
        assert_eq!(live.notes, [ONLY_PROMPTS]);
    }

    #[test]
    fn requests_without_a_total_count_from_their_own_start() {
        let tokens = |list: &[(u64, f64)]| Generated::Running(list.iter().copied().collect());
        let before = of(tokens(&[(2, 20.0)]), 0.0);
        let after = of(tokens(&[(2, 60.0), (3, 10.0)]), 0.0);
        assert_eq!(Live::between(&before, &after, 2.0).rate, Some(25.0));
        let live = Live::between(&after, &of(tokens(&[(3, 50.0)]), 0.0), 2.0);
        assert_eq!(live.rate, None);
        assert!(live.notes[0].contains("a request ended"), "{live:?}");
    }

    #[test]
    fn a_batch_needs_requests_at_both_readings() {
        let mut live = Live::between(&ServerReading::default(), &ServerReading::default(), 1.0);
        for (running, batch) in [
            ([0, 3], None),
            ([3, 0], None),
            ([1, 1], Some(1)),
            ([4, 8], Some(6)),
            ([u64::MAX, u64::MAX], Some(u64::MAX)),
        ] {
            live.running = Some(running);
            assert_eq!(live.batch(), batch, "{running:?}");
        }
    }

    #[test]
    fn counts_are_whole_and_in_range() {
        for (value, count) in
            [(2.0, Some(2)), (0.4, Some(0)), (-1.0, None), (1e16, None), (f64::NAN, None)]
        {
            assert_eq!(whole(value), count, "{value}");
        }
    }

    #[test]
    fn times_between_tokens_are_those_of_the_interval() {
        let with = |seconds, count| ServerReading {
            token_times: Some(HistogramTotal { seconds, count }),
            ..ServerReading::default()
        };
        let live = Live::between(&with(10.0, 100.0), &with(12.0, 200.0), 2.0);
        assert_eq!(live.token_time, Some(0.02));
        assert_eq!(Live::between(&with(10.0, 100.0), &with(1.0, 7.0), 2.0).token_time, None);
    }
}
