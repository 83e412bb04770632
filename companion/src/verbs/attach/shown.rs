//! The answer of `attach` as a document and as JSON.

use calc_core::units::{Joules, Seconds, TokensPerSec, Watts};
use protocol::engine::{EngineReport, LiveRow, RateRow};
use report::number_text as n;
use report::output::json::SCHEMA;
use report::output::json::check::CheckJson;
use report::output::summary::{self, Document};
use report::output::table::{Align, Table};
use report::output::words;
use serde_json::{Value, json};

use super::judge::{self, Judged};
use super::reading::{Identity, Live, Server};
use crate::output::{Answer, Rows};

/// A state, with a judgment or the reason for none.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    pub(super) address: &'a str,
    pub(super) at_ms: u64,
    pub(super) identity: &'a Identity,
    pub(super) live: &'a Live,
    pub(super) judged: Result<Judged, String>,
    /// Notes on the model and the flags.
    pub(super) notes: &'a [String],
}

impl Shown<'_> {
    pub(super) fn answer(&self) -> Answer {
        Answer { document: self.document(), value: self.value(), rows: Rows::One }
    }

    fn all_notes(&self) -> Vec<String> {
        let mut notes = self.live.notes.clone();
        notes.extend(self.notes.iter().cloned());
        match &self.judged {
            Err(why) => notes.push(why.clone()),
            Ok(judged) => {
                notes.extend(judge::conditions(self.live));
                notes.extend(words::check::notes(&judged.inputs, &judged.answer));
            }
        }
        notes
    }

    /// The state as the page shows it.
    pub(super) fn report(&self) -> EngineReport {
        let judged = self.judged.as_ref().ok();
        let explanations = judged.map(|judged| words::check::explanations(&judged.answer));
        let sentence = judged.map(|judged| words::check::sentence(&judged.answer));
        EngineReport {
            heading: self.heading(),
            live: live_rows(self.live, self.prompts()),
            subject: judged.map(subject).unwrap_or_default(),
            sentence: sentence.unwrap_or_default(),
            rates: judged.map(rate_rows).unwrap_or_default(),
            explanations: explanations.unwrap_or_default(),
            notes: self.all_notes(),
        }
    }

    /// How the engine counts prompt tokens.
    const fn prompts(&self) -> &'static str {
        match self.identity.server {
            Server::LlamaCpp => "prompt tokens computed, cached ones not included",
            Server::Vllm | Server::Sglang => {
                "prompt tokens as the server counts them, perhaps with cached ones"
            }
        }
    }

    fn heading(&self) -> String {
        let Identity { server, version, model, .. } = self.identity;
        let version = version.as_ref().map_or(String::new(), |version| format!(" {version}"));
        let model = model.as_ref().map_or(String::new(), |model| format!(" serves {model}"));
        format!("{}{version} at {}{model}", server.name(), self.address)
    }

    fn document(&self) -> Document {
        let mut out = Document::default();
        out.heading(self.heading());
        let mut live =
            Table::new(&[("live", Align::Left), ("value", Align::Right), ("source", Align::Left)]);
        for LiveRow { name, value, source } in live_rows(self.live, self.prompts()) {
            live.push(vec![name, value, source]);
        }
        out.table(live);
        if let Ok(judged) = &self.judged {
            out.heading(subject(judged));
            out.line(words::check::sentence(&judged.answer));
            let mut rates = Table::new(&[
                ("", Align::Left),
                ("rate", Align::Right),
                ("a step", Align::Right),
                ("live is", Align::Right),
            ]);
            for RateRow { name, rate, step, share } in rate_rows(judged) {
                rates.push(vec![name, rate, step, share]);
            }
            out.table(rates);
            out.heading("Possible explanations");
            for explanation in words::check::explanations(&judged.answer) {
                out.line(explanation);
            }
        }
        out.notes(self.all_notes());
        out
    }

    fn value(&self) -> Value {
        let Identity { server, version, model, path, parameters, tensor_parallel } = self.identity;
        let live = self.live;
        json!({
            "schema": SCHEMA,
            "at_ms": self.at_ms,
            "url": self.address,
            "engine": server.engine().key(),
            "version": version,
            "model": { "name": model, "path": path, "parameters": parameters },
            "tensor_parallel": tensor_parallel,
            "live": {
                "interval_s": live.seconds,
                "token_per_s": live.rate,
                "basis": live.basis,
                "prompt_token_per_s": live.prompt_rate,
                "running": live.running.map(|[_, now]| now),
                "running_before": live.running.map(|[before, _]| before),
                "waiting": live.waiting,
                "context_token": live.context,
                "kv_cache_usage_ratio": live.cache_usage,
                "time_between_tokens_s": live.token_time,
                "card_power_w": live.card.as_ref().map(|card| card.watts),
                "card_power_error": live.card.as_ref().and_then(|card| card.error),
                "card_power_source": live.card.as_ref().map(|card| &card.source),
                "joule_per_token": live.joule_per_token(),
                "drafted_token": live.drafts.map(|drafts| drafts.drafted),
                "accepted_token": live.drafts.map(|drafts| drafts.accepted),
            },
            "compared": self.judged.as_ref().ok().map(compared),
            "notes": self.all_notes(),
        })
    }
}

/// Rate of a batch at a time per token.
fn rate(batch: u64, time: Seconds) -> TokensPerSec {
    TokensPerSec::new(batch as f64 / time.get())
}

