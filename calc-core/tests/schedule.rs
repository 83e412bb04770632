//! The scheduler compared with an exhaustive search.

#[path = "tasks/limit.rs"]
mod limit;
mod random;
mod tasks;

use calc_core::catalog;
use calc_core::device::PowerMode;
use calc_core::precision::PrecisionChoice;
use calc_core::recommend::{Axis, Bounds, ModelTask, Outcome, RankedPart, Task};
use calc_core::roofline::Roofs;
use calc_core::schedule::{Objective, ScheduleRequest, SlotFlip, schedule};
use calc_core::scheme::{FormatFamily, Scheme, SchemeWeights};
use calc_core::software::vllm_runs;
use calc_core::units::{Bytes, Joules, Seconds, Watts};
use calc_core::workload::Workload;
use limit::limited;
use random::Random;
use tasks::model_task;

fn random_request(random: &mut Random) -> ScheduleRequest<'static> {
    let boards: Vec<_> =
        catalog::devices::all().filter(|device| !device.power_modes.is_empty()).collect();
    let all: Vec<_> = catalog::devices::all().collect();
    let device = if random.below(3) == 0 { random.pick(&all) } else { random.pick(&boards) };
    let models = [
        "llama-3.2-1b",
        "llama-3.2-3b",
        "llama-3.1-8b",
        "gpt-oss-20b",
        "qwen3-30b-a3b",
        "gemma-3-4b",
    ];
    let mut workload = Workload::new(1, 1 << random.below(10));
    workload.context = 1 << random.below(13);
    let seconds = |random: &mut Random, scale: f64| {
        (random.below(2) == 0).then(|| Seconds::new(f64::from(1 << random.below(8)) * scale))
    };
    let task = model_task(device, random.pick(&models), workload);
    let objective = random.pick(&[
        Objective::Latency,
        Objective::Throughput,
        Objective::Energy,
        Objective::Quality,
    ]);
    let part = random.pick(&[RankedPart::Prefill, RankedPart::Decode]);
    let limit = (random.below(3) == 0).then(|| Bytes::from_gb(f64::from(1 << random.below(6))));
    ScheduleRequest {
        task: limited(task, limit),
        objective,
        part,
        bounds: Bounds {
            quality: random.pick(&[0.5, 3.0, 5.0, 10.0, 1000.0]),
            tpot: seconds(random, 20e-3),
            ttft: seconds(random, 0.2),
            rate: None,
        },
        power_cap: (random.below(3) == 0)
            .then(|| Watts::new(f64::from(5 + random.pick(&[2_u32, 5, 10, 25, 70])))),
        max_batch: 1 + random.below(12),
    }
}

/// The best score over all modes, schemes and batches, evaluated one by one with the model itself.
fn exhaustive(request: &ScheduleRequest<'static>) -> Option<f64> {
    let device = request.task.device();
    let known = |mode: &&'static PowerMode| Roofs::new(device, Some(mode)).is_ok();
    let mut modes: Vec<Option<&'static PowerMode>> =
        device.power_modes.iter().filter(known).map(Some).collect();
    if modes.is_empty() {
        modes.push(None);
    }
    let mut best: Option<f64> = None;
    for mode in modes {
        let own = device.tdp.map(|tdp| tdp.value);
        let budget = mode.and_then(|mode| mode.watts).or(own);
        if request.power_cap.is_some_and(|cap| !budget.is_some_and(|budget| budget <= cap)) {
            continue;
        }
        for batch in 1..=request.max_batch {
            for score in
                scores(request, &request.task.on(device, mode).at(Axis::Batch, batch), batch)
            {
                best = Some(best.map_or(score, |best| best.min(score)));
            }
        }
    }
    best
}

