//! Places that are few: who gives way to a newcomer. The group with the most places gives one up, and in it whoever has waited longest
//! for nothing. Some of those who have just come have a moment in which they need not, so that a crowd that comes again and again
//! leaves others the time to say who they are.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// The rule of a table of places.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// Number of places.
    pub(super) most: usize,
    /// Places whose holders need not give way for a moment after they came.
    pub(super) sheltered: usize,
    /// Length of that moment, which also ends with their first request.
    pub(super) shelter: Duration,
    /// Only a group that has more places than the newcomer's would have gives one up.
    pub(super) only_larger: bool,
}

/// Places of one kind. Whoever holds one belongs to a group of type `G`: a peer, or a key.
#[derive(Debug)]
pub(super) struct Table<G> {
    rule: Rule,
    open: Mutex<Open<G>>,
}

#[derive(Debug)]
struct Open<G> {
    last: u64,
    held: BTreeMap<u64, Held<G>>,
}

#[derive(Debug)]
struct Held<G> {
    group: G,
    /// Requests that are being answered.
    busy: u32,
    /// The last sign of life.
    since: Instant,
    /// The end of the moment in which it need not give way.
    sheltered_until: Option<Instant>,
    leave: Arc<Notify>,
}

/// A place; dropping it frees it.
#[derive(Debug)]
pub(super) struct Place<G: Ord + Copy> {
    table: Arc<Table<G>>,
    number: u64,
    leave: Arc<Notify>,
}

impl<G: Ord + Copy> Table<G> {
    pub(super) fn new(rule: Rule) -> Arc<Self> {
        Arc::new(Self { rule, open: Mutex::new(Open { last: 0, held: BTreeMap::new() }) })
    }

    fn lock(&self) -> MutexGuard<'_, Open<G>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of places that are taken.
    pub(super) fn taken(&self) -> usize {
        self.lock().held.len()
    }

    /// Takes a place, also one that another has to leave (then true); `None` if nobody gives way.
    pub(super) fn enter(self: &Arc<Self>, group: G) -> Option<(Place<G>, bool)> {
        let (mut open, now) = (self.lock(), Instant::now());
        let is_full = open.held.len() >= self.rule.most;
        if is_full {
            let victim = gives_way(&open.held, group, self.rule, now)?;
            open.held.remove(&victim).inspect(|gone| gone.leave.notify_one());
        }
        open.last += 1;
        let (number, leave) = (open.last, Arc::new(Notify::new()));
        let sheltered_until = shelter(&open.held, self.rule, now);
        let (busy, since, gone) = (0, now, Arc::clone(&leave));
        let held = Held { group, busy, since, sheltered_until, leave: gone };
        open.held.insert(number, held);
        drop(open);
        Some((Place { table: Arc::clone(self), number, leave }, is_full))
    }
}

impl<G> Held<G> {
    fn is_sheltered(&self, now: Instant) -> bool {
        self.sheltered_until.is_some_and(|end| now < end)
    }
}

/// The end of a newcomer's moment, unless too many have theirs.
fn shelter<G>(held: &BTreeMap<u64, Held<G>>, rule: Rule, now: Instant) -> Option<Instant> {
    let sheltered = held.values().filter(|place| place.is_sheltered(now)).count();
    (sheltered < rule.sheltered).then(|| now + rule.shelter)
}

/// The place that is given up for a newcomer of a group.
fn gives_way<G: Ord + Copy>(
    held: &BTreeMap<u64, Held<G>>,
    newcomer: G,
    rule: Rule,
    now: Instant,
) -> Option<u64> {
    let mut sizes = BTreeMap::from([(newcomer, 1)]);
    for place in held.values() {
        *sizes.entry(place.group).or_insert(0) += 1;
    }
    let own = sizes[&newcomer];
    held.iter()
        .filter(|(_, place)| !place.is_sheltered(now))
        .filter(|(_, place)| !rule.only_larger || sizes[&place.group] > own)
        .min_by_key(|(_, place)| (Reverse(sizes[&place.group]), place.busy > 0, place.since))
        .map(|(number, _)| *number)
}

impl<G: Ord + Copy> Place<G> {
    /// Waits until the place has to be left.
    pub(super) async fn to_leave(&self) {
        self.leave.notified().await;
    }

    /// A sign of life.
    pub(super) fn touch(&self) {
        self.change(|_held| {});
    }

    /// A request begins.
    pub(super) fn begin(&self) {
        self.change(|held| {
            held.busy += 1;
            held.sheltered_until = None;
        });
    }

    /// A request was answered.
    pub(super) fn end(&self) {
        self.change(|held| held.busy = held.busy.saturating_sub(1));
    }

    fn change(&self, change: impl FnOnce(&mut Held<G>)) {
        if let Some(held) = self.table.lock().held.get_mut(&self.number) {
            held.since = Instant::now();
            change(held);
        }
    }
}

