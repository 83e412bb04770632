//! The end of a worker's stderr: one line, which is stored, shown, and names no folder of this machine.

use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that are kept for the fault's sentence.
const KEPT: usize = 2048;

/// Reads stderr to its end.
pub(super) async fn last_words(mut stderr: impl AsyncRead + Unpin) -> String {
    let (mut kept, mut buffer, mut is_cut) = (Vec::new(), [0; 1024], false);
    while let Ok(read @ 1..) = stderr.read(&mut buffer).await {
        kept.extend_from_slice(&buffer[..read]);
        let extra = kept.len().saturating_sub(KEPT);
        kept.drain(..extra);
        is_cut |= extra > 0;
    }
    let text = String::from_utf8_lossy(&kept);
    // The first word may be the rest of a path.
    let whole =
        if is_cut { text.split_once(char::is_whitespace).map_or("", |(_, it)| it) } else { &*text };
    without_folders(whole.trim()).replace(['\n', '\r'], " ")
}

/// Replaces each path by its last part: a library of a driver may name files before it ends its process.
fn without_folders(text: &str) -> String {
    let is_outside = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;:=|".contains(c);
    let parts = text.split_inclusive(is_outside);
    parts
        .map(|part| {
            let word = part.trim_end_matches(is_outside);
            let rest = &part[word.len()..];
            if is_path(word) { format!("{}{rest}", last(word)) } else { part.to_owned() }
        })
        .collect()
}

/// Whether a word has a folder in it: `GB/s` has none.
fn is_path(word: &str) -> bool {
    let is_rooted = ["/", "~", "./", "../"].iter().any(|begin| word.starts_with(begin));
    let slashes = word.matches('/').count();
    slashes > 1 || slashes == 1 && is_rooted
}

/// The last part of a path, such as the name of its file.
fn last(path: &str) -> &str {
    path.rsplit('/').find(|part| !part.is_empty()).unwrap_or("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_path_only_the_last_part_is_kept() {
        for (said, kept) in [
            ("/opt/secret/lib/libcuda.so.1: no such file", "libcuda.so.1: no such file"),
            ("panicked at /srv/secret/a.rs:10:5", "panicked at a.rs:10:5"),
            ("cannot open '/srv/secret/models/m.gguf' (2)", "cannot open 'm.gguf' (2)"),
            ("PATH=/opt/secret/bin:/srv/secret/bin,~secret/x", "PATH=bin:bin,x"),
            ("file:///srv/secret/index.html", "file:index.html"),
            ("~/secret/x ./secret/y ../secret/z srv/secret/w", "x y z w"),
            ("the folder /srv/secret/cache/ is full", "the folder cache is full"),
            ("/ // /x", "/ / x"),
            ("12 GB/s of 30 and/or more; 1/2\nleft", "12 GB/s of 30 and/or more; 1/2\nleft"),
            ("", ""),
        ] {
            assert_eq!(without_folders(said), kept);
        }
    }

    #[tokio::test]
    async fn the_end_is_one_line_without_the_rest_of_a_path_that_was_cut() {
        let said = async |text: String| last_words(text.as_bytes()).await;
        assert_eq!(said("\n first\r\nsecond \n".into()).await, "first  second");
        let long = format!("{} at /srv/secret/{} end\n", "x".repeat(KEPT), "y".repeat(KEPT - 10));
        assert_eq!(said(long).await, "end");
        let long = format!("{}\n/srv/secret/name", "x".repeat(2 * KEPT));
        assert_eq!(said(long).await, "name");
    }
}
