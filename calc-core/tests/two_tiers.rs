//! Laws of memory in two tiers, over all models of the catalog: no step beats the roof of either memory, more of anything is
//! never slower, and the bytes of both places are those of the model.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::{self, formats, links, models};
use calc_core::device::{Device, Link};
use calc_core::estimate::{Estimate, EstimateRequest, estimate};
use calc_core::footprint::weight_bytes;
use calc_core::lowering::Step;
use calc_core::model_arch::ModelArch;
use calc_core::plan::{Behind, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Fact;
use calc_core::text::Text;
use calc_core::tiers::{
    COPIED_FROM, Host, Placement, dram, feed_forward_layers, first_layers, least_read,
};
use calc_core::units::{Bytes, BytesPerSec, Seconds};
use calc_core::workload::Workload;

const CARDS: [&str; 3] = ["rtx_3060_12gb", "rtx_4090", "rx_7900_xtx"];

/// Hosts by memory: transfers per second, channels, GiB.
const HOSTS: [(u32, u32, f64); 3] = [(3200, 2, 64.0), (6000, 2, 192.0), (4800, 12, 768.0)];

fn card(key: &str) -> Device {
    catalog::device(key).expect("catalog key").clone()
}

fn host((speed, channels, gib): (u32, u32, f64), ssd: Option<f64>) -> Behind {
    let processor = catalog::device("ryzen_9_7950x").expect("catalog key");
    let link = links::find("pcie_4_x16").expect("a preset").host_link();
    Behind::new(Host {
        name: Text::Borrowed("test"),
        bandwidth: Fact::derived(dram(speed, channels)),
        peaks: processor.peaks.0.map(|peak| peak.map(|fact| fact.value)),
        installed: Bytes::from_gib(gib),
        usable: Bytes::from_gib(gib * 0.9),
        link,
        link_name: Text::Borrowed("PCIe 4.0 x16"),
        ssd: ssd.map(BytesPerSec::from_gb),
    })
}

fn request<'a>(card: &'a Device, model: &'a ModelArch, host: &'a Behind) -> EstimateRequest<'a> {
    EstimateRequest {
        device: card,
        mode: None,
        memory_limit: None,
        model,
        precision: PrecisionChoice::weights(&formats::GGUF_Q4_K),
        workload: Workload { new_tokens: 300, ..Workload::new(1, 1024) },
        weight_size: None,
        draft: None,
        engine: Some(Engine::LlamaCpp),
        calibration: &Calibration::FITTED,
        host: Some(host),
        cards: None,
    }
}

#[test]
fn a_host_moves_no_table_that_the_engine_keeps_on_the_card() {
    let card = card("rtx_4090");
    let host = host(HOSTS[1], None);
    for model in models::all() {
        for engine in [Engine::LlamaCpp, Engine::Ollama] {
            let asked =
                EstimateRequest { engine: Some(engine), ..request(&card, &model.arch, &host) };
            let alone = EstimateRequest { host: None, ..asked };
            let alone = Plan::new(alone).expect("a plan").footprint();
            let mut plan = Plan::new(asked).expect("a plan");
            plan.set_placement(Placement::ON_CARD);
            let memory = plan.footprint();
            let there = memory.host.expect("a host").weights;
            let close = |a: Bytes, b: Bytes| (a - b).get().abs() <= 1e-9 * alone.weights.get();
            let said = format!("{} {engine:?}: {memory:?} {alone:?}", model.key);
            assert!(close(memory.weights, alone.weights), "{said}");
            assert!(close(there, alone.tables_on_host), "{said}");
        }
    }
    // 262,144 rows of 8960 embeddings in Q6_K, which llama.cpp moves and Ollama does not.
    let model = &catalog::model("gemma-3n-e4b").expect("catalog key").arch;
    let q4 = PrecisionChoice::weights(catalog::format("q4_k_m").expect("catalog key"));
    let weights = |engine| {
        let asked = request(&card, model, &host);
        let asked = EstimateRequest { engine: Some(engine), precision: q4, ..asked };
        Plan::new(asked).expect("a plan").footprint().weights.get()
    };
    let moved = weights(Engine::Ollama) - weights(Engine::LlamaCpp);
    assert!((moved - 262_144.0 * 8960.0 * 6.5625 / 8.0).abs() < 1.0, "{moved}");
}

