//! Answer of `estimate` for people.

mod cards;
mod formats;
mod weights;

use calc_core::estimate::{Estimate, PhaseEstimate};
use calc_core::expected::Expected;
use calc_core::footprint::bits_per_weight;
use calc_core::model_arch::{LayerPart, ModelArch};
use calc_core::plan::OpRow;
use calc_core::software::CacheRule;
use calc_core::units::Bytes;
use calc_core::workload::Workload;

use super::Document;
use super::analyze::expected;
use crate::input::request::EstimateInputs;
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::words;
use crate::output::words::remedies::Asked;

/// Document of an estimate.
pub fn estimate(inputs: &EstimateInputs, answer: &Estimate) -> Document {
    let mut out = Document::default();
    let mode = inputs.power_mode.as_ref().map_or(String::new(), |mode| format!(" in mode {mode}"));
    out.heading(format!("{} on {}{mode}", inputs.model.name, inputs.hardware_name()));
    if let Some(sentence) = words::too_long(inputs) {
        out.line(sentence);
    }
    out.line(verdict(inputs, answer));
    for change in words::remedies::what_would_fit(inputs, answer, Asked::Flags) {
        out.line(change);
    }
    setup(&mut out, inputs, answer);
    out.table(phases(&inputs.workload, answer));
    memory(&mut out, inputs, answer);
    latency(&mut out, inputs, answer);
    let decode = decode_step(&inputs.workload, "decode");
    for (name, phase) in [("prefill", &answer.prefill), (&*decode, &answer.decode)] {
        out.heading(format!("Operators of {name}, totals over their instances"));
        out.table(operators(phase));
        out.heading(format!("Layers of {name}"));
        out.table(layers(&inputs.model.arch, phase));
    }
    out.heading("Sources");
    for device in inputs.devices() {
        out.line(format!("device  {}", device.source));
    }
    out.line(format!("model   {}", inputs.model.source));
    out.notes(words::estimate_notes(inputs, answer));
    out
}

fn verdict(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let fits = words::memory::fit_of(inputs, answer);
    if !answer.memory.verdict().may_fit() {
        return fits;
    }
    let bound = words::limit(&answer.middle);
    let roof = n::token_rate(answer.mean.ideal_throughput());
    if answer.link_unknown {
        return format!("{fits} Decode {bound}: {}.", words::without_link(answer));
    }
    let (rate, first) = (n::token_rate(answer.mean.throughput()), n::time(answer.ttft.time));
    let over = words::mean_over(&inputs.workload);
    let at = words::rate_at_context(&inputs.workload, answer);
    let without = words::without_hand_over(inputs);
    format!(
        "{fits} Decode {bound}: {rate} expected{over}{at}{without}, {roof} at the roof{}. First token after {first}.",
        words::roof_leaves_out(&answer.middle)
    )
}

fn setup(out: &mut Document, inputs: &EstimateInputs, answer: &Estimate) {
    let (p, w, arch) = (&answer.precision, &inputs.workload, &inputs.model.arch);
    let (all, active) = (arch.n_params(), arch.n_active_params());
    let active =
        if active == all { String::new() } else { format!(", {} active", n::count(active)) };
    out.heading("Setup");
    out.line(format!("model       {} parameters{active}", n::count(all)));
    if let Some(pattern) = words::layers::pattern(arch) {
        out.line(format!("layers      {pattern}"));
    }
    // A file of llama.cpp mixes types, and its own size or one of the request counts instead of the format's.
    let is_nominal = p.weights.file.is_none() || inputs.weight_size.is_some();
    let (bits, mean) = if is_nominal {
        (p.weights.bits_per_element(), "")
    } else {
        (bits_per_weight(arch, p), " on average")
    };
    out.line(format!(
        "weights     {}, {} bits per weight{mean}",
        p.weights.name,
        n::short(bits, 5)
    ));
    if arch.has_experts() && p.experts != p.weights {
        out.line(format!(
            "experts     {}, {} bits per weight",
            p.experts.name,
            n::short(p.experts.bits_per_element(), 5)
        ));
    }
    out.line(format!(
        "activations {}; KV cache {}; {}",
        formats::activations(p),
        p.kv_cache.name,
        formats::embedding_and_head(p)
    ));
    for roofs in cards::roofs(inputs, answer) {
        out.line(format!("roofs       {roofs}"));
    }
    out.line(format!(
        "workload    batch {}, prompt {}, context {}, new tokens {}",
        w.batch, w.prompt, w.context, w.new_tokens
    ));
    if let Some(images) = &answer.images {
        out.line(format!("images      {}", words::towers::images(inputs, images)));
    }
    cards::split(out, inputs, answer);
}

