//! Answers of `recommend` and `schedule` for people.

use calc_core::lowering::Phase;
use calc_core::recommend::{
    DeviceChoice, MemoryStep, Outcome, PREFILL_ROWS, Ranked, RecommendRequest, Recommendation,
};
use calc_core::schedule::{Schedule, Slot};

use super::Document;
use crate::input::request::{RecommendInputs, ScheduleInputs, Subject};
use crate::number_text as n;
use crate::output::json::recommend::{notes, usual_notes};
use crate::output::json::schedule::schedule_notes;
use crate::output::table::{Align, Table};
use crate::output::words::apply::{self, Deployment};
use crate::output::words::remedies::Asked;
use crate::output::words::{self, advice};

/// Document of a recommendation.
pub fn recommendation(
    inputs: &RecommendInputs,
    request: &RecommendRequest<'_>,
    answer: &Recommendation,
    steps: &[MemoryStep],
) -> Document {
    let mut out = Document::default();
    let mode = inputs.power_mode.as_ref().map_or(String::new(), |mode| format!(" in mode {mode}"));
    out.heading(format!("{} on {}{mode}", subject(inputs), inputs.device.name));
    if let Subject::Model(model) = &inputs.subject
        && let Some(sentence) = words::too_long(model)
    {
        out.line(sentence);
    }
    if let Some(first) = answer.ranked.first() {
        let speed = advice::speedup(first);
        let name = advice::scheme_name(first.scheme);
        let it = advice::it(first.scheme);
        let rates = rates(inputs, first);
        out.line(format!("Use {it}{name}: {rates}{speed}, {}.", advice::quality(&first.quality)));
        out.line_if(inputs.lacks_link().then_some(advice::WITHOUT_LINK));
        out.line_if(placed(inputs, first));
        out.line(advice::regime(first, inputs.part, &answer.baseline));
        if let Some(reason) = advice::first_by(answer.first_by, &first.standing) {
            out.line(reason);
        }
    } else {
        let counts = advice::drop_counts(&answer.dropped);
        out.line(format!("No scheme meets all bounds. {counts}"));
        for change in words::remedies::ways_out(inputs, Asked::Flags) {
            out.line(change);
        }
    }
    if !answer.ranked.is_empty() {
        let by = advice::ranked_by(&request.task, inputs.objective.key(), inputs.part);
        let without =
            if inputs.lacks_link() { ", without the link between the devices" } else { "" };
        out.heading(format!("{}{without}", advice::capital(&by)));
        out.table(ranked(inputs, answer));
    }
    flips(&mut out, answer);
    out.heading("Dropped");
    for row in &answer.dropped {
        let reason = advice::dropped(&row.reason, &row.quality);
        out.line(format!("{}: {reason}", advice::scheme_name(row.scheme)));
    }
    if let Some(first) = answer.ranked.first() {
        ways(&mut out, inputs, first);
    }
    if matches!(inputs.subject, Subject::Model(_)) {
        out.heading("Cost of less memory");
        out.table(memory(inputs, steps));
    }
    out.notes(notes(inputs, answer));
    out
}

/// The speed of a scheme in numbers, before those in comparison: `26.1 token/s, first token after 5.25 s; `.
fn rates(inputs: &RecommendInputs, first: &Ranked) -> String {
    let Outcome { token, ttft, .. } = &first.outcome;
    match &inputs.subject {
        Subject::Shape { .. } => String::new(),
        Subject::Model(_) => format!(
            "{} expected, first token after {}; ",
            n::token_rate(token.throughput()),
            n::time(ttft.time)
        ),
    }
}

/// Where the parts of the model lie with a scheme.
fn placed(inputs: &RecommendInputs, first: &Ranked) -> Option<String> {
    let Subject::Model(model) = &inputs.subject else { return None };
    let places = words::placement::places(&first.outcome.placement?, &model.model.arch);
    Some(format!("{}.", advice::capital(&places)))
}

fn subject(inputs: &RecommendInputs) -> String {
    match &inputs.subject {
        Subject::Shape { shape, .. } => format!("GEMM {} × {} × {}", shape.m, shape.n, shape.k),
        Subject::Model(model) => {
            let w = &model.workload;
            format!(
                "{}, batch {}, prompt {}, context {}{},",
                model.model.name,
                w.batch,
                w.prompt,
                w.context,
                new_tokens(inputs)
            )
        }
    }
}

/// Number of new tokens, if there are several.
fn several_new_tokens(inputs: &RecommendInputs) -> Option<u64> {
    match &inputs.subject {
        Subject::Shape { .. } => None,
        Subject::Model(model) => Some(model.workload.new_tokens).filter(|tokens| *tokens > 1),
    }
}