/// Every model with every card and host, where it fits.
fn answers(ssd: Option<f64>) -> Vec<(String, Behind, Estimate, Bytes)> {
    let mut found = Vec::new();
    for model in models::all() {
        for key in CARDS {
            for memory in HOSTS {
                let (card, host) = (card(key), host(memory, ssd));
                let asked = request(&card, &model.arch, &host);
                let answer = estimate(asked).expect("an estimate");
                // The host has a copy of an embedding that is the LM head, too.
                let copy = if model.arch.tied_embeddings {
                    answer
                        .precision
                        .embedding
                        .stored_bytes(model.arch.vocab_size, model.arch.hidden_size)
                } else {
                    Bytes::ZERO
                };
                let all = weight_bytes(&model.arch, &answer.precision) + copy;
                found.push((format!("{} on {key} with {memory:?}", model.key), host, answer, all));
            }
        }
    }
    found
}

#[test]
fn the_bytes_of_both_places_are_those_of_the_model() {
    let mut split = 0;
    for (name, _, answer, all) in answers(None) {
        let on_host = answer.memory.host.expect("a host");
        let sum = answer.memory.weights + on_host.weights;
        assert!((sum / all - 1.0).abs() < 1e-12, "{name}: {sum:?} of {all:?}");
        assert!(answer.memory.weights >= Bytes::ZERO && on_host.weights >= Bytes::ZERO, "{name}");
        split += u32::from(answer.placement.is_some_and(|placement| placement.is_split()));
    }
    assert!(split > 100, "only {split} are split");
}

#[test]
fn what_is_said_to_fit_fits_in_both_places() {
    let mut outcomes = [0, 0];
    for (name, host, answer, _) in answers(None) {
        let fits = answer.memory.verdict().may_fit();
        let on_host = answer.memory.host.expect("a host");
        let both = answer.memory.total() <= answer.memory.usable.bytes
            && on_host.in_memory() <= host.host.usable + Bytes::new(1.0);
        assert_eq!(fits, both, "{name}");
        outcomes[usize::from(fits)] += 1;
    }
    assert!(outcomes.iter().all(|count| *count > 20), "{outcomes:?}");
}

/// The weights that a step reads in each place, divided by the bandwidth of the place, are a lower bound on its time.
#[test]
fn no_step_beats_the_roof_of_either_memory() {
    for model in models::all() {
        for memory in HOSTS {
            let (card, host) = (card("rtx_4090"), host(memory, None));
            let mut plan = Plan::new(request(&card, &model.arch, &host)).expect("a plan");
            let layers = model.arch.n_layers;
            for placement in [
                Placement::ON_CARD,
                Placement::of_layers(layers / 2, &model.arch),
                Placement::of_feed_forward(feed_forward_layers(&model.arch)),
                Placement { copies: false, ..Placement::of_layers(layers, &model.arch) },
            ] {
                plan.set_placement(placement);
                for step in [Step::decode(1, 2048), Step::prefill(1, 512)] {
                    assert_above_roofs(&plan, &placement, step, &host, model.key);
                }
            }
        }
    }
}

