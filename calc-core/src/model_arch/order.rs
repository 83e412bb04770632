//! The order of the layers of a model, as a short text and as a list.
//!
//! A layer is one letter for each of its parts, followed by the index of the part's group unless that is 0:
//! `f` full attention, `w` attention with a window or chunks, `r` recurrence, `d` dense MLP, `e` experts.
//! A number before a layer repeats it, and one before parentheses a section: `3fd,58fe`, or `10(3re,fe)`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::{Attention, MAX_COUNT, ModelArch, Recurrent};

/// A group of layers of a model, by its place in the list of its kind in [`ModelArch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LayerGroup {
    /// The model outside its attention, recurrent and MLP layers: embedding, norms, further projections, LM head.
    Whole,
    Attention(usize),
    Recurrent(usize),
    Dense(usize),
    Experts(usize),
}

/// Parts of layers that differ in nothing: of a group of attention, those with a window apart from those without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LayerPart {
    pub group: LayerGroup,
    /// True for attention with a window or chunks.
    pub windowed: bool,
}

/// Equal layers that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerRun {
    pub count: u64,
    /// The parts of one of these layers.
    pub parts: Vec<LayerPart>,
}

/// Runs of layers that are repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerSection {
    pub repeat: u64,
    pub runs: Vec<LayerRun>,
}

impl LayerPart {
    /// The model outside its layers.
    pub const WHOLE: Self = Self::of(LayerGroup::Whole);

    /// A part without a window.
    pub const fn of(group: LayerGroup) -> Self {
        Self { group, windowed: false }
    }

    /// Number of layers with this part; 1 for the rest of the model.
    pub fn layers(self, model: &ModelArch) -> u64 {
        let attention = |group: &Attention| {
            if self.windowed { group.windowed_layers } else { group.full_layers }
        };
        match self.group {
            LayerGroup::Whole => 1,
            LayerGroup::Attention(index) => model.attention.get(index).map_or(0, attention),
            LayerGroup::Recurrent(index) => model.recurrent.get(index).map_or(0, Recurrent::layers),
            LayerGroup::Dense(index) => model.dense.get(index).map_or(0, |group| group.layers),
            LayerGroup::Experts(index) => model.moe.get(index).map_or(0, |group| group.layers),
        }
    }

    fn write(self) -> String {
        let (letter, index) = match (self.group, self.windowed) {
            (LayerGroup::Whole, _) => return String::new(),
            (LayerGroup::Attention(index), false) => ('f', index),
            (LayerGroup::Attention(index), true) => ('w', index),
            (LayerGroup::Recurrent(index), _) => ('r', index),
            (LayerGroup::Dense(index), _) => ('d', index),
            (LayerGroup::Experts(index), _) => ('e', index),
        };
        if index == 0 { String::from(letter) } else { format!("{letter}{index}") }
    }

    fn read(letter: char, index: usize) -> Option<Self> {
        Some(match letter {
            'f' => Self::of(LayerGroup::Attention(index)),
            'w' => Self { group: LayerGroup::Attention(index), windowed: true },
            'r' => Self::of(LayerGroup::Recurrent(index)),
            'd' => Self::of(LayerGroup::Dense(index)),
            'e' => Self::of(LayerGroup::Experts(index)),
            _ => return None,
        })
    }
}

impl ModelArch {
    /// The parts that the model's layers have, each with its number of layers.
    pub fn layer_parts(&self) -> Vec<(LayerPart, u64)> {
        let mut parts = Vec::new();
        for index in 0..self.attention.len() {
            let full = LayerPart::of(LayerGroup::Attention(index));
            parts.extend([full, LayerPart { windowed: true, ..full }]);
        }
        let of = |kind: fn(usize) -> LayerGroup, count: usize| {
            (0..count).map(move |index| LayerPart::of(kind(index)))
        };
        parts.extend(of(LayerGroup::Recurrent, self.recurrent.len()));
        parts.extend(of(LayerGroup::Dense, self.dense.len()));
        parts.extend(of(LayerGroup::Experts, self.moe.len()));
        let counted = parts.into_iter().map(|part| (part, part.layers(self)));
        counted.filter(|(_, layers)| *layers > 0).collect()
    }

    /// The layers in their order; `None` if the order is unknown, or is not that of the groups.
    pub fn sections(&self) -> Option<Vec<LayerSection>> {
        let parts = self.layer_parts();
        if self.order.is_empty() {
            // Layers that all have the same parts need no order.
            let equal = parts.iter().all(|(_, layers)| *layers == self.n_layers);
            let runs = Vec::from([LayerRun {
                count: self.n_layers,
                parts: parts.iter().map(|(part, _)| *part).collect(),
            }]);
            return equal.then(|| Vec::from([LayerSection { repeat: 1, runs }]));
        }
        let sections = read_order(&self.order)?;
        let count = |part: LayerPart| -> u64 {
            let runs = |section: &LayerSection| -> u64 {
                let with = section.runs.iter().filter(|run| run.parts.contains(&part));
                with.map(|run| run.count).sum::<u64>() * section.repeat
            };
            sections.iter().map(runs).sum()
        };
        let all = |sections: &[LayerSection]| -> bool {
            let runs = sections.iter().flat_map(|section| &section.runs);
            runs.flat_map(|run| &run.parts).all(|part| part.layers(self) > 0)
        };
        let fits = parts.iter().all(|(part, layers)| count(*part) == *layers) && all(&sections);
        fits.then_some(sections)
    }