/// The new tokens in a title: `, new tokens 128`; empty for a single one.
fn new_tokens(inputs: &RecommendInputs) -> String {
    several_new_tokens(inputs).map_or(String::new(), |tokens| format!(", new tokens {tokens}"))
}

/// Headings of the two times: a token in the mean over the generation or one decode step, and the first token; of a single
/// product, its numbers of rows.
fn time_columns(inputs: &RecommendInputs) -> [String; 2] {
    match &inputs.subject {
        Subject::Shape { shape, phase: Phase::Decode, .. } => {
            [format!("M = {}", shape.m), format!("M = {PREFILL_ROWS}")]
        }
        Subject::Shape { shape, .. } => ["M = 1".to_owned(), format!("M = {}", shape.m)],
        Subject::Model(_) if several_new_tokens(inputs).is_some() => {
            ["mean TPOT".to_owned(), "TTFT".to_owned()]
        }
        Subject::Model(_) => ["decode".to_owned(), "TTFT".to_owned()],
    }
}

/// Place of the engine in a table whose rows are of several: behind the scheme.
const ENGINE_COLUMN: usize = 2;

fn ranked(inputs: &RecommendInputs, answer: &Recommendation) -> Table {
    let [token, first] = time_columns(inputs);
    let has_host = answer.ranked.iter().any(|row| row.outcome.host.is_some());
    let mut heads = vec![
        ("", Align::Right),
        ("scheme", Align::Left),
        (&*token, Align::Right),
        ("vs 16 bit", Align::Right),
        (&*first, Align::Right),
        ("vs 16 bit", Align::Right),
        (if has_host { "on card" } else { "memory" }, Align::Right),
        ("loss", Align::Left),
    ];
    if has_host {
        heads.insert(heads.len() - 1, ("on host", Align::Right));
    }
    let engine = |row: &Ranked| row.standing.engine;
    let differ = answer.ranked.windows(2).any(|pair| engine(&pair[0]) != engine(&pair[1]));
    if differ {
        heads.insert(ENGINE_COLUMN, ("engine", Align::Left));
    }
    let mut table = Table::new(&heads);
    for (index, row) in answer.ranked.iter().enumerate() {
        let outcome = &row.outcome;
        let mut cells = vec![
            (index + 1).to_string(),
            advice::scheme_name(row.scheme),
            n::time(outcome.token.expected.time),
            n::ratio(row.speedup_token),
            n::time(outcome.ttft.time),
            n::ratio(row.speedup_ttft),
            n::bytes(outcome.on_card()),
            advice::quality(&row.quality),
        ];
        if let Some(host) = outcome.host {
            cells.insert(cells.len() - 1, n::bytes(host.in_memory()));
        }
        if differ {
            cells.insert(ENGINE_COLUMN, apply::engine_name(engine(row)).to_owned());
        }
        table.push(cells);
    }
    table
}

fn flips(out: &mut Document, answer: &Recommendation) {
    let Some(first) = answer.ranked.first().filter(|first| !first.flips.is_empty()) else { return };
    out.heading("Changes that would flip the order");
    for flip in &first.flips {
        out.line(advice::flip(flip));
    }
}

fn ways(out: &mut Document, inputs: &RecommendInputs, first: &Ranked) {
    let ways = apply::apply(first.scheme, &Deployment::of(inputs, &first.outcome));
    out.heading(format!("Apply {}", advice::scheme_name(first.scheme)));
    if let Some(way) = ways.torchao {
        out.line(format!("torchao ≥ {}  {}", way.min_version, way.config));
        if !way.fallback.is_empty() {
            out.line(format!("older torchao   {}", way.fallback));
        }
    }
    for way in &ways.serve {
        let tool = apply::engine_name(way.engine);
        for command in way.text.lines() {
            out.line(format!("{tool:<15} {command}"));
        }
    }
}

fn memory(inputs: &RecommendInputs, steps: &[MemoryStep]) -> Table {
    let has_host = matches!(&inputs.subject, Subject::Model(model) if model.host.is_some());
    let mut table = Table::new(&[
        ("scheme", Align::Left),
        (if has_host { "card and host" } else { "memory" }, Align::Right),
        ("loss", Align::Left),
        (&time_columns(inputs)[0], Align::Right),
    ]);
    for step in steps {
        table.push(vec![
            advice::scheme_name(step.scheme),
            n::bytes(step.memory),
            advice::quality(&step.quality),
            n::time(step.mean_tpot),
        ]);
    }
    table
}

