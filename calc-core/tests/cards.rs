//! Unlike cards of one machine: layers on each, memory of each, and the time of all.

use std::borrow::Cow;

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog;
use calc_core::device::Device;
use calc_core::device::Link;
use calc_core::estimate::{Estimate, EstimateRequest, estimate};
use calc_core::lowering::Step;
use calc_core::parallel::{Parallel, stage_layers};
use calc_core::plan::{Card, Cards, Plan};
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Fact;
use calc_core::units::{Bytes, BytesPerSec, Seconds};
use calc_core::workload::Workload;

const LINK: Link =
    Link { bandwidth: BytesPerSec::from_gb(25.0), latency: Seconds::new(5e-6), is_switched: false };

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
    let parallel = Parallel { pipeline, ..Parallel::default() };
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
    let layer = memory.weights / (fast.layers.end as f64);
    assert!(spare < layer, "{spare:?} of {layer:?}");
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
