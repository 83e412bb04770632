//! Damaged headers: whatever the bytes are, the answer is a header or a mistake, in little memory.
//!
//! `cargo xtask soak` runs the same with many more cases.

mod written;

use proptest::collection::vec;
use proptest::prelude::*;
use weights::files::{WeightFile, Weights};
use weights::geometry;
use weights::header::Header;
use weights::packing::Packing;
use weights::read::{Progress, parse};
use weights::stored::{file_type, gguf_formats};
use written::{Gguf, Key, Written, safetensors, small_llama};

/// Most memory that a run of many damaged headers of some kilobytes may need [kB]; a count that is trusted needs gigabytes.
const MOST_MEMORY: u64 = 300_000;

/// Numbers at which lengths, counts and sizes go wrong.
const HARD_NUMBERS: [u64; 10] =
    [0, 1, 31, 1 << 20, 0x7fff_ffff, 0xffff_ffff, 1 << 40, 1 << 61, i64::MAX as u64, u64::MAX];

#[derive(Debug, Clone)]
enum Damage {
    Byte { at: usize, value: u8 },
    Number { at: usize, value: u64 },
    Cut { at: usize },
    Repeat { at: usize, bytes: usize },
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = || any::<usize>();
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, value)| Damage::Byte { at, value }),
        (at(), prop::sample::select(&HARD_NUMBERS[..]))
            .prop_map(|(at, value)| Damage::Number { at, value }),
        at().prop_map(|at| Damage::Cut { at }),
        (at(), 1_usize..64).prop_map(|(at, bytes)| Damage::Repeat { at, bytes }),
    ]
}

impl Damage {
    fn apply(&self, bytes: &mut Vec<u8>) {
        let length = bytes.len().max(1);
        match *self {
            Self::Byte { at, value } => {
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte = value;
                }
            }
            Self::Number { at, value } => {
                let from = at % length;
                for (byte, new) in bytes.iter_mut().skip(from).zip(value.to_le_bytes()) {
                    *byte = new;
                }
            }
            Self::Cut { at } => bytes.truncate(at % length),
            Self::Repeat { at, bytes: count } => {
                let from = at % length;
                let piece: Vec<u8> = bytes.iter().skip(from).take(count).copied().collect();
                bytes.splice(from..from, piece);
            }
        }
    }
}

fn good() -> impl Strategy<Value = Written> {
    let gguf = (1_u32..=3, any::<bool>()).prop_map(|(version, big_endian)| {
        let lists = small_llama()
            .key("llama.attention.sliding_window_pattern", Key::Flags(vec![true, false]))
            .key("llama.attention.key_length", Key::I32s(vec![16, 16]))
            .counts(&[("split.no", 0), ("split.count", 1), ("general.file_type", 15)]);
        Gguf { version, big_endian, ..lists }.write()
    });
    let json = Just(safetensors(&[
        ("model.embed_tokens.weight", "BF16", &[16, 8], 256),
        ("model.layers.0.mlp.up_proj.qweight", "I32", &[2, 8], 64),
        ("model.layers.0.mlp.experts.0.up_proj.weight", "U8", &[8, 8], 64),
    ]));
    prop_oneof![3 => gguf, 1 => json]
}

/// Everything that can be asked of a header.
fn use_all(header: Header, file_bytes: u64) {
    let file = WeightFile { name: "a.gguf".into(), bytes: file_bytes, header };
    let Ok(weights) = Weights::join(vec![file], None) else { return };
    for bits in [None, Some(0), Some(4)] {
        let groups = weights.groups(Packing { bits });
        let bytes: u64 = groups.iter().map(|group| group.sum.bytes).sum();
        assert!(bytes <= file_bytes, "{bytes} of {file_bytes}");
        let _formats = gguf_formats(&groups);
    }
    let _nominal = file_type(&weights);
    let _fields = geometry::config(&weights);
}

fn parse_all(start: &[u8], file_bytes: u64) {
    match parse(start, file_bytes) {
        Ok(Progress::Done(header)) => use_all(*header, file_bytes),
        Ok(Progress::Needs(bytes)) => {
            assert!(bytes > start.len() as u64 && bytes <= file_bytes, "{bytes} of {file_bytes}");
        }
        Err(_) => {}
    }
}

/// Most memory that this process has had [kB]; `None` where the system does not tell.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

proptest! {
    #[test]
    fn damaged_headers_are_answered_in_little_memory(
        good in good(),
        damages in vec(damage(), 1..5),
        file_bytes in prop_oneof![Just(None), any::<u64>().prop_map(Some), (0_u64..9000).prop_map(Some)],
    ) {
        let mut start = good.start;
        for damage in &damages {
            damage.apply(&mut start);
        }
        parse_all(&start, file_bytes.unwrap_or(good.file_bytes).max(start.len() as u64));
        prop_assert!(peak_memory().is_none_or(|kilobytes| kilobytes < MOST_MEMORY));
    }

    #[test]
    fn arbitrary_bytes_after_a_magic_are_answered(bytes in vec(any::<u8>(), 0..400), size in any::<u64>()) {
        for magic in [&b"GGUF\x03\0\0\0"[..], b"GGUF\0\0\0\x03", b"GGUF\x01\0\0\0", b"\xff\0\0\0\0\0\0\0{", b""] {
            let start = [magic, &bytes].concat();
            parse_all(&start, size.max(start.len() as u64));
        }
    }
}
