//! Tests of keys and codes: how long they live, how each is found, and how they are stored.

use super::*;

const NONCES: (Hex<32>, Hex<32>) = (Hex([1; 32]), Hex([2; 32]));
const SERVER: Hex<16> = Hex([3; 16]);
const HANDSHAKE: Handshake<'_> =
    Handshake { server_nonce: &NONCES.0, client_nonce: &NONCES.1, server: &SERVER, origin: "" };

fn proof_of(code: &str) -> Pair {
    let proof = sign(code.as_bytes(), &proof::pair(&HANDSHAKE));
    Pair { protocol: 1, nonce: NONCES.1, proof, label: "a\nb".into() }
}

#[test]
fn a_code_makes_one_key_that_both_sides_know() {
    let mut book = Book::new();
    let code = book.add_code(vec![Scope::Read], 1000);
    assert_eq!(code.len(), CODE_LENGTH);
    let (key, _) = book.pair(&proof_of(&code), &HANDSHAKE, 2000).unwrap();
    let known = sign(code.as_bytes(), &proof::pair_key(&HANDSHAKE, key.id));
    assert!(key.secret.proves(b"x", &sign(&known.0, b"x")) && key.label == "ab");
    assert_eq!(book.pair(&proof_of(&code), &HANDSHAKE, 2000).unwrap_err(), PairError::Wrong);
    assert_eq!(book.keys.len(), 1);
}

#[test]
fn codes_expire_and_end_after_wrong_tries() {
    for (later, works) in
        [(0, true), (CODE_LIFE - 1, true), (CODE_LIFE, false), (24 * 3600 * 1000, false)]
    {
        let mut book = Book::new();
        let code = book.add_code(vec![], 1000);
        let paired = book.pair(&proof_of(&code), &HANDSHAKE, 1000 + later);
        assert_eq!(paired.is_ok(), works, "{later}");
    }
    let mut book = Book::new();
    let code = book.add_code(vec![], 1_000_000);
    assert!(book.pair(&proof_of(&code), &HANDSHAKE, 999_999).is_err(), "the clock went back");
    for tries in [4, 5] {
        let mut book = Book::new();
        let code = book.add_code(vec![], 0);
        for _ in 0..tries {
            assert!(book.pair(&proof_of("aaaaaaaaaaaaaaaaaaaa"), &HANDSHAKE, 1).is_err());
        }
        let paired = book.pair(&proof_of(&code), &HANDSHAKE, 1);
        assert_eq!(paired.is_ok(), tries < 5, "{tries}");
    }
}

#[test]
fn tokens_and_paired_keys_do_not_replace_each_other() {
    let mut book = Book::new();
    let token = book.add_token(vec![Scope::Read], String::new(), 0);
    let name = book.token(&token).unwrap().id;
    assert!(book.paired(name).is_none());
    for wrong in ["", "rp_", &token[..token.len() - 1], &token.replace("rp_", "RP_")] {
        assert!(book.token(wrong).is_none(), "{wrong}");
    }
    let last = if token.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &token[..token.len() - 1]);
    assert!(book.token(&wrong).is_none());
}

/// A day in ms.
const DAY: Millis = 86_400_000;

#[test]
fn unused_paired_keys_are_dropped_after_a_week_and_tokens_never() {
    let mut book = Book::new();
    let code = book.add_code(vec![], 0);
    let id = book.pair(&proof_of(&code), &HANDSHAKE, 0).unwrap().0.id;
    let token = book.add_token(vec![], String::new(), 0);
    let token = book.token(&token).unwrap().id;
    assert!(book.fresh(id, 7 * DAY - 1).is_some() && book.fresh(id, 7 * DAY).is_none());
    assert!(book.fresh(id, 8 * DAY).is_none() && book.fresh(token, 8 * DAY).is_some());
    assert!(book.fresh(Hex([0; 8]), 0).is_none());
    book.drop_old(7 * DAY - 1);
    assert_eq!(book.keys.len(), 2);
    book.drop_old(7 * DAY);
    assert_eq!(book.keys.iter().map(|key| key.kind).collect::<Vec<_>>(), [KeyKind::Token]);
}

