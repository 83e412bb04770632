//! Entries that may come in floods, refusals and new sessions of a key: the first of a kind is written at once, those of the next
//! minute as one line with their number, so that a flood adds a few lines per minute and does not push older lines out.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::{Action, Entry, Who};
use crate::keys::KeyId;

/// The kind of an entry: action, reason of a refusal, key of an allowed action.
type Kind = (Action, Option<&'static str>, Option<KeyId>);

/// Entries that are not in the log yet.
#[derive(Debug)]
pub(crate) struct Tally {
    window: Duration,
    kinds: Mutex<BTreeMap<Kind, Counted>>,
}

#[derive(Debug)]
struct Counted {
    since: Instant,
    count: u64,
}

impl Tally {
    pub(crate) fn new(window: Duration) -> Self {
        Self { window, kinds: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Kind, Counted>> {
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a refusal; returns its entry if it is the first of its kind in the interval.
    pub(crate) fn refused(
        &self,
        now: Instant,
        who: impl FnOnce() -> Who,
        action: Action,
        why: &'static str,
    ) -> Option<Entry> {
        self.count(now, who, (action, Some(why), None))
    }

    /// Counts an allowed action of a key; returns its entry if it is the first in the interval.
    pub(crate) fn allowed(&self, now: Instant, who: &Who, action: Action) -> Option<Entry> {
        self.count(now, || who.clone(), (action, None, who.key))
    }

    fn count(&self, now: Instant, who: impl FnOnce() -> Who, kind: Kind) -> Option<Entry> {
        let mut kinds = self.lock();
        if let Some(counted) = kinds.get_mut(&kind) {
            counted.count += 1;
            return None;
        }
        kinds.insert(kind, Counted { since: now, count: 0 });
        let (action, refused, _) = kind;
        Some(Entry { who: who(), action, args: None, refused, count: 1 })
    }

    /// The entries of kinds whose interval has passed, or of all kinds at the end; a kind without further refusals is dropped.
    pub(crate) fn due(&self, now: Instant, at_the_end: bool) -> Vec<Entry> {
        let mut lines = Vec::new();
        self.lock().retain(|(action, why, key), counted| {
            if !at_the_end && now.saturating_duration_since(counted.since) < self.window {
                return true;
            }
            let count = std::mem::take(&mut counted.count);
            counted.since = now;
            if count > 0 {
                let who = Who { peer: "several".into(), key: *key, ..Who::default() };
                let (action, refused) = (*action, *why);
                lines.push(Entry { who, action, args: None, refused, count });
            }
            count > 0
        });
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_a_kind_are_two_lines_per_minute_and_all_are_counted() {
        let (minute, start) = (Duration::from_mins(1), Instant::now());
        let tally = Tally::new(minute);
        let refused = |now| tally.refused(now, Who::terminal, Action::Request, "origin");
        let mut lines = Vec::new();
        for second in 0..180 {
            let now = start + Duration::from_secs(second);
            lines.extend(tally.due(now, false));
            for _ in 0..1000 {
                lines.extend(refused(now));
            }
        }
        lines.extend(tally.due(start + 3 * minute, true));
        let counted: u64 = lines.iter().map(|line| line.count).sum();
        assert_eq!((lines.len(), counted), (4, 180_000), "{lines:?}");
        assert_eq!(lines[0].who, Who::terminal());
        // After an interval without refusals the next one is a first one again.
        assert!(tally.due(start + 5 * minute, false).is_empty());
        assert!(refused(start + 6 * minute).is_some());
    }

    #[test]
    fn sessions_of_a_key_are_summed_apart_from_those_of_another() {
        let (minute, now) = (Duration::from_mins(1), Instant::now());
        let tally = Tally::new(minute);
        let by = |key| Who { key: Some(protocol::hex::Hex([key; 8])), ..Who::default() };
        let mut lines = Vec::new();
        for _ in 0..1000 {
            lines.extend(tally.allowed(now, &by(1), Action::Identify));
        }
        lines.extend(tally.allowed(now, &by(2), Action::Identify));
        assert_eq!(lines.len(), 2, "{lines:?}");
        let summed = tally.due(now + minute, false);
        assert_eq!(summed.len(), 1, "{summed:?}");
        assert_eq!((summed[0].count, summed[0].who.key, summed[0].refused), (999, by(1).key, None));
    }
}
