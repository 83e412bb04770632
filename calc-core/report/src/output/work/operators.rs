//! Work and traffic of each operator as formulas, those of `calc_core::cost`; a test compares the two.

use calc_core::analysis::{Analysis, FeedForwardShape, MoeShape, Operator};
use calc_core::cost::attention::AttentionShape;
use calc_core::cost::gemm::GemmShape;
use calc_core::precision::Precision;
use calc_core::quant_format::QuantFormat;

use super::expression::{Expr, ceiling, count, over, plus, sym, times};
use super::{Step, product};
use crate::number_text as text;

/// Steps for FLOP, bytes by term, and all bytes.
pub(super) fn steps(operator: &Operator, answer: &Analysis) -> Vec<Step> {
    let p = &answer.precision;
    let traffic = &answer.cost.traffic;
    let terms = match *operator {
        Operator::Gemm(shape) => gemm(shape, p),
        Operator::Attention { shape, fused } => attention(&shape, fused, p),
        Operator::KvAppend { elements, tokens } => Terms {
            flops: Expr::Number(0.0),
            weights: None,
            kv_cache: Some(times(vec![
                bits("b_kv", p.kv_cache),
                count("T", tokens),
                count("e", elements),
            ])),
            activations: None,
        },
        Operator::AddNorm { tokens, hidden } => streaming(5.0, 4.0, tokens, "H", hidden, p.carrier),
        Operator::Norm { tokens, hidden } => streaming(4.0, 2.0, tokens, "H", hidden, p.carrier),
        Operator::Activation { tokens, width, gated } => {
            activation(tokens, width, gated, p.carrier)
        }
        Operator::FeedForward(shape) => feed_forward(&shape, p),
        Operator::MixtureOfExperts(shape) => mixture(&shape, p),
    };
    let mut steps = vec![Step {
        title: "FLOP".to_owned(),
        symbol: "F",
        formula: terms.flops,
        value: answer.cost.flops.get(),
        text: text::flops(answer.cost.flops),
    }];
    let mut total = Vec::new();
    for (title, symbol, formula, bytes) in [
        ("Weights", "Q_w", terms.weights, traffic.weights),
        ("KV cache", "Q_kv", terms.kv_cache, traffic.kv_cache),
        ("Activations", "Q_a", terms.activations, traffic.activations),
    ] {
        let Some(formula) = formula else { continue };
        total.push(sym(symbol, bytes.get(), text::bytes(bytes)));
        let (value, text) = (bytes.get(), text::bytes(bytes));
        steps.push(Step { title: title.to_owned(), symbol, formula, value, text });
    }
    steps.push(Step {
        title: "Bytes".to_owned(),
        symbol: "Q",
        formula: plus(total),
        value: traffic.total().get(),
        text: text::bytes(traffic.total()),
    });
    steps
}

/// FLOP of an operator, and its traffic by role.
struct Terms {
    flops: Expr,
    weights: Option<Expr>,
    kv_cache: Option<Expr>,
    activations: Option<Expr>,
}

/// Bytes per element of an input, an output or a cache.
fn bits(name: &'static str, format: &QuantFormat) -> Expr {
    let bytes = format.row_bytes_per_element();
    sym(name, bytes, format!("{}{}B", text::short(bytes, 5), text::SPACE))
}

/// Stored bytes of a matrix: whole blocks along K, channel and tensor scales, and a scale for every tile.
fn stored(format: &QuantFormat, rows: Expr, cols: Expr) -> Expr {
    let bytes = |bits: f64| format!("{}{}B", text::short(bits / 8.0, 6), text::SPACE);
    let blocks = if format.block == 1 {
        cols.clone()
    } else {
        ceiling(over(cols.clone(), count("g", format.block)))
    };
    let mut row = times(vec![blocks, sym("s", format.block_bits / 8.0, bytes(format.block_bits))]);
    if format.channel_bits > 0.0 {
        row = plus(vec![row, sym("c", format.channel_bits / 8.0, bytes(format.channel_bits))]);
    }
    if let Some(tile) = format.tile {
        let tiles = |count, name, size| ceiling(over(count, self::count(name, size)));
        let scales = times(vec![
            tiles(rows.clone(), "r", tile.rows),
            tiles(cols, "g", tile.cols),
            sym("c_t", tile.bits / 8.0, bytes(tile.bits)),
        ]);
        return plus(vec![times(vec![rows, row]), scales]);
    }
    let all = times(vec![rows, row]);
    if format.tensor_bits > 0.0 {
        return plus(vec![all, sym("c_0", format.tensor_bits / 8.0, bytes(format.tensor_bits))]);
    }
    all
}

fn gemm(GemmShape { m, n, k }: GemmShape, p: &Precision) -> Terms {
    product_terms(["M", "N", "K"], [m, n, k], p)
}

