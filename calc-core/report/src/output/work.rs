//! "Show the work": every formula behind an answer, with the values of the request. A formula is a tree that both computes
//! its value and writes itself, so the shown formula is the computed one.

pub mod expression;
mod operators;

use calc_core::analysis::{Analysis, Operator};

use crate::number_text as text;
use expression::{Expr, max, over, plus, sym, times};

/// Formula with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Name of the quantity.
    pub title: String,
    pub symbol: &'static str,
    pub formula: Expr,
    /// Result of `calc-core`, in the base unit.
    pub value: f64,
    /// The result for people, with its unit.
    pub text: String,
}

impl Step {
    /// The formula as plain text, with symbols and with values: `F / π`, `33.6 MFLOP / 33.4 TFLOP/s`.
    pub fn plain(&self) -> [String; 2] {
        [false, true].map(|values| self.formula.plain(values))
    }

    /// The formula as MathML: symbol = formula = formula with values = result.
    pub fn mathml(&self) -> String {
        let (symbols, values) = (self.formula.symbols(), self.formula.values());
        let symbol = expression::name(self.symbol);
        let middle = if symbols == values {
            symbols
        } else {
            format!("{symbols}</mtd></mtr><mtr><mtd></mtd><mtd><mo>=</mo></mtd><mtd>{values}")
        };
        let result = expression::escaped(&self.text);
        format!(
            "<math displaystyle=\"true\"><mtable displaystyle=\"true\"><mtr><mtd>{symbol}</mtd><mtd><mo>=</mo></mtd><mtd>{middle}</mtd></mtr>\
             <mtr><mtd></mtd><mtd><mo>=</mo></mtd><mtd><mtext>{result}</mtext></mtd></mtr></mtable></math>"
        )
    }
}

/// Steps from shape to expected time.
pub fn steps(operator: &Operator, answer: &Analysis) -> Vec<Step> {
    let mut steps = operators::steps(operator, answer);
    steps.extend(roofline(answer));
    steps.push(if answer.parts.is_empty() { ideal(answer) } else { summed_ideal(answer) });
    steps.push(if answer.parts.is_empty() { expected(answer) } else { summed_expected(answer) });
    steps
}

fn flops(answer: &Analysis) -> Expr {
    sym("F", answer.cost.flops.get(), text::flops(answer.cost.flops))
}

fn bytes(answer: &Analysis) -> Expr {
    let total = answer.cost.traffic.total();
    sym("Q", total.get(), text::bytes(total))
}

/// Steps for intensity, ridge, memory time and compute time.
fn roofline(answer: &Analysis) -> [Step; 4] {
    let roof = &answer.roofline;
    let peak = || sym("π", roof.peak.get(), text::published_rate(roof.peak, answer.path.class));
    let rate = || sym("β", roof.bandwidth.get(), text::published_bandwidth(roof.bandwidth));
    let step = |title: &str, symbol, formula, value: f64, text| Step {
        title: title.to_owned(),
        symbol,
        formula,
        value,
        text,
    };
    let (intensity, ridge, time) = (answer.cost.intensity(), roof.ridge(), answer.time);
    let is_sum = !answer.parts.is_empty();
    let memory = if is_sum { "Time for DRAM, all parts" } else { "Time for DRAM" };
    let mut steps = [
        step(
            "Arithmetic intensity",
            "I",
            over(flops(answer), bytes(answer)),
            intensity.get(),
            text::intensity(intensity),
        ),
        step("Ridge", "I_ridge", over(peak(), rate()), ridge.get(), text::intensity(ridge)),
        step(
            memory,
            "t_mem",
            over(bytes(answer), rate()),
            time.memory.get(),
            text::time(time.memory),
        ),
        step(
            "Time for arithmetic",
            "t_comp",
            over(flops(answer), peak()),
            time.compute.get(),
            text::time(time.compute),
        ),
    ];
    if is_sum {
        // The parts run at different peaks, so their times are added.
        let part = |part: &calc_core::analysis::OperatorPart| {
            sym("t", part.time.compute.get(), text::time(part.time.compute))
        };
        "Time for arithmetic, all parts".clone_into(&mut steps[3].title);
        steps[3].formula = plus(answer.parts.iter().map(part).collect());
    }
    steps
}

