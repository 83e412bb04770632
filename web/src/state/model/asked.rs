//! Inputs of the Model view as every view carries them: pairs of the address, parsed on first access by the Model view. Models
//! and their parsing are in that view's chunk.

use core::any::Any;
use core::fmt;
use core::ops::{Deref, DerefMut};
use std::sync::OnceLock;

use calc_core::estimate::EstimateRequest;

use super::fields;
use super::inputs::ModelInputs;
use super::question::Question;
use super::url;
use crate::state::files::OpenedModel;
use crate::state::inputs::Inputs;
use crate::state::url::Note;

/// A key of the address with its value.
pub type Pair = (&'static str, String);

/// Keys of the Model view and of the Trust view in the address.
const KEYS: [&str; 44] = [
    "model",
    "file",
    "geometry",
    "stored",
    "batch",
    "prompt",
    "context",
    "generate",
    "tp",
    "pp",
    "ep",
    "memory",
    "wbits",
    "draft",
    "dm",
    "engine",
    "scheme",
    "accept",
    "layers",
    "hidden",
    "heads",
    "kvheads",
    "headsize",
    "ffn",
    "vocab",
    "nexperts",
    "topk",
    "expertsize",
    "window",
    "tied",
    "weights",
    "experts",
    "acts",
    "kv",
    "emb",
    "us",
    "ts",
    "tk",
    "fs",
    "fd",
    "fe",
    "ff",
    "ft",
    "fl",
];
/// Keys of a custom model, which are in the fragment and not in the query.
const CARRIED: [&str; 3] = ["file", "geometry", "stored"];

/// Whether a key belongs to a custom model.
pub fn is_carried(key: &str) -> bool {
    CARRIED.contains(&key)
}

/// Longest value that is stored, in characters; a geometry needs a quarter of it.
const LONGEST: usize = 1000;
/// Largest memory limit [GB]; equal to the limit of the Model view's field.
const MOST_MEMORY: f64 = 1e6;

/// Parsed pairs, behind a trait: code that is referenced statically would be part of the initial page.
trait Understood: Any + Send + Sync {
    fn pairs(&self) -> Vec<Pair>;
    fn copied(&self) -> Box<dyn Understood>;
    fn put(&mut self, key: &str, value: &str);
}

impl Understood for ModelInputs {
    fn pairs(&self) -> Vec<Pair> {
        let mut pairs = Vec::new();
        url::write(self, &mut pairs);
        pairs
    }

    fn copied(&self) -> Box<dyn Understood> {
        Box::new(self.clone())
    }

    fn put(&mut self, key: &str, value: &str) {
        let _known = url::read(self, key, value); // the field shows the error of an invalid value
    }
}

/// Inputs of the Model view, as pairs of the address. Dereferencing to [`ModelInputs`] parses them.
#[derive(Default)]
pub struct Asked {
    pairs: Vec<Pair>,
    understood: OnceLock<Box<dyn Understood>>,
}

impl Asked {
    /// Stores a pair of an address; false for an unknown key.
    pub fn take(&mut self, key: &str, value: &str) -> bool {
        let Some(key) = KEYS.into_iter().find(|known| *known == key) else { return false };
        self.pairs.push((key, value.chars().take(LONGEST).collect()));
        true
    }

    /// Pairs that differ from the default, for an address.
    pub fn pairs(&self) -> Vec<Pair> {
        self.understood.get().map_or_else(|| self.pairs.clone(), |understood| understood.pairs())
    }

    /// Whether a key differs from the default.
    pub fn has(&self, key: &str) -> bool {
        self.pairs().iter().any(|(other, _)| *other == key)
    }

    /// Replaces the value of a key, parsed or not; an empty value removes the pair.
    pub fn put(&mut self, key: &'static str, value: &str) {
        if let Some(understood) = self.understood.get_mut() {
            understood.put(key, value);
            return;
        }
        self.pairs.retain(|(other, _)| *other != key);
        if !value.is_empty() {
            self.pairs.push((key, value.to_owned()));
        }
    }

    /// The memory limit [GB]; 0 without one, `None` if it is invalid.
    pub fn memory_limit(&self) -> Option<f64> {
        let pairs = self.pairs();
        let typed =
            pairs.iter().find(|(key, _)| *key == "memory").map_or("", |(_, typed)| typed.trim());
        if typed.is_empty() {
            return Some(0.0);
        }
        fields::memory(typed).filter(|limit| (0.0..=MOST_MEMORY).contains(limit))
    }

    /// Notes on invalid pairs; empty if they were parsed before.
    pub fn notes(&self) -> Vec<Note> {
        if self.understood.get().is_some() {
            return Vec::new();
        }
        understand(&self.pairs).1
    }
}

fn understand(pairs: &[Pair]) -> (ModelInputs, Vec<Note>) {
    let mut inputs = ModelInputs::default();
    let mut notes = Vec::new();
    for (key, value) in pairs {
        if let Some(Err(rest)) = url::read(&mut inputs, key, value) {
            notes.push(Note::on(key, value, &rest));
        }
    }
    (inputs, notes)
}

impl Deref for Asked {
    type Target = ModelInputs;

    fn deref(&self) -> &ModelInputs {
        let understood = self.understood.get_or_init(|| Box::new(understand(&self.pairs).0));
        let any: &dyn Any = &**understood;
        any.downcast_ref().expect("nothing else is put there")
    }
}

impl DerefMut for Asked {
    fn deref_mut(&mut self) -> &mut ModelInputs {
        let _: &ModelInputs = self; // parses on first access
        let understood = self.understood.get_mut().expect("understood above");
        let any: &mut dyn Any = &mut **understood;
        any.downcast_mut().expect("nothing else is put there")
    }
}

impl Clone for Asked {
    fn clone(&self) -> Self {
        let understood = OnceLock::new();
        if let Some(known) = self.understood.get() {
            drop(understood.set(known.copied()));
        }
        Self { pairs: self.pairs.clone(), understood }
    }
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.pairs() == other.pairs()
    }
}

