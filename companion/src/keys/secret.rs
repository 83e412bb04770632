//! Secrets that do not appear in debug output, and the proofs made with them.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use protocol::hex::Hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The secret of a key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Secret(Hex<32>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(hidden)")
    }
}

impl Secret {
    pub(crate) fn random() -> Self {
        Self(Hex(random()))
    }

    pub(crate) const fn new(bytes: [u8; 32]) -> Self {
        Self(Hex(bytes))
    }

    /// The SHA-256 hash of the secret. A random secret cannot be found from it, so it stands for the secret in a file.
    pub(crate) fn hashed(&self) -> Self {
        Self(Hex(Sha256::digest(self.0.0).into()))
    }

    /// The digits, for the one line that shows a new token to its owner.
    pub(crate) fn shown(&self) -> String {
        self.0.to_string()
    }

    /// HMAC-SHA-256 of a text.
    pub(crate) fn sign(&self, text: &[u8]) -> Hex<32> {
        sign(&self.0.0, text)
    }

    /// True if the proof is right; compares in constant time.
    pub(crate) fn proves(&self, text: &[u8], proof: &Hex<32>) -> bool {
        same(&self.sign(text), proof)
    }

    /// True if this is the hash of a secret; compares in constant time.
    pub(crate) fn is_hash_of(&self, given: &Hex<32>) -> bool {
        same(&self.0, &Self(*given).hashed().0)
    }
}

/// HMAC-SHA-256 of a text with a key of any length.
pub(crate) fn sign(key: &[u8], text: &[u8]) -> Hex<32> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of every length");
    mac.update(text);
    Hex(mac.finalize().into_bytes().into())
}

pub(crate) fn same(a: &Hex<32>, b: &Hex<32>) -> bool {
    a.0.ct_eq(&b.0).into()
}

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test case 2.
    #[test]
    fn the_hash_matches_published_vectors() {
        let found = sign(b"Jefe", b"what do ya want for nothing?").to_string();
        assert_eq!(found, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn debug_output_hides_secrets() {
        let secret = Secret::new([0xab; 32]);
        assert_eq!(format!("{secret:?}"), "Secret(hidden)");
        assert!(!format!("{:?}", Some(&secret)).contains("ab, "));
    }

    #[test]
    fn secrets_are_random() {
        let bytes: [u8; 64] = random();
        assert_ne!(bytes, random(), "each is new");
        assert!(bytes.iter().any(|byte| *byte != bytes[0]), "{bytes:?}");
        assert_ne!(Secret::random().shown(), Secret::random().shown());
    }

    #[test]
    fn only_the_whole_proof_proves() {
        let secret = Secret::new([1; 32]);
        let proof = secret.sign(b"text");
        assert!(secret.proves(b"text", &proof));
        assert!(!secret.proves(b"Text", &proof) && !Secret::new([2; 32]).proves(b"text", &proof));
        for i in 0..32 {
            let mut wrong = proof;
            wrong.0[i] ^= 1;
            assert!(!secret.proves(b"text", &wrong), "byte {i}");
        }
    }
}
