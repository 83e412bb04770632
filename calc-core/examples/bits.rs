//! A thousand random estimates and analyses as bits, one per line. The native program and the WebAssembly build must print
//! the same text. `cargo xtask test` compares the two.

use calc_core::analysis::{AnalyzeRequest, Operator, analyze};
use calc_core::calibration::Calibration;
use calc_core::catalog::{devices, formats, models};
use calc_core::cost::gemm::GemmShape;
use calc_core::estimate::{EstimateRequest, estimate};
use calc_core::precision::PrecisionChoice;
use calc_core::workload::{Speculation, Workload};

/// SplitMix64 (Steele, Lea, Flood 2014): the next state, and the state scrambled.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::try_from(self.below(from.len() as u64)).expect("an index")]
    }
}

fn main() {
    let mut random = Random(2026);
    let devices: Vec<_> = devices::all().collect();
    let models: Vec<_> = models::all().collect();
    let mut answered = 0;
    while answered < 1000 {
        let device = random.pick(&devices);
        let mut precision = PrecisionChoice::weights(random.pick(&formats::FORMATS));
        precision.kv_cache = (random.below(2) == 0).then(|| random.pick(&formats::FORMATS));
        let bits = if random.below(2) == 0 {
            let (m, n, k) =
                (1 + random.below(5000), 1 + random.below(30_000), 1 + random.below(30_000));
            let operator = Operator::Gemm(GemmShape { m, n, k });
            let calibration = &Calibration::FITTED;
            let request = AnalyzeRequest {
                device,
                mode: None,
                operator,
                precision,
                engine: None,
                calibration,
            };
            analyze(&request).ok().map(|a| {
                vec![
                    a.cost.flops.get(),
                    a.cost.traffic.total().get(),
                    a.time.ideal().get(),
                    a.expected.time.get(),
                ]
            })
        } else {
            let mut workload = Workload::new(1 + random.below(64), 1 + random.below(8000));
            workload.new_tokens = 1 + random.below(200);
            let draft_tokens = 1 + random.below(8);
            let acceptance = random.below(101) as f64 / 100.0;
            workload.speculation = (random.below(4) == 0).then_some(Speculation {
                draft_tokens,
                acceptance,
                own_layers: false,
            });
            let model = &random.pick(&models).arch;
            let calibration = &Calibration::FITTED;
            let (weight_size, draft, engine) = (None, None, None);
            let request = EstimateRequest {
                device,
                mode: None,
                memory_limit: None,
                model,
                precision,
                workload,
                weight_size,
                draft,
                engine,
                calibration,
                host: None,
                cards: None,
            };
            estimate(request).ok().map(|e| {
                let energy = e.energy.map_or(0.0, |energy| energy.per_token.get());
                vec![
                    e.prefill.totals.ideal.get(),
                    e.decode.totals.cost.traffic.total().get(),
                    e.tpot.time.get(),
                    e.generation.time.get(),
                    e.memory.total().get(),
                    e.decode.mbu,
                    energy,
                ]
            })
        };
        if let Some(bits) = bits {
            let words: Vec<String> =
                bits.iter().map(|value| format!("{:016x}", value.to_bits())).collect();
            println!("{}", words.join(" "));
            answered += 1;
        }
    }
}