fn ideal(answer: &Analysis) -> Step {
    let time = answer.time;
    let formula = max(vec![
        sym("t_mem", time.memory.get(), text::time(time.memory)),
        sym("t_comp", time.compute.get(), text::time(time.compute)),
    ]);
    result("Ideal time", "t_ideal", formula, answer.ideal)
}

fn summed_ideal(answer: &Analysis) -> Step {
    let part = |part: &calc_core::analysis::OperatorPart| {
        let time = part.time;
        max(vec![
            sym("t_mem", time.memory.get(), text::time(time.memory)),
            sym("t_comp", time.compute.get(), text::time(time.compute)),
        ])
    };
    let formula = plus(answer.parts.iter().map(part).collect());
    result("Ideal time, part by part", "t_ideal", formula, answer.ideal)
}

fn expected(answer: &Analysis) -> Step {
    let (time, factors) = (answer.time, &answer.factors);
    let share = |name, eta: f64| sym(name, eta, text::short(eta, 3));
    let slowest = max(vec![
        over(
            sym("t_mem", time.memory.get(), text::time(time.memory)),
            share("η_mem", factors.eta_memory),
        ),
        over(
            sym("t_comp", time.compute.get(), text::time(time.compute)),
            share("η_comp", factors.eta_compute),
        ),
    ]);
    let floor = sym("t_0", factors.floor.get(), text::time(factors.floor));
    result("Expected time", "t", plus(vec![slowest, floor]), answer.expected.time)
}

fn summed_expected(answer: &Analysis) -> Step {
    let part = |part: &calc_core::analysis::OperatorPart| {
        sym("t", part.expected.time.get(), text::time(part.expected.time))
    };
    let formula = plus(answer.parts.iter().map(part).collect());
    result("Expected time, part by part", "t", formula, answer.expected.time)
}

fn result(
    title: &str,
    symbol: &'static str,
    formula: Expr,
    value: calc_core::units::Seconds,
) -> Step {
    Step { title: title.to_owned(), symbol, formula, value: value.get(), text: text::time(value) }
}

