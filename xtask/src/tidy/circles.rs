//! Groups of modules that use each other in a loop.

use std::collections::{BTreeMap, BTreeSet};

use super::crate_modules::Uses;

/// Every largest set of modules in which each reaches each, sorted.
pub(super) fn circles(uses: &Uses) -> Vec<BTreeSet<String>> {
    let users: BTreeSet<&str> = uses.keys().map(|(from, _)| from.as_str()).collect();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        users.iter().map(|from| (*from, reached(from, uses))).collect();
    let mut found: BTreeSet<BTreeSet<String>> = BTreeSet::new();
    for (from, below) in &reach {
        let back = below.iter().filter(|to| reach.get(*to).is_some_and(|set| set.contains(from)));
        found.insert(back.map(|to| (*to).to_owned()).collect());
    }
    found.into_iter().filter(|circle| !circle.is_empty()).collect()
}

/// All modules that `from` uses, directly or through others.
pub(super) fn reached<'a>(from: &'a str, uses: &'a Uses) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        let start = (next.to_owned(), String::new());
        let direct = uses.range(start..).map(|((user, to), _)| (user, to.as_str()));
        let direct = direct.take_while(|(user, _)| *user == next).map(|(_, to)| to);
        open.extend(direct.filter(|to| seen.insert(*to)));
    }
    seen
}
