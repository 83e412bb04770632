//! Edits and the entries of the browser's history: the back button undoes a choice, a run of typing or a drag of a slider.

/// The way an edit enters the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A choice: adds an entry.
    Choice,
    /// Typing: all of it in a field shares an entry, which the first key adds.
    Typing,
    /// A move of a slider: all moves up to the release share an entry, which the release adds. Browsers limit the rate at
    /// which an address may change, and a drag would exceed it.
    Drag,
}

/// The entry that an address is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    New,
    Current,
}

/// The edits that share an entry of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Burst {
    has_entry: bool,
    /// The last edit that is not in the address yet.
    waiting: Option<Step>,
}

impl Burst {
    /// Notes an edit that the address does not have yet.
    pub const fn edited(&mut self, step: Step) {
        self.waiting = Some(step);
    }

    /// Whether edits wait for the address and no drag holds them back; from now on none waits.
    pub fn take_due(&mut self) -> bool {
        let is_due = self.waiting.is_some_and(|step| step != Step::Drag);
        if is_due {
            self.waiting = None;
        }
        is_due
    }

    /// Whether edits wait for the address, also those of a drag; from now on none waits.
    pub const fn take_waiting(&mut self) -> bool {
        self.waiting.take().is_some()
    }

    /// The entry for the edits that wait.
    pub const fn entry(self) -> Entry {
        if self.has_entry { Entry::Current } else { Entry::New }
    }

    /// Notes that the burst has its entry: later edits replace that entry's address.
    pub const fn written(&mut self) {
        self.has_entry = true;
    }

    /// Starts a new burst; edits that wait are dropped.
    pub fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes what waits, and returns its entry.
    fn write(burst: &mut Burst) -> Option<Entry> {
        let entry = burst.entry();
        burst.take_due().then(|| {
            burst.written();
            entry
        })
    }

    #[test]
    fn the_first_key_adds_an_entry_and_the_others_replace_it() {
        let mut burst = Burst::default();
        let entries: Vec<_> = (0..3)
            .map(|_key| {
                burst.edited(Step::Typing);
                write(&mut burst)
            })
            .collect();
        assert_eq!(entries, [Some(Entry::New), Some(Entry::Current), Some(Entry::Current)]);
        assert_eq!(write(&mut burst), None, "nothing waits");
        burst.end(); // the focus moved
        burst.edited(Step::Typing);
        assert_eq!(write(&mut burst), Some(Entry::New));
    }

    #[test]
    fn an_unreadable_or_unchanged_text_adds_no_entry() {
        let mut burst = Burst::default();
        burst.edited(Step::Typing);
        assert!(burst.take_due(), "the session refuses to write it");
        burst.edited(Step::Typing);
        assert_eq!(write(&mut burst), Some(Entry::New));
    }

    #[test]
    fn a_drag_waits_for_its_release() {
        let mut burst = Burst::default();
        for _frame in 0..100 {
            burst.edited(Step::Drag);
            assert_eq!(write(&mut burst), None);
        }
        assert_eq!(burst.entry(), Entry::New);
        assert!(burst.take_waiting() && !burst.take_waiting(), "one entry");
    }
}
