//! The script that loads chunks. `wasm_split` writes it with a file for each chunk, of which most have 2 kB; here the small ones
//! become two files, and `fetching.js` fetches them all.

use anyhow::{Context, bail};

use super::squeeze::squeeze;

const FETCHING: &str = include_str!("fetching.js");

/// Largest chunk that goes into a common file only because it is small, in bytes.
const SMALL: usize = 24_000;

/// Functions that load what reads an address, and a device in it. Every link waits for their chunks, so these are in one file.
const READERS: [&str; 2] = ["__wasm_split_load_address", "__wasm_split_load_device"];

/// The common files: what links wait for, and other small chunks.
pub(super) const PACKS: [&str; 2] = ["links.bin", "chunks.bin"];

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
    /// Chunks that the readers of addresses need, as the text lists them: `[__chunk_1, __chunk_2]`.
    for_links: String,
    /// The content of each common file: chunks, one after the other.
    pub(super) packs: [Vec<u8>; PACKS.len()],
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
        let mut for_links = String::new();
        for reader in READERS {
            for_links += needs_of(reader, text)
                .with_context(|| format!("the loader of chunks has no {reader}"))?;
        }
        let text = text.replace(begin, OURS[0]).replace(end, OURS[1]);
        Ok(Self { text, for_links, packs: Default::default() })
    }

    /// True if the loader fetches a file. A chunk that turned out empty is written, but never fetched.
    pub(super) fn has(&self, name: &str) -> bool {
        self.text.contains(&fetch_of(name))
    }

    /// The common file of a chunk, as an index of [`PACKS`]; `None` for one with a file of its own, as `split_NAME` always is.
    pub(super) fn pack_of(&self, name: &str, content: &[u8]) -> Option<usize> {
        let listed = name.trim_end_matches(".wasm");
        let is_end = |after: &str| after.starts_with([',', ']']);
        let is_for_links = self.for_links.split(&format!("__{listed}")).skip(1).any(is_end);
        match (name.starts_with("chunk_"), is_for_links) {
            (true, true) => Some(0),
            (true, false) if content.len() <= SMALL => Some(1),
            _ => None,
        }
    }

    /// Adds a chunk to a common file.
    pub(super) fn add_to_pack(&mut self, pack: usize, name: &str, content: &[u8]) {
        let start = self.packs[pack].len();
        self.packs[pack].extend_from_slice(content);
        let part = format!("[{pack}, {start}, {}]", self.packs[pack].len());
        self.text = self.text.replace(&fetch_of(name), &part);
    }

    /// Fetches a chunk by its new name.
    pub(super) fn rename(&mut self, name: &str, new_name: &str) {
        self.text = self.text.replace(&fetch_of(name), &format!("\"./{new_name}\""));
    }

    /// The script, with the names of the common files.
    ///
    /// # Errors
    /// If a chunk was neither renamed nor packed.
    pub(super) fn script(self, pack_names: &[String]) -> anyhow::Result<String> {
        if self.text.contains("fetch(") {
            bail!("the loader fetches a chunk that does not exist");
        }
        let Some((import, rest)) = self.text.split_once('\n') else {
            bail!("the loader of chunks has one line");
        };
        let names: Vec<String> = pack_names.iter().map(|name| format!("\"./{name}\"")).collect();
        let fetching = squeeze(FETCHING)?.replace("PACKS", &names.join(", "));
        Ok(format!("{import}\n{fetching}\n{rest}"))
    }
}

/// The list of chunks that a function loads, with its closing bracket.
fn needs_of<'a>(function: &str, text: &'a str) -> Option<&'a str> {
    let (_, after) = text.split_once(&format!("{function} ="))?;
    let end = after.find("])")?;
    let start = after[..end].rfind('[')?;
    Some(&after[start..=end])
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
, [__chunk_1, __chunk_2]));
export const __wasm_split_load_address = wrapAsyncCb(makeLoad(() => {}, []));
export const __wasm_split_load_device = wrapAsyncCb(makeLoad(() => {}, []));";

    #[test]
    fn small_chunks_are_parts_of_one_file() {
        let mut loader = Loader::read(TEXT).unwrap();
        assert!(loader.has("chunk_1.wasm") && !loader.has("chunk_3.wasm"));
        loader.add_to_pack(1, "chunk_1.wasm", b"abc");
        loader.add_to_pack(1, "chunk_2.wasm", b"de");
        loader.rename("split_a.wasm", "split_a-0.wasm");
        assert_eq!(loader.packs, [Vec::new(), b"abcde".to_vec()]);
        let script = loader.script(&["links-1.bin".to_owned(), "chunks-1.bin".to_owned()]).unwrap();
        for text in [
            "const __chunk_1 = chunk([1, 0, 3], []);",
            "const __chunk_2 = chunk([1, 3, 5], []);",
            "wrapAsyncCb(chunk(\"./split_a-0.wasm\", [__chunk_1, __chunk_2]));",
            "[\"./links-1.bin\", \"./chunks-1.bin\"]",
        ] {
            assert!(script.contains(text), "{text}: {script}");
        }
        assert!(script.starts_with("import"), "{script}");
    }

    #[test]
    fn only_shared_code_is_packed() {
        let loader = Loader::read(TEXT).unwrap();
        assert_eq!(loader.pack_of("chunk_1.wasm", &vec![0; SMALL]), Some(1));
        assert_eq!(loader.pack_of("chunk_1.wasm", &vec![0; SMALL + 1]), None);
        assert_eq!(loader.pack_of("split_a.wasm", &[0; 1]), None);
    }

    #[test]
    fn what_links_wait_for_is_in_one_file_whatever_its_size() {
        let load = |name: &str, needs: &str| {
            format!(
                "export const __wasm_split_load_{name} = wrapAsyncCb(makeLoad(() => {{\n}}\n, [{needs}]));\n"
            )
        };
        let text = [
            load("address", "__chunk_1, __chunk_23"),
            load("device", "__chunk_5"),
            load("b", "__chunk_4"),
        ];
        let loader = Loader::read(&text.concat()).unwrap();
        let large = vec![0; SMALL + 1];
        for (name, pack) in [
            ("chunk_1.wasm", Some(0)),
            ("chunk_23.wasm", Some(0)),
            ("chunk_5.wasm", Some(0)),
            ("chunk_2.wasm", None),
            ("chunk_4.wasm", None),
            ("split_address.wasm", None),
        ] {
            assert_eq!(loader.pack_of(name, &large), pack, "{name}");
        }
    }

    #[test]
    fn a_loader_of_another_form_is_refused() {
        assert!(Loader::read("fetch(new URL(\"./a.wasm\", import.meta.url))").is_err());
        assert!(Loader::read(TEXT).unwrap().script(&[]).is_err(), "no chunk was named");
    }
}
