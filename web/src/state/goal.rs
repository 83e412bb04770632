//! The user's goal for a quantization: the objective and the bounds. The views share it; numbers are stored as typed.

use calc_core::recommend::{Bounds, Objective, RankedPart, USUAL_QUALITY};
use calc_core::units::{Seconds, TokensPerSec};
use report::input::number_input;
use report::output::address::key;

/// A bound that the user can set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Largest loss of quality [%].
    Loss,
    /// Longest time per output token [ms].
    Tpot,
    /// Longest time to first token [ms].
    Ttft,
    /// Lowest throughput over the batch [token/s].
    Rate,
}

impl Bound {
    /// All bounds, in the order of the form.
    pub const ALL: [Self; 4] = [Self::Loss, Self::Tpot, Self::Ttft, Self::Rate];

    /// Id in the document, and key in the address.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Loss => key::LOSS,
            Self::Tpot => key::TPOT,
            Self::Ttft => key::TTFT,
            Self::Rate => key::RATE,
        }
    }

    /// Label in the form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "Quality loss",
            Self::Tpot => "Per token",
            Self::Ttft => "First token",
            Self::Rate => "Tokens per second",
        }
    }

    /// Direction of the bound, and its unit.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Loss => "at most, %",
            Self::Tpot | Self::Ttft => "at most, ms",
            Self::Rate => "at least, batch",
        }
    }

    /// Placeholder of an empty field: the default bound.
    pub const fn empty(self) -> &'static str {
        match self {
            Self::Loss => "5",
            Self::Tpot | Self::Ttft | Self::Rate => "any",
        }
    }

    /// Largest allowed value; the smallest is above zero, or zero for the loss.
    const fn most(self) -> f64 {
        match self {
            Self::Loss => 1e6,
            Self::Tpot | Self::Ttft | Self::Rate => 1e9,
        }
    }
}

/// The user's goal.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// Objective of the ranking.
    pub objective: Objective,
    /// Phase that the ranking is by; `None`: the workload decides.
    pub part: Option<RankedPart>,
    texts: [String; Bound::ALL.len()],
}

impl Default for Goal {
    fn default() -> Self {
        Self { objective: Objective::Latency, part: None, texts: Default::default() }
    }
}

impl Goal {
    /// The text of a bound.
    pub fn text(&self, bound: Bound) -> &str {
        &self.texts[bound as usize]
    }

    /// Replaces the text of a bound.
    pub fn set_text(&mut self, bound: Bound, text: String) {
        self.texts[bound as usize] = text;
    }

    /// The value of a bound; `None` for an empty field.
    ///
    /// # Errors
    /// Returns the allowed values as a sentence.
    pub fn value(&self, bound: Bound) -> Result<Option<f64>, String> {
        let typed = self.text(bound).trim();
        if typed.is_empty() {
            return Ok(None);
        }
        let least = if bound == Bound::Loss { 0.0 } else { 1e-6 };
        let value =
            number_input::real(typed).filter(|value| (least..=bound.most()).contains(value));
        let name = bound.name();
        let refusal = if bound == Bound::Loss {
            format!("{name} must be a number from 0 on, or empty.")
        } else {
            format!("{name} must be a number above 0, or empty.")
        };
        value.map(Some).ok_or(refusal)
    }

    /// All bounds; `None` while one of them is invalid.
    pub fn bounds(&self) -> Option<Bounds> {
        let milliseconds = |value: Option<f64>| value.map(|value| Seconds::new(value * 1e-3));
        Some(Bounds {
            quality: self.value(Bound::Loss).ok()?.unwrap_or(USUAL_QUALITY),
            tpot: milliseconds(self.value(Bound::Tpot).ok()?),
            ttft: milliseconds(self.value(Bound::Ttft).ok()?),
            rate: self.value(Bound::Rate).ok()?.map(TokensPerSec::new),
        })
    }

    /// Adds the pairs that differ from the default to an address.
    pub fn write(&self, pairs: &mut Vec<(&'static str, String)>) {
        if self.objective != Objective::Latency {
            pairs.push((key::OBJECTIVE, self.objective.key().to_owned()));
        }
        pairs.extend(self.part.map(|part| (key::PHASE, part.key().to_owned())));
        for bound in Bound::ALL {
            let text = self.text(bound).trim();
            if !text.is_empty() {
                pairs.push((bound.id(), text.to_owned()));
            }
        }
    }

    /// Applies a pair of an address. `None` for a key that is no part of the goal; the error states the allowed values.
    pub fn read(&mut self, key: &str, value: &str) -> Option<Result<(), String>> {
        const LONGEST: usize = 40;
        if let Some(bound) = Bound::ALL.into_iter().find(|bound| bound.id() == key) {
            self.set_text(bound, value.chars().take(LONGEST).collect());
            return Some(Ok(()));
        }
        match key {
            key::OBJECTIVE => Some(match Objective::ALL.iter().find(|(name, _)| *name == value) {
                Some((_, objective)) => {
                    self.objective = *objective;
                    Ok(())
                }
                None => Err("which is none of latency, throughput, energy, memory, quality. The page ranks by latency.".to_owned()),
            }),
            key::PHASE => Some(match RankedPart::ALL.iter().find(|(name, _)| *name == value) {
                Some((_, part)) => {
                    self.part = Some(*part);
                    Ok(())
                }
                None => Err("which is none of prefill, decode, whole. The page chooses by the workload.".to_owned()),
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_come_back_and_wrong_ones_are_named() {
        let mut goal = Goal {
            objective: Objective::Energy,
            part: Some(RankedPart::Prefill),
            ..Goal::default()
        };
        goal.set_text(Bound::Tpot, "50".to_owned());
        let mut pairs = Vec::new();
        goal.write(&mut pairs);
        let mut back = Goal::default();
        for (key, value) in &pairs {
            assert_eq!(back.read(key, value), Some(Ok(())), "{key}={value}");
        }
        assert_eq!((back, pairs.len()), (goal, 3));
        assert!(Goal::default().read("obj", "speed").is_some_and(|read| read.is_err()));
        assert_eq!(Goal::default().read("q", "1"), None);
    }

    #[test]
    fn bounds_are_read_in_their_units_or_say_what_is_allowed() {
        let mut goal = Goal::default();
        assert_eq!(goal.bounds(), Some(Bounds::default()));
        goal.set_text(Bound::Tpot, "50".to_owned());
        goal.set_text(Bound::Loss, "0".to_owned());
        let bounds = goal.bounds().expect("readable");
        assert_eq!((bounds.tpot, bounds.quality.to_bits()), (Some(Seconds::new(0.05)), 0));
        for typed in ["0", "-1", "soon", "NaN", "1e99"] {
            goal.set_text(Bound::Ttft, typed.to_owned());
            assert!(goal.value(Bound::Ttft).is_err() && goal.bounds().is_none(), "{typed}");
        }
    }
}
