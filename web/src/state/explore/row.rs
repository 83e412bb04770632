//! A row of the exploration, and its form on the way from the worker to the page.

use calc_core::catalog::schemes;
use calc_core::explore::Costs;
use calc_core::scheme::{Scheme, SchemeWeights};
use chart::mark::{Mark, mark};

/// Separator of the cells of a row.
const CELL: char = '\t';
/// Number of values of a row.
const NUMBERS: usize = 14;

/// A point that no other one of its device or model beats. Numbers are in base units.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploreRow {
    /// Key of the device or of the model; empty for a model of the user's own.
    pub subject: String,
    pub name: String,
    /// Name of the power mode; empty for the device's own peaks.
    pub mode: String,
    pub scheme: &'static Scheme,
    /// Loss of quality in words.
    pub loss: String,
    pub batch: u64,
    pub prompt: u64,
    /// By the two criteria; less is better.
    pub costs: Costs,
    /// Time per token in the mean over the generation, and the ends of its interval [s].
    pub token: [f64; 3],
    /// Time from the request to the last token, and the ends of its interval [s].
    pub whole: [f64; 3],
    /// Time to first token [s].
    pub first: f64,
    /// Energy per token [J]; not a number where the power is not published.
    pub energy: f64,
    /// Memory needed, and installed, on one device [B].
    pub memory: [f64; 2],
    /// Larger end of the loss of quality [%].
    pub loss_high: f64,
    pub is_on_front: bool,
}

impl ExploreRow {
    /// Tokens per second of one user.
    pub fn rate(&self) -> f64 {
        1.0 / self.token[0]
    }

    /// Tokens per second of all users.
    pub fn throughput(&self) -> f64 {
        self.batch as f64 / self.token[0]
    }

    /// Mark of the format of the weights.
    pub fn mark(&self) -> Mark {
        match self.scheme.weights {
            SchemeWeights::Format(format) => mark(format.key),
            SchemeWeights::Half | SchemeWeights::Published => mark("fp16"),
        }
    }

    /// The row as a line.
    pub fn line(&self) -> String {
        let texts = [&self.subject, &self.name, &self.mode, self.scheme.key, &self.loss]
            .map(|text: &str| text.replace([CELL, '\n', '\r'], " "));
        let [a, b] = self.costs;
        let [token, token_low, token_high] = self.token;
        let [whole, whole_low, whole_high] = self.whole;
        let [needed, installed] = self.memory;
        let (first, energy, loss) = (self.first, self.energy, self.loss_high);
        let numbers: [f64; NUMBERS] = [
            a,
            b,
            token,
            token_low,
            token_high,
            whole,
            whole_low,
            whole_high,
            first,
            energy,
            needed,
            installed,
            loss,
            f64::from(u8::from(self.is_on_front)),
        ];
        // As bits: they come back exactly, and the page needs no parser of JSON (docs/adr/0010-lazy-chunks.md).
        let numbers = numbers.map(|number| format!("{:x}", number.to_bits()));
        let counts = [self.batch, self.prompt].map(|count| format!("{count:x}"));
        let cells: Vec<&str> =
            texts.iter().chain(&counts).chain(&numbers).map(String::as_str).collect();
        cells.join(&CELL.to_string())
    }

    /// Reads a line; `None` for one of another program.
    pub fn read(line: &str) -> Option<Self> {
        let mut cells = line.split(CELL);
        let mut text = || cells.next().map(str::to_owned);
        let (subject, name, mode, scheme, loss) = (text()?, text()?, text()?, text()?, text()?);
        let mut whole = || u64::from_str_radix(cells.next()?, 16).ok();
        let (batch, prompt) = (whole()?, whole()?);
        let mut numbers = [0.0; NUMBERS];
        for number in &mut numbers {
            *number = f64::from_bits(whole()?);
        }
        let [a, b, t0, t1, t2, w0, w1, w2, first, energy, needed, installed, loss_high, front] =
            numbers;
        Some(Self {
            subject,
            name,
            mode,
            scheme: schemes::scheme(&scheme)?,
            loss,
            batch,
            prompt,
            costs: [a, b],
            token: [t0, t1, t2],
            whole: [w0, w1, w2],
            first,
            energy,
            memory: [needed, installed],
            loss_high,
            is_on_front: front > 0.0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_to_the_last_bit() {
        let row = ExploreRow {
            subject: "t4".into(),
            name: "Tesla T4".into(),
            mode: String::new(),
            scheme: schemes::scheme("gguf_q4_k").expect("a scheme"),
            loss: "1 to 2 % perplexity".into(),
            batch: 7,
            prompt: 4096,
            costs: [-0.1, 1.0 / 3.0],
            token: [0.1, 0.2, 0.3],
            whole: [1.1, 1.2, 1.3],
            first: 5e-324,
            energy: 2.5,
            memory: [8.6e9, 16e9],
            loss_high: 2.0,
            is_on_front: true,
        };
        assert_eq!(ExploreRow::read(&row.line()), Some(row.clone()));
        let named = ExploreRow { name: "a\tb\nc".into(), ..row.clone() };
        assert_eq!(ExploreRow::read(&named.line()).map(|row| row.name), Some("a b c".to_owned()));
        let unknown =
            ExploreRow::read(&ExploreRow { energy: f64::NAN, ..row }.line()).expect("a row");
        assert!(unknown.energy.is_nan());
        for line in ["", "a\tb", "t4\tT4\t\tno_scheme\t\t1\t1", "🦀"] {
            assert_eq!(ExploreRow::read(line), None, "{line}");
        }
    }
}
