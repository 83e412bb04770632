//! A model of a file as the page keeps it, and its geometry and formats as words of a link.

mod geometry;
mod numbers;
mod towers;
mod version_1;
mod weights;

use calc_core::catalog;

use calc_core::mixture::{Differing, Ratios, SLOTS};
use calc_core::model_arch::ModelArch;
use calc_core::precision::PrecisionChoice;
use calc_core::provenance::Provenance;
use calc_core::quant_format::QuantFormat;

use geometry::{geometry, read_geometry};
pub use weights::{FileWeights, RoleSum, read_file_weights};

use super::{first_notes, import_notes};
use crate::input::named_model::NamedModel;

/// Separator of the formats of the stored roles.
const ROLE: char = '~';
/// A geometry and its word of a link: a page that only passes the word on needs no code that writes it.
#[derive(Debug, Clone)]
pub struct FileGeometry {
    arch: ModelArch,
    word: String,
}

impl PartialEq for FileGeometry {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl FileGeometry {
    /// A geometry that has a word, as all of the catalog have.
    pub fn of(arch: &ModelArch) -> Self {
        Self { arch: arch.clone(), word: geometry(arch) }
    }

    /// Reads a word; `None` for any other text.
    pub fn read(word: String) -> Option<Self> {
        Some(Self { arch: read_geometry(&word)?, word })
    }

    /// The geometry.
    pub const fn arch(&self) -> &ModelArch {
        &self.arch
    }

    /// The word of a link.
    pub fn word(&self) -> &str {
        &self.word
    }
}

/// The parts of a model file that the page needs.
#[derive(Debug, Clone, PartialEq)]
pub struct FileModel {
    pub name: String,
    /// Source of the geometry.
    pub source: String,
    /// Provenance of the geometry.
    pub provenance: Provenance,
    pub geometry: FileGeometry,
    pub stored: PrecisionChoice,
    /// Notes on assumed, omitted and rounded fields.
    pub notes: Vec<String>,
    /// Contents of its weight files, if it was read from them.
    pub weights: Option<FileWeights>,
}

impl FileModel {
    /// The parts of an imported model; `None` where no word can hold the geometry.
    pub fn of(model: &NamedModel) -> Option<Self> {
        let one_line = |text: &str| text.replace(char::is_control, " ");
        let notes = notes(model);
        Some(Self {
            name: one_line(&model.name),
            source: one_line(&model.source),
            provenance: model.provenance,
            geometry: FileGeometry::read(geometry(&model.arch))?,
            stored: model.stored,
            notes: notes.iter().map(|note| one_line(note)).collect(),
            weights: None,
        })
    }
}

/// All notes on an import, those that come before others first.
fn notes(model: &NamedModel) -> Vec<String> {
    let mut notes = first_notes(&model.source, &model.assumed);
    notes.extend(import_notes(&model.assumed, &model.remarks));
    notes
}

/// Writes the formats of the stored roles as one word.
pub fn stored(choice: &PrecisionChoice) -> String {
    let roles = [
        Some(choice.weights),
        choice.activations,
        choice.kv_cache,
        choice.embedding,
        choice.experts,
    ];
    let keys = roles.iter().map(|role| role.map_or("", |format| format.key).to_owned());
    let words: Vec<String> = keys.chain(choice.ratios.map(|own| ratios(&own))).collect();
    words.join(&ROLE.to_string()).trim_end_matches(ROLE).to_owned()
}

/// Before the operators whose ratio differs between layers, and before its extremes.
const DIFFERING: char = '_';

/// Writes ratios in base 16; empty for 1.
fn ratios(own: &Ratios) -> String {
    let word = |step: u32| if step == Ratios::ONE { String::new() } else { format!("{step:x}") };
    let means = own.means().map(word).join("-");
    match own.differing() {
        Differing::NONE => means,
        Differing { operators, least, most } => {
            format!("{means}{DIFFERING}{operators:x}{DIFFERING}{least:x}{DIFFERING}{most:x}")
        }
    }
}

/// Reads the word of [`ratios`].
fn read_ratios(text: &str) -> Option<Ratios> {
    let number = |word: &str| u32::from_str_radix(word, 16).ok();
    let mut parts = text.split(DIFFERING);
    let words: Vec<&str> = parts.next()?.split('-').collect();
    (words.len() == SLOTS).then_some(())?;
    let mut means = [Ratios::ONE; SLOTS];
    for (mean, word) in means.iter_mut().zip(words).filter(|(_, word)| !word.is_empty()) {
        *mean = number(word)?;
    }
    let range: Option<Vec<u32>> = parts.map(number).collect();
    let differing = match range?[..] {
        [] => Differing::NONE,
        [operators, least, most] if operators > 0 => {
            Differing { operators: u16::try_from(operators).ok()?, least, most }
        }
        _ => return None,
    };
    Ratios::new(means, differing)
}

/// Parses the word of [`stored`]; `None` for any other text.
pub fn read_stored(text: &str) -> Option<PrecisionChoice> {
    let mut keys = text.split(ROLE);
    let mut next = || -> Option<Option<&'static QuantFormat>> {
        match keys.next().unwrap_or_default() {
            "" => Some(None),
            key => catalog::format(key).ok().map(Some),
        }
    };
    let weights = next()??;
    let choice = PrecisionChoice {
        activations: next()?,
        kv_cache: next()?,
        embedding: next()?,
        experts: next()?,
        ..PrecisionChoice::weights(weights)
    };
    let ratios = match keys.next() {
        None => None,
        Some(text) => Some(read_ratios(text)?),
    };
    keys.next().is_none().then_some(PrecisionChoice { ratios, ..choice })
}

