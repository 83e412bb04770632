//! Names of models from files. One whose unread keys are at their upper bound says so, because links have no notes of the import.

/// Longest name of a model that an address contains, in characters.
pub const LONGEST_NAME: usize = 60;
/// End of the names of GGUF files.
pub const GGUF: &str = ".gguf";
/// End of the name.
const MARK: &str = ", upper bound";

/// The name with the mark of the upper bound, short enough for an address.
pub fn bounded(name: &str) -> String {
    let most = LONGEST_NAME - MARK.len();
    name.chars().take(most).chain(MARK.chars()).collect()
}

/// The name without the mark.
pub fn without(name: &str) -> &str {
    name.strip_suffix(MARK).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_survives_the_length_of_an_address() {
        let long = bounded(&"x".repeat(100));
        assert_eq!(long.chars().count(), LONGEST_NAME);
        assert!(long.ends_with(MARK));
        assert_eq!(without(&bounded("owner/model")), "owner/model");
    }
}