fn compared(judged: &Judged) -> Value {
    let (batch, answer) = (judged.batch, &judged.answer);
    let of = |time| rate(batch, time).get();
    json!({
        "batch": batch,
        "context": judged.context,
        "expected_token_per_s": of(answer.expected.time),
        "expected_low_token_per_s": of(answer.expected.high),
        "expected_high_token_per_s": of(answer.expected.low),
        "ideal_token_per_s": of(answer.ideal),
        "of_expected": answer.expected.time / answer.time,
        "of_ideal": answer.ideal / answer.time,
        "mbu": judged.mbu,
        "check": CheckJson::new(&judged.inputs, answer),
    })
}

/// The source of a rate of prompts that nobody knows.
const NO_PROMPTS: &str = "not known; the rate above is of generated tokens alone";

/// The figures of a server, each with its source.
fn live_rows(live: &Live, prompts: &str) -> Vec<LiveRow> {
    let mut rows = Vec::new();
    let mut row = |name: &str, value: Option<String>, source: String| {
        let value = value.unwrap_or_else(|| n::NO_NUMBER.into());
        rows.push(LiveRow { name: name.into(), value, source });
    };
    let tokens = |rate: f64| n::token_rate(TokensPerSec::new(rate));
    let seconds = n::time(Seconds::new(live.seconds));
    row("generated", live.rate.map(tokens), format!("{}, {seconds} apart", live.basis));
    if let (Some(rate), Some(batch @ 2..)) = (live.rate, live.batch()) {
        row(
            "each request",
            Some(tokens(rate / batch as f64)),
            "the mean of the running ones".into(),
        );
    }
    let prompts = if live.prompt_rate.is_some() { prompts } else { NO_PROMPTS };
    row("prompts", live.prompt_rate.map(tokens), prompts.into());
    let running = live.running.map(|[before, now]| {
        if before == now {
            n::count(now)
        } else {
            format!("{}, then {}", n::count(before), n::count(now))
        }
    });
    row("requests running", running, "at both readings".into());
    row("requests waiting", live.waiting.map(n::count), "at the second".into());
    let context = live.context.map(|context| format!("{} tokens", n::short(context.round(), 8)));
    row("context in use", context, "the mean of the running requests".into());
    row("KV cache in use", live.cache_usage.map(n::percent), "of what the server allotted".into());
    if let Some(time) = live.token_time {
        let time = n::time(Seconds::new(time));
        row("between two tokens", Some(time), "of a request, the mean between the readings".into());
    }
    if let (Some(joules), Some(card)) = (live.joule_per_token(), &live.card) {
        let watts = n::power(Watts::new(card.watts));
        let within = card.error.map_or_else(String::new, |error| {
            format!(", within {} by the steps of the counter", n::percent(error))
        });
        let source = format!("the whole card, {watts} in the mean{within}, by {}", card.source);
        row("energy per token", Some(n::energy(Joules::new(joules))), source);
    }
    rows
}

/// Model, device and mode of a comparison.
fn subject(judged: &Judged) -> String {
    let mode = judged.inputs.power_mode();
    let mode = mode.map_or(String::new(), |mode| format!(" in mode {mode}"));
    format!("{} on {}{mode}", summary::checked(&judged.inputs), judged.inputs.hardware_name())
}

/// Rates with the time of a step, and the live rate over each.
fn rate_rows(judged: &Judged) -> Vec<RateRow> {
    let mut rows = Vec::new();
    let (batch, answer) = (judged.batch, &judged.answer);
    let mut row = |name: &str, time: Seconds, share: Option<f64>| {
        let share = share.map_or(String::new(), n::ratio);
        let (rate, step) = (n::token_rate(rate(batch, time)), n::time(time));
        rows.push(RateRow { name: name.into(), rate, step, share });
    };
    let expected = answer.expected;
    row("live", answer.time, None);
    row("expected", expected.time, Some(expected.time / answer.time));
    row("expected, from", expected.high, Some(expected.high / answer.time));
    row("expected, to", expected.low, Some(expected.low / answer.time));
    row("ideal", answer.ideal, Some(answer.ideal / answer.time));
    if let Some(mbu) = judged.mbu {
        let (step, share) = (String::new(), String::new());
        rows.push(RateRow { name: "MBU".into(), rate: n::percent(mbu), step, share });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::attach::reading::{Generated, ServerReading};

    #[test]
    fn generated_and_prompt_tokens_have_rows_of_their_own() {
        let of = |generated: f64, prompt: Option<f64>| ServerReading {
            generated: Some(Generated::Total(generated)),
            prompt,
            ..ServerReading::default()
        };
        let rows = |prompts: [Option<f64>; 2]| {
            let live = Live::between(&of(10.0, prompts[0]), &of(70.0, prompts[1]), 2.0);
            let rows = live_rows(&live, "as counted");
            ["generated", "prompts"].map(|name| {
                let row = rows.iter().find(|row| row.name == name).expect("a row");
                format!("{}, {}", row.value.replace(n::SPACE, " "), row.source)
            })
        };
        let [generated, prompts] = rows([Some(0.0), Some(800.0)]);
        assert!(generated.starts_with("30.0 token/s"), "{generated}");
        assert_eq!(prompts, "400 token/s, as counted");
        let [generated, prompts] = rows([None, None]);
        assert!(generated.starts_with("30.0 token/s"), "{generated}");
        assert_eq!(prompts, format!("–, {NO_PROMPTS}"));
    }
}
