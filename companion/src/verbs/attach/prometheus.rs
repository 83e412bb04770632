//! The text format of Prometheus: samples with name, labels and value. A line that is none is passed over.

use std::collections::BTreeSet;

/// Largest number of samples that are kept; engines have a few thousand.
const MOST: usize = 100_000;

/// Labels of the processes that share the work of one engine: each tells the same values.
const RANKS: [&str; 3] = ["tp_rank", "pp_rank", "moe_ep_rank"];

/// A sample of a metric.
#[derive(Debug, Clone, PartialEq)]
struct Sample {
    name: String,
    labels: Vec<(String, String)>,
    value: f64,
}

impl Sample {
    fn label(&self, key: &str) -> Option<&str> {
        self.labels.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// The labels without the ranks of processes.
    fn engine(&self) -> Vec<&(String, String)> {
        let mut labels: Vec<_> =
            self.labels.iter().filter(|(key, _)| !RANKS.contains(&key.as_str())).collect();
        labels.sort();
        labels
    }
}

/// All samples of an answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Samples(Vec<Sample>);

impl Samples {
    /// Reads the samples. A last line without its end is left out, because an answer that was cut off may end in half a number.
    pub(super) fn parse(text: &str) -> Self {
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        Self(whole.lines().filter_map(sample).take(MOST).collect())
    }

    /// Whether a metric has a name that begins like this.
    pub(super) fn has_prefix(&self, prefix: &str) -> bool {
        self.0.iter().any(|sample| sample.name.starts_with(prefix))
    }

    /// The sum of a metric over all its labels: the engines of a server, or the models. `None` if it is missing, or if one of its
    /// values cannot be right: negative, infinite, not a number.
    pub(super) fn sum(&self, name: &str) -> Option<f64> {
        Self::total(self.all(name))
    }

    /// The sum of the samples of a metric that have this label; see [`Self::sum`].
    pub(super) fn sum_with(&self, name: &str, key: &str, value: &str) -> Option<f64> {
        Self::total(self.all(name).filter(|sample| sample.label(key) == Some(value)))
    }

    /// The mean of a metric over all its labels, for shares; see [`Self::sum`].
    pub(super) fn mean(&self, name: &str) -> Option<f64> {
        let sum = self.sum(name)?;
        Some(sum / self.all(name).count() as f64)
    }

    fn total<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<f64> {
        let values: Vec<f64> = samples.map(|sample| sample.value).collect();
        let sound = values.iter().all(|value| (0.0..f64::INFINITY).contains(value));
        let sum: f64 = values.iter().sum();
        (!values.is_empty() && sound && sum.is_finite()).then_some(sum)
    }

    /// The sum over the engines of a server of the value of one metric times the product of two labels of another one. An engine
    /// without labels of its own has those of the first.
    pub(super) fn times_labels(&self, name: &str, info: &str, keys: [&str; 2]) -> Option<f64> {
        let of = |sample: &Sample| {
            let [a, b] = keys.map(|key| sample.label(key)?.parse::<u64>().ok());
            a?.checked_mul(b?).map(|product| product as f64)
        };
        let mut total = 0.0;
        self.sum(name)?;
        for sample in self.all(name) {
            let engine = sample.label("engine");
            let own = self.all(info).find(|info| info.label("engine") == engine);
            total += sample.value * of(own.or_else(|| self.all(info).next())?)?;
        }
        Some(total)
    }

    /// The samples of a metric. Of metrics with a sum and its parts by priority only the sum counts, and of processes that share the
    /// work of one engine only the first.
    fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Sample> {
        let mut seen = BTreeSet::new();
        self.0.iter().filter(move |sample| {
            let is_whole = sample.label("priority").is_none_or(str::is_empty);
            sample.name == name && is_whole && seen.insert(sample.engine())
        })
    }
}

fn sample(line: &str) -> Option<Sample> {
    let line = line.trim();
    let end = line.find(['{', ' ', '\t'])?;
    let (name, rest) = line.split_at(end);
    if name.is_empty() || name.starts_with('#') {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        None => (Vec::new(), rest),
        Some(rest) => labels(rest)?,
    };
    // A time stamp may follow the value.
    let value = rest.split_whitespace().next()?.parse().ok()?;
    Some(Sample { name: name.to_owned(), labels, value })
}

/// The labels up to the closing brace, and the text after it.
fn labels(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches([',', ' ']);
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((found, rest));
        }
        let (key, after) = rest.split_once('=')?;
        let (value, after) = quoted(after.trim_start().strip_prefix('"')?)?;
        found.push((key.trim().to_owned(), value));
        rest = after;
    }
}

