//! The lock files: one wasm-bindgen for page and builder, and no registry's address in the npm lock.

use super::Finding;

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let complaint = match path.rsplit('/').next() {
        Some("Cargo.lock") => complaint_on_cargo(text),
        Some("package-lock.json") => complaint_on_npm(text),
        _ => None,
    };
    complaint.map(|what| Finding::new(path, what)).into_iter().collect()
}

/// The JavaScript glue and the compiled page speak a private protocol, which changes with every version.
fn complaint_on_cargo(lock: &str) -> Option<String> {
    let page = version_in_lock(lock, "wasm-bindgen");
    let builder = version_in_lock(lock, "wasm-bindgen-cli-support");
    (page != builder).then(|| {
        format!(
            "wasm-bindgen is {page:?}, wasm-bindgen-cli-support is {builder:?}; they must be equal"
        )
    })
}

pub(crate) fn version_in_lock<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, rest) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    rest.split_once('"').map(|(version, _)| version)
}

/// npm writes down where it fetched from, which may be a mirror that others cannot reach.
fn complaint_on_npm(lock: &str) -> Option<String> {
    lock.contains("\"resolved\": \"http")
        .then(|| "names a registry; install with omit-lockfile-registry-resolved=true".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cargo_lock(page: &str, builder: &str) -> String {
        let package = |name: &str, version: &str| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n\n")
        };
        package("wasm-bindgen", page) + &package("wasm-bindgen-cli-support", builder)
    }

    #[test]
    fn equal_versions_pass_and_different_ones_do_not() {
        assert!(check("Cargo.lock", &cargo_lock("0.2.130", "0.2.130")).is_empty());
        assert_eq!(check("Cargo.lock", &cargo_lock("0.2.130", "0.2.131")).len(), 1);
    }

    #[test]
    fn an_npm_lock_with_addresses_is_refused() {
        assert!(check("web/package-lock.json", r#""version": "1.0.0""#).is_empty());
        assert_eq!(
            check("web/package-lock.json", r#""resolved": "https://registry.example/a.tgz""#).len(),
            1
        );
    }
}
