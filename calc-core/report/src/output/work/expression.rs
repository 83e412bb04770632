//! Formulas as trees, which compute their value and write themselves as MathML or plain text, with symbols or with values.

use crate::number_text;

/// Node of a formula.
#[derive(Debug, Clone, PartialEq)]
pub enum Expr {
    /// Constant of the formula, such as the 2 of a multiply-add.
    Number(f64),
    /// Symbol with its value and the value as text.
    Symbol(&'static str, f64, String),
    Sum(Vec<Expr>),
    Product(Vec<Expr>),
    /// Numerator and denominator.
    Quotient(Box<Expr>, Box<Expr>),
    /// Part and exponent of `1 - (1 - part)^exponent`.
    Touched(Box<Expr>, Box<Expr>),
    /// Rounded up to a whole number.
    Ceiling(Box<Expr>),
    /// Maximum.
    Max(Vec<Expr>),
}

/// Builds a symbol.
pub fn sym(name: &'static str, value: f64, text: String) -> Expr {
    Expr::Symbol(name, value, text)
}

/// Builds a symbol for a count.
pub fn count(name: &'static str, value: u64) -> Expr {
    Expr::Symbol(name, value as f64, number_text::count(value))
}

/// Builds a product.
pub fn times(factors: Vec<Expr>) -> Expr {
    Expr::Product(factors)
}

/// Builds a sum.
pub fn plus(terms: Vec<Expr>) -> Expr {
    Expr::Sum(terms)
}

/// Builds a quotient.
pub fn over(above: Expr, below: Expr) -> Expr {
    Expr::Quotient(Box::new(above), Box::new(below))
}

/// Builds a maximum.
pub fn max(of: Vec<Expr>) -> Expr {
    Expr::Max(of)
}

/// Builds a number rounded up to a whole one.
pub fn ceiling(of: Expr) -> Expr {
    Expr::Ceiling(Box::new(of))
}

impl Expr {
    /// Computes the value.
    pub fn value(&self) -> f64 {
        match self {
            Self::Number(value) | Self::Symbol(_, value, _) => *value,
            Self::Sum(terms) => terms.iter().map(Self::value).sum(),
            Self::Product(factors) => factors.iter().map(Self::value).product(),
            Self::Quotient(above, below) => above.value() / below.value(),
            Self::Touched(part, exponent) => {
                1.0 - calc_core::math::pow(1.0 - part.value(), exponent.value())
            }
            Self::Ceiling(of) => calc_core::math::ceil(of.value()),
            Self::Max(of) => of.iter().map(Self::value).fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// Writes MathML with symbols.
    pub fn symbols(&self) -> String {
        self.written(false)
    }

    /// Writes MathML with values.
    pub fn values(&self) -> String {
        self.written(true)
    }

    /// Writes one line of plain text, with symbols or with values: `max(t_mem / η_mem, t_comp / η_comp) + t_0`.
    pub fn plain(&self, values: bool) -> String {
        let list = |parts: &[Self], sign: &str| {
            parts.iter().map(|part| part.plain(values)).collect::<Vec<_>>().join(sign)
        };
        let grouped = |part: &Self| match part {
            Self::Sum(_) | Self::Touched(..) => format!("({})", part.plain(values)),
            _ => part.plain(values),
        };
        let factor = |part: &Self| match part {
            Self::Product(_) | Self::Quotient(..) => format!("({})", part.plain(values)),
            _ => grouped(part),
        };
        match self {
            Self::Number(value) => number_text::short(*value, 6),
            Self::Symbol(symbol, ..) if !values => (*symbol).to_owned(),
            Self::Symbol(.., text) => text.clone(),
            Self::Sum(terms) => list(terms, " + "),
            Self::Product(factors) => factors.iter().map(grouped).collect::<Vec<_>>().join(" × "),
            Self::Quotient(above, below) => format!("{} / {}", grouped(above), factor(below)),
            Self::Touched(part, exponent) => {
                format!("1 − (1 − {})^{}", factor(part), factor(exponent))
            }
            Self::Ceiling(of) => format!("⌈{}⌉", of.plain(values)),
            Self::Max(of) => format!("max({})", list(of, ", ")),
        }
    }

    fn written(&self, values: bool) -> String {
        match self {
            Self::Number(value) => format!("<mn>{}</mn>", number_text::short(*value, 6)),
            Self::Symbol(symbol, ..) if !values => name(symbol),
            Self::Symbol(.., text) => quantity(text),
            Self::Sum(terms) => joined(terms, "+", values, |_| false),
            Self::Product(factors) => {
                let sign = if values { "×" } else { "\u{2062}" };
                joined(factors, sign, values, |factor| matches!(factor, Self::Sum(_)))
            }
            Self::Quotient(above, below) => {
                format!("<mfrac>{}{}</mfrac>", above.written(values), below.written(values))
            }
            Self::Touched(part, exponent) => format!(
                "<mrow><mn>1</mn><mo>−</mo><msup><mrow><mo>(</mo><mn>1</mn><mo>−</mo>{}<mo>)</mo></mrow>{}</msup></mrow>",
                part.written(values),
                exponent.written(values)
            ),
            Self::Ceiling(of) => format!("<mrow><mo>⌈</mo>{}<mo>⌉</mo></mrow>", of.written(values)),
            Self::Max(of) => {
                format!(
                    "<mrow><mi>max</mi><mo>(</mo>{}<mo>)</mo></mrow>",
                    joined(of, ",", values, |_| false)
                )
            }
        }
    }
}

fn joined(parts: &[Expr], sign: &str, values: bool, in_brackets: impl Fn(&Expr) -> bool) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| {
            let written = part.written(values);
            let needs = in_brackets(part) || matches!(part, Expr::Touched(..));
            if needs { format!("<mrow><mo>(</mo>{written}<mo>)</mo></mrow>") } else { written }
        })
        .collect();
    format!("<mrow>{}</mrow>", parts.join(&format!("<mo>{sign}</mo>")))
}

/// MathML of a symbol; the text after an underscore is its index.
pub fn name(symbol: &str) -> String {
    match symbol.split_once('_') {
        Some((base, index)) => format!("<msub><mi>{base}</mi><mi>{index}</mi></msub>"),
        None => format!("<mi>{symbol}</mi>"),
    }
}

/// MathML of a number, with or without a unit.
fn quantity(text: &str) -> String {
    let is_plain =
        text.chars().all(|letter| letter.is_ascii_digit() || ".\u{202f}".contains(letter));
    let tag = if is_plain { "mn" } else { "mtext" };
    format!("<{tag}>{}</{tag}>", escaped(text))
}

/// Text escaped for MathML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