/// The text up to the closing quotation mark, without its escapes, and the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(match chars.next()?.1 {
                'n' => '\n',
                other => other,
            }),
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_labels_values_and_stamps() {
        let text = "# HELP a A counter\n# TYPE a counter\na 3\na{b=\"c\",d=\"e \\\"f\\\\\"} 4.5 1700000000\n\na{g=\"h\"} 1e1\nb NaN\n";
        let samples = Samples::parse(text);
        assert_eq!(samples.0.len(), 4, "{samples:?}");
        assert_eq!(samples.sum("a"), Some(17.5));
        assert_eq!(samples.0[1].label("d"), Some("e \"f\\"));
        assert_eq!(samples.sum("b"), None);
        assert_eq!(samples.mean("a"), Some(17.5 / 3.0));
        assert_eq!(samples.sum_with("a", "b", "c"), Some(4.5));
        assert_eq!(samples.sum_with("a", "b", "d"), None);
        assert!(samples.has_prefix("a") && !samples.has_prefix("c"));
    }

    #[test]
    fn values_that_cannot_be_right_are_missing() {
        for value in ["NaN", "+Inf", "-Inf", "-1", "-0.5", "x", "", "0x10", "1e999"] {
            let samples = Samples::parse(&format!("a{{e=\"0\"}} 5\na{{e=\"1\"}} {value}\nb 1\n"));
            assert_eq!(samples.sum("b"), Some(1.0), "{value}");
            // A sample that is no number is no sample; all others spoil the sum.
            let readable = value.parse::<f64>().is_ok();
            assert_eq!(samples.sum("a"), (!readable).then_some(5.0), "{value}");
        }
    }

    #[test]
    fn an_answer_that_was_cut_off_does_not_end_in_half_a_number() {
        assert_eq!(Samples::parse("a 1234\nb 12").sum("b"), None);
        assert_eq!(Samples::parse("a 1234\nb 12").sum("a"), Some(1234.0));
        assert_eq!(Samples::parse("a 12").sum("a"), None);
    }

    #[test]
    fn garbage_is_passed_over() {
        for text in
            ["{}", "{ 1", "a{", "a{b", "a{b=", "a{b=\"", "a{b=\"c\"", "a{b=\"c\\", "\u{0}", "é 1"]
        {
            let samples = Samples::parse(&format!("{text}\nlast 1\n"));
            assert_eq!(samples.sum("last"), Some(1.0), "{text}");
        }
        let huge: String = (0..MOST + 10).map(|at| format!("m{{l=\"{at}\"}} 1\n")).collect();
        assert_eq!(Samples::parse(&huge).sum("m"), Some(MOST as f64));
    }

    #[test]
    fn processes_of_one_engine_count_once() {
        let text = "a{dp_rank=\"0\",tp_rank=\"0\"} 3\na{tp_rank=\"1\",dp_rank=\"0\"} 3\na{dp_rank=\"1\",tp_rank=\"2\"} 5\n";
        let samples = Samples::parse(text);
        assert_eq!((samples.sum("a"), samples.mean("a")), (Some(8.0), Some(4.0)));
    }

    #[test]
    fn labels_multiply_the_values_of_their_engine() {
        let text = "u{engine=\"0\"} 0.5\nu{engine=\"1\"} 0.25\n\
                    i{engine=\"0\",n=\"100\",s=\"16\"} 1\ni{engine=\"1\",n=\"200\",s=\"16\"} 1\n";
        assert_eq!(Samples::parse(text).times_labels("u", "i", ["n", "s"]), Some(1600.0));
        for info in ["", "i{n=\"None\",s=\"16\"} 1\n", "i{n=\"18446744073709551615\",s=\"16\"} 1\n"]
        {
            let text = format!("u 0.5\n{info}");
            assert_eq!(Samples::parse(&text).times_labels("u", "i", ["n", "s"]), None, "{info}");
        }
    }
}
