//! Regular expressions as lists of modules in published files have them: `model\.layers\.([2-9]\d*|1\d)\..*`, matched from the
//! start of a name. What else Python's `re` knows (looking ahead, references) is not read.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Most alternatives and items of an expression.
const MOST: usize = 256;
/// Deepest nesting of groups.
const DEEPEST: usize = 8;

/// An expression that was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern(Vec<Vec<Item>>);

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Letter(char),
    Any,
    Class { ranges: Vec<(char, char)>, negated: bool },
    End,
    Start,
    Group(Vec<Vec<Item>>),
    Repeat { item: Box<Item>, least: usize, most: usize },
}

/// Letters left to read, with the depth of groups and the number of items.
struct Source<'a> {
    rest: &'a str,
    depth: usize,
    items: usize,
}

impl Pattern {
    /// Reads an expression; `None` for one with parts that are not known here.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut source = Source { rest: text, depth: 0, items: 0 };
        let found = source.alternatives()?;
        source.rest.is_empty().then_some(Self(found))
    }

    /// Whether a name begins with a match; `None` once `steps` are used up.
    pub(super) fn matches(&self, name: &str, steps: &mut u64) -> Option<bool> {
        let letters: Vec<char> = name.chars().collect();
        let found = any(&self.0, &letters, 0, steps, &mut |_, _| true);
        (*steps > 0).then_some(found)
    }
}

impl Source<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(letter)
    }

    fn take(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn alternatives(&mut self) -> Option<Vec<Vec<Item>>> {
        let mut found = Vec::from([Vec::new()]);
        while !self.rest.is_empty() && !self.rest.starts_with(')') {
            self.items += 1;
            (self.items <= MOST).then_some(())?;
            if self.take("|") {
                found.push(Vec::new());
                continue;
            }
            let item = self.item()?;
            let item = self.repeated(item)?;
            found.last_mut()?.push(item);
        }
        Some(found)
    }

    fn item(&mut self) -> Option<Item> {
        Some(match self.next()? {
            '.' => Item::Any,
            '^' => Item::Start,
            '$' => Item::End,
            '[' => self.class()?,
            '\\' => escaped(self.next()?)?,
            '(' => {
                let is_special = !self.take("?:") && self.rest.starts_with('?');
                (!is_special && self.depth < DEEPEST).then_some(())?;
                self.depth += 1;
                let found = self.alternatives()?;
                self.depth -= 1;
                self.take(")").then_some(Item::Group(found))?
            }
            '*' | '+' | '?' | '{' => return None,
            letter => Item::Letter(letter),
        })
    }

    fn repeated(&mut self, item: Item) -> Option<Item> {
        let (least, most) = if self.take("*") {
            (0, usize::MAX)
        } else if self.take("+") {
            (1, usize::MAX)
        } else if self.take("?") {
            (0, 1)
        } else if self.take("{") {
            let (inner, rest) = self.rest.split_once('}')?;
            self.rest = rest;
            let (least, most) = inner.split_once(',').unwrap_or((inner, inner));
            let most = if most.is_empty() { usize::MAX } else { most.parse().ok()? };
            (least.parse().ok()?, most)
        } else {
            return Some(item);
        };
        // A lazy repeat matches the same names.
        self.take("?");
        Some(Item::Repeat { item: Box::new(item), least, most })
    }

    fn class(&mut self) -> Option<Item> {
        let negated = self.take("^");
        let mut ranges = Vec::new();
        loop {
            let letter = match self.next()? {
                ']' if !ranges.is_empty() => return Some(Item::Class { ranges, negated }),
                '\\' => match escaped(self.next()?)? {
                    Item::Letter(letter) => letter,
                    Item::Class { ranges: inner, negated: false } => {
                        ranges.extend(inner);
                        continue;
                    }
                    _ => return None,
                },
                letter => letter,
            };
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            let end = if is_range && self.take("-") { self.next()? } else { letter };
            ranges.push((letter, end));
        }
    }
}

/// A letter after a backslash.
fn escaped(letter: char) -> Option<Item> {
    let class = |ranges: &[(char, char)], negated| Item::Class { ranges: ranges.to_vec(), negated };
    let word = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
    Some(match letter {
        'd' => class(&[('0', '9')], false),
        'D' => class(&[('0', '9')], true),
        'w' => class(&word, false),
        'W' => class(&word, true),
        _ if letter.is_ascii_alphanumeric() => return None,
        _ => Item::Letter(letter),
    })
}