#[cfg(test)]
mod tests {
    use super::*;
    use calc_core::catalog::models;
    use calc_core::hf_config::Unread;

    #[test]
    fn every_catalog_model_is_read_back_unchanged() {
        for model in models::all() {
            let named = NamedModel::from_catalog(model);
            let back = FileModel::of(&named).unwrap_or_else(|| panic!("{}", model.key));
            assert_eq!((back.geometry.arch(), back.stored), (&model.arch, model.stored.choice()));
            let headless = ModelArch { has_head: false, ..model.arch.clone() };
            assert_eq!(read_geometry(&geometry(&headless)), Some(headless), "{}", model.key);
            assert_eq!(read_stored(&stored(&back.stored)), Some(back.stored), "{}", model.key);
            assert_eq!((back.name.as_str(), back.provenance), (model.name, model.provenance));
            assert!(
                back.geometry.word().len() < 400,
                "{} is too long for an address",
                back.geometry.word()
            );
        }
    }

    #[test]
    fn a_file_keeps_its_notes_and_its_formats() {
        let text =
            include_str!("../../../../../docs/examples/custom-model.json").replacen('{', "{\"quantization_config\": {\"quant_method\": \"gptq\", \"bits\": 4, \"group_size\": 128},", 1);
        let named =
            NamedModel::from_file("mine\tand\nyours.json", &text, Unread::Refuse).expect("a model");
        let back = FileModel::of(&named).expect("a geometry");
        assert_eq!(read_stored(&stored(&back.stored)), Some(back.stored));
        assert_eq!((back.geometry.arch(), back.stored), (&*named.arch, named.stored));
        assert_eq!(back.notes, notes(&named));
        assert_eq!(back.name, "mine and yours.json");
    }

    #[test]
    fn text_that_was_never_written_is_refused() {
        let model = catalog::model("deepseek-v3").expect("catalog key");
        let good = geometry(&model.arch);
        assert!(read_geometry(&good).is_some());
        let groups: Vec<&str> = good.split('.').collect();
        for place in 0..groups.len() {
            for wrong in ["", "0", "zz", "1-2-3-4-5-6-7-8-9-a-b", "ffffffffffffffffff"] {
                if groups[place] == wrong {
                    continue;
                }
                let mut tampered = groups.clone();
                tampered[place] = wrong;
                let tampered = tampered.join(".");
                let read = read_geometry(&tampered);
                // A part that a model may lack can be left out; anything else is refused or still a possible model.
                assert!(read.as_ref().is_none_or(|arch| arch.check().is_ok()), "{tampered}");
                assert_ne!(read.as_ref(), Some(&model.arch), "{tampered}");
            }
        }
        for wrong in ["", "1", "2.0", &good[1..], &format!("{good}.1"), &good.replacen('2', "3", 1)]
        {
            assert_eq!(read_geometry(wrong), None, "{wrong}");
        }
        let own = "nf4~~~bf16~~-------------20000";
        let ratios = read_stored(own).and_then(|choice| choice.ratios).expect("ratios");
        assert_eq!(stored(&read_stored(own).expect("formats")), own);
        assert_eq!(ratios.means()[SLOTS - 1], 2 * Ratios::ONE);
        let own = "nf4~~~~~11000-------------_1_10000_20000";
        let ratios = read_stored(own).and_then(|choice| choice.ratios).expect("ratios");
        assert_eq!(stored(&read_stored(own).expect("formats")), own);
        let differing = Differing { operators: 1, least: Ratios::ONE, most: 2 * Ratios::ONE };
        assert_eq!((ratios.means()[0], ratios.differing()), (0x11000, differing));
        let ranges = ["1_10000", "1_12000_20000", "1_20000_10000", "0_10000_20000", "4000_1_2", ""];
        for wrong in ranges.into_iter().chain(["2_10000_20000_1", "1_8000_10000"]) {
            assert_eq!(
                read_stored(&format!("nf4~~~~~11000-------------_{wrong}")),
                None,
                "{wrong}"
            );
        }
        let wrong_ratios = ["nf4~~~~~1", "nf4~~~~~-------------", "nf4~~~~~-------------fffffff"];
        for wrong in wrong_ratios.into_iter().chain(["", "~", "fp17", "bf16~fp17", "int4_g"]) {
            assert_eq!(read_stored(wrong), None, "{wrong}");
        }
    }
}
