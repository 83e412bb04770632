//! Unlike cards of one machine: layers on each, memory of each, and the time of all.

use std::borrow::Cow;

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::device::Device;
use calc_core::device::Link;
use calc_core::estimate::{Estimate, EstimateRequest, estimate};
use calc_core::lowering::Step;
use calc_core::model_arch::ModelArch;
use calc_core::parallel::{Parallel, Pipeline, stage_layers};
use calc_core::plan::{Card, CardLoad, Cards, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Fact;
use calc_core::text::Text;
use calc_core::units::{Bytes, BytesPerSec, Seconds};
use calc_core::workload::Workload;

const LINK: Link = Link::ring(BytesPerSec::from_gb(25.0), Seconds::new(5e-6));

fn device(key: &str) -> Device {
    let link = Some(Fact::assumed(LINK));
    Device { link, ..catalog::device(key).expect("catalog key").clone() }
}

fn cards(keys: &[&str]) -> Cards {
    let card = |key: &&str| Card { device: Cow::Owned(device(key)), memory_limit: None };
    Cards::new(keys.iter().map(card).collect())
}

fn request<'a>(
    first: &'a Device,
    cards: Option<&'a Cards>,
    (model, format): (&str, &str),
) -> EstimateRequest<'a> {
    let pipeline = cards.map_or(1, |cards| cards.others.len() as u64 + 1);
    let parallel = Parallel { pipeline: Pipeline::of(pipeline), ..Parallel::default() };
    EstimateRequest {
        device: first,
        mode: None,
        memory_limit: None,
        model: &catalog::model(model).expect("catalog key").arch,
        precision: PrecisionChoice::weights(catalog::format(format).expect("catalog key")),
        workload: Workload { parallel, new_tokens: 100, ..Workload::new(1, 2000) },
        weight_size: None,
        draft: None,
        engine: Some(Engine::LlamaCpp),
        calibration: &Calibration::FITTED,
        host: None,
        cards,
    }
}

const SUBJECTS: [(&str, &str); 6] = [
    ("llama-3.1-8b", "q4_k_m"),
    ("llama-3.1-70b", "q4_k_m"),
    ("gpt-oss-20b", "mxfp4"),
    ("qwen3-30b-a3b", "q4_k_m"),
    ("gemma-3-27b", "q4_k_m"),
    ("qwen2.5-32b", "q8_0"),
];
const GROUPS: [&[&str]; 5] = [
    &["rtx_4090", "rtx_3090"],
    &["rtx_3090", "rtx_3060"],
    &["rtx_5090", "rtx_3090", "rtx_3090"],
    &["rtx_4090", "rtx_3060"],
    &["rtx_5090", "rtx_4090", "rtx_3060"],
];

