//! Content codings of a file, and the tag that identifies its bytes. The build script includes this file, so it uses nothing of
//! this crate.

use std::io::{self, Read, Write};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

/// A content coding of HTTP that this server sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
    Identity,
}

impl Coding {
    /// Every coding; of two that a client likes equally, the earlier one is sent.
    pub(crate) const ALL: [Self; 3] = [Self::Brotli, Self::Gzip, Self::Identity];

    /// The name in HTTP headers.
    pub(crate) const fn token(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Identity => "identity",
        }
    }
}

/// How hard the encoders try: the quality of brotli, 0 to 11, and the level of gzip, 0 to 9.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Effort {
    pub(crate) brotli: i32,
    pub(crate) gzip: u32,
}

/// Bytes that the header of a coding adds to an answer.
const HEADER: usize = 32;

/// The content in a coding; `None` if that saves less than its header adds.
pub(crate) fn compressed(coding: Coding, content: &[u8], effort: Effort) -> Option<Vec<u8>> {
    let bytes = match coding {
        Coding::Brotli => brotli(content, effort),
        Coding::Gzip => gzip(content, effort),
        Coding::Identity => return None,
    };
    // Neither encoder reads or writes anything but memory, so an error leaves the file as it is.
    bytes.ok().filter(|bytes| bytes.len() + HEADER < content.len())
}

fn brotli(content: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let settings = BrotliEncoderParams {
        quality: effort.brotli,
        size_hint: content.len(),
        ..BrotliEncoderParams::default()
    };
    let mut bytes = Vec::new();
    brotli::BrotliCompress(&mut &*content, &mut bytes, &settings)?;
    Ok(bytes)
}

fn gzip(content: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(effort.gzip));
    encoder.write_all(content)?;
    encoder.finish()
}

/// The content of a file that gzip compressed.
///
/// # Errors
/// If the bytes are not of gzip.
pub(crate) fn inflated(gzip: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    GzDecoder::new(gzip).read_to_end(&mut content)?;
    Ok(content)
}

/// Bytes of the hash that a tag has.
const TAG_BYTES: usize = 16;

/// Half of the SHA-256 of some bytes, in hexadecimal: equal tags mean equal bytes.
pub(crate) fn tag(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..TAG_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOW: Effort = Effort { brotli: 0, gzip: 1 };
    const HIGH: Effort = Effort { brotli: 11, gzip: 9 };

    #[test]
    fn what_is_compressed_can_be_read_again() {
        let content = b"to be or not to be, ".repeat(100);
        for effort in [HIGH, LOW] {
            let gzip = compressed(Coding::Gzip, &content, effort).unwrap();
            assert_eq!(inflated(&gzip).unwrap(), content);
            let brotli = compressed(Coding::Brotli, &content, effort).unwrap();
            let mut read = Vec::new();
            brotli::BrotliDecompress(&mut &*brotli, &mut read).unwrap();
            assert_eq!(read, content);
        }
        assert!(inflated(b"not gzip").is_err());
    }

    #[test]
    fn a_form_that_is_not_smaller_is_not_kept() {
        for coding in Coding::ALL {
            for content in ["", "?", "<!doctype html>page page page page"] {
                assert_eq!(compressed(coding, content.as_bytes(), HIGH), None);
            }
        }
    }

    #[test]
    fn a_tag_is_half_of_sha_256() {
        // The published digest of the empty message.
        assert_eq!(tag(b""), "e3b0c44298fc1c149afbf4c8996fb924");
    }
}
