//! The keys and pairing codes of a daemon, and the rules of pairing. Reading and writing their file is in `file`.

use protocol::client::Pair;
use protocol::hex::Hex;
use protocol::proof::{self, Handshake};
use protocol::scope::Scope;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

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
const FORM: u32 = 3;
const CODE_LENGTH: usize = 20;
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// All keys and codes of a daemon.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Book {
    /// Version of the form: 1 has the secrets of tokens, 2 their hashes, 3 also the hash of the book.
    #[serde(default = "first")]
    version: u32,
    /// Id of the daemon.
    pub(crate) server: Hex<16>,
    pub(crate) keys: Vec<Key>,
    codes: Vec<Code>,
    /// SHA-256 of the JSON of all other fields, so that a damaged digit or scope is not read as another one. Only in the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<Hex<32>>,
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

impl Code {
    fn is_fresh(&self, now: Millis) -> bool {
        now.checked_sub(self.created_ms).is_some_and(|age| age < CODE_LIFE)
    }
}

impl std::fmt::Debug for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Code").field("wrong", &self.wrong).finish_non_exhaustive()
    }
}

/// The reason why a stored book cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BookError {
    /// Its content is not what was written.
    Changed,
    /// A later version of this program wrote it.
    Later,
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
        Self { version: FORM, server, keys: Vec::new(), codes: Vec::new(), sha256: None }
    }

    /// Whether the text is a book of a later version, which may have fields that this one refuses.
    pub(crate) fn is_later(text: &str) -> bool {
        #[derive(Deserialize)]
        struct Form {
            version: u32,
        }
        serde_json::from_str::<Form>(text).is_ok_and(|book| book.version > FORM)
    }

    /// The stored book in today's form.
    ///
    /// # Errors
    /// A book of a later version, and one that was changed since it was written.
    pub(crate) fn of_today(mut self) -> Result<Self, BookError> {
        if self.version > FORM {
            return Err(BookError::Later);
        }
        let is_whole = match self.sha256.take() {
            Some(stated) => stated == self.hash(),
            // Earlier forms have no hash.
            None => self.version == 1 || self.version == 2,
        };
        if !is_whole {
            return Err(BookError::Changed);
        }
        if self.version == 1 {
            for key in self.keys.iter_mut().filter(|key| key.kind == KeyKind::Token) {
                key.secret = key.secret.hashed();
            }
        }
        self.version = FORM;
        Ok(self)
    }

    /// The book as it is stored, with its hash.
    pub(crate) fn sealed(&self) -> Self {
        Self { sha256: Some(self.hash()), ..self.clone() }
    }

    /// The hash of a book without one.
    fn hash(&self) -> Hex<32> {
        let bytes = serde_json::to_vec(self).expect("a book has text keys");
        Hex(Sha256::digest(bytes).into())
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

    /// Whether a code may still be used.
    pub(crate) fn has_code(&self, now: Millis) -> bool {
        self.codes.iter().any(|code| code.is_fresh(now))
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
        self.codes.retain(|code| code.is_fresh(now));
        self.keys.retain(|key| key.is_fresh(now));
    }
}

#[cfg(test)]
mod tests;
