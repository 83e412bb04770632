//! Models of the Hugging Face hub: valid ids and the meaning of replies. The page itself makes the request, only after a click.

/// Longest id on the hub: two names of 96 characters.
const LONGEST: usize = 193;

/// URL of a model's `config.json`.
///
/// # Errors
/// Returns a sentence if the id is invalid; nothing is requested then.
pub fn address(typed: &str) -> Result<String, String> {
    let id = typed.trim();
    let id = id.strip_prefix("https://huggingface.co/").unwrap_or(id).trim_end_matches('/');
    let parts: Vec<&str> = id.split('/').collect();
    let [owner, name] = *parts else { return Err(refusal()) };
    if id.len() > LONGEST || !is_name(owner) || !is_name(name) {
        return Err(refusal());
    }
    Ok(format!("https://huggingface.co/{owner}/{name}/resolve/main/config.json"))
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
        }
    }
}