fn assert_above_roofs(plan: &Plan<'_>, on: &Placement, step: Step, host: &Behind, name: &str) {
    let mut there = Bytes::ZERO;
    let mut here = Bytes::ZERO;
    plan.kernels(step, &mut |op, _, _| {
        let bytes = op.cost.traffic.weights * op.count as f64;
        let on_host = bytes * on.share(op.kind, plan.model());
        // The ideal of copies counts fewer experts than uniform routing.
        let copies = on.copies && step.tokens() >= COPIED_FROM;
        there += on_host * if copies { least_read(&op.shape, step.tokens()) } else { 1.0 };
        here += bytes - on_host;
    });
    let totals = plan.timed_step(step);
    // Copied weights are read by the card, too.
    let least = there / host.host.bandwidth.value;
    let own = here / plan.roofs.bandwidth;
    let slack = 1.0 - 1e-9;
    for time in [totals.ideal, totals.expected.low, totals.expected.time] {
        assert!(time >= least * slack && time >= own * slack, "{name}, {on:?}, {step:?}");
    }
    let both = least + own;
    assert!(totals.ideal >= both * slack, "{name}, {on:?}, {step:?}: one after the other");
}

/// The time for which a placement is chosen.
fn answer_time(answer: &Estimate, request: &EstimateRequest<'_>) -> Seconds {
    let plan = Plan::new(*request).expect("a plan");
    let chunk = plan.timed_step(plan.largest_step(&request.workload)).expected.time;
    let chunks = plan.chunks().steps as f64;
    chunk * chunks + answer.tpot.time * request.workload.new_tokens as f64
}

#[test]
fn more_of_anything_is_never_slower() {
    for model in models::all() {
        let base_card = card("rtx_4090");
        let base_host = host((4800, 2, 512.0), None);
        let time = |card: &Device, host: &Behind| {
            let asked = request(card, &model.arch, host);
            let answer = estimate(asked).expect("an estimate");
            answer.memory.verdict().may_fit().then(|| answer_time(&answer, &asked))
        };
        let Some(base) = time(&base_card, &base_host) else { continue };
        let mut faster = base_host.clone();
        faster.host.bandwidth = Fact::derived(dram(6000, 2));
        let mut wider = base_host.clone();
        let link = wider.host.link.value;
        wider.host.link = Fact::assumed(Link { bandwidth: link.bandwidth * 2.0, ..link });
        let larger = base_card.clone().with_memory(Bytes::from_gib(32.0));
        for (what, card, host) in [
            ("faster memory of the host", &base_card, &faster),
            ("a faster link", &base_card, &wider),
            ("more memory of the card", &larger, &base_host),
        ] {
            let other = time(card, host).expect("it fitted with less");
            assert!(other <= base * (1.0 + 1e-9), "{} is slower with {what}", model.key);
        }
    }
}

#[test]
fn an_ssd_takes_what_the_memory_does_not_and_costs_time() {
    let arch = &catalog::model("deepseek-v3").expect("catalog key").arch;
    let card = card("rtx_4090");
    let (none, some) = (host(HOSTS[1], None), host(HOSTS[1], Some(7.0)));
    let without = estimate(request(&card, arch, &none)).expect("an estimate");
    let with = estimate(request(&card, arch, &some)).expect("an estimate");
    assert!(!without.memory.verdict().may_fit() && with.memory.verdict().may_fit());
    let on_ssd = with.memory.host.expect("a host").on_ssd;
    assert!(on_ssd > Bytes::from_gb(100.0));
    assert!(with.token_ideal > without.token_ideal, "reads from the SSD take time");
}

#[test]
fn a_host_applies_to_one_card_and_to_llama_cpp() {
    let arch = &catalog::model("llama-3.1-8b").expect("catalog key").arch;
    let host = host(HOSTS[0], None);
    let shared = card("jetson_agx_orin_64gb");
    let own = card("rtx_4090");
    let asked = request(&own, arch, &host);
    assert!(estimate(EstimateRequest { device: &shared, ..asked }).is_err());
    assert!(estimate(EstimateRequest { engine: Some(Engine::Vllm), ..asked }).is_err());
    let mut two = asked;
    two.workload.parallel.tensor = 2;
    assert!(estimate(two).is_err());
}