/// Document of the devices that meet a goal.
pub fn devices(inputs: &RecommendInputs, found: &[DeviceChoice]) -> Document {
    let mut out = Document::default();
    out.heading(format!("Devices for {} the smallest first", subject(inputs)));
    if found.is_empty() {
        out.line("No device of the catalog meets all bounds.");
    }
    let mut table = Table::new(&[
        ("device", Align::Left),
        ("memory", Align::Right),
        ("TDP", Align::Right),
        ("scheme", Align::Left),
        ("needs", Align::Right),
        (&time_columns(inputs)[0], Align::Right),
        ("first token", Align::Right),
    ]);
    for choice in found {
        let most = if choice.outcome.usable.is_known { "" } else { "at most " };
        let watts = choice.device.tdp.map_or("unknown".into(), |tdp| {
            format!("{}{}W", n::short(tdp.value.get(), 4), n::SPACE)
        });
        table.push(vec![
            choice.device.key.to_string(),
            format!("{most}{}", n::capacity(choice.device.memory.value)),
            watts,
            advice::scheme_name(choice.scheme),
            n::bytes(choice.outcome.memory),
            n::time(choice.outcome.token.expected.time),
            n::time(choice.outcome.ttft.time),
        ]);
    }
    out.table(table);
    out.notes(usual_notes(inputs));
    out
}

/// Document of a schedule.
pub fn schedule(inputs: &ScheduleInputs, answer: &Schedule) -> Document {
    let recommend = &inputs.recommend;
    let mut out = Document::default();
    out.heading(format!("{} on {}", schedule_subject(recommend), recommend.device.name));
    match answer.ranked.first() {
        Some(best) => {
            out.line(format!("Use {}.", advice::slot_name(best)));
            if let Some(reason) = advice::first_by(answer.first_by, &best.standing) {
                out.line(reason);
            }
        }
        None => out.line("No power mode, scheme and batch meet all bounds."),
    }
    let cap = inputs
        .power_cap
        .map_or(String::new(), |cap| format!(" under {}{}W", n::short(cap.get(), 3), n::SPACE));
    out.heading(format!("Best {} of {}{cap}", recommend.objective.key(), recommend.part.key()));
    out.table(slots(recommend, answer));
    if !answer.flips.is_empty() {
        out.heading("Changes that would flip the order");
        for flip in &answer.flips {
            out.line(advice::slot_flip(flip));
        }
    }
    out.notes(schedule_notes(inputs, answer));
    out
}

fn schedule_subject(inputs: &RecommendInputs) -> String {
    match &inputs.subject {
        Subject::Shape { .. } => subject(inputs),
        Subject::Model(model) => {
            let w = &model.workload;
            format!(
                "{}, prompt {}, context {}{},",
                model.model.name,
                w.prompt,
                w.context,
                new_tokens(inputs)
            )
        }
    }
}

fn slots(inputs: &RecommendInputs, answer: &Schedule) -> Table {
    let [token, _] = time_columns(inputs);
    let ranked = advice::ranked_rate_name(inputs);
    let mut heads = vec![
        ("mode", Align::Left),
        ("budget", Align::Right),
        ("scheme", Align::Left),
        ("batch", Align::Right),
        (&token, Align::Right),
        ("first token", Align::Right),
        (if ranked.is_some() { "decode rate" } else { "rate" }, Align::Right),
        ("energy/token", Align::Right),
        ("memory", Align::Right),
    ];
    if let Some(name) = &ranked {
        heads.insert(RANKED_COLUMN, (name, Align::Right));
    }
    let energy = advice::ranked_energy_name(inputs);
    if let Some(name) = &energy {
        heads.insert(RANKED_COLUMN, (name, Align::Right));
    }
    let mut table = Table::new(&heads);
    for slot in &answer.ranked {
        table.push(slot_row(inputs, slot));
    }
    table
}

/// Place of the rate or energy that ranks: behind the batch.
const RANKED_COLUMN: usize = 4;

fn slot_row(inputs: &RecommendInputs, slot: &Slot) -> Vec<String> {
    let outcome = &slot.outcome;
    let unknown = || "unknown".to_owned();
    let mut cells = vec![
        slot.mode.as_ref().map_or_else(|| "datasheet peaks".into(), ToString::to_string),
        slot.budget.map_or_else(unknown, |w| format!("{}{}W", n::short(w.get(), 3), n::SPACE)),
        advice::scheme_name(slot.scheme),
        n::count(slot.batch),
        n::time(outcome.token.expected.time),
        n::time(outcome.ttft.time),
        n::token_rate(slot.mean_throughput()),
        outcome.token.energy.map_or_else(unknown, |energy| n::energy(energy.per_token)),
        n::bytes(outcome.memory),
    ];
    if let Some(rate) = advice::ranked_rate(inputs, slot) {
        cells.insert(RANKED_COLUMN, n::token_rate(rate));
    }
    if let Some(energy) = advice::ranked_energy(inputs, slot) {
        cells.insert(RANKED_COLUMN, n::energy(energy));
    }
    cells
}
