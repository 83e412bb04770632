//! The keys and pairing codes of a daemon, and the rules of pairing. Reading and writing their file is in `file`.

use protocol::client::Pair;
use protocol::hex::Hex;
use protocol::proof::{self, Handshake};
use protocol::scope::Scope;
use serde::{Deserialize, Serialize};

use super::secret::{Secret, random, same, sign};
use crate::clock::Millis;

/// Public id of a key.
pub(crate) type KeyId = Hex<8>;

/// Largest number of keys, so that repeated pairing cannot fill the disk.
pub(crate) const MAX_KEYS: usize = 256;
/// Longest name of a key, in characters.
pub(crate) const MAX_NAME: usize = 80;
const MAX_CODES: usize = 16;
const CODE_LIFE: Millis = 5 * 60 * 1000;
const CODE_TRIES: u32 = 5;
/// A paired key that is unused for this long is dropped.
const IDLE: Millis = 7 * 24 * 3600 * 1000;
/// Version of the form of a book.
const FORM: u32 = 2;
const CODE_LENGTH: usize = 20;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// All keys and codes of a daemon.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Book {
    /// Version of the form: 1 has the secrets of tokens, 2 their hashes.
    #[serde(default = "first")]
    version: u32,
    /// Id of the daemon.
    pub(crate) server: Hex<16>,
    pub(crate) keys: Vec<Key>,
    codes: Vec<Code>,
}

/// The version of a book that names none.
const fn first() -> u32 {
    1
}

/// A key as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Key {
    #[serde(rename = "key")]
    pub(crate) id: KeyId,
    pub(crate) kind: KeyKind,
    /// The secret of a paired key, because both sides sign with it; the hash of a token.
    pub(crate) secret: Secret,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) label: String,
    pub(crate) created_ms: Millis,
    pub(crate) used_ms: Millis,
}

/// The use of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum KeyKind {
    /// Proved over a socket and never sent; it expires when it is not used.
    Paired,
    /// Sent in a header by programs; it stays until it is revoked.
    Token,
}

/// A pairing code that was not used yet.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Code {
    #[serde(rename = "code")]
    text: String,
    scopes: Vec<Scope>,
    created_ms: Millis,
    wrong: u32,
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("wrong", &self.wrong).finish_non_exhaustive()
    }
}

/// The reason why a pairing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PairError {
    /// The proof fits no unused code.
    Wrong,
    /// There are too many keys.
    Full,
    /// The audit log could not be written.
    Unlogged,
}

impl Key {
    /// False for a paired key that was unused for too long, whether or not it was dropped already.
    pub(crate) fn is_fresh(&self, now: Millis) -> bool {
        self.kind == KeyKind::Token || now.saturating_sub(self.used_ms) < IDLE
    }
}

impl Book {
    pub(crate) fn new() -> Self {
        Self::of(Hex(random()))
    }

    /// A book without keys for the daemon with this id.
    pub(crate) const fn of(server: Hex<16>) -> Self {
        Self { version: FORM, server, keys: Vec::new(), codes: Vec::new() }
    }

    /// The book in today's form; `None` for one of a later version.
    pub(crate) fn of_today(mut self) -> Option<Self> {
        if self.version == 1 {
            for key in self.keys.iter_mut().filter(|key| key.kind == KeyKind::Token) {
                key.secret = key.secret.hashed();
            }
            self.version = FORM;
        }
        (self.version == FORM).then_some(self)
    }

    /// Adds a code for one pairing.
    pub(crate) fn add_code(&mut self, scopes: Vec<Scope>, now: Millis) -> String {
        self.drop_old(now);
        if self.codes.len() >= MAX_CODES {
            self.codes.remove(0);
        }
        let digits: [u8; CODE_LENGTH] = random();
        let code: String =
            digits.iter().map(|digit| char::from(ALPHABET[usize::from(digit & 31)])).collect();
        self.codes.push(Code { text: code.clone(), scopes, created_ms: now, wrong: 0 });
        code
    }

