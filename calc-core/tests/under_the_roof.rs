//! No expected time is faster than the roof, for any device, power mode, model, format, engine and batch; and the rows of a
//! phase add up to it. The grid has every device with every model; `cargo xtask soak` tries random combinations many times.

use calc_core::calibration::{Calibration, Engine};
use calc_core::catalog::schemes::SCHEMES;
use calc_core::catalog::{self, devices, formats, models};
use calc_core::check::{CheckRequest, Claim, ClaimVerdict, Work, check};
use calc_core::device::{Device, PowerMode};
use calc_core::estimate::{Draft, Estimate, EstimateRequest, PhaseEstimate, estimate};
use calc_core::expected::Expected;
use calc_core::model_arch::ModelArch;
use calc_core::parallel::Parallel;
use calc_core::plan::StepTotals;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::QuantFormat;
use calc_core::roofline::Roofs;
use calc_core::scheme::Scheme;
use calc_core::units::{Seconds, TokensPerSec};
use calc_core::workload::{Speculation, Workload};
use proptest::prelude::*;

/// Tolerance for the rounding of long sums.
const ROUNDING: f64 = 1.0 + 1e-12;

fn request<'a>(
    device: &'a Device,
    mode: Option<&'a PowerMode>,
    model: &'a ModelArch,
    precision: PrecisionChoice,
    workload: Workload,
) -> EstimateRequest<'a> {
    EstimateRequest {
        device,
        mode,
        memory_limit: None,
        model,
        precision,
        workload,
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    }
}

/// The first number of an answer that is faster than the roof, or a share or power above its limit.
fn above(request: &EstimateRequest<'_>, answer: &Estimate) -> Option<String> {
    let under = |what: &str, ideal: Seconds, expected: &Expected| {
        (ideal.get() > expected.low.get() * ROUNDING)
            .then(|| format!("{what}: ideal {ideal:?}, expected {expected:?}"))
    };
    let phase = |name: &str, phase: &PhaseEstimate| {
        let shares = [("MBU", phase.mbu), ("MFU", phase.mfu)];
        let is_share = |share: f64| share <= ROUNDING; // false for NaN
        let share = shares.into_iter().find(|(_, share)| !is_share(*share));
        let operator = phase
            .operators
            .iter()
            .find_map(|row| under(row.kind.key(), row.totals.ideal, &row.totals.expected));
        under(name, phase.totals.ideal, &phase.totals.expected)
            .or(operator)
            .or(share.map(|(what, share)| format!("{what} of {name}: {share}")))
    };
    let budget = request.mode.and_then(|mode| mode.watts).or(request.device.tdp.map(|it| it.value));
    let power = answer.energy.zip(budget).and_then(|(energy, budget)| {
        (energy.power.device.get() > budget.get() * ROUNDING)
            .then(|| format!("{energy:?} of {budget:?}"))
    });
    phase("prefill", &answer.prefill)
        .or_else(|| phase("decode", &answer.decode))
        .or_else(|| under("ttft", answer.ttft_ideal, &answer.ttft))
        .or_else(|| under("tpot", answer.token_ideal, &answer.tpot))
        .or_else(|| under("whole", answer.end_to_end_ideal, &answer.end_to_end))
        .or(power)
}