fn product_terms(
    [m, n, k]: [&'static str; 3],
    [tokens, outputs, inputs]: [u64; 3],
    p: &Precision,
) -> Terms {
    let (m, n, k) = (|| count(m, tokens), || count(n, outputs), || count(k, inputs));
    Terms {
        flops: product(2.0, vec![m(), n(), k()]),
        weights: Some(stored(p.weights, n(), k())),
        kv_cache: None,
        activations: Some(plus(vec![
            times(vec![m(), k(), bits("b_a", p.activations)]),
            times(vec![m(), n(), bits("b_o", p.carrier)]),
        ])),
    }
}

fn attention(shape: &AttentionShape, fused: bool, p: &Precision) -> Terms {
    let (b, h, g) =
        (|| count("B", shape.batch), || count("h", shape.heads), || count("g", shape.kv_heads));
    let (q, c) = (|| count("q", shape.new), || count("c", shape.cached));
    let both = || plus(vec![count("d", shape.qk_dim), count("d", shape.v_dim)]);
    let pairs = || {
        plus(vec![
            times(vec![q(), c()]),
            over(times(vec![q(), plus(vec![q(), Expr::Number(1.0)])]), Expr::Number(2.0)),
        ])
    };
    let mut flops = vec![product(2.0, vec![b(), h(), pairs(), both()])];
    let mut activations = vec![times(vec![bits("b_o", p.carrier), b(), h(), q(), both()])];
    if !fused {
        flops.push(product(5.0, vec![b(), h(), pairs()]));
        activations.push(product(4.0, vec![bits("b_o", p.carrier), b(), h(), pairs()]));
    }
    Terms {
        flops: plus(flops),
        weights: None,
        kv_cache: Some(times(vec![
            bits("b_kv", p.kv_cache),
            b(),
            g(),
            plus(vec![c(), q()]),
            both(),
        ])),
        activations: Some(plus(activations)),
    }
}

fn streaming(
    flops_each: f64,
    touches: f64,
    rows: u64,
    width_name: &'static str,
    width: u64,
    carrier: &QuantFormat,
) -> Terms {
    let elements = || vec![count("T", rows), count(width_name, width)];
    let mut moved = elements();
    moved.push(bits("b_o", carrier));
    Terms {
        flops: product(flops_each, elements()),
        weights: None,
        kv_cache: None,
        activations: Some(product(touches, moved)),
    }
}

fn activation(rows: u64, width: u64, gated: bool, carrier: &QuantFormat) -> Terms {
    let (flops_each, touches) = if gated { (5.0, 3.0) } else { (8.0, 2.0) };
    streaming(flops_each, touches, rows, "I", width, carrier)
}

/// Sum over several kernels; terms are added by role.
fn sum(parts: Vec<Terms>) -> Terms {
    let (mut flops, mut weights, mut kv_cache, mut activations) = (vec![], vec![], vec![], vec![]);
    for part in parts {
        flops.push(part.flops);
        weights.extend(part.weights);
        kv_cache.extend(part.kv_cache);
        activations.extend(part.activations);
    }
    let some = |terms: Vec<Expr>| (!terms.is_empty()).then(|| plus(terms));
    Terms {
        flops: plus(flops),
        weights: some(weights),
        kv_cache: some(kv_cache),
        activations: some(activations),
    }
}

fn feed_forward(shape: &FeedForwardShape, p: &Precision) -> Terms {
    let FeedForwardShape { tokens, hidden, intermediate, gated } = *shape;
    let (up, name) = if gated { (2 * intermediate, "2I") } else { (intermediate, "I") };
    sum(vec![
        product_terms(["T", name, "H"], [tokens, up, hidden], p),
        activation(tokens, intermediate, gated, p.carrier),
        product_terms(["T", "H", "I"], [tokens, hidden, intermediate], p),
    ])
}

fn mixture(shape: &MoeShape, p: &Precision) -> Terms {
    let MoeShape { tokens, hidden, expert_width, experts, per_token, gated, shared_width } = *shape;
    let (up, name) = if gated { (2 * expert_width, "2I") } else { (expert_width, "I") };
    let mut parts = vec![
        router(shape, p.carrier),
        experts_product(shape, p, (name, up), ("H", hidden)),
        activation(tokens * per_token, expert_width, gated, p.carrier),
        experts_product(shape, p, ("H", hidden), ("I", expert_width)),
    ];
    if shared_width > 0 {
        let shared = FeedForwardShape { tokens, hidden, intermediate: shared_width, gated };
        parts.push(feed_forward(&shared, p));
    }
    debug_assert!(experts >= per_token, "the core refuses anything else");
    sum(parts)
}

fn router(shape: &MoeShape, carrier: &QuantFormat) -> Terms {
    let (t, e, h) =
        (|| count("T", shape.tokens), || count("E", shape.experts), || count("H", shape.hidden));
    let b = || bits("b_o", carrier);
    Terms {
        flops: product(2.0, vec![t(), e(), h()]),
        weights: Some(times(vec![e(), h(), b()])),
        kv_cache: None,
        activations: Some(plus(vec![times(vec![t(), h(), b()]), times(vec![t(), e(), b()])])),
    }
}

/// One product of the chosen experts, of which D of the E experts are read.
fn experts_product(
    shape: &MoeShape,
    p: &Precision,
    (out_name, outputs): (&'static str, u64),
    (in_name, inputs): (&'static str, u64),
) -> Terms {
    let (t, k, e) =
        (|| count("T", shape.tokens), || count("k", shape.per_token), || count("E", shape.experts));
    let (n, i) = (|| count(out_name, outputs), || count(in_name, inputs));
    let read = Expr::Touched(Box::new(over(k(), e())), Box::new(t()));
    Terms {
        flops: product(2.0, vec![t(), k(), n(), i()]),
        weights: Some(times(vec![e(), read, stored(p.experts, n(), i())])),
        kv_cache: None,
        activations: Some(plus(vec![
            times(vec![t(), k(), i(), bits("b_a", p.activations)]),
            times(vec![t(), k(), n(), bits("b_o", p.carrier)]),
        ])),
    }
}