impl<G: Ord + Copy> Drop for Place<G> {
    fn drop(&mut self) {
        self.table.lock().held.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Rule = Rule { most: 4, sheltered: 0, shelter: Duration::ZERO, only_larger: false };

    /// Places by group, requests that are being answered, and seconds since the last sign of life.
    fn held(places: &[(char, u32, u64)], now: Instant) -> BTreeMap<u64, Held<char>> {
        let place = |(group, busy, age): &(char, u32, u64)| Held {
            group: *group,
            busy: *busy,
            since: now.checked_sub(Duration::from_secs(*age)).unwrap(),
            sheltered_until: None,
            leave: Arc::default(),
        };
        (1..).zip(places.iter().map(place)).collect()
    }

    #[test]
    fn the_largest_group_gives_up_the_place_that_is_idle_for_the_longest_time() {
        let now = Instant::now() + Duration::from_hours(1);
        let of = |places: &[(char, u32, u64)], newcomer| {
            gives_way(&held(places, now), newcomer, ALL, now)
        };
        let one = [('a', 0, 3), ('a', 0, 9), ('a', 0, 1)];
        assert_eq!(of(&one, 'a'), Some(2), "the oldest sign of life, not the first to come");
        assert_eq!(of(&one, 'b'), Some(2));
        let working = [('a', 1, 9), ('a', 0, 1), ('a', 1, 5)];
        assert_eq!(of(&working, 'a'), Some(2), "no request is cut while there is another place");
        assert_eq!(of(&[('a', 1, 5), ('a', 1, 9)], 'a'), Some(2));
        let two = [('b', 0, 99), ('a', 0, 1), ('a', 0, 2)];
        assert_eq!(of(&two, 'c'), Some(3), "the larger group pays, however lively it is");
        assert_eq!(of(&[('b', 0, 99), ('b', 0, 1), ('a', 0, 1), ('a', 0, 2)], 'a'), Some(4));
        assert_eq!(of(&[], 'a'), None);
    }

    #[test]
    fn some_newcomers_need_not_give_way_for_a_moment() {
        let now = Instant::now() + Duration::from_hours(1);
        let rule = Rule { sheltered: 2, shelter: Duration::from_secs(5), ..ALL };
        let mut places = held(&[('a', 0, 1), ('a', 0, 3)], now);
        let end = shelter(&places, rule, now);
        assert_eq!(end, Some(now + rule.shelter));
        for number in [1, 2] {
            places.get_mut(&number).unwrap().sheltered_until = end;
        }
        assert_eq!(shelter(&places, rule, now), None, "the third has to give way");
        assert_eq!(gives_way(&places, 'a', rule, now), None);
        places
            .extend(held(&[('a', 0, 9), ('b', 0, 99)], now).into_iter().map(|(n, it)| (n + 2, it)));
        assert_eq!(gives_way(&places, 'a', rule, now), Some(3), "however long others are silent");
        let later = now + rule.shelter;
        assert!(shelter(&places, rule, later).is_some());
        assert_eq!(gives_way(&places, 'b', rule, later), Some(3));
        places.remove(&3);
        assert_eq!(gives_way(&places, 'a', rule, later), Some(2), "its moment is over");
    }

    #[test]
    fn a_request_ends_the_moment() {
        let rule = Rule { most: 2, sheltered: 2, shelter: Duration::from_hours(1), ..ALL };
        let table = Table::new(rule);
        let first = table.enter('a').unwrap().0;
        let second = table.enter('a').unwrap().0;
        assert!(table.enter('a').is_none(), "both have just come");
        second.begin();
        second.end();
        let (third, evicted) = table.enter('a').unwrap();
        assert!(evicted);
        drop(second);
        assert_eq!(table.taken(), 2, "the second had left already");
        drop((first, third));
    }

    #[test]
    fn share_protects_who_has_a_place() {
        let now = Instant::now() + Duration::from_hours(1);
        let share = Rule { only_larger: true, ..ALL };
        for (groups, newcomer, gives) in [
            ("aaaa", 'a', None),
            ("aaaa", 'b', Some(1)),
            ("aaab", 'b', Some(1)),
            ("aabb", 'b', None),
            ("aabb", 'a', None),
            ("aabb", 'c', Some(1)),
            ("abcd", 'e', None),
        ] {
            let places: Vec<_> = groups.chars().map(|group| (group, 0, 1)).collect();
            let found = gives_way(&held(&places, now), newcomer, share, now);
            assert_eq!(found, gives, "{groups} {newcomer}");
        }
    }

    #[test]
    fn a_place_is_taken_once_and_freed_when_it_is_dropped() {
        let table = Table::new(Rule { most: 2, ..ALL });
        let (first, evicted) = table.enter('a').unwrap();
        let second = table.enter('a').unwrap().0;
        assert!(!evicted && table.taken() == 2);
        first.touch();
        let (third, evicted) = table.enter('a').unwrap();
        assert!(evicted && table.taken() == 2);
        drop(second);
        assert_eq!(table.taken(), 2, "it had left already");
        drop((first, third));
        assert_eq!(table.taken(), 0);
    }
}