/// Name of the reported decode step; with several new tokens, with its context.
fn decode_step(workload: &Workload, name: &str) -> String {
    if workload.new_tokens > 1 {
        format!("decode step at context {}", workload.context)
    } else {
        name.to_owned()
    }
}

fn phases(workload: &Workload, answer: &Estimate) -> Table {
    let step = decode_step(workload, "decode step");
    let mut table =
        Table::new(&[("", Align::Left), ("prefill", Align::Right), (&step, Align::Right)]);
    let known = |text: String| if answer.link_unknown { "unknown".into() } else { text };
    let mut row = |name: &str, cell: &dyn Fn(&PhaseEstimate) -> String| {
        table.push(vec![name.into(), cell(&answer.prefill), cell(&answer.decode)]);
    };
    row("work", &|p| n::flops(p.totals.cost.flops));
    row("traffic", &|p| n::bytes(p.totals.cost.traffic.total()));
    row("  weights", &|p| n::bytes(p.totals.cost.traffic.weights));
    row("  KV cache", &|p| n::bytes(p.totals.cost.traffic.kv_cache));
    row("  activations", &|p| n::bytes(p.totals.cost.traffic.activations));
    row("intensity", &|p| n::intensity(p.totals.cost.intensity()));
    row("ridge", &|p| n::intensity(p.ridge));
    row("memory time", &|p| n::time(p.totals.time.memory));
    row("compute time", &|p| n::time(p.totals.time.compute));
    row("bound", &|p| words::bound_of(&p.totals, p.bound).into());
    let likely = |p: &PhaseEstimate| words::resource(p.totals.expected_resource());
    let differs = |p: &&PhaseEstimate| likely(p) != words::bound_of(&p.totals, p.bound);
    if [&answer.prefill, &answer.decode].iter().any(differs) {
        row("  of expected time", &|p| likely(p).into());
    }
    row("ideal, sum of the longer", &|p| n::time(p.totals.ideal));
    let name = if answer.link_unknown { "expected, without the link" } else { "expected" };
    row(name, &|p| n::time(p.totals.expected.time));
    row("  from", &|p| n::time(p.totals.expected.low));
    row("  to", &|p| n::time(p.totals.expected.high));
    row("MFU", &|p| known(n::percent(p.mfu)));
    row("MBU", &|p| known(n::percent(p.mbu)));
    table
}

/// The line on what the engine allots beside the KV cache.
fn rounding(inputs: &EstimateInputs, answer: &Estimate) -> String {
    let engine = answer.basis.engine;
    let model = inputs.model.arch.shard(inputs.workload.parallel.tensor);
    let rule = CacheRule::of(engine, &inputs.device, &model);
    let (pages, drafts) = (inputs.pages(), inputs.workload.draft_tokens());
    format!(
        "  rounding  {}  {} allots {}",
        n::bytes(answer.memory.cache_rounding),
        words::apply::engine_name(engine),
        words::memory::rounding(&rule, &model, pages.as_ref(), drafts)
    )
}