#[test]
fn a_model_that_fits_on_the_card_runs_there_as_without_a_host() {
    let arch = &catalog::model("llama-3.1-8b").expect("catalog key").arch;
    let (card, host) = (card("rtx_4090"), host(HOSTS[0], None));
    let asked = request(&card, arch, &host);
    let with = estimate(asked).expect("an estimate");
    let alone = estimate(EstimateRequest { host: None, ..asked }).expect("an estimate");
    assert_eq!(with.placement.map(|placement| placement.is_split()), Some(false));
    assert_eq!(with.tpot, alone.tpot);
    assert_eq!(with.ttft, alone.ttft);
}

#[test]
fn layers_with_experts_are_counted_in_their_order() {
    for (key, parts, spanned) in [
        ("deepseek-v3", 10, 13),
        ("gpt-oss-120b", 10, 10),
        ("qwen3.5-35b-a3b", 7, 7),
        ("llama-3.1-70b", 40, 40),
        // r,5(e,r,e,r,f,e,r),3(e,r),f,e,4(r,e): the fifth section ends the first 15, and the next are 37, 39, 41 and 44.
        ("nemotron-3-nano-30b-a3b", 15, 35),
        ("nemotron-3-nano-30b-a3b", 19, 44),
    ] {
        let arch = &catalog::model(key).expect("catalog key").arch;
        assert_eq!(first_layers(parts, arch), spanned, "{key}");
        assert_eq!(Placement::of_layers(spanned, arch).feed_forward, parts, "{key}");
    }
}

/// The numbers of docs/theory/two-tiers.md: gpt-oss-120b with the experts of 26 layers behind 96 GB/s and PCIe 4.0 x16.
#[test]
fn the_example_of_the_theory_is_computed_by_hand() {
    let arch = &catalog::model("gpt-oss-120b").expect("catalog key").arch;
    let (card, host) = (card("rtx_4090"), host((6000, 2, 96.0), None));
    let precision = PrecisionChoice {
        experts: Some(&formats::GGUF_MXFP4),
        ..PrecisionChoice::weights(&formats::GGUF_Q8_0)
    };
    let asked = EstimateRequest { precision, ..request(&card, arch, &host) };
    let mut plan = Plan::new(asked).expect("a plan");
    let time = |plan: &Plan<'_>, step| plan.timed_step(step);
    plan.set_placement(Placement::ON_CARD);
    let (alone, prompt) = (time(&plan, Step::decode(1, 0)), time(&plan, Step::prefill(1, 512)));
    plan.set_placement(Placement::of_feed_forward(26));
    let (split, copied) = (time(&plan, Step::decode(1, 0)), time(&plan, Step::prefill(1, 512)));
    let close = |found: f64, by_hand: f64| (found / by_hand - 1.0).abs() < 0.02;
    // 26 layers x 4 experts x 3 matrices x 2880 x 2880 x 4.25 bits at 96 GB/s, less their time on the card at 1008 GB/s.
    let ideal = (split.ideal - alone.ideal).get();
    assert!(close(ideal, 1.3748e9 / 96e9 - 1.3748e9 / 1008e9), "{ideal}");
    assert!(close(split.links.get(), 52.0 * (2880.0 * 4.0 / 24.89e9 + 30e-6)), "{:?}", split.links);
    assert!(close(split.host.get(), 1.3748e9 / 96e9 / 0.44), "{:?}", split.host);
    // Three quarters of the 128 experts go over the link; with uniform routing 512 tokens leave hardly one out.
    let moved = (copied.expected.time - prompt.expected.time).get();
    assert!(close(moved, 0.75 * 43.99e9 / 24.89e9 + 30e-6), "{moved}");
    // At the roof half of them do, in place of being read on the card.
    let moved = (copied.ideal - prompt.ideal).get();
    assert!(close(moved, 0.5 * 43.99e9 / 31.508e9 - 43.99e9 / 1008e9), "{moved}");
}

