//! The ways in which an input is damaged: flipped bits, cuts, splices of two inputs, repeated parts, hard numbers, deep nesting, odd
//! characters, words of the format in the wrong place, and lines out of order.

use proptest::prelude::*;
use proptest::sample::select;

/// Numbers at which sizes, lengths and units go wrong, as text.
const NUMBERS: [&str; 20] = [
    "0",
    "-0.0",
    "-1",
    "1",
    "2",
    "007",
    "+1",
    ".5",
    "1e-320",
    "1e308",
    "1e400",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "NaN",
    "-Infinity",
];

/// Bytes that are not UTF-8, or are characters that readers trip over: marks of byte order and direction, lines that are none, digits
/// and letters of other scripts, zero, a surrogate, an overlong slash.
const ODD: [&[u8]; 16] = [
    b"\0",
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"\xe2\x80\xa8",
    b"\xc2\x85",
    b"\xc2\xa0",
    b"\xd9\xa3",
    b"\xc5\x9b",
    b"\xf0\x9f\x92\xa9",
    b"\r",
    b"\x1b[2J",
];

/// Pieces that open lists, objects and quotes without closing them.
const OPENING: [&str; 5] = ["[", "{\"a\":", "\"", "\\", "("];

/// One damage. Places are taken modulo the length, so each fits every input.
#[derive(Debug, Clone)]
pub(crate) enum Damage {
    Bit {
        at: usize,
        bit: u8,
    },
    Byte {
        at: usize,
        value: u8,
    },
    /// Keeps the start.
    Cut {
        at: usize,
    },
    Remove {
        at: usize,
        bytes: usize,
    },
    Repeat {
        at: usize,
        bytes: usize,
        times: usize,
    },
    /// The start of this input and the end of another.
    Splice {
        at: usize,
        other: usize,
        from: usize,
    },
    /// A piece of another input inside this one.
    Graft {
        at: usize,
        other: usize,
        from: usize,
        bytes: usize,
    },
    /// Another number in place of the next one.
    Number {
        at: usize,
        value: &'static str,
    },
    Nest {
        at: usize,
        opening: &'static str,
        depth: usize,
    },
    Odd {
        at: usize,
        bytes: &'static [u8],
    },
    /// A word of the format, inserted or in place of the bytes there.
    Word {
        at: usize,
        word: usize,
        replaces: bool,
    },
    /// Two lines change places.
    Lines {
        first: usize,
        second: usize,
    },
}

pub(crate) fn damage() -> impl Strategy<Value = Damage> {
    let at = || any::<usize>();
    prop_oneof![
        3 => (at(), 0_u8..8).prop_map(|(at, bit)| Damage::Bit { at, bit }),
        2 => (at(), any::<u8>()).prop_map(|(at, value)| Damage::Byte { at, value }),
        1 => at().prop_map(|at| Damage::Cut { at }),
        2 => (at(), 1_usize..40).prop_map(|(at, bytes)| Damage::Remove { at, bytes }),
        2 => (at(), 1_usize..80, 1_usize..4)
            .prop_map(|(at, bytes, times)| Damage::Repeat { at, bytes, times }),
        1 => (at(), 1_usize..8, 1000_usize..3000)
            .prop_map(|(at, bytes, times)| Damage::Repeat { at, bytes, times }),
        2 => (at(), at(), at()).prop_map(|(at, other, from)| Damage::Splice { at, other, from }),
        3 => (at(), at(), at(), 1_usize..200)
            .prop_map(|(at, other, from, bytes)| Damage::Graft { at, other, from, bytes }),
        4 => (at(), select(&NUMBERS[..])).prop_map(|(at, value)| Damage::Number { at, value }),
        1 => (at(), select(&OPENING[..]), prop_oneof![1_usize..4, 100_usize..200, Just(20_000)])
            .prop_map(|(at, opening, depth)| Damage::Nest { at, opening, depth }),
        2 => (at(), select(&ODD[..])).prop_map(|(at, bytes)| Damage::Odd { at, bytes }),
        3 => (at(), at(), any::<bool>())
            .prop_map(|(at, word, replaces)| Damage::Word { at, word, replaces }),
        1 => (at(), at()).prop_map(|(first, second)| Damage::Lines { first, second }),
    ]
}

/// The sources of pieces and words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Material<'a> {
    pub(crate) inputs: &'a [Vec<u8>],
    pub(crate) words: &'a [&'a str],
}

