//! Fuzz target: the file of keys. A damaged file is refused, or it is a book as it was written: never another key, never more scopes.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use fuzz::{Target, Verdict};
use protocol::client::Pair;
use protocol::hex::Hex;
use protocol::proof::{self, Handshake};
use protocol::scope::Scope;

use super::super::secret::sign;
use super::{Book, KeyFile};

const WORDS: [&str; 12] = [
    "\"read\"",
    "\"bench\"",
    "\"files\"",
    "\"power\"",
    "\"token\"",
    "\"paired\"",
    "\"sha256\": ",
    "\"version\": 2,",
    "[]",
    "null",
    "{}",
    ",\n",
];

/// A paired key with these scopes, as a page makes it.
fn pair(book: &mut Book, scopes: &[Scope]) {
    let code = book.add_code(scopes.to_vec(), 1_750_000_000_000);
    let handshake = Handshake {
        server_nonce: &Hex([1; 32]),
        client_nonce: &Hex([2; 32]),
        server: &book.server.clone(),
        origin: "http://localhost:8000",
    };
    let proof = sign(code.as_bytes(), &proof::pair(&handshake));
    let pair = Pair { protocol: 1, nonce: Hex([2; 32]), proof, label: "Firefox".into() };
    book.pair(&pair, &handshake, 1_750_000_001_000).expect("its code");
}

/// Books as the daemon and the verbs write them: empty, with a token, with keys of both kinds and a code.
fn files(file: &KeyFile, path: &Path) -> Vec<Vec<u8>> {
    let steps: [fn(&mut Book); 3] = [
        |_| (),
        |book| drop(book.add_token(vec![Scope::Read], "prometheus".into(), 1_750_000_000_000)),
        |book| {
            pair(book, &[Scope::Read]);
            pair(book, &[Scope::Read, Scope::Bench]);
            book.add_code(vec![Scope::Read], 1_750_000_002_000);
        },
    ];
    let write = |step: fn(&mut Book)| {
        file.change(step).expect("a folder of its own");
        fs::read(path).expect("it was written")
    };
    steps.map(write).to_vec()
}

#[test]
fn a_damaged_file_of_keys_gives_no_other_key_and_no_more_scopes() {
    let name = format!("ridgepoint-fuzz-keys-{}", std::process::id());
    let state = std::env::temp_dir().join(name);
    fs::DirBuilder::new().mode(0o700).create(&state).expect("a folder of its own");
    let (file, path) = (KeyFile::of(&state).expect("private"), state.join("keys.json"));
    let text = |book: &Book| serde_json::to_string(book).expect("text keys");
    let inputs = files(&file, &path);
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("a folder of its own");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("ours");
        file.read().map(|book| book.expect("there is a file"))
    };
    let books: Vec<Book> = inputs.iter().map(|bytes| read(bytes).expect("as written")).collect();
    let written: Vec<String> = books.iter().map(text).collect();
    let keys = books.iter().flat_map(|book| &book.keys);
    let secrets: Vec<String> = keys.map(|key| key.secret.shown()).collect();
    assert_eq!(secrets.len(), 4, "one, then three");
    Target { name: "keys", inputs, words: &WORDS }.run(|case| match read(case.bytes) {
        Ok(book) => {
            assert!(written.contains(&text(&book)), "another book");
            Verdict::Accepted
        }
        Err(error) => {
            let said = error.to_string();
            assert!(!case.is_whole() && said.len() > 20, "{said}");
            assert!(!secrets.iter().any(|secret| said.contains(secret)), "{said}");
            Verdict::Refused
        }
    });
    fs::remove_dir_all(state).expect("ours");
}
