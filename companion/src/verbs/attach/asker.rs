//! The words of what to do, by who asks: flags at a terminal, fields on the page.

/// Whoever asks for a comparison: a sentence says what to do there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asker {
    CommandLine,
    Page,
}

impl Asker {
    /// How to name the model.
    pub(super) const fn names_model(self) -> &'static str {
        match self {
            Self::CommandLine => "--model names it",
            Self::Page => "the tick above compares with the model of Plan",
        }
    }

    /// How to give the context.
    pub(super) const fn gives_context(self) -> &'static str {
        match self {
            Self::CommandLine => "--context gives it",
            Self::Page => "the field for it takes it, and `ridgepoint attach` does with --context",
        }
    }

    /// How to have requests at both readings.
    pub(super) const fn keeps_reading(self) -> &'static str {
        match self {
            Self::CommandLine => "send some, or use --watch or a shorter --interval",
            Self::Page => "send some",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_told_nothing_that_only_a_terminal_has() {
        let words = |asker: Asker| [asker.names_model(), asker.keeps_reading()];
        assert!(words(Asker::CommandLine).iter().all(|words| words.contains("--")));
        assert!(words(Asker::Page).iter().all(|words| !words.contains("--")));
        assert!(Asker::Page.gives_context().contains("`ridgepoint attach`"));
    }
}