/// Product of a constant and symbols.
fn product(factor: f64, factors: Vec<Expr>) -> Expr {
    times(core::iter::once(Expr::Number(factor)).chain(factors).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::analysis::{AnalyzeRequest, FeedForwardShape, MoeShape, analyze};
    use calc_core::calibration::Calibration;
    use calc_core::catalog::{self, devices, formats::FORMATS};
    use calc_core::cost::attention::AttentionShape;
    use calc_core::cost::gemm::GemmShape;
    use calc_core::model_arch::Reach;
    use calc_core::precision::PrecisionChoice;

    fn operators() -> Vec<Operator> {
        let attention = |fused, new| Operator::Attention {
            shape: AttentionShape {
                batch: 3,
                heads: 32,
                kv_heads: 8,
                qk_dim: 128,
                v_dim: 128,
                new,
                cached: 1023,
                reach: Reach::All,
            },
            fused,
        };
        let ffn = FeedForwardShape { tokens: 7, hidden: 4096, intermediate: 14_336, gated: true };
        let moe = MoeShape {
            tokens: 5,
            hidden: 2048,
            expert_width: 768,
            experts: 128,
            per_token: 8,
            gated: true,
            shared_width: 512,
        };
        vec![
            Operator::Gemm(GemmShape { m: 1, n: 4096, k: 5000 }),
            Operator::Gemm(GemmShape { m: 2048, n: 28_672, k: 4096 }),
            attention(true, 1),
            attention(false, 64),
            Operator::KvAppend { elements: 2048, tokens: 9 },
            Operator::Norm { tokens: 3, hidden: 4096 },
            Operator::AddNorm { tokens: 3, hidden: 4096 },
            Operator::Activation { tokens: 3, width: 14_336, gated: true },
            Operator::Activation { tokens: 3, width: 14_336, gated: false },
            Operator::FeedForward(ffn),
            Operator::FeedForward(FeedForwardShape { gated: false, ..ffn }),
            Operator::MixtureOfExperts(moe),
            Operator::MixtureOfExperts(MoeShape {
                tokens: 1,
                gated: false,
                shared_width: 0,
                ..moe
            }),
        ]
    }

    #[test]
    fn every_formula_gives_the_value_of_the_core() {
        let mut count = 0;
        for operator in operators() {
            for format in FORMATS {
                for key in ["jetson_orin_nano_8gb_super", "b200", "t4"] {
                    let Ok(answer) = analyze(&AnalyzeRequest {
                        device: catalog::device(key).expect("catalog key"),
                        mode: None,
                        operator,
                        precision: PrecisionChoice {
                            kv_cache: Some(format),
                            ..PrecisionChoice::weights(format)
                        },
                        engine: None,
                        calibration: &Calibration::FITTED,
                    }) else {
                        continue;
                    };
                    for step in steps(&operator, &answer) {
                        let (found, core) = (step.formula.value(), step.value);
                        let is_equal = (found - core).abs() <= 1e-12 * core.abs();
                        assert!(
                            is_equal,
                            "{operator:?} {} {key} {}: {found}, core {core}",
                            format.key, step.title
                        );
                        count += 1;
                    }
                }
            }
        }
        assert!(count > 5_000, "{count}");
        assert!(devices::all().count() > 3);
    }

    #[test]
    fn the_formulas_are_plain_text_too() {
        let a = || sym("a", 2.0, "2 s".to_owned());
        let (sum, product) = (plus(vec![a(), a()]), times(vec![a(), plus(vec![a(), a()])]));
        for (formula, symbols, values) in [
            (over(sum, product), "(a + a) / (a × (a + a))", "(2 s + 2 s) / (2 s × (2 s + 2 s))"),
            (max(vec![a(), expression::ceiling(a())]), "max(a, ⌈a⌉)", "max(2 s, ⌈2 s⌉)"),
            (
                Expr::Touched(Box::new(over(a(), a())), Box::new(a())),
                "1 − (1 − (a / a))^a",
                "1 − (1 − (2 s / 2 s))^2 s",
            ),
        ] {
            assert_eq!([formula.plain(false), formula.plain(true)], [symbols, values]);
        }
    }

    #[test]
    fn the_formulas_are_mathml_with_the_values() {
        let operator = operators()[0];
        let answer = analyze(&AnalyzeRequest {
            device: catalog::device("t4").expect("catalog key"),
            mode: None,
            operator,
            precision: PrecisionChoice::weights(catalog::format("int4_g128").expect("catalog key")),
            engine: None,
            calibration: &Calibration::FITTED,
        })
        .expect("valid");
        let steps = steps(&operator, &answer);
        let titles: Vec<&str> = steps.iter().map(|step| step.title.as_str()).collect();
        for title in [
            "FLOP",
            "Weights",
            "Bytes",
            "Arithmetic intensity",
            "Ridge",
            "Ideal time",
            "Expected time",
        ] {
            assert!(titles.contains(&title), "{titles:?}");
        }
        for step in &steps {
            let written = step.mathml();
            assert!(written.starts_with("<math ") && written.ends_with("</math>"), "{written}");
            for tag in ["mrow", "mfrac", "msub", "mtd", "mtr", "mtext", "mi", "mn", "mo"] {
                let (opened, closed) = (
                    written.matches(&format!("<{tag}>")).count(),
                    written.matches(&format!("</{tag}>")).count(),
                );
                assert_eq!(opened, closed, "{tag} in {written}");
            }
        }
        assert!(steps[0].mathml().contains("<mn>5\u{202f}000</mn>"), "{}", steps[0].mathml());
    }
}
