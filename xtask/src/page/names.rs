//! File names that change with the content, so that a browser may keep a file for ever.

use std::path::Path;

use anyhow::Context;

/// FNV-1a in 64 bits, as 16 hexadecimal digits. It tells versions apart and protects nothing.
pub(crate) fn fingerprint(content: &[u8]) -> String {
    let hash = content.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

/// Digits of a name. Two versions of one file share them once in four thousand million.
const DIGITS: usize = 8;

/// `style.css` becomes `style-01234567.css`.
pub(crate) fn with_fingerprint(path: &Path, content: &[u8]) -> anyhow::Result<String> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let extension = path.extension().and_then(|extension| extension.to_str());
    let (stem, extension) = stem
        .zip(extension)
        .with_context(|| format!("{} needs a name and an extension", path.display()))?;
    Ok(format!("{stem}-{}.{extension}", &fingerprint(content)[..DIGITS]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        // The published test vectors of FNV-1a 64 for "" and "a".
        assert_eq!(fingerprint(b""), "cbf29ce484222325");
        assert_eq!(fingerprint(b"a"), "af63dc4c8601ec8c");
    }

    #[test]
    fn the_name_follows_the_content() {
        assert_eq!(
            with_fingerprint(Path::new("assets/style.css"), b"a").unwrap(),
            "style-af63dc4c.css"
        );
        assert!(with_fingerprint(Path::new("assets/style"), b"a").is_err());
    }
}