/// The card of a split model is idle while it waits for the host: neither its power nor its shares count what the host does.
#[test]
fn power_and_shares_of_the_roof_are_those_of_the_card() {
    let arch = &catalog::model("gpt-oss-120b").expect("catalog key").arch;
    let (card, host) = (card("rtx_4090"), host((5600, 2, 96.0), None));
    let precision = PrecisionChoice {
        experts: Some(&formats::GGUF_MXFP4),
        ..PrecisionChoice::weights(&formats::GGUF_Q8_0)
    };
    let asked = EstimateRequest { precision, ..request(&card, arch, &host) };
    let answer = estimate(asked).expect("an estimate");
    let on = answer.placement.expect("a host");
    assert!(on.is_split());
    let plan = Plan::new(asked).expect("a plan");
    let (mut there, mut here) = (Bytes::ZERO, Bytes::ZERO);
    let middle = Step::decode(1, 1024 + 149);
    plan.kernels(middle, &mut |op, _, _| {
        let share = on.share(op.kind, arch);
        there += op.cost.traffic.total() * (op.count as f64 * share);
        let read = op.cost.traffic.weights + op.cost.traffic.kv_cache;
        here += read * (op.count as f64 * (1.0 - share));
    });
    let busy = answer.mean.ideal - there / host.host.bandwidth.value;
    let share = busy / answer.mean.expected.time;
    let power = answer.mean.energy.expect("a TDP").power.device.get();
    assert!((power / (90.0 + 360.0 * share) - 1.0).abs() < 0.01, "{power} W, busy {share}");
    assert!(power < 150.0, "{power} W of 450 W");
    let mbu = here / card.bandwidth.value / answer.mean.expected.time;
    assert!((answer.mean_mbu / mbu - 1.0).abs() < 0.01, "{} and {mbu}", answer.mean_mbu);
    let decode = answer.decode.mbu;
    assert!((decode / mbu - 1.0).abs() < 0.05, "{decode} and {mbu}");
}

#[test]
fn the_links_of_a_prompt_are_those_of_all_its_chunks() {
    let arch = &catalog::model("gpt-oss-120b").expect("catalog key").arch;
    let (card, host) = (card("rtx_4090"), host((5600, 2, 96.0), None));
    let asked = EstimateRequest { workload: Workload::new(1, 4096), ..request(&card, arch, &host) };
    let mut plan = Plan::new(asked).expect("a plan");
    plan.set_placement(Placement { copies: false, ..Placement::of_feed_forward(36) });
    let chunk = plan.timed_step(plan.largest_step(&asked.workload)).links;
    let (all, chunks) = (plan.first_token().links, plan.chunks().steps);
    assert_eq!(chunks, 8);
    assert!((all / (chunk * 8.0) - 1.0).abs() < 1e-9, "{all:?} of 8 times {chunk:?}");
}

/// llama.cpp keeps the last layers on the card, and they are those with more bits.
#[test]
fn the_card_has_the_bytes_of_its_own_layers() {
    let arch = &catalog::model("qwen3-235b-a22b").expect("catalog key").arch;
    let (card, host) = (card("rtx_4090"), host((6000, 2, 192.0), None));
    let precision = PrecisionChoice::weights(&formats::GGUF_Q4_K);
    let asked = EstimateRequest { precision, ..request(&card, arch, &host) };
    let mut plan = Plan::new(asked).expect("a plan");
    let mut weights = |on_host| {
        plan.set_placement(Placement::of_feed_forward(on_host));
        plan.footprint().weights.get()
    };
    // The card keeps 13 of 94 layers. 12 of them are in the last eighth, whose down projections are in Q6_K.
    let found = weights(81) - weights(94);
    let matrix = 128.0 * 1536.0 * 4096.0 / 8.0;
    let by_hand = matrix * (13.0 * 2.0 * 4.5 + 12.0 * 6.5625 + 4.5);
    assert!((found / by_hand - 1.0).abs() < 1e-9, "{found} {by_hand}");
}