fn memory(out: &mut Document, inputs: &EstimateInputs, answer: &Estimate) {
    let m = &answer.memory;
    let devices = inputs.workload.parallel.devices();
    out.heading(match devices {
        1 => "Memory".to_owned(),
        _ if !answer.cards.is_empty() => "Memory of the card with the least to spare".to_owned(),
        many => format!("Memory per device, {many} devices"),
    });
    weights::weights(out, inputs, m);
    if m.towers > Bytes::ZERO {
        out.line(format!(
            "towers      {}  {}",
            n::bytes(m.towers),
            words::towers::counted(&inputs.model.arch)
        ));
    }
    out.line(format!(
        "KV cache    {}  at batch {} and {} tokens",
        n::bytes(m.kv_cache),
        inputs.workload.batch,
        inputs.workload.longest()
    ));
    if m.cache_rounding > Bytes::ZERO {
        out.line(rounding(inputs, answer));
    }
    out.line(format!("activations {}", n::bytes(m.activations)));
    out.line(format!("reserve     {}  (assumed)", n::bytes(m.reserve)));
    if let Some(draft) = m.draft {
        out.line(format!(
            "draft model {}  {} weights, {} KV cache, {} activations",
            n::bytes(draft.total()),
            n::bytes(draft.weights),
            n::bytes(draft.allotted_cache()),
            n::bytes(draft.activations)
        ));
    }
    out.line(format!(
        "total       {}  of {} usable = {}",
        n::bytes(m.total()),
        n::bytes(m.usable.bytes),
        words::memory::origin_of(inputs, answer)
    ));
    if !answer.cards.is_empty() {
        cards::cards(out, inputs, answer);
    } else if devices > 1 {
        out.line(format!("all devices {}", n::bytes(m.group_total(devices))));
    }
    if let (Some(host), Some(placement)) = (m.host, answer.placement) {
        let arch = &inputs.model.arch;
        out.line(format!("host        {}", words::placement::bytes(&host)));
        out.line(format!("placement   {}", words::placement::places(&placement, arch)));
        let options = words::placement::options(&placement, arch, &inputs.workload);
        out.line(match words::placement::no_option(answer.basis.engine) {
            Some(sentence) => format!("options     {sentence}"),
            None => format!("llama.cpp   {}", options.join(" ")),
        });
    }
}

fn latency(out: &mut Document, inputs: &EstimateInputs, answer: &Estimate) {
    let w = &inputs.workload;
    let fits = answer.memory.verdict().may_fit();
    out.heading(if fits { "Time and energy" } else { "Time and energy, if it fitted" });
    if answer.link_unknown {
        let at_least = |name: &str, ideal, time: &Expected| {
            format!("{name}at least {} ideal; without the link {}", n::time(ideal), expected(time))
        };
        out.line(at_least("TTFT        ", answer.ttft_ideal, &answer.ttft));
        out.line(at_least("TPOT        ", answer.token_ideal, &answer.tpot));
        if w.new_tokens > 1 {
            out.line(at_least("mean TPOT   ", answer.mean.ideal, &answer.mean.expected));
            out.line(at_least("end to end  ", answer.end_to_end_ideal, &answer.end_to_end));
        }
        return;
    }
    let first = words::first_token(w, answer);
    out.line(format!(
        "TTFT        {}{}",
        expected(&answer.ttft),
        first.map_or(String::new(), |how| format!("  {how}"))
    ));
    if let Some(encoder) = answer.images.and_then(|images| images.encoder) {
        out.line(format!("encoder     {}  a part of TTFT", expected(&encoder.expected)));
    }
    let at = format!("  at {} cached tokens", w.context);
    let how = w.speculation.map_or(String::new(), |s| {
        format!(
            "  with {} draft tokens, {:.3} tokens a round",
            s.draft_tokens,
            s.tokens_per_round()
        )
    });
    out.line(format!("TPOT        {}{at}{how}", expected(&answer.tpot)));
    let provenance = answer.tpot.provenance;
    out.line(format!("factors     {}", words::factors_source(provenance, &answer.basis)));
    super::measured_how(out, inputs.calibration.as_deref());
    if w.new_tokens > 1 {
        generation(out, w, answer);
    } else {
        let rate = n::token_rate(answer.throughput);
        out.line(format!("throughput  {rate} = batch {} / TPOT", w.batch));
    }
    match answer.mean.energy {
        Some(energy) => {
            let all = match energy.power.devices {
                1 => String::new(),
                many => format!(" over {many} devices"),
            };
            out.line(format!(
                "energy      {} per token at {} W{all} ({})",
                n::energy(energy.per_token),
                n::plain(energy.power.all.get()),
                words::ENERGY_BASIS
            ));
        }
        None => out.line("energy      unknown: the power of this device is not published"),
    }
}

