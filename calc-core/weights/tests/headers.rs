//! Headers as they should be, and every mistake that one can have.

mod written;

use calc_core::hf_config::{HfConfig, Unread, import};
use weights::error::HeaderError;
use weights::files::{WeightFile, Weights, siblings, sum};
use weights::geometry::{self, NoGeometry};
use weights::header::Header;
use weights::packing::Packing;
use weights::read::{Progress, ReadError, parse, read};
use weights::role::Role;
use weights::safetensors::Index;
use weights::stored::{file_type, gguf_formats, main_type};
use written::{Gguf, Key, Written, safetensors, small_llama};

fn done(written: &Written) -> Header {
    match parse(&written.start, written.file_bytes).expect("a header") {
        Progress::Done(header) => *header,
        Progress::Needs(bytes) => panic!("needs {bytes}"),
    }
}

fn error(written: &Written) -> HeaderError {
    parse(&written.start, written.file_bytes).expect_err("a mistake")
}

fn weights_of(written: &[Written]) -> Result<Weights, HeaderError> {
    let name = |place: usize| format!("model-{place}.gguf");
    let file = |(place, written): (usize, &Written)| WeightFile {
        name: name(place),
        bytes: written.file_bytes,
        header: done(written),
    };
    Weights::join(written.iter().enumerate().map(file).collect(), None)
}

#[test]
fn every_version_and_byte_order_gives_the_same_tensors() {
    let expected = done(&small_llama().write());
    assert_eq!(expected.tensors.len(), 21);
    for version in 1..=3 {
        for big_endian in [false, true] {
            let header = done(&Gguf { version, big_endian, ..small_llama() }.write());
            let plain = |header: &Header| -> Vec<(String, Vec<u64>, &str, u64, u64)> {
                let of = |t: &weights::tensor::Tensor| {
                    let place = t.offset - header.bytes;
                    (t.name.clone(), t.shape.clone(), t.kind.name, t.bytes, place)
                };
                header.tensors.iter().map(of).collect()
            };
            assert_eq!(plain(&header), plain(&expected), "version {version}, {big_endian}");
            assert_eq!(header.metadata, expected.metadata);
        }
    }
}

#[test]
fn a_header_asks_for_the_bytes_it_needs_and_no_more() {
    let written = small_llama().write();
    for have in 0..written.start.len() {
        match parse(&written.start[..have], written.file_bytes) {
            Ok(Progress::Needs(bytes)) => {
                assert!(bytes > have as u64 && bytes <= written.start.len() as u64, "{have}");
            }
            Ok(Progress::Done(header)) => assert_eq!(*header, done(&written)),
            Err(error) => panic!("{have}: {error:?}"),
        }
    }
    let mut source = written.start.as_slice();
    let file_bytes = written.start.len() as u64;
    let cut = read(&mut source, file_bytes);
    assert!(matches!(cut, Err(ReadError::Header(HeaderError::OutOfRange { .. }))), "{cut:?}");
    let mut source = written.start[..100].iter().as_slice();
    assert!(matches!(read(&mut source, written.file_bytes), Err(ReadError::Io(_))));
    let mut source = std::io::Read::chain(written.start.as_slice(), std::io::repeat(0));
    assert_eq!(read(&mut source, written.file_bytes).expect("a header"), done(&written));
}

#[test]
fn mistakes_of_a_gguf_header_are_named() {
    let cut = |bytes: u64| Written { file_bytes: bytes, ..small_llama().write() };
    assert!(matches!(error(&cut(500)), HeaderError::Truncated { has: 500, .. }));
    let size = small_llama().write().file_bytes;
    assert!(matches!(error(&cut(size - 32)), HeaderError::OutOfRange { .. }));
    let wrong = |start: &[u8]| error(&Written { start: start.to_vec(), file_bytes: 1000 });
    assert!(matches!(wrong(b"GGML\0\0\0\0\0\0"), HeaderError::NotWeights { .. }));
    assert_eq!(wrong(b"GGUF\x04\0\0\0\0"), HeaderError::Version { found: 4 });
    let many = wrong(&[&b"GGUF\x03\0\0\0"[..], &[0xff; 16]].concat());
    assert!(matches!(many, HeaderError::TooMany { what: "tensors", found: u64::MAX, .. }));
    let long = [&b"GGUF\x03\0\0\0"[..], &[0; 8], &[1, 0, 0, 0, 0, 0, 0, 0], &[0xff; 8]].concat();
    assert!(matches!(wrong(&long), HeaderError::Truncated { needs: u64::MAX, .. }));
    let twice = small_llama().tensor("output.weight", &[1], "F32").write();
    assert!(matches!(error(&twice), HeaderError::DuplicateTensor { .. }));
    let twice = small_llama().key("llama.block_count", Key::U32(2)).write();
    assert!(matches!(error(&twice), HeaderError::DuplicateKey { .. }));
    let block = Gguf::new("llama").tensor("a", &[2, 48], "Q4_0").write();
    assert!(matches!(error(&block), HeaderError::PartialBlock { row: 48, block: 32, .. }));
    let three = small_llama().key("general.alignment", Key::U32(48)).write();
    assert_eq!(error(&three), HeaderError::Alignment { found: 48 });
    let one = Gguf::new("llama").tensor("a", &[1, 32], "F32").write();
    // The number of the type stands before the last eight bytes of the list, the offset.
    let end = one.start.iter().rposition(|&byte| byte == b'a').expect("a name") + 1 + 4 + 16;
    let with = |at: usize, byte: u8| {
        let mut changed = one.clone();
        changed.start[at] = byte;
        changed
    };
    assert!(matches!(error(&with(end, 99)), HeaderError::UnknownType { .. }));
    assert!(matches!(error(&with(end + 4, 8)), HeaderError::Misaligned { offset: 8, .. }));
    assert!(matches!(error(&with(end + 4, 32)), HeaderError::OutOfRange { .. }));
    assert!(matches!(error(&with(end - 1, 0xff)), HeaderError::TooLarge { .. }));
    let overlap = {
        let mut two =
            Gguf::new("llama").tensor("a", &[64], "F32").tensor("b", &[64], "F32").write();
        let place = two.start.iter().rposition(|&byte| byte == b'b').expect("a name") + 1 + 4 + 12;
        assert_eq!((two.start[place], two.start[place + 1]), (0, 1));
        two.start[place + 1] = 0;
        two
    };
    assert!(matches!(error(&overlap), HeaderError::Overlap { .. }));
}