fn answers(mut check: impl FnMut(&str, &Estimate, &EstimateRequest<'_>)) {
    for keys in GROUPS {
        let (first, others) = (device(keys[0]), cards(&keys[1..]));
        for subject in SUBJECTS {
            let asked = request(&first, Some(&others), subject);
            let answer = estimate(asked).expect("an estimate");
            check(&format!("{subject:?} on {keys:?}"), &answer, &asked);
        }
    }
}

#[test]
fn every_layer_is_on_one_card_and_their_times_add_up() {
    let mut split = 0;
    answers(|name, answer, asked| {
        let mut next = 0;
        for load in &answer.cards {
            assert_eq!(load.layers.start, next, "{name}");
            next = load.layers.end;
            let fits = load.memory.map(|memory| memory.verdict().may_fit());
            assert!(fits != Some(false) || !answer.memory.verdict().may_fit(), "{name}");
            assert_eq!(load.layers.is_empty(), load.memory.is_none(), "{name}");
        }
        assert_eq!(next, asked.model.n_layers, "{name}");
        assert_eq!(answer.cards.iter().filter(|load| load.has_head).count(), 1, "{name}");
        let step = &answer.decode.totals;
        let ideal: Seconds = answer.cards.iter().map(|load| load.token.ideal).sum();
        assert!((ideal - step.ideal).get().abs() <= 1e-12 * ideal.get(), "{name}");
        let expected: Seconds = answer.cards.iter().map(|load| load.token.expected.time).sum();
        assert!(step.expected.time >= expected && expected >= ideal, "{name}");
        assert!(answer.decode.mbu <= 1.0 && answer.decode.mfu <= 1.0, "{name}");
        assert!(answer.energy.is_some(), "{name}");
        split += usize::from(answer.cards.iter().filter(|load| load.memory.is_some()).count() > 1);
    });
    assert!(split > 8, "{split}");
}

#[test]
fn equal_cards_with_the_cut_of_a_pipeline_are_that_pipeline() {
    for subject in SUBJECTS {
        let (first, others) = (device("rtx_4090"), cards(&["rtx_4090"]));
        let asked = request(&first, Some(&others), subject);
        let pipeline = Plan::new(EstimateRequest { cards: None, ..asked }).expect("a plan");
        let mut plan = Plan::new(asked).expect("a plan");
        plan.put_layers(&stage_layers(Engine::LlamaCpp, asked.model.n_layers, 2));
        assert_eq!(plan.footprint(), pipeline.footprint(), "{subject:?}");
        for step in [Step::decode(1, 2000), Step::prefill(1, 2000)] {
            let [cards, equal] = [&plan, &pipeline].map(|plan| plan.timed_step(step));
            for (a, b) in [
                (cards.ideal, equal.ideal),
                (cards.expected.time, equal.expected.time),
                (cards.expected.low, equal.expected.low),
                (cards.links, equal.links),
            ] {
                assert!((a - b).get().abs() <= 1e-9 * b.get(), "{subject:?}: {a:?} {b:?}");
            }
        }
        let token = pipeline.token(None, 2000);
        let power = |plan: &Plan<'_>| plan.token_energy(token).expect("known").power.all.get();
        assert!((power(&plan) - power(&pipeline)).abs() < 1e-6, "{subject:?}");
    }
}

#[test]
fn another_card_never_takes_room_away() {
    for subject in SUBJECTS {
        for key in ["rtx_5090", "rtx_4090", "rtx_3090", "rtx_3060"] {
            let first = device(key);
            let alone = estimate(request(&first, None, subject)).expect("an estimate");
            for other in ["rtx_3090", "rtx_3060", "rtx_4090"] {
                let others = cards(&[other]);
                let both = estimate(request(&first, Some(&others), subject)).expect("an estimate");
                let name = format!("{subject:?} {key} {other}");
                assert!(both.memory.missing() <= alone.memory.missing(), "{name}");
                if alone.memory.verdict().may_fit() {
                    assert!(both.memory.verdict().may_fit(), "{name}");
                    assert!(both.tpot.time <= alone.tpot.time * (1.0 + 1e-9), "{name}");
                }
            }
        }
    }
}

#[test]
fn no_other_cut_that_fits_is_faster() {
    let (first, others) = (device("rtx_4090"), cards(&["rtx_3090"]));
    for subject in [("llama-3.1-70b", "q4_k_m"), ("gpt-oss-20b", "mxfp4"), ("qwen2.5-32b", "q8_0")]
    {
        let asked = request(&first, Some(&others), subject);
        let mut plan = Plan::new(asked).expect("a plan");
        let step = Step::decode(1, 2000);
        let best = plan.timed_step(step).expected.time;
        let layers = asked.model.n_layers;
        for count in 0..=layers {
            plan.put_layers(&[count, layers - count]);
            if plan.footprint().verdict().may_fit() {
                let time = plan.timed_step(step).expected.time;
                assert!(best <= time * (1.0 + 1e-9), "{subject:?} {count}");
            }
        }
    }
}

#[test]
fn the_faster_card_takes_all_it_holds() {
    // 80 layers of 0.49 GB in Q4_K_M on 24 GB each.
    let (first, others) = (device("rtx_4090"), cards(&["rtx_3090"]));
    let answer =
        estimate(request(&first, Some(&others), ("llama-3.1-70b", "q4_k_m"))).expect("an estimate");
    let [fast, slow] = &answer.cards[..] else { panic!("two cards") };
    assert!(fast.layers.end > 40, "{fast:?}");
    let memory = fast.memory.expect("layers");
    let spare = memory.usable.bytes - memory.total();
    // One more layer brings its cache, and layers of the mixture differ by some percent.
    let layer = (memory.weights + memory.allotted_cache()) / (fast.layers.end as f64);
    assert!(spare < layer * 1.05, "{spare:?} of {layer:?}");
    assert!(slow.has_head && !fast.has_head);
    assert!(slow.token.ideal / slow.layers.clone().count() as f64 > fast.token.ideal / 45.0);
    assert!(answer.memory.total() > Bytes::from_gb(20.0));
}

#[test]
fn what_cards_cannot_do_together_is_refused() {
    let (first, nvidia, amd) = (device("rtx_4090"), cards(&["rtx_3090"]), cards(&["rx_7900_xtx"]));
    let asked = request(&first, Some(&nvidia), SUBJECTS[0]);
    let refused = |asked: EstimateRequest<'_>| estimate(asked).is_err();
    assert!(!refused(asked));
    assert!(refused(EstimateRequest { cards: Some(&amd), ..asked }));
    assert!(!refused(EstimateRequest {
        cards: Some(&amd),
        engine: Some(Engine::IdealKernels),
        ..asked
    }));
    assert!(refused(EstimateRequest { engine: Some(Engine::ExLlamaV2), ..asked }));
    let tensor = Parallel { tensor: 2, ..asked.workload.parallel };
    let workload = Workload { parallel: tensor, ..asked.workload };
    assert!(refused(EstimateRequest { workload, ..asked }));
    let unified = cards(&["gb10"]);
    assert!(refused(EstimateRequest { cards: Some(&unified), ..asked }));
}

/// A model of so many layers that only a hostile file has them, small enough for a card; the order alternates where `is_mixed`.
fn hostile(layers: u64, is_mixed: bool) -> ModelArch {
    let mut model = catalog::model("llama-3.1-8b").expect("catalog key").arch.clone();
    (model.n_layers, model.hidden_size, model.vocab_size) = (layers, 64, 1000);
    (model.add_norms, model.post_norms) = (2 * layers, 0);
    for group in model.attention.to_mut() {
        (group.n_heads, group.n_kv_heads, group.head_dim, group.v_head_dim) = (2, 1, 32, 32);
        (group.full_layers, group.windowed_layers, group.window) = (layers, 0, 0);
        if is_mixed {
            (group.full_layers, group.windowed_layers) = (layers / 2, layers / 2);
            group.window = 128;
        }
    }
    for group in model.dense.to_mut() {
        (group.width, group.layers) = (128, layers);
    }
    let order = (0..layers).map(|layer| if layer % 2 == 0 { "fd" } else { "wd" });
    let order = order.collect::<Vec<_>>().join(",");
    model.order = Text::Owned(if is_mixed { order } else { String::new() });
    model
}

/// Seconds until an answer; generous beside those of a debug build (0.8), and far below what a cut between all layers takes.
fn is_soon(name: &str, asked: EstimateRequest<'_>) -> Estimate {
    let start = std::time::Instant::now();
    let answer = estimate(asked).expect("an estimate");
    assert!(start.elapsed().as_secs() < 10, "{name}: {:?}", start.elapsed());
    answer
}

#[test]
fn many_layers_take_little_time() {
    let (first, others) = (device("rtx_4090"), cards(&["rtx_3090", "rtx_3060"]));
    let large = {
        let mut large = hostile(65_536, false);
        (large.hidden_size, large.vocab_size) = (4096, 128_000);
        large
    };
    for model in [hostile(1000, true), hostile(65_536, false), hostile(65_536, true), large] {
        for format in ["q4_k_m", "fp16"] {
            let asked = request(&first, Some(&others), ("llama-3.1-8b", format));
            let asked = EstimateRequest { model: &model, ..asked };
            let name = format!("{} layers of {} in {format}", model.n_layers, model.hidden_size);
            let answer = is_soon(&name, asked);
            assert_eq!(answer.cards[2].layers.end, model.n_layers, "{name}");
            let fits =
                |load: &CardLoad| load.memory.is_none_or(|memory| memory.verdict().may_fit());
            let all_fit = answer.cards.iter().all(fits);
            assert_eq!(all_fit, answer.memory.verdict().may_fit(), "{name}");
            let stages = |stages| {
                let parallel = Parallel { pipeline: Pipeline::of(stages), ..Parallel::default() };
                let workload = Workload { parallel, ..asked.workload };
                EstimateRequest { cards: None, workload, ..asked }
            };
            is_soon(&name, stages(1000));
            assert!(estimate(stages(65_536)).is_err(), "{name}");
        }
    }
}

#[test]
fn what_fits_on_no_cards_lies_where_it_lacks_least() {
    // A layer has 64 · 131,072 · 4 kB = 34.4 GB of KV cache, more than each of the cards.
    let (first, others) = (device("rtx_4090"), cards(&["rtx_3060"]));
    let asked = request(&first, Some(&others), ("llama-3.1-70b", "q4_k_m"));
    let workload = Workload { parallel: asked.workload.parallel, ..Workload::new(64, 131_072) };
    let answer = estimate(EstimateRequest { workload, ..asked }).expect("an estimate");
    let layers: Vec<_> = answer.cards.iter().map(|load| load.layers.clone()).collect();
    assert_eq!(layers, [0..80, 80..80]);
    assert!(!answer.cards[1].has_room && answer.cards[0].has_room);
    // 75 GB of weights: one of the cards is full, and the other one lacks what neither holds.
    let asked = request(&first, Some(&others), ("llama-3.1-70b", "q8_0"));
    let answer = estimate(asked).expect("an estimate");
    let fits = |load: &CardLoad| load.memory.expect("layers").verdict().may_fit();
    assert_eq!(answer.cards.iter().filter(|load| fits(load)).count(), 1);
    let alone = estimate(request(&first, None, ("llama-3.1-70b", "q8_0"))).expect("an estimate");
    let held = alone.memory.missing() - answer.memory.missing();
    assert!(held > Bytes::from_gb(10.0), "{held:?} on the other card");
}

#[test]
fn a_card_may_have_no_layer_where_there_are_more_cards_than_layers() {
    let mut model = catalog::model("llama-3.1-8b").expect("catalog key").arch.clone();
    model.n_layers = 2;
    model.add_norms = 4;
    model.attention.to_mut()[0].full_layers = 2;
    model.dense.to_mut()[0].layers = 2;
    let (first, others) = (device("rtx_4090"), cards(&["rtx_3090", "rtx_3060"]));
    for engine in [Engine::LlamaCpp, Engine::Vllm] {
        let asked = request(&first, Some(&others), ("llama-3.1-8b", "fp16"));
        let asked = EstimateRequest { model: &model, engine: Some(engine), ..asked };
        let answer = estimate(asked).expect("an estimate");
        assert_eq!(answer.cards.iter().filter(|load| load.layers.is_empty()).count(), 2);
        assert!(estimate(EstimateRequest { cards: None, ..asked }).is_err(), "three stages");
    }
}

#[test]
fn an_open_engine_is_one_that_serves_all_cards() {
    for (keys, format, engine) in [
        (["v100_sxm2_32gb", "p40"], "fp16", Engine::LlamaCpp),
        (["v100_sxm2_32gb", "v100_pcie_16gb"], "fp16", Engine::Vllm),
        (["rtx_4090", "rtx_3090"], "int4_g128", Engine::Vllm),
        (["rtx_4090", "rtx_3090"], "q4_k_m", Engine::LlamaCpp),
    ] {
        let (first, others) = (device(keys[0]), cards(&keys[1..]));
        let asked = request(&first, Some(&others), ("llama-3.1-8b", format));
        let asked = EstimateRequest { engine: None, ..asked };
        assert_eq!(asked.engine(), engine, "{keys:?}");
        assert_eq!(estimate(asked).expect("an estimate").basis.engine, engine, "{keys:?}");
    }
}