impl Damage {
    pub(crate) fn apply(&self, bytes: &mut Vec<u8>, material: Material<'_>) {
        let length = bytes.len();
        let place = |at: usize| at % (length + 1);
        let end = |from: usize, count: usize| from.saturating_add(count).min(length);
        match *self {
            Self::Bit { at, bit } => {
                if let Some(byte) = bytes.get_mut(place(at)) {
                    *byte ^= 1 << bit;
                }
            }
            Self::Byte { at, value } => {
                if let Some(byte) = bytes.get_mut(place(at)) {
                    *byte = value;
                }
            }
            Self::Cut { at } => bytes.truncate(place(at)),
            Self::Remove { at, bytes: count } => {
                drop(bytes.drain(place(at)..end(place(at), count)));
            }
            Self::Repeat { at, bytes: count, times } => {
                let piece = bytes[place(at)..end(place(at), count)].repeat(times);
                insert(bytes, place(at), &piece);
            }
            Self::Splice { at, other, from } => {
                bytes.truncate(place(at));
                bytes.extend_from_slice(piece(material.inputs, other, from, usize::MAX));
            }
            Self::Graft { at, other, from, bytes: count } => {
                insert(bytes, place(at), piece(material.inputs, other, from, count));
            }
            Self::Number { at, value } => replace_number(bytes, place(at), value),
            Self::Nest { at, opening, depth } => {
                insert(bytes, place(at), opening.repeat(depth).as_bytes());
            }
            Self::Odd { at, bytes: odd } => insert(bytes, place(at), odd),
            Self::Word { at, word, replaces } => {
                let Some(count) = core::num::NonZero::new(material.words.len()) else { return };
                let word = material.words[word % count].as_bytes();
                let until = if replaces { end(place(at), word.len()) } else { place(at) };
                drop(bytes.splice(place(at)..until, word.iter().copied()));
            }
            Self::Lines { first, second } => swap_lines(bytes, first, second),
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, piece: &[u8]) {
    drop(bytes.splice(at..at, piece.iter().copied()));
}

/// At most `count` bytes of an input.
fn piece(inputs: &[Vec<u8>], input: usize, from: usize, count: usize) -> &[u8] {
    let input = &inputs[input % inputs.len()];
    let rest = &input[from % (input.len() + 1)..];
    &rest[..count.min(rest.len())]
}

/// Replaces the next number after a place, or the last one.
fn replace_number(bytes: &mut Vec<u8>, at: usize, value: &str) {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let next = bytes[at..].iter().position(is_digit).map(|offset| at + offset);
    let Some(inside) = next.or_else(|| bytes.iter().rposition(is_digit)) else { return };
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".+-eE".contains(byte);
    let start = bytes[..inside].iter().rposition(|byte| !is_part(byte)).map_or(0, |at| at + 1);
    let end = bytes[inside..].iter().position(|byte| !is_part(byte));
    let end = end.map_or(bytes.len(), |offset| inside + offset);
    drop(bytes.splice(start..end, value.bytes()));
}

fn swap_lines(bytes: &mut Vec<u8>, first: usize, second: usize) {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    if let Some(count) = core::num::NonZero::new(lines.len()) {
        lines.swap(first % count, second % count);
    }
    *bytes = lines.concat();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn damaged(text: &str, damage: &Damage) -> String {
        let inputs = [b"other 7".to_vec()];
        let mut bytes = text.as_bytes().to_vec();
        damage.apply(&mut bytes, Material { inputs: &inputs, words: &["word"] });
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn each_damage_does_what_its_name_says() {
        for (text, damage, expected) in [
            ("abc", Damage::Bit { at: 1, bit: 0 }, "acc"),
            ("abc", Damage::Byte { at: 6, value: b'x' }, "abx"),
            ("abc", Damage::Cut { at: 1 }, "a"),
            ("abcd", Damage::Remove { at: 1, bytes: 2 }, "ad"),
            ("abcd", Damage::Remove { at: 3, bytes: 9 }, "abc"),
            ("abc", Damage::Repeat { at: 1, bytes: 1, times: 2 }, "abbbc"),
            ("abc", Damage::Splice { at: 1, other: 0, from: 5 }, "a 7"),
            ("abc", Damage::Graft { at: 3, other: 5, from: 0, bytes: 2 }, "abcot"),
            ("a: 12.5e3, b", Damage::Number { at: 0, value: "NaN" }, "a: NaN, b"),
            ("a: 12.5e3, b", Damage::Number { at: 11, value: "0" }, "a: 0, b"),
            ("none", Damage::Number { at: 0, value: "0" }, "none"),
            ("ab", Damage::Nest { at: 1, opening: "[", depth: 3 }, "a[[[b"),
            ("ab", Damage::Odd { at: 1, bytes: b"\0" }, "a\0b"),
            ("abcdef", Damage::Word { at: 1, word: 3, replaces: true }, "awordf"),
            ("ab", Damage::Word { at: 1, word: 3, replaces: false }, "awordb"),
            ("a\nb\nc\n", Damage::Lines { first: 0, second: 2 }, "c\nb\na\n"),
        ] {
            assert_eq!(damaged(text, &damage), expected, "{damage:?}");
        }
    }

    proptest! {
        #[test]
        fn every_damage_fits_every_input(text in "[a-z0-9\n]{0,6}", damage in damage()) {
            damaged(&text, &damage);
        }
    }
}