type Then<'a> = &'a mut dyn FnMut(usize, &mut u64) -> bool;

fn any(all: &[Vec<Item>], name: &[char], at: usize, steps: &mut u64, then: Then<'_>) -> bool {
    all.iter().any(|items| run(items, name, at, steps, then))
}

/// Whether the items match from a place on, and then what follows.
fn run(items: &[Item], name: &[char], at: usize, steps: &mut u64, then: Then<'_>) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 {
        return false;
    }
    let Some((first, rest)) = items.split_first() else { return then(at, steps) };
    match first {
        Item::Group(all) => {
            any(all, name, at, steps, &mut |at, steps| run(rest, name, at, steps, then))
        }
        Item::Repeat { item, least, most } => {
            let mut next = |at: usize, steps: &mut u64| run(rest, name, at, steps, then);
            repeat(item, (*least, *most), name, at, steps, &mut next)
        }
        one => {
            let Some(next) = single(one, name, at) else { return false };
            run(rest, name, next, steps, then)
        }
    }
}

/// The place after an item of one letter or none, if it matches.
fn single(item: &Item, name: &[char], at: usize) -> Option<usize> {
    let letter = name.get(at);
    match item {
        Item::Letter(own) => (letter == Some(own)).then_some(at + 1),
        Item::Any => letter.map(|_| at + 1),
        Item::Class { ranges, negated } => {
            let letter = letter?;
            let is_in = ranges.iter().any(|(start, end)| (start..=end).contains(&letter));
            (is_in != *negated).then_some(at + 1)
        }
        Item::End => (at == name.len()).then_some(at),
        Item::Start => (at == 0).then_some(at),
        Item::Group(_) | Item::Repeat { .. } => None,
    }
}

fn repeat(
    item: &Item,
    (least, most): (usize, usize),
    name: &[char],
    at: usize,
    steps: &mut u64,
    then: Then<'_>,
) -> bool {
    *steps = steps.saturating_sub(1);
    if *steps == 0 {
        return false;
    }
    // As many as possible first; a repeat of nothing ends.
    if most > 0 {
        let bounds = (least.saturating_sub(1), most - 1);
        let mut more = |next: usize, steps: &mut u64| {
            next > at && repeat(item, bounds, name, next, steps, then)
        };
        let found = match item {
            Item::Group(all) => any(all, name, at, steps, &mut more),
            one => single(one, name, at).is_some_and(|next| more(next, steps)),
        };
        if found {
            return true;
        }
    }
    least == 0 && then(at, steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_python() {
        for (pattern, name, expected) in [
            (r".*self_attn.*", "model.layers.3.self_attn.q_proj", true),
            (r".*mlp\.(gate|up|gate_up|down)_proj.*", "model.layers.0.mlp.up_proj", true),
            (
                r".*mlp\.(gate|up|gate_up|down)_proj.*",
                "model.layers.0.mlp.experts.1.up_proj",
                false,
            ),
            (r"model\.layers\.([2-9]\d*|[1-9]\d+)\..*", "model.layers.1.mlp", false),
            (r"model\.layers\.([2-9]\d*|[1-9]\d+)\..*", "model.layers.17.mlp", true),
            (r".*\.1\..*", "model.layers.1.mlp", true),
            (r".*\.1\..*", "model.layers.11.mlp", false),
            (r"^layers\.(?:0|1)$", "layers.1", true),
            (r"^layers\.(?:0|1)$", "layers.12", false),
            (r"layers\.\d{2,}\.", "layers.5.mlp", false),
            (r".*mlp.gate$", "model.layers.0.mlp.gate_proj", false),
            (r"[^m].*", "model", false),
            (r"(a*)*b", "aaaa", false),
        ] {
            let found = Pattern::read(pattern).expect(pattern).matches(name, &mut 100_000);
            assert_eq!(found, Some(expected), "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_not_known_or_takes_too_long_is_told() {
        for pattern in [r"(?!x)y", r"\b", r"(", r")", r"[", r"*a", r"a{", r"(((((((((a)))))))))"] {
            assert_eq!(Pattern::read(pattern), None, "{pattern}");
        }
        let slow = Pattern::read("(a|a|a)*(a|a|a)*(a|a|a)*b").expect("an expression");
        assert_eq!(slow.matches(&"a".repeat(60), &mut 10_000), None);
    }
}
