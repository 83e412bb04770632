//! Weight files that are dropped, chosen, or read on the hub: fetches the bytes that `state::weights` asks for.

use std::cell::RefCell;

use calc_core::hf_config::Unread;
use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

use crate::state::files::Refused;
use crate::state::model::hub;
use crate::state::program;
use crate::state::take_over::{OpenedFile, WeightStep, weights_reader};
use crate::state::weights::{Range, ReadableFile};

/// Where the files of a model are.
#[derive(Debug, Clone)]
pub enum Source {
    Files(Vec<File>),
    /// A repository of the hub.
    Hub {
        id: String,
        files: Vec<ReadableFile>,
    },
}

thread_local! {
    /// The files that were read last, with their title; their upper bound reads them again.
    static LAST: RefCell<Option<(String, Source)>> = const { RefCell::new(None) };
}

/// Reads the files that were read last, with unread keys at their upper bound.
///
/// # Errors
/// Returns the reason if they are refused.
pub async fn again() -> Option<Result<OpenedFile, Refused>> {
    let (title, source) = LAST.with_borrow(Clone::clone)?;
    Some(open(&title, source, Unread::UpperBound, |_| ()).await)
}

/// Reads a model by the headers of its files. `tell` gets a sentence on the progress.
///
/// # Errors
/// Returns the reason if they are refused or cannot be read.
pub async fn open(
    title: &str,
    source: Source,
    unread: Unread,
    tell: impl Fn(String),
) -> Result<OpenedFile, Refused> {
    LAST.set(Some((title.to_owned(), source.clone())));
    let files = source.listed();
    let all = files.len();
    let reader = weights_reader().await?;
    let mut step = (reader.begin)(title, files, unread)?;
    let mut read = 0;
    loop {
        match step {
            WeightStep::Opened(file) => return Ok(file),
            WeightStep::Read(reading, range) => {
                if range.from == 0 {
                    read += 1;
                    tell(format!("Reading the header of file {read} of {all}"));
                }
                let bytes = source.bytes(&range).await?;
                step = (reader.next)(reading, &bytes)?;
            }
        }
    }
}

impl Source {
    fn listed(&self) -> Vec<ReadableFile> {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a browser counts bytes in whole numbers below 2^53"
        )]
        let one = |file: &File| ReadableFile { name: file.name(), bytes: file.size() as u64 };
        match self {
            Self::Files(files) => files.iter().map(one).collect(),
            Self::Hub { files, .. } => files.clone(),
        }
    }

    async fn bytes(&self, range: &Range) -> Result<Vec<u8>, Refused> {
        let lost = || Refused::from("a file of the list is not there".to_owned());
        match self {
            Self::Files(files) => slice(files.get(range.file).ok_or_else(lost)?, range).await,
            Self::Hub { id, files } => {
                let file = files.get(range.file).ok_or_else(lost)?;
                let address = hub::file_address(id, &file.name);
                let reply = fetch(&address, range.from, range.to).await;
                reply.map_err(|status| {
                    let why = hub::refusal_of_weights(status);
                    format!("{id}/{}: {why}", file.name).into()
                })
            }
        }
    }
}

/// Bytes of a file of this machine; the rest of it is not read.
async fn slice(file: &File, range: &Range) -> Result<Vec<u8>, Refused> {
    let why = || Refused::from(format!("{} cannot be read; was it moved?", file.name()));
    let part = file.slice_with_f64_and_f64(range.from as f64, range.to as f64);
    let buffer = JsFuture::from(part.map_err(|_thrown| why())?.array_buffer()).await;
    Ok(Uint8Array::new(&buffer.map_err(|_thrown| why())?).to_vec())
}

/// Fetches the bytes of a file of the hub through the boot script; `Err` is the HTTP status, and 0 without a response.
async fn fetch(address: &str, from: u64, to: u64) -> Result<Vec<u8>, u16> {
    let values = [&address.into(), &(from as f64).into(), &(to as f64).into()];
    let reply = program::ask("ridgepointFetchRange", &values).await;
    let reply: Array = reply.ok().and_then(|reply| reply.dyn_into().ok()).ok_or(0_u16)?;
    let bytes: Option<Uint8Array> = reply.get(1).dyn_into().ok();
    bytes.map(|bytes| bytes.to_vec()).ok_or_else(|| status(&reply))
}

/// The HTTP status of a reply of the boot script; 0 without one.
pub fn status(reply: &Array) -> u16 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a status has three digits"
    )]
    let status = reply.get(0).as_f64().unwrap_or(0.0) as u16;
    status
}
