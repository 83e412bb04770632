//! One of several equal parts of a sweep.

use std::ops::Range;

use super::Failure;

/// The `index`-th of `of` parts, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// Parses `i/n`; without the flag the shard is the whole sweep.
    pub(super) fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self { index: 1, of: 1 }) };
        let numbers = text
            .split_once('/')
            .and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((index, of)) if index >= 1 && index <= of => Ok(Self { index, of }),
            _ => Err(Failure::bad(format!(
                "shard must be I/N with I from 1 to N, such as 1/4; got `{text}`"
            ))),
        }
    }

    /// The points of the shard: shards are consecutive, and their sizes differ by one point at most.
    pub(super) fn range(self, points: u64) -> Range<u64> {
        let cut = |part: u64| {
            let point = u128::from(points) * u128::from(part) / u128::from(self.of);
            u64::try_from(point).expect("a share of the points is at most all of them")
        };
        cut(self.index - 1)..cut(self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_everything_once() {
        for (points, of) in [(10, 3), (2, 5), (0, 4), (100_000_000, 7), (12, 1)] {
            let parts: Vec<Range<u64>> =
                (1..=of).map(|index| Shard { index, of }.range(points)).collect();
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, points));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start), "{parts:?}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "1", "0/2", "3/2", "1/0", "a/b", "-1/2", "1/2/3"] {
            assert!(Shard::parse(Some(text)).is_err(), "{text}");
        }
    }
}
