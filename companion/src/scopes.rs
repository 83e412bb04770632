//! The scopes that keys may have, and those that a daemon gives no session, whatever its key has.

use protocol::ability::ScopeOff;
use protocol::scope::Scope;

/// Scopes that a key may have; the others are reserved for later versions.
pub(crate) const GRANTED: [Scope; 2] = [Scope::Read, Scope::Bench];

/// Scopes of a key where none is named.
pub(crate) const USUAL: [Scope; 2] = [Scope::Read, Scope::Bench];

/// The part of a daemon's start that takes scopes from its sessions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Restriction {
    /// It was started with `--read-only`.
    pub(crate) read_only: bool,
    /// It listens to a network, unencrypted.
    pub(crate) on_network: bool,
}

impl Restriction {
    /// The change of the daemon's command line that gives a scope to sessions; `None` if they have it as soon as their key has.
    pub(crate) const fn off(self, scope: Scope) -> Option<&'static str> {
        match scope {
            Scope::Read => None,
            Scope::Bench | Scope::Files | Scope::Power => match self {
                Self { read_only: true, .. } => Some("without `--read-only`"),
                Self { on_network: true, .. } => {
                    Some("without `--listen`, and reach it by `ssh -L`")
                }
                Self { .. } => None,
            },
        }
    }

    /// The scopes that no session has.
    pub(crate) fn all_off(self) -> Vec<ScopeOff> {
        let off = |scope| Some(ScopeOff { scope, start: self.off(scope)?.to_owned() });
        GRANTED.into_iter().filter_map(off).collect()
    }
}

/// These scopes in order, with `read`, which is the only way to get results.
pub(crate) fn with_read(named: &[Scope]) -> Vec<Scope> {
    let is_meant = |scope: &Scope| *scope == Scope::Read || named.contains(scope);
    Scope::ALL.into_iter().filter(is_meant).collect()
}

/// Their names, separated by commas.
pub(crate) fn names(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.key()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_that_is_off_comes_with_what_turns_it_on() {
        let off = |read_only, on_network| Restriction { read_only, on_network }.all_off();
        assert_eq!(off(false, false), []);
        for (read_only, on_network, flag) in
            [(true, false, "--read-only"), (false, true, "--listen"), (true, true, "--read-only")]
        {
            let off = off(read_only, on_network);
            assert!(off.len() == 1 && off[0].scope == Scope::Bench, "{off:?}");
            assert!(off[0].start.contains(flag), "{off:?}");
        }
    }

    #[test]
    fn every_key_may_read() {
        assert_eq!(with_read(&[Scope::Bench]), [Scope::Read, Scope::Bench]);
        assert_eq!(with_read(&[]), [Scope::Read]);
        assert_eq!(names(&with_read(&[Scope::Bench, Scope::Read])), "read,bench");
    }
}