    /// Adds a token and returns its text, which is not shown again.
    pub(crate) fn add_token(&mut self, scopes: Vec<Scope>, label: String, now: Millis) -> String {
        let secret = Secret::random();
        let key = Key {
            id: Hex(random()),
            kind: KeyKind::Token,
            secret: secret.hashed(),
            scopes,
            label,
            created_ms: now,
            used_ms: now,
        };
        let shown = format!("rp_{}_{}", key.id, secret.shown());
        self.keys.push(key);
        shown
    }

    /// The key whose secret is this token.
    pub(crate) fn token(&self, text: &str) -> Option<&Key> {
        let (name, secret) = text.strip_prefix("rp_")?.split_once('_')?;
        let (name, secret) = (Hex::parse(name)?, Hex::parse(secret)?);
        let key = self.keys.iter().find(|key| key.id == name && key.kind == KeyKind::Token)?;
        key.secret.is_hash_of(&secret).then_some(key)
    }

    /// The paired key with this id.
    pub(crate) fn paired(&self, name: KeyId) -> Option<&Key> {
        self.keys.iter().find(|key| key.id == name && key.kind == KeyKind::Paired)
    }

    /// The key with this id, unless it was unused for too long.
    pub(crate) fn fresh(&self, id: KeyId, now: Millis) -> Option<&Key> {
        self.keys.iter().find(|key| key.id == id && key.is_fresh(now))
    }

    /// Gives a key these scopes.
    pub(crate) fn set_scopes(&mut self, id: KeyId, scopes: &[Scope]) {
        for key in self.keys.iter_mut().filter(|key| key.id == id) {
            key.scopes = scopes.to_vec();
        }
    }

    /// Turns a proved code into a key; a wrong proof counts against every unused code.
    pub(crate) fn pair(
        &mut self,
        pair: &Pair,
        handshake: &Handshake<'_>,
        now: Millis,
    ) -> Result<(Key, Hex<32>), PairError> {
        self.drop_old(now);
        let text = proof::pair(handshake);
        let found = self
            .codes
            .iter()
            .position(|code| same(&sign(code.text.as_bytes(), &text), &pair.proof));
        let Some(found) = found else {
            self.codes.iter_mut().for_each(|code| code.wrong += 1);
            self.codes.retain(|code| code.wrong < CODE_TRIES);
            return Err(PairError::Wrong);
        };
        if self.keys.len() >= MAX_KEYS {
            return Err(PairError::Full);
        }
        let Code { text: code, scopes, .. } = self.codes.remove(found);
        let name = Hex(random());
        let secret = sign(code.as_bytes(), &proof::pair_key(handshake, name));
        let label: String = pair.label.chars().filter(|c| !c.is_control()).take(MAX_NAME).collect();
        let key = Key {
            id: name,
            kind: KeyKind::Paired,
            secret: Secret::new(secret.0),
            scopes,
            label,
            created_ms: now,
            used_ms: now,
        };
        self.keys.push(key.clone());
        Ok((key, sign(code.as_bytes(), &proof::paired(handshake, name))))
    }