type Sum = (&'static str, fn(&StepTotals) -> f64);

/// The first sum over the rows of a phase that differs from the phase.
fn unsummed(phase: &PhaseEstimate) -> Option<String> {
    let totals = &phase.totals;
    let sums: [Sum; 4] = [
        ("FLOP", |it| it.cost.flops.get()),
        ("bytes", |it| it.cost.traffic.total().get()),
        ("ideal", |it| it.ideal.get()),
        ("expected", |it| it.expected.time.get()),
    ];
    sums.into_iter().find_map(|(name, of)| {
        let sum: f64 = phase.operators.iter().map(|row| of(&row.totals)).sum();
        let is_phase = (sum - of(totals)).abs() <= 1e-9 * sum.abs();
        (!is_phase).then(|| format!("{name}: rows {sum}, phase {}", of(totals)))
    })
}

/// The expected time, and the fast end of its interval, as claims.
fn judged_above(request: &EstimateRequest<'_>, answer: &Estimate) -> Option<String> {
    let batch = request.workload.batch as f64;
    let rate = |time: Seconds| TokensPerSec::new(batch / time.get());
    let token = |time| Claim::Rate { rate: rate(time), per_user: false };
    let claims = [
        (Work::Token(*request), token(answer.tpot.time)),
        (Work::Token(*request), token(answer.tpot.low)),
        (Work::Answer(*request), Claim::Time(answer.end_to_end.time)),
        (Work::Answer(*request), Claim::Time(answer.end_to_end.low)),
    ];
    claims.into_iter().find_map(|(work, claim)| {
        let found = check(&CheckRequest { work, claim }).ok()?;
        (found.verdict == ClaimVerdict::AboveTheRoof)
            .then(|| format!("{claim:?}: {:?}", found.share))
    })
}

fn modes(device: &Device) -> Vec<Option<&PowerMode>> {
    let known = |mode: &&PowerMode| Roofs::new(device, Some(mode)).is_ok();
    device.power_modes.iter().filter(known).map(Some).chain([None]).collect()
}

fn in_scheme(
    device: &Device,
    mode: Option<&PowerMode>,
    model: &models::CatalogModel,
    scheme: &Scheme,
) -> Option<PrecisionChoice> {
    let roofs = Roofs::new(device, mode).ok()?;
    scheme.runs_on(device, &roofs).ok()?;
    Some(scheme.choice(&roofs, &PrecisionChoice::weights(&formats::FP16), &model.stored.choice()))
}

#[test]
fn experts_in_batches_stay_under_the_roof() {
    let device = catalog::device("gb10").expect("catalog key");
    let model = catalog::model("gpt-oss-120b").expect("catalog key");
    for batch in [2, 8, 32, 128] {
        let workload = Workload::new(batch, 1024);
        let asked = request(device, None, &model.arch, model.stored.choice(), workload);
        let answer = estimate(asked).expect("valid");
        assert!(answer.mean.throughput() <= answer.mean.ideal_throughput(), "batch {batch}");
        assert_eq!(above(&asked, &answer), None, "batch {batch}");
    }
}

#[test]
fn no_device_passes_its_roof_with_any_model_and_rows_add_up() {
    const BATCHES: [u64; 6] = [1, 2, 8, 32, 64, 256];
    let mut scanned = 0_usize;
    for (place, device) in devices::all().enumerate() {
        for mode in modes(device) {
            // A third of the models for each device, in turn.
            for model in models::all().skip(place % 3).step_by(3) {
                for scheme in SCHEMES {
                    scanned += 1;
                    // One batch per combination, in rotation, so that every pair of model and batch occurs often.
                    let batch = BATCHES[(scanned * 5 + scanned / 7) % BATCHES.len()];
                    let Some(precision) = in_scheme(device, mode, model, scheme) else { continue };
                    let workload = Workload { new_tokens: 3, ..Workload::new(batch, 700) };
                    let asked = request(device, mode, &model.arch, precision, workload);
                    let Ok(answer) = estimate(asked) else { continue };
                    let place = (&device.key, mode.map(|mode| &mode.name), model.key, scheme.key);
                    assert_eq!(above(&asked, &answer), None, "{place:?}, batch {batch}");
                    for phase in [&answer.prefill, &answer.decode] {
                        assert_eq!(unsummed(phase), None, "{place:?}, batch {batch}");
                    }
                }
            }
        }
    }
}

#[test]
fn own_measurements_above_the_roof_do_not_lift_it() {
    use calc_core::calibration::{FactorRow, Interval};
    use calc_core::text::List;
    let row = FactorRow {
        eta_memory: Some(1.3),
        eta_compute: Some(1.2),
        interval: Some(Interval { low: 0.5, high: 1.5 }),
        in_step: true,
        ..FactorRow::OPEN
    };
    let own = Calibration { rows: List::Owned(vec![row]), ..Calibration::FITTED };
    let device = catalog::device("l4").expect("catalog key");
    let model = catalog::model("llama-3.1-8b").expect("catalog key");
    let asked = EstimateRequest {
        calibration: &own,
        ..request(device, None, &model.arch, model.stored.choice(), Workload::new(4, 512))
    };
    let answer = estimate(asked).expect("valid");
    assert_eq!(above(&asked, &answer), None);
}

fn any_format() -> impl Strategy<Value = &'static QuantFormat> {
    proptest::sample::select(formats::FORMATS.to_vec())
}

proptest! {
    #[test]
    fn no_combination_is_expected_to_pass_its_roof(
        device in proptest::sample::select(devices::all().collect::<Vec<_>>()),
        model in proptest::sample::select(models::all().collect::<Vec<_>>()),
        engine in proptest::option::of(proptest::sample::select(Engine::ALL.to_vec())),
        (weights, activations, kv_cache, experts) in
            (any_format(), proptest::option::of(any_format()), proptest::option::of(any_format()), any_format()),
        (batch, prompt, new_tokens, place) in (1..600_u64, 1..6000_u64, 1..12_u64, 0..64_usize),
        drafts in proptest::option::of((1..8_u64, 0.0..=1.0_f64)),
        ways in proptest::sample::select(vec![1_u64, 1, 2, 4]),
    ) {
        let modes = modes(device);
        let precision = PrecisionChoice {
            activations,
            kv_cache,
            experts: Some(experts),
            ..PrecisionChoice::weights(weights)
        };
        let workload = Workload {
            new_tokens,
            parallel: Parallel { tensor: ways, ..Parallel::default() },
            speculation: drafts.map(|(draft_tokens, acceptance)| Speculation { draft_tokens, acceptance, own_layers: false }),
            static_batch: place % 2 == 1,
            ..Workload::new(batch, prompt)
        };
        let asked = EstimateRequest {
            engine: engine.map(|(_, engine)| engine),
            draft: Some(Draft { model: &model.arch, files: None }),
            ..request(device, modes[place % modes.len()], &model.arch, precision, workload)
        };
        let Ok(answer) = estimate(asked) else { return Ok(()) };
        prop_assert_eq!(above(&asked, &answer), None);
        prop_assert_eq!(judged_above(&asked, &answer), None);
    }
}