fn scores(request: &ScheduleRequest<'_>, task: &Task<'_>, batch: u64) -> Vec<f64> {
    let roofs = Roofs::new(task.device(), task.mode()).expect("a known mode");
    let Task::Model(ModelTask { request: model, published, .. }) = task else {
        unreachable!("models only")
    };
    let narrow = |bits: f64| bits < 16.0;
    let is_published = narrow(published.weights.bits_per_element())
        || published.experts.is_some_and(|format| narrow(format.bits_per_element()));
    let experts = published.experts.unwrap_or(published.weights);
    let has_kernels = published.activations.is_some()
        || FormatFamily::of(published.weights, experts).runs_on(task.device());
    let mut found = Vec::new();
    for scheme in catalog::schemes::SCHEMES {
        let quality = scheme.quality.at_size(model.model.n_params());
        // Without a named engine it is llama.cpp or vLLM, and vLLM has no build for a single board and for a Mac.
        let is_file = scheme.key.starts_with("gguf_") || scheme.weights == SchemeWeights::Published;
        let has_engine = is_file || scheme.key == "half" || vllm_runs(task.device());
        let runs = scheme.runs_on(task.device(), &roofs).is_ok()
            && has_engine
            && scheme.takes_model(model.model).is_ok()
            && (scheme.weights != SchemeWeights::Published || is_published && has_kernels)
            && is_made(published, scheme)
            && quality.high <= request.bounds.quality * (1.0 + 1e-9);
        let Some(outcome) = runs.then(|| task.run(&roofs, scheme).ok()).flatten() else { continue };
        if outcome.memory <= outcome.usable.bytes
            && request.bounds.tpot.is_none_or(|bound| outcome.decode.expected.time <= bound)
            && request.bounds.ttft.is_none_or(|bound| outcome.ttft.time <= bound)
        {
            found.push(score(request, &outcome, quality.high, batch));
        }
    }
    found
}

/// Experts in MXFP4 are read by llama.cpp's tools only.
fn is_made(published: &PrecisionChoice, scheme: &Scheme) -> bool {
    let is_mxfp4 = published.experts.is_some_and(|experts| experts.key == "mxfp4");
    !is_mxfp4 || scheme.weights == SchemeWeights::Published || scheme.key.starts_with("gguf_")
}

fn score(request: &ScheduleRequest<'_>, outcome: &Outcome, loss: f64, batch: u64) -> f64 {
    let work = if request.part == RankedPart::Prefill { &outcome.prefill } else { &outcome.decode };
    match request.objective {
        Objective::Latency => work.expected.time.get(),
        Objective::Throughput => work.expected.time.get() / batch as f64,
        Objective::Energy | Objective::Memory => work.energy.map_or(f64::INFINITY, Joules::get),
        Objective::Quality => loss,
    }
}

#[test]
fn the_schedule_equals_exhaustive_search_in_a_thousand_random_cases() {
    let mut random = Random(3);
    let (mut cases, mut answered) = (0, 0);
    while cases < 1000 {
        let request = random_request(&mut random);
        let Ok(found) = schedule(&request) else { continue };
        cases += 1;
        let best = exhaustive(&request);
        // The first slot may lose less within the interval of the best one, but the best one is ranked.
        let least = found.ranked.iter().map(|slot| slot.standing.score).reduce(f64::min);
        match (least, best) {
            (None, None) => {}
            (Some(least), Some(best)) => {
                answered += 1;
                let is_same = (least - best).abs() <= 1e-12 * best;
                assert!(is_same, "case {cases}: {least} is not {best}: {request:?}");
            }
            (found, best) => panic!("case {cases}: {found:?} against {best:?}"),
        }
    }
    assert!(answered > 500, "{answered} of 1000 have an answer");
}

#[test]
fn seven_watts_are_met_by_the_seven_watt_mode_and_a_higher_cap_flips_it() {
    let nano = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let request = ScheduleRequest {
        task: model_task(nano, "llama-3.2-3b", Workload { context: 2048, ..Workload::new(1, 512) }),
        objective: Objective::Latency,
        part: RankedPart::Decode,
        bounds: Bounds::default(),
        power_cap: Some(Watts::new(7.0)),
        max_batch: 8,
    };
    let capped = schedule(&request).expect("a schedule");
    let best = capped.ranked.first().expect("something fits");
    assert_eq!((best.mode.as_deref(), best.batch), (Some("7W"), 1));
    assert!(best.power.is_some_and(|power| power.get() <= 7.0));
    assert!(
        capped
            .flips
            .iter()
            .any(|flip| matches!(flip, SlotFlip::Cap(watts, _) if watts.get() > 7.0))
    );
    let free = schedule(&ScheduleRequest { power_cap: None, ..request }).expect("a schedule");
    assert!(free.ranked[0].outcome.decode.expected.time < best.outcome.decode.expected.time);
    let wide = schedule(&ScheduleRequest { objective: Objective::Throughput, ..request })
        .expect("a schedule");
    assert_eq!(wide.ranked[0].batch, 8, "the largest batch that is considered fits");
}