    /// Drops expired codes, codes from the future (the clock was set back), and unused keys.
    pub(crate) fn drop_old(&mut self, now: Millis) {
        self.codes
            .retain(|code| now.checked_sub(code.created_ms).is_some_and(|age| age < CODE_LIFE));
        self.keys.retain(|key| key.is_fresh(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCES: (Hex<32>, Hex<32>) = (Hex([1; 32]), Hex([2; 32]));
    const SERVER: Hex<16> = Hex([3; 16]);
    const HANDSHAKE: Handshake<'_> =
        Handshake { server_nonce: &NONCES.0, client_nonce: &NONCES.1, server: &SERVER, origin: "" };

    fn proof_of(code: &str) -> Pair {
        let proof = sign(code.as_bytes(), &proof::pair(&HANDSHAKE));
        Pair { protocol: 1, nonce: NONCES.1, proof, label: "a\nb".into() }
    }

    #[test]
    fn a_code_makes_one_key_that_both_sides_know() {
        let mut book = Book::new();
        let code = book.add_code(vec![Scope::Read], 1000);
        assert_eq!(code.len(), CODE_LENGTH);
        let (key, _) = book.pair(&proof_of(&code), &HANDSHAKE, 2000).unwrap();
        let known = sign(code.as_bytes(), &proof::pair_key(&HANDSHAKE, key.id));
        assert!(key.secret.proves(b"x", &sign(&known.0, b"x")) && key.label == "ab");
        assert_eq!(book.pair(&proof_of(&code), &HANDSHAKE, 2000).unwrap_err(), PairError::Wrong);
        assert_eq!(book.keys.len(), 1);
    }

    #[test]
    fn codes_expire_and_end_after_wrong_tries() {
        for (later, works) in
            [(0, true), (CODE_LIFE - 1, true), (CODE_LIFE, false), (24 * 3600 * 1000, false)]
        {
            let mut book = Book::new();
            let code = book.add_code(vec![], 1000);
            let paired = book.pair(&proof_of(&code), &HANDSHAKE, 1000 + later);
            assert_eq!(paired.is_ok(), works, "{later}");
        }
        let mut book = Book::new();
        let code = book.add_code(vec![], 1_000_000);
        assert!(book.pair(&proof_of(&code), &HANDSHAKE, 999_999).is_err(), "the clock went back");
        for tries in [4, 5] {
            let mut book = Book::new();
            let code = book.add_code(vec![], 0);
            for _ in 0..tries {
                assert!(book.pair(&proof_of("aaaaaaaaaaaaaaaaaaaa"), &HANDSHAKE, 1).is_err());
            }
            let paired = book.pair(&proof_of(&code), &HANDSHAKE, 1);
            assert_eq!(paired.is_ok(), tries < 5, "{tries}");
        }
    }

    #[test]
    fn tokens_and_paired_keys_do_not_replace_each_other() {
        let mut book = Book::new();
        let token = book.add_token(vec![Scope::Read], String::new(), 0);
        let name = book.token(&token).unwrap().id;
        assert!(book.paired(name).is_none());
        for wrong in ["", "rp_", &token[..token.len() - 1], &token.replace("rp_", "RP_")] {
            assert!(book.token(wrong).is_none(), "{wrong}");
        }
        let last = if token.ends_with('0') { '1' } else { '0' };
        let wrong = format!("{}{last}", &token[..token.len() - 1]);
        assert!(book.token(&wrong).is_none());
    }

    #[test]
    fn unused_paired_keys_are_dropped() {
        let mut book = Book::new();
        let code = book.add_code(vec![], 0);
        book.pair(&proof_of(&code), &HANDSHAKE, 0).unwrap();
        book.add_token(vec![], String::new(), 0);
        book.drop_old(IDLE - 1);
        assert_eq!(book.keys.len(), 2);
        book.drop_old(IDLE);
        assert_eq!(book.keys.len(), 1);
    }

    #[test]
    fn a_token_is_kept_as_its_hash_also_in_an_old_book() {
        let mut book = Book::new();
        let token = book.add_token(vec![Scope::Read], String::new(), 0);
        let secret = token.rsplit('_').next().unwrap();
        let text = serde_json::to_string(&book).unwrap();
        assert!(!text.contains(secret) && text.contains("\"version\":2"), "{text}");
        // The first version wrote the secret of a token, and no number of the form.
        let hash = book.keys[0].secret.shown();
        let old = text.replace("\"version\":2,", "").replace(&hash, secret);
        let read: Book = serde_json::from_str::<Book>(&old).unwrap().of_today().unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(
            read.token(&token).is_some() && read.token(&token.replace(secret, &hash)).is_none()
        );
        let later = text.replace("\"version\":2", "\"version\":3");
        assert!(serde_json::from_str::<Book>(&later).unwrap().of_today().is_none());
    }
}
