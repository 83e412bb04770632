//! Keys and pairing codes: who may talk to the daemon, and how they prove it. They lie in one file that only this user reads;
//! the daemon and the verbs `pair` and `keys` change it under a lock.

mod book;
mod file;
mod secret;

pub(crate) use book::{Book, Key, KeyId, KeyKind, MAX_KEYS, MAX_NAME, PairError};
pub(crate) use file::{KeyFile, KeyFileError};
pub(crate) use secret::random;
