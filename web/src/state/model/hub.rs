//! Models of the Hugging Face hub: valid ids and the meaning of replies. The page itself makes the request, only after a click.

/// Longest id on the hub: two names of 96 characters.
const LONGEST: usize = 192;
/// Longest address that is read, in bytes.
const LONGEST_ADDRESS: usize = 500;

/// The only host that is asked. It passes requests for weights on to its storage, hosts under hf.co.
pub const HOST: &str = "https://huggingface.co";

/// A repository, and a file in it if one is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// Owner and name.
    pub id: String,
    /// A file, or a word in the names of files such as `Q4_K_M`.
    pub file: Option<String>,
}

/// Reads an id, an address of the hub, an id with a file, or an id with a tag such as `owner/name:Q4_K_M`.
///
/// # Errors
/// Returns a sentence if the id is invalid; nothing is requested then.
pub fn asked(typed: &str) -> Result<Asked, String> {
    let text = typed.trim();
    if text.len() > LONGEST_ADDRESS {
        return Err(refusal());
    }
    let path = text.strip_prefix(HOST).and_then(|path| path.split(['?', '#']).next());
    let text = path.map_or(text, |path| path.trim_start_matches('/')).trim_end_matches('/');
    let (text, tag) = match text.split_once(':') {
        Some((text, tag)) => (text, Some(tag)),
        None => (text, None),
    };
    let parts: Vec<&str> = text.split('/').collect();
    let (owner, name, path) = match parts[..] {
        [owner, name] => (owner, name, &[][..]),
        [owner, name, "blob" | "resolve" | "tree", "main", ref path @ ..]
        | [owner, name, ref path @ ..] => (owner, name, path),
        _ => return Err(refusal()),
    };
    let words = path.iter().copied().chain(tag);
    if owner.len() + name.len() > LONGEST || ![owner, name].into_iter().chain(words).all(is_name) {
        return Err(refusal());
    }
    let file = tag.map(str::to_owned).or((!path.is_empty()).then(|| path.join("/")));
    Ok(Asked { id: format!("{owner}/{name}"), file })
}

/// URL of a model's `config.json`.
///
/// # Errors
/// Returns a sentence if the id is invalid; nothing is requested then.
pub fn address(typed: &str) -> Result<String, String> {
    match asked(typed)? {
        Asked { id, file: None } => Ok(file_address(&id, "config.json")),
        Asked { .. } => Err(refusal()),
    }
}

/// URL of a file.
pub fn file_address(id: &str, path: &str) -> String {
    format!("{HOST}/{id}/resolve/main/{path}")
}

/// URL of the list of a repository's files.
pub fn list_address(id: &str) -> String {
    format!("{HOST}/api/models/{id}/tree/main?recursive=true")
}

/// Whether a path of a list can stand in an address as it is.
pub fn is_path(path: &str) -> bool {
    path.split('/').all(is_name)
}

/// Letters, digits and `-_.`, starting with a letter or digit, so that no path component can be `..`.
fn is_name(part: &str) -> bool {
    part.starts_with(|letter: char| letter.is_ascii_alphanumeric())
        && part.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter))
        && !part.contains("..")
}

fn refusal() -> String {
    "An id is an owner and a name, such as meta-llama/Llama-3.1-8B.".to_owned()
}

/// Explains a refused or failed request for weights; status 0 means that no reply arrived.
pub fn refusal_of_weights(status: u16) -> String {
    match status {
        0 => "huggingface.co, or its storage under hf.co, cannot be reached from here. Offline, open the files instead."
            .to_owned(),
        401 | 403 => {
            "huggingface.co gives this model only to those who have accepted its license, or there is none of that name. \
             Download it there, and open its files here."
                .to_owned()
        }
        404 => "huggingface.co has no such model or file.".to_owned(),
        416 => "huggingface.co has another size of this file than its list; try again.".to_owned(),
        429 => "huggingface.co asks to wait before the next request. Try later, or open the files.".to_owned(),
        status => format!("huggingface.co answered with {status}. Try later, or open the files instead."),
    }
}

/// Explains a refused or failed request; status 0 means that no reply arrived.
pub fn refusal_of(status: u16) -> String {
    match status {
        0 => "huggingface.co cannot be reached from here. Offline, paste or open the config.json instead.".to_owned(),
        401 | 403 => {
            "huggingface.co gives this model only to those who have accepted its license, or there is none of that name. \
             Open its page there, and paste the config.json here."
                .to_owned()
        }
        404 => "huggingface.co has no config.json under this id.".to_owned(),
        429 => "huggingface.co asks to wait before the next request. Paste the config.json, or try later.".to_owned(),
        status => format!("huggingface.co answered with {status}. Paste or open the config.json instead."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_become_addresses() {
        for id in [
            "meta-llama/Llama-3.1-8B",
            " meta-llama/Llama-3.1-8B ",
            "https://huggingface.co/meta-llama/Llama-3.1-8B/",
        ] {
            assert_eq!(
                address(id).as_deref(),
                Ok("https://huggingface.co/meta-llama/Llama-3.1-8B/resolve/main/config.json")
            );
        }
    }

    #[test]
    fn a_file_or_a_tag_can_follow_an_id() {
        let expected = |file: Option<&str>| {
            Ok(Asked { id: "owner/name-GGUF".into(), file: file.map(str::to_owned) })
        };
        for (typed, file) in [
            ("owner/name-GGUF", None),
            ("owner/name-GGUF:Q4_K_M", Some("Q4_K_M")),
            ("owner/name-GGUF/name-Q4_K_M.gguf", Some("name-Q4_K_M.gguf")),
            ("https://huggingface.co/owner/name-GGUF/tree/main", None),
            ("https://huggingface.co/owner/name-GGUF/blob/main/UD/a.gguf?x=1", Some("UD/a.gguf")),
            ("https://huggingface.co/owner/name-GGUF/resolve/main/a.gguf", Some("a.gguf")),
        ] {
            assert_eq!(asked(typed), expected(file), "{typed}");
        }
        for wrong in
            ["a/b/../c", "a/b:", "a/b:c/d/..", "a/b//c", "a/b/.c", "https://evil.example/a/b"]
        {
            assert!(asked(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for id in [
            "",
            "llama",
            "a/b/c",
            "a/",
            "/b",
            "a/..",
            "../b",
            "a/b?x",
            "a/b#c",
            "a b/c",
            "a/b%2f",
            "https://example.com/a/b",
            "a//b",
            "ä/b",
            ".a/b",
            "a/b@main",
            "javascript:alert(1)/x",
        ] {
            assert!(address(id).is_err(), "{id}");
        }
        assert!(address(&format!("a/{}", "b".repeat(200))).is_err());
    }

    #[test]
    fn refusals_say_what_to_do() {
        for status in [0, 401, 403, 429, 500] {
            assert!(refusal_of(status).to_ascii_lowercase().contains("paste"), "{status}");
            assert!(refusal_of_weights(status).contains("open "), "{status}");
        }
    }
}
