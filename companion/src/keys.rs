//! Keys and pairing codes: the clients that may use the daemon, and their proofs. They are kept in one file that only this user can read;
//! the daemon and the verbs `pair` and `keys` change it under a lock.

mod book;
mod file;
mod secret;

pub(crate) use book::{Book, Key, KeyId, KeyKind, MAX_KEYS, MAX_NAME, PairError};
pub(crate) use file::{KeyFile, KeyFileError, Stamp};
#[cfg(all(test, debug_assertions))]
pub(crate) use secret::Secret;
pub(crate) use secret::random;
#[cfg(test)]
pub(crate) use secret::sign;