impl fmt::Debug for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pairs().fmt(f)
    }
}

/// Function that receives a request to the core.
pub type WithRequest<'a> = dyn FnMut(&EstimateRequest<'_>) + 'a;

/// Functions of the Model view that other parts of the page call.
struct Known {
    /// Parses the pairs of an address and returns notes on the invalid ones.
    take_over: fn(&mut Inputs, Option<&OpenedModel>) -> Vec<Note>,
    /// Builds the request and passes it on; does nothing while an input is invalid.
    with_request: fn(&Inputs, &mut WithRequest<'_>),
}

static KNOWN: OnceLock<Known> = OnceLock::new();

/// Registers the Model view's functions; from now on the pairs of every address are checked.
pub fn arrive() {
    KNOWN.get_or_init(|| Known {
        take_over: |inputs, opened| {
            let notes = inputs.model.notes();
            if let Some(opened) = opened {
                inputs.model.remember(&opened.model);
            }
            notes
        },
        with_request: |inputs, ask| {
            if let Ok(question) = Question::read(&inputs.model, inputs.place()) {
                ask(&question.request(question.workload));
            }
        },
    });
}

/// Passes a request about the model to `ask`, if the Model view is loaded and all inputs are valid.
pub fn with_request(inputs: &Inputs, ask: &mut WithRequest<'_>) {
    if let Some(known) = KNOWN.get() {
        (known.with_request)(inputs, ask);
    }
}

/// Checks the pairs of an address, if the Model view is loaded, and returns notes on the invalid ones.
pub fn take_over(inputs: &mut Inputs, opened: Option<&OpenedModel>) -> Vec<Note> {
    KNOWN.get().map_or_else(Vec::new, |known| (known.take_over)(inputs, opened))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::check::CLAIM;
    use crate::state::model::fields::Field;
    use crate::state::model::roles::Role;
    use crate::state::trust::filter;

    #[test]
    fn the_keys_are_those_that_are_understood() {
        let mut others =
            vec!["model", "file", "geometry", "stored", "tied", "dm", "engine", "scheme"];
        others.extend(CLAIM);
        others.extend(filter::KEYS);
        others.extend(Field::ALL.map(|field| field.spec().id));
        others.extend(Role::ALL.map(Role::id));
        assert_eq!(others.len(), KEYS.len());
        assert!(others.iter().all(|key| KEYS.contains(key)), "{others:?}");
        assert!(!Asked::default().take("m", "1"));
    }

    #[test]
    fn pairs_stay_as_they_are_until_somebody_looks() {
        let mut asked = Asked::default();
        assert!(asked.take("tp", "2") && asked.take("model", "none") && asked.take("batch", "1"));
        assert_eq!(asked.pairs().len(), 3);
        assert_eq!(asked.clone(), asked);
        assert_eq!((asked.text(Field::Tensor), asked.pairs()), ("2", vec![("tp", "2".to_owned())]));
        asked.set_text(Field::Tensor, "4".to_owned());
        assert_eq!(asked.clone().pairs(), [("tp", "4".to_owned())]);
    }

    #[test]
    fn a_value_is_put_whether_or_not_somebody_looked() {
        let mut asked = Asked::default();
        for understood in [false, true] {
            asked.put("us", "60");
            asked.put("tk", "user");
            asked.put("us", "61");
            asked.put("ts", "5");
            asked.put("ts", "");
            let mut pairs = asked.pairs();
            pairs.sort_unstable();
            assert_eq!(pairs, [("tk", "user".to_owned()), ("us", "61".to_owned())], "{understood}");
            assert_eq!(asked.text(Field::Tensor), "1", "it is understood from here on");
        }
    }

    #[test]
    fn what_is_wrong_is_said_once() {
        let mut asked = Asked::default();
        assert!(asked.take("model", "llama-3.1-9b"));
        let notes = asked.notes();
        assert!(notes.len() == 1 && notes[0].text.contains("llama-3.1-8b"), "{notes:?}");
        assert_eq!(*asked, ModelInputs::default());
        assert_eq!(asked.notes(), []);
    }

    #[test]
    fn the_memory_limit_is_read_without_the_rest() {
        for (typed, limit) in [
            ("", Some(0.0)),
            ("6.5", Some(6.5)),
            ("24 GB", Some(24.0)),
            ("24GiB", Some(25.769_803_776)),
            ("x", None),
            ("1e7", None),
        ] {
            let mut asked = Asked::default();
            assert!(asked.take("memory", typed));
            assert_eq!(asked.memory_limit(), limit, "{typed}");
            asked.set_text(Field::Memory, typed.to_owned());
            assert_eq!(asked.memory_limit(), limit, "{typed}");
        }
    }
}