    /// The parts of each layer in their order; `None` if the order is unknown or does not name each layer.
    pub fn layers_in_order(&self) -> Option<Vec<Vec<LayerPart>>> {
        let sections = self.sections()?;
        let mut layers = Vec::new();
        for section in &sections {
            for run in (0..section.repeat).flat_map(|_| &section.runs) {
                layers.extend((0..run.count).map(|_| run.parts.clone()));
            }
        }
        (layers.len() as u64 == self.n_layers).then_some(layers)
    }
}

/// Reads the text of an order; `None` if it is not one, or has more layers than a model may.
pub fn read_order(text: &str) -> Option<Vec<LayerSection>> {
    let mut sections: Vec<LayerSection> = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (repeat, after) = leading_count(rest)?;
        let (section, after) = if let Some(inner) = after.strip_prefix('(') {
            let (inner, after) = inner.split_once(')')?;
            let runs: Option<Vec<LayerRun>> = inner.split(',').map(read_run).collect();
            (LayerSection { repeat, runs: runs? }, after)
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            let (run, after) = rest.split_at(end);
            (LayerSection { repeat: 1, runs: Vec::from([read_run(run)?]) }, after)
        };
        // Runs outside parentheses that follow each other are one section.
        match sections.last_mut().filter(|last| last.repeat == 1 && section.repeat == 1) {
            Some(last) => last.runs.extend(section.runs),
            None => sections.push(section),
        }
        rest = match after.strip_prefix(',') {
            Some(more) if !more.is_empty() => more,
            None if after.is_empty() => after,
            _ => return None,
        };
    }
    let layers = |section: &LayerSection| {
        let runs = section.runs.iter().map(|run| run.count).sum::<u64>();
        runs.saturating_mul(section.repeat)
    };
    (sections.iter().map(layers).fold(0, u64::saturating_add) <= MAX_COUNT).then_some(sections)
}

/// A number of at most five digits at the start of a text, or 1.
fn leading_count(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at(digits);
    match digits {
        0 => Some((1, rest)),
        1..=5 => number.parse().ok().filter(|count| *count > 0).map(|count| (count, rest)),
        _ => None,
    }
}

fn read_run(text: &str) -> Option<LayerRun> {
    let (count, mut rest) = leading_count(text)?;
    let mut parts = Vec::new();
    while let Some(letter) = rest.chars().next() {
        let after = rest.strip_prefix(letter)?;
        let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        let (index, next) = after.split_at(digits);
        let index = if index.is_empty() { 0 } else { index.parse().ok()? };
        parts.push(LayerPart::read(letter, index)?);
        rest = next;
    }
    (!parts.is_empty()).then_some(LayerRun { count, parts })
}

/// The shortest text of an order, from the parts of each layer.
pub fn write_order(layers: &[Vec<LayerPart>]) -> String {
    let names: Vec<String> =
        layers.iter().map(|parts| parts.iter().map(|part| part.write()).collect()).collect();
    if names.len() > MOST_SHORTENED {
        return runs(&names);
    }
    // The shortest text of the layers from each one on, found from the last layer to the first.
    let mut shortest: Vec<String> = alloc::vec![String::new(); names.len() + 1];
    for start in (0..names.len()).rev() {
        let rest = &names[start..];
        let equal = rest.iter().take_while(|name| *name == &rest[0]).count();
        let mut best = joined(runs(&rest[..equal]), &shortest[start + equal]);
        for period in 2..=rest.len() / 2 {
            let most = repeats(rest, period);
            if most < 2 {
                continue;
            }
            let body = runs(&rest[..period]);
            for repeat in 2..=most {
                let text = joined(format!("{repeat}({body})"), &shortest[start + period * repeat]);
                if text.len() < best.len() {
                    best = text;
                }
            }
        }
        shortest[start] = best;
    }
    shortest.swap_remove(0)
}

/// Largest number of layers whose order is shortened by repeated sections.
const MOST_SHORTENED: usize = 512;

fn joined(first: String, rest: &str) -> String {
    if rest.is_empty() { first } else { format!("{first},{rest}") }
}

/// How often the first `period` entries follow each other.
fn repeats(names: &[String], period: usize) -> usize {
    let body = &names[..period];
    names.chunks_exact(period).take_while(|chunk| *chunk == body).count()
}

fn runs(names: &[String]) -> String {
    let groups = names.chunk_by(|a, b| a == b).filter_map(|run| {
        let name = run.first()?;
        Some(match run.len() {
            1 => name.clone(),
            count => format!("{count}{name}"),
        })
    });
    groups.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    fn layers(text: &str) -> Vec<Vec<LayerPart>> {
        let mut all = Vec::new();
        for section in read_order(text).expect("an order") {
            for _ in 0..section.repeat {
                for run in &section.runs {
                    all.extend((0..run.count).map(|_| run.parts.clone()));
                }
            }
        }
        all
    }

    #[test]
    fn an_order_is_written_as_short_as_it_was_read() {
        for text in [
            "40fd",
            "3fd,58fe",
            "10(3re,fe)",
            "fd,9(2we1,fe1),we1",
            "r,2e,r1,f,2(d,wd)",
            "3(r,e),f,4(r,e),d",
        ] {
            assert_eq!(write_order(&layers(text)), text.to_string());
        }
        assert_eq!(layers("2(3re,fe)").len(), 8);
        assert_eq!(write_order(&[]), "");
    }

    #[test]
    fn what_is_no_order_is_refused() {
        for text in [
            "x",
            "3",
            "3(",
            "3()",
            "2(fe",
            "fe,",
            ",fe",
            "0fe",
            "999999fe",
            "9999(9999fe)",
            "f e",
            "2(3(fe))",
        ] {
            assert_eq!(read_order(text), None, "{text}");
        }
        assert_eq!(read_order(""), Some(Vec::new()));
    }
}