#[test]
fn a_code_lives_five_minutes() {
    for (later, works) in [(299_999, true), (300_000, false)] {
        let mut book = Book::new();
        assert!(!book.has_code(0), "nobody asked for one");
        let code = book.add_code(vec![], 0);
        assert_eq!(book.has_code(later), works, "{later}");
        assert_eq!(book.pair(&proof_of(&code), &HANDSHAKE, later).is_ok(), works, "{later}");
        assert!(!book.has_code(0), "it was used, or is too old");
    }
    let mut book = Book::new();
    book.add_code(vec![], 0);
    assert!(!format!("{book:?}").contains(&book.codes[0].text), "{book:?}");
    assert!(format!("{book:?}").contains("wrong: 0"), "{book:?}");
}

#[test]
fn the_oldest_code_gives_way_and_the_last_key_does_not() {
    let mut book = Book::new();
    let codes: Vec<String> = (0..=MAX_CODES).map(|_| book.add_code(vec![], 0)).collect();
    assert_eq!(
        book.codes.iter().map(|code| &code.text).collect::<Vec<_>>(),
        codes[1..].iter().collect::<Vec<_>>()
    );
    for _ in 1..MAX_KEYS {
        book.add_token(vec![], String::new(), 0);
    }
    assert!(book.pair(&proof_of(&codes[1]), &HANDSHAKE, 0).is_ok());
    assert_eq!(book.pair(&proof_of(&codes[2]), &HANDSHAKE, 0).unwrap_err(), PairError::Full);
}

#[test]
fn each_key_is_found_by_its_own_id() {
    let mut book = Book::new();
    let tokens = [(); 2].map(|()| book.add_token(vec![Scope::Read], String::new(), 0));
    let paired = [(); 2].map(|()| {
        let code = book.add_code(vec![], 0);
        book.pair(&proof_of(&code), &HANDSHAKE, 0).unwrap().0.id
    });
    for (token, at) in tokens.iter().zip(0..) {
        assert_eq!(book.token(token).map(|key| key.id), Some(book.keys[at].id));
    }
    for id in paired {
        assert_eq!(book.paired(id).map(|key| key.id), Some(id));
    }
    book.set_scopes(paired[1], &[Scope::Bench]);
    let scopes: Vec<&[Scope]> = book.keys.iter().map(|key| &*key.scopes).collect();
    assert_eq!(scopes, [&[Scope::Read][..], &[Scope::Read], &[], &[Scope::Bench]]);
}

#[test]
fn a_token_is_kept_as_its_hash_also_in_an_old_book() {
    let mut book = Book::new();
    let token = book.add_token(vec![Scope::Read], String::new(), 0);
    let secret = token.rsplit('_').next().unwrap();
    let text = serde_json::to_string(&book).unwrap();
    assert!(!text.contains(secret) && text.contains("\"version\":3"), "{text}");
    let today = |text: &str| serde_json::from_str::<Book>(text).unwrap().of_today();
    // The first version wrote the secret of a token, and no number of the form; the second its hash.
    let hash = book.keys[0].secret.shown();
    let first = text.replace("\"version\":3,", "").replace(&hash, secret);
    let second = text.replace("\"version\":3", "\"version\":2");
    for old in [first, second] {
        let read = today(&old).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert!(
            read.token(&token).is_some() && read.token(&token.replace(secret, &hash)).is_none()
        );
    }
    for (version, error) in
        [("4", BookError::Later), ("3", BookError::Changed), ("0", BookError::Changed)]
    {
        let other = text.replace("\"version\":3", &format!("\"version\":{version}"));
        assert_eq!(today(&other).unwrap_err(), error, "{version}");
    }
}

#[test]
fn a_sealed_book_is_read_and_a_changed_one_is_not() {
    let mut book = Book::new();
    book.add_token(vec![Scope::Read], "mine".into(), 5);
    let text = serde_json::to_string(&book.sealed()).unwrap();
    let today = |text: &str| serde_json::from_str::<Book>(text).unwrap().of_today();
    assert_eq!(
        serde_json::to_string(&today(&text).unwrap()).unwrap(),
        serde_json::to_string(&book).unwrap()
    );
    for (old, new) in [("read", "bench"), ("mine", "fine"), (":5,", ":6,"), (":3,", ":2,")] {
        let changed = text.replacen(old, new, 1);
        assert_ne!(changed, text, "{old}");
        assert_eq!(today(&changed).unwrap_err(), BookError::Changed, "{old}");
    }
}