#[test]
fn mistakes_of_a_safetensors_header_are_named() {
    let good = safetensors(&[("a", "BF16", &[2, 3], 12), ("b", "F4", &[4], 2)]);
    assert_eq!(done(&good).tensors[0].offset, good.start.len() as u64);
    for (json, expected) in [
        (r#"{"a":{"dtype":"X","shape":[2],"data_offsets":[0,4]}}"#, "UnknownType"),
        (r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}"#, "Size"),
        (r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}"#, "Size"),
        (r#"{"a":{"dtype":"F4","shape":[3],"data_offsets":[0,1]}}"#, "TooLarge"),
        (
            r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}}"#,
            "TooLarge",
        ),
        (r#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}}"#, "Json"),
        (r#"{"a":{"dtype":"F32","shape":[2]}}"#, "Json"),
        (r#"{"a":{"dtype":"F32","shape":[250],"data_offsets":[0,1000]}}"#, "OutOfRange"),
        (
            r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}"#,
            "Overlap",
        ),
        (
            r#"{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}}"#,
            "DuplicateTensor",
        ),
        (r#"{"a":"#, "Json"),
        ("[]", "NotWeights"),
    ] {
        let mut start = (json.len() as u64).to_le_bytes().to_vec();
        start.extend(json.as_bytes());
        let file_bytes = start.len() as u64 + 100;
        let found = format!("{:?}", error(&Written { start, file_bytes }));
        assert!(found.starts_with(expected), "{json}: {found}");
    }
    let long = [&200_000_000_u64.to_le_bytes()[..], b"{"].concat();
    let long = Written { start: long, file_bytes: 1 << 40 };
    assert!(matches!(error(&long), HeaderError::TooLong { .. }));
}

#[test]
fn bytes_and_parameters_are_summed_by_role() {
    let weights = weights_of(&[small_llama().write()]).expect("a model");
    let groups = weights.groups(Packing::default());
    let of = |role| sum(&groups, |group| group.role == role);
    // 512 x 64 elements: in Q8_0 34 bytes for 32 of them, in F16 2 bytes each.
    assert_eq!((of(Role::Embedding).bytes, of(Role::Embedding).parameters), (34_816, Some(32_768)));
    assert_eq!(of(Role::LmHead).bytes, 65_536);
    // Two layers: Q, K and O of 64 x (64 + 32 + 64) in Q4_0 (18 bytes for 32), V of 32 x 64 in Q5_0 (22 for 32).
    assert_eq!(of(Role::Attention).bytes, 2 * (320 * 18 + 64 * 22));
    assert_eq!(of(Role::Norms).tensors, 5);
    assert_eq!(sum(&groups, |_| true).parameters, Some(2 * 32_768 + 2 * (12_288 + 49_152) + 320));
    assert_eq!(main_type(&groups, &[Role::Mlp]).map(|kind| kind.name), Some("Q4_0"));
    let formats = gguf_formats(&groups).expect("formats");
    assert_eq!(formats.weights.key, "gguf_q4_0");
    assert_eq!(formats.embedding.map(|format| format.key), Some("fp16"));
}

#[test]
fn a_split_needs_all_its_parts() {
    let whole = small_llama();
    let part = |place: u32, tensors: std::ops::Range<usize>| {
        let keys = if place == 0 { whole.keys.clone() } else { Vec::new() };
        let part = Gguf { keys, tensors: whole.tensors[tensors].to_vec(), ..whole.clone() };
        part.counts(&[("split.no", place), ("split.count", 2), ("split.tensors.count", 21)]).write()
    };
    let (one, two) = (part(0, 0..10), part(1, 10..21));
    let joined = weights_of(&[two.clone(), one.clone()]).expect("both parts");
    let alone = weights_of(&[whole.write()]).expect("a model");
    assert_eq!(joined.groups(Packing::default()), alone.groups(Packing::default()));
    assert_eq!(geometry::config(&joined), geometry::config(&alone));
    let lacks = HeaderError::SplitFiles { stated: 2, found: 1 };
    assert_eq!(weights_of(std::slice::from_ref(&one)), Err(lacks));
    let same = part(0, 10..21);
    assert!(matches!(weights_of(&[one.clone(), same]), Err(HeaderError::SplitPlace { place: 0 })));
    let short = part(1, 10..20);
    let lacks = HeaderError::SplitTensors { stated: 21, found: 20 };
    assert_eq!(weights_of(&[one, short]), Err(lacks));
    for wrong in ["m.gguf", "m-1-of-2.gguf", "m-00001-of-99999.gguf", "m-00001-of-00000.gguf", ""] {
        assert_eq!(siblings(wrong), None, "{wrong}");
    }
}

#[test]
fn an_index_must_agree_with_its_files() {
    let file = |name: &str, tensor: &str| WeightFile {
        name: format!("folder/{name}"),
        bytes: 1000,
        header: done(&safetensors(&[(tensor, "F32", &[2], 8)])),
    };
    let files = vec![file("1.safetensors", "a"), file("2.safetensors", "b")];
    let weights = Weights::join(files, None).expect("two files");
    let index = |text: &str| Index::read(text).expect("an index");
    let good = index(r#"{"metadata":{},"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}"#);
    assert_eq!(good.files(), ["1.safetensors", "2.safetensors"]);
    assert_eq!(weights.check_index(&good), Ok(()));
    for wrong in
        [r#"{"weight_map":{"a":"2.safetensors"}}"#, r#"{"weight_map":{"c":"1.safetensors"}}"#]
    {
        assert!(matches!(weights.check_index(&index(wrong)), Err(HeaderError::Index { .. })));
    }
    assert!(Index::read("{}").is_err());
    let twice = vec![file("1.safetensors", "a"), file("2.safetensors", "a")];
    assert!(matches!(Weights::join(twice, None), Err(HeaderError::DuplicateTensor { .. })));
}

#[test]
fn metadata_become_the_geometry_of_a_config() {
    let weights = weights_of(&[small_llama().write()]).expect("a model");
    let config = geometry::config(&weights).expect("a geometry");
    let config: HfConfig = serde_json::from_value(config.into()).expect("a config");
    let imported = import(&config, Unread::Refuse).expect("a model");
    assert_eq!(imported.arch.n_params(), 2 * 32_768 + 2 * (12_288 + 49_152) + 320);
    assert!(!imported.arch.tied_embeddings);
    assert_eq!(file_type(&weights), None);
    let odd = small_llama().counts(&[("llama.attention.chunk_heads", 3)]);
    let odd = geometry::config(&weights_of(&[odd.write()]).expect("a model")).expect("fields");
    let odd: HfConfig = serde_json::from_value(odd.into()).expect("a config");
    let refused = format!("{:?}", import(&odd, Unread::Refuse).expect_err("an unread key"));
    assert!(refused.contains("attention.chunk_heads"), "{refused}");
}

#[test]
fn lists_by_layer_are_read_or_refused() {
    let import_of = |file: &Gguf| {
        let weights = weights_of(&[file.write()]).expect("a model");
        let config = geometry::config(&weights).expect("fields");
        let config: HfConfig = serde_json::from_value(config.into()).expect("a config");
        import(&config, Unread::Refuse)
    };
    let with = |heads: Vec<i32>| {
        let mut file = small_llama();
        file.keys.retain(|(key, _)| key != "llama.attention.head_count_kv");
        file.key("llama.attention.head_count_kv", Key::I32s(heads))
    };
    assert_eq!(import_of(&with(vec![2, 2])).map(|model| model.arch.attention[0].n_kv_heads), Ok(2));
    let error = format!("{:?}", import_of(&with(vec![2, 4])).expect_err("two kinds of layers"));
    assert!(error.contains("num_key_value_heads"), "{error}");
    let windows = Key::Flags(vec![true, false]);
    let weights = small_llama().key("llama.attention.sliding_window_pattern", windows);
    let config = geometry::config(&weights_of(&[weights.write()]).expect("a model"));
    let kinds = config.expect("fields")["layer_types"].clone();
    assert_eq!(kinds, serde_json::json!(["sliding_attention", "full_attention"]));
}

#[test]
fn files_without_a_language_model_have_no_geometry() {
    for (file, expected) in [
        (Gguf::new("clip"), NoGeometry::Towers),
        (
            Gguf::new("llama").key("general.type", Key::Text("adapter")),
            NoGeometry::NotAModel { kind: "adapter".into() },
        ),
        (Gguf::new("llama"), NoGeometry::NoEmbedding),
        (
            Gguf { keys: vec![("a".into(), Key::U32(1))], ..Gguf::new("llama") },
            NoGeometry::NoArchitecture,
        ),
    ] {
        let weights = weights_of(&[file.tensor("a", &[2, 32], "F32").write()]).expect("tensors");
        assert_eq!(geometry::config(&weights), Err(expected));
    }
}
