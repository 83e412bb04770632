//! The script that loads chunks. `wasm_split` writes it with a file for each chunk, of which most have 2 kB; here the small ones
//! become one file, and `fetching.js` fetches them all.

use anyhow::bail;

use super::squeeze::squeeze;

const FETCHING: &str = include_str!("fetching.js");

/// Largest chunk that goes into the common file, in bytes.
const SMALL: usize = 16_384;

/// Function that loads what reads an address. Every link waits for its chunks, so they are in the common file, too.
const READER: &str = "__wasm_split_load_address";

/// The script of `wasm_split` around the fetch of each chunk. It has functions of its own for every chunk, each of which the browser
/// compiles by itself; ours calls one function for all.
const THEIRS: [&str; 2] = [
    "makeLoad(() => {\nconst src = ",
    ";\nsrc.catch(() => {});\nreturn async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}\n, ",
];

/// The same in our script, with the function of `fetching.js`.
const OURS: [&str; 2] = ["chunk(", ", "];

/// The loader while its chunks are named.
#[derive(Debug)]
pub(super) struct Loader {
    text: String,
    /// Chunks that the reader of addresses needs, as the text lists them: `[__chunk_1, __chunk_2]`.
    for_links: String,
    /// The small chunks, one after the other.
    pub(super) pack: Vec<u8>,
}

impl Loader {
    /// Reads the loader that `wasm_split` wrote.
    ///
    /// # Errors
    /// If it does not compile its chunks as expected.
    pub(super) fn read(text: &str) -> anyhow::Result<Self> {
        for theirs in THEIRS {
            if text.matches("fetch(").count() != text.matches(theirs).count() {
                bail!("the loader of chunks does not have {theirs:?} once for each file");
            }
        }
        let [begin, end] = THEIRS;
        let after_reader = text.split_once(READER).map_or("", |(_, after)| after);
        let (list, _) = after_reader.split_once("])").unwrap_or_default();
        let for_links =
            list.rsplit_once('[').map_or(String::new(), |(_, list)| format!("[{list}]"));
        let text = text.replace(begin, OURS[0]).replace(end, OURS[1]);
        Ok(Self { text, for_links, pack: Vec::new() })
    }

    /// True if the loader fetches a file. A chunk that turned out empty is written, but never fetched.
    pub(super) fn has(&self, name: &str) -> bool {
        self.text.contains(&fetch_of(name))
    }

    /// True for a chunk that goes into the common file. The beginning of a chunk, `split_NAME`, is a file of its own.
    pub(super) fn is_for_pack(&self, name: &str, content: &[u8]) -> bool {
        let listed = name.trim_end_matches(".wasm");
        let is_end = |after: &str| after.starts_with([',', ']']);
        let is_for_links = self.for_links.split(&format!("__{listed}")).skip(1).any(is_end);
        name.starts_with("chunk_") && (content.len() <= SMALL || is_for_links)
    }

    /// Takes a small chunk into the common file.
    pub(super) fn add_to_pack(&mut self, name: &str, content: &[u8]) {
        let start = self.pack.len();
        self.pack.extend_from_slice(content);
        let part = format!("[{start}, {}]", self.pack.len());
        self.text = self.text.replace(&fetch_of(name), &part);
    }

    /// Fetches a chunk by its new name.
    pub(super) fn rename(&mut self, name: &str, new_name: &str) {
        self.text = self.text.replace(&fetch_of(name), &format!("\"./{new_name}\""));
    }

    /// The script, with the name of the common file.
    ///
    /// # Errors
    /// If a chunk was neither renamed nor packed.
    pub(super) fn script(self, pack_name: &str) -> anyhow::Result<String> {
        if self.text.contains("fetch(") {
            bail!("the loader fetches a chunk that does not exist");
        }
        let Some((import, rest)) = self.text.split_once('\n') else {
            bail!("the loader of chunks has one line");
        };
        Ok(format!("{import}\n{}\n{rest}", squeeze(FETCHING)?.replace("PACK", pack_name)))
    }
}

/// How `wasm_split` fetches a file.
fn fetch_of(name: &str) -> String {
    format!("fetch(new URL(\"./{name}\", import.meta.url))")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "import {a} from \"./web.js\";
const __chunk_1 = makeLoad(() => {
const src = fetch(new URL(\"./chunk_1.wasm\", import.meta.url));
src.catch(() => {});
return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, []);
const __chunk_2 = makeLoad(() => {
const src = fetch(new URL(\"./chunk_2.wasm\", import.meta.url));
src.catch(() => {});
return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, []);
export const __wasm_split_load_a = wrapAsyncCb(makeLoad(() => {
const src = fetch(new URL(\"./split_a.wasm\", import.meta.url));
src.catch(() => {});
return async (imports) => (WebAssembly.instantiateStreaming(src, imports));
}
, [__chunk_1, __chunk_2]));";

    #[test]
    fn small_chunks_are_parts_of_one_file() {
        let mut loader = Loader::read(TEXT).unwrap();
        assert!(loader.has("chunk_1.wasm") && !loader.has("chunk_3.wasm"));
        loader.add_to_pack("chunk_1.wasm", b"abc");
        loader.add_to_pack("chunk_2.wasm", b"de");
        loader.rename("split_a.wasm", "split_a-0.wasm");
        assert_eq!(loader.pack, b"abcde");
        let script = loader.script("pack-1.bin").unwrap();
        for text in [
            "const __chunk_1 = chunk([0, 3], []);",
            "const __chunk_2 = chunk([3, 5], []);",
            "wrapAsyncCb(chunk(\"./split_a-0.wasm\", [__chunk_1, __chunk_2]));",
            "\"./pack-1.bin\"",
        ] {
            assert!(script.contains(text), "{text}: {script}");
        }
        assert!(script.starts_with("import"), "{script}");
    }

    #[test]
    fn only_shared_code_is_packed() {
        let loader = Loader::read(TEXT).unwrap();
        assert!(loader.is_for_pack("chunk_1.wasm", &vec![0; SMALL]));
        assert!(!loader.is_for_pack("chunk_1.wasm", &vec![0; SMALL + 1]));
        assert!(!loader.is_for_pack("split_a.wasm", &[0; 1]));
    }

    #[test]
    fn what_every_link_waits_for_is_packed_whatever_its_size() {
        let load = "export const __wasm_split_load_address = wrapAsyncCb(makeLoad(() => {\n}\n, [__chunk_1, __chunk_23]));\nexport const __wasm_split_load_b = wrapAsyncCb(makeLoad(() => {}, [__chunk_4]));";
        let loader = Loader::read(load).unwrap();
        let large = vec![0; SMALL + 1];
        for (name, is_packed) in [
            ("chunk_1.wasm", true),
            ("chunk_23.wasm", true),
            ("chunk_2.wasm", false),
            ("chunk_4.wasm", false),
            ("split_address.wasm", false),
        ] {
            assert_eq!(loader.is_for_pack(name, &large), is_packed, "{name}");
        }
    }

    #[test]
    fn a_loader_of_another_form_is_refused() {
        assert!(Loader::read("fetch(new URL(\"./a.wasm\", import.meta.url))").is_err());
        assert!(Loader::read(TEXT).unwrap().script("pack-1.bin").is_err(), "no chunk was named");
    }
}