/// The times of all tokens after the first, and their means.
fn generation(out: &mut Document, w: &Workload, answer: &Estimate) {
    let steps = w.new_tokens - 1;
    out.line(format!(
        "generation  {}  {} decode steps, from {} to {} cached tokens",
        n::time(answer.generation.time),
        steps,
        w.filled(),
        w.filled() + w.new_tokens - 2
    ));
    out.line(format!(
        "mean TPOT   {} = generation / {steps}, at {} MBU",
        expected(&answer.mean.expected),
        n::percent(answer.mean_mbu)
    ));
    let (mean, step) = (answer.mean.throughput(), answer.throughput);
    out.line(format!("mean rate   {} = batch {} / mean TPOT", n::token_rate(mean), w.batch));
    let at = format!("at {} cached tokens", w.context);
    out.line(format!("throughput  {} = batch {} / TPOT, {at}", n::token_rate(step), w.batch));
    out.line(format!("end to end  {} = TTFT + generation", n::time(answer.end_to_end.time)));
}

/// The parts of layers with the sums over their operators.
fn layers(model: &ModelArch, phase: &PhaseEstimate) -> Table {
    let mut table = Table::new(&[
        ("part", Align::Left),
        ("layers", Align::Right),
        ("weights", Align::Right),
        ("KV cache", Align::Right),
        ("ideal", Align::Right),
        ("share", Align::Right),
        ("expected", Align::Right),
    ]);
    for row in &phase.layers {
        let (totals, traffic) = (&row.totals, &row.totals.cost.traffic);
        let layers = match row.part {
            LayerPart::WHOLE => n::NO_NUMBER.to_owned(),
            part => part.layers(model).to_string(),
        };
        table.push(vec![
            words::layers::part(model, row.part),
            layers,
            n::bytes(traffic.weights),
            n::bytes(traffic.kv_cache),
            n::time(totals.ideal),
            n::percent(totals.ideal / phase.totals.ideal),
            n::time(totals.expected.time),
        ]);
    }
    table
}

fn operators(phase: &PhaseEstimate) -> Table {
    let mut table = Table::new(&[
        ("operator", Align::Left),
        ("count", Align::Right),
        ("work", Align::Right),
        ("traffic", Align::Right),
        ("FLOP/B", Align::Right),
        ("ideal", Align::Right),
        ("share", Align::Right),
        ("expected", Align::Right),
        ("bound", Align::Left),
    ]);
    for row in &phase.operators {
        table.push(operator(row, phase));
    }
    table
}

fn operator(row: &OpRow, phase: &PhaseEstimate) -> Vec<String> {
    let totals = &row.totals;
    if !row.kind.is_kernel() {
        let none = || n::NO_NUMBER.to_owned();
        let (name, time) = (row.kind.key().to_owned(), n::time(totals.expected.time));
        return vec![
            name,
            row.count.to_string(),
            none(),
            none(),
            none(),
            none(),
            none(),
            time,
            none(),
        ];
    }
    vec![
        row.kind.key().into(),
        row.count.to_string(),
        n::flops(totals.cost.flops),
        n::bytes(totals.cost.traffic.total()),
        n::plain(totals.cost.intensity().get()),
        n::time(totals.ideal),
        n::percent(totals.ideal / phase.totals.ideal),
        n::time(totals.expected.time),
        words::bound_of(totals, totals.time.bound()).into(),
    ]
}
