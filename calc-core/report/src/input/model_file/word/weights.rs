//! The bytes of a model's weight files by role and type, and as a word of a link.

use weights::files::{Group, Sum};
use weights::role::Role;

use super::numbers::{GROUP, NUMBER};
use crate::input::weight_file::WeightBytes;

/// Most groups of a link; twelve roles with a few types each are far fewer.
const MOST: usize = 200;
/// Longest name of a type, [`weights::tensor`] has shorter ones.
const LONGEST: usize = 16;
/// Version of the word.
const VERSION: &str = "1";

/// Contents of a model's weight files, by their headers.
#[derive(Debug, Clone)]
pub struct FileWeights {
    /// The sums by role and type, as a word of a link: a page that only passes them on needs no code for them.
    word: String,
    /// Bytes by role.
    pub bytes: WeightBytes,
}

impl PartialEq for FileWeights {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

/// The tensors of one role and one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleSum {
    pub role: Role,
    /// Name of the type in the words of the file: `Q4_K`.
    pub kind: String,
    pub sum: Sum,
}

impl FileWeights {
    /// The sums of these groups.
    pub fn of(groups: &[Group]) -> Self {
        let one = |group: &Group| RoleSum {
            role: group.role,
            kind: group.kind.name.to_owned(),
            sum: group.sum,
        };
        Self::of_sums(&groups.iter().map(one).collect::<Vec<_>>())
    }

    fn of_sums(groups: &[RoleSum]) -> Self {
        let sums: Vec<(Role, Sum)> = groups.iter().map(|group| (group.role, group.sum)).collect();
        Self { word: word(groups), bytes: WeightBytes::of_sums(&sums) }
    }

    /// The word of a link.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// Sums by role and type, in the order of roles.
    pub fn groups(&self) -> Vec<RoleSum> {
        groups(&self.word).unwrap_or_default()
    }
}

/// Writes the sums as one word: for each the place of its role, its type, and tensors, bytes and parameters in base 16.
fn word(groups: &[RoleSum]) -> String {
    let mut word = VERSION.to_owned();
    for RoleSum { role, kind, sum } in groups {
        let place = Role::ALL.iter().position(|known| known == role).unwrap_or_default();
        let parameters = sum.parameters.map_or_else(String::new, |count| format!("{count:x}"));
        let (tensors, bytes) = (sum.tensors, sum.bytes);
        word.push_str(&format!(
            "{GROUP}{place:x}{NUMBER}{kind}{NUMBER}{tensors:x}{NUMBER}{bytes:x}{NUMBER}{parameters}"
        ));
    }
    word
}

/// Parses the word of [`FileWeights::word`]; `None` for any other text.
pub fn read_file_weights(text: &str) -> Option<FileWeights> {
    groups(text).map(|groups| FileWeights::of_sums(&groups))
}

fn groups(text: &str) -> Option<Vec<RoleSum>> {
    let mut words = text.split(GROUP);
    if words.next() != Some(VERSION) {
        return None;
    }
    let groups: Vec<RoleSum> = words.map(group).collect::<Option<_>>()?;
    let bytes = groups.iter().try_fold(0_u64, |all, group| all.checked_add(group.sum.bytes));
    (1..=MOST).contains(&groups.len()).then_some(())?;
    bytes.filter(|&bytes| bytes > 0)?;
    Some(groups)
}

fn group(word: &str) -> Option<RoleSum> {
    let mut parts = word.split(NUMBER);
    let mut next = || parts.next();
    let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
    let place = usize::try_from(number(next()?)?).ok()?;
    let role = *Role::ALL.get(place)?;
    let is_name = |kind: &&str| {
        (1..=LONGEST).contains(&kind.len())
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let kind = next().filter(is_name)?.to_owned();
    let (tensors, bytes) = (number(next()?)?, number(next()?)?);
    let parameters = match next()? {
        "" => None,
        digits => Some(number(digits)?),
    };
    parts.next().is_none().then_some(())?;
    Some(RoleSum { role, kind, sum: Sum { tensors, parameters, bytes } })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some() -> FileWeights {
        let one = |role, kind: &str, bytes, parameters| RoleSum {
            role,
            kind: kind.to_owned(),
            sum: Sum { tensors: 3, parameters, bytes },
        };
        FileWeights::of_sums(&[
            one(Role::Embedding, "Q4_K", 18_432_000, Some(32_768_000)),
            one(Role::LmHead, "Q6_K", 26_880_000, Some(32_768_000)),
            one(Role::Experts, "IQ3_S", 10_813_440, Some(25_165_824)),
            one(Role::Experts, "F8_E4M3", 7_077_888, None),
            one(Role::Other, "F32", 1, Some(0)),
        ])
    }

    #[test]
    fn the_bytes_of_a_file_are_read_back_from_one_word() {
        let weights = some();
        let word = weights.word();
        assert!(word.len() < 200 && !word.contains(char::is_whitespace), "{word}");
        let back = read_file_weights(word).expect("a word");
        assert_eq!((back.groups(), back.bytes), (weights.groups(), weights.bytes));
        assert_eq!((back.groups().len(), &*back.groups()[3].kind), (5, "F8_E4M3"));
        assert_eq!(some().bytes.parameters, None, "one type does not say its weights");
    }

    #[test]
    fn text_that_was_never_written_is_refused() {
        let good = "1.0-Q4_K-1-10-20";
        assert!(read_file_weights(good).is_some());
        for wrong in [
            "",
            "1",
            "2.0-Q4_K-1-10-20",
            "1.c-Q4_K-1-10-20",
            "1.0--1-10-20",
            "1.0-Q<4-1-10-20",
            "1.0-Q4_K-1-10",
            "1.0-Q4_K-1-10-20-30",
            "1.0-Q4_K-1-x-20",
            "1.0-Q4_K-1-0-20",
            "1.0-Q4_K-1-10-fffffffffffffffff",
            "1.0-Q4_K-1-ffffffffffffffff-1.1-F16-1-1-1",
        ] {
            assert_eq!(read_file_weights(wrong), None, "{wrong}");
        }
        let many = format!("1{}", ".0-F16-1-1-1".repeat(MOST + 1));
        assert_eq!(read_file_weights(&many), None);
    }
}
