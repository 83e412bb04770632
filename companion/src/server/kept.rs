//! Forms of files in memory, so that a file is compressed once. The number of bytes is limited; the oldest forms give way.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;

use super::coding::{self, Coding};

/// Most bytes in memory; a built page has 3 MB as it is and 1 MB in each of two codings.
const MOST: usize = 16 << 20;
/// Largest file that is compressed and kept.
pub(super) const LARGEST: usize = 4 << 20;
/// A form counts this many bytes more than it has, so that the number of forms is limited, too.
const ENTRY: usize = 256;

/// A file as it is sent: in one coding, with the tag of these very bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileForm {
    pub(super) bytes: Bytes,
    pub(super) tag: String,
}

impl FileForm {
    pub(super) fn of(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        Self { tag: coding::tag(&bytes), bytes }
    }
}

/// The tag of a content, and the coding in which it is wanted.
pub(super) type FormKey = (String, Coding);

/// Forms in memory.
#[derive(Debug, Default)]
pub(super) struct Kept {
    forms: Mutex<Forms>,
    /// Held while a form is made: one at a time, whatever number of clients ask.
    turn: Arc<tokio::sync::Mutex<()>>,
}

/// The forms, oldest first.
#[derive(Debug, Default)]
struct Forms {
    all: VecDeque<(FormKey, Made)>,
    bytes: usize,
}

/// The result of an attempt to make a form.
#[derive(Debug, Clone)]
enum Made {
    Form(FileForm),
    /// There is no such form, because it would not be smaller.
    Nothing,
}

impl Made {
    fn of(form: Option<FileForm>) -> Self {
        form.map_or(Self::Nothing, Self::Form)
    }

    fn form(self) -> Option<FileForm> {
        match self {
            Self::Form(form) => Some(form),
            Self::Nothing => None,
        }
    }

    /// The bytes that this counts toward the limit.
    fn size(&self) -> usize {
        match self {
            Self::Form(form) => ENTRY + form.bytes.len(),
            Self::Nothing => ENTRY,
        }
    }
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Forms> {
        self.forms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The one copy of a content that all its readers share, unless it is too large to be kept.
    pub(super) fn shared(&self, form: FileForm) -> FileForm {
        if form.bytes.len() > LARGEST {
            return form;
        }
        let key = (form.tag.clone(), Coding::Identity);
        let mut forms = self.lock();
        if let Some(Made::Form(kept)) = forms.find(&key) {
            return kept;
        }
        forms.keep(key, Made::Form(form.clone()));
        form
    }

    /// The form of a key, made by `make` if it is not in memory; `None` if there is no such form.
    ///
    /// `make` ends and its form is kept also when the client that asked disconnects.
    pub(super) async fn found_or_made(
        self: &Arc<Self>,
        key: FormKey,
        make: impl FnOnce() -> Option<Vec<u8>> + Send + 'static,
    ) -> Option<FileForm> {
        if let Some(made) = self.lock().find(&key) {
            return made.form();
        }
        let turn = Arc::clone(&self.turn).lock_owned().await;
        if let Some(made) = self.lock().find(&key) {
            return made.form();
        }
        let kept = Arc::clone(self);
        let making = tokio::task::spawn_blocking(move || {
            let form = make().map(FileForm::of);
            kept.lock().keep(key, Made::of(form.clone()));
            drop(turn);
            form
        });
        // A form whose making panicked does not exist for this request.
        making.await.ok().flatten()
    }
}

impl Forms {
    fn find(&self, key: &FormKey) -> Option<Made> {
        self.all.iter().find(|(kept, _)| kept == key).map(|(_, made)| made.clone())
    }

    fn keep(&mut self, key: FormKey, made: Made) {
        self.bytes += made.size();
        self.all.push_back((key, made));
        while self.bytes > MOST
            && let Some((_, oldest)) = self.all.pop_front()
        {
            self.bytes -= oldest.size();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> FormKey {
        (number.to_string(), Coding::Gzip)
    }

    fn zeros(count: usize) -> Made {
        Made::Form(FileForm { bytes: vec![0; count].into(), tag: String::new() })
    }

    #[test]
    fn the_oldest_forms_give_way() {
        let mut forms = Forms::default();
        for number in 0..100 {
            forms.keep(key(number), zeros(1 << 20));
            assert!(forms.bytes <= MOST, "{number}: {}", forms.bytes);
        }
        assert_eq!(forms.all.len(), 15, "sixteen would be over the limit by their entries");
        assert!(forms.find(&key(84)).is_none() && forms.find(&key(85)).is_some());
        forms.keep(key(100), zeros(MOST));
        assert_eq!((forms.all.len(), forms.bytes), (0, 0), "larger than all that is kept");
        for number in 0..100_000 {
            forms.keep(key(number), Made::Nothing);
        }
        assert_eq!(forms.all.len(), MOST / ENTRY, "forms that do not exist count, too");
    }

    #[test]
    fn equal_contents_are_one_copy() {
        let kept = Kept::default();
        let [first, second] = [(); 2].map(|()| kept.shared(FileForm::of(vec![7; 1000])));
        assert_eq!(first.bytes.as_ptr(), second.bytes.as_ptr());
        assert_eq!(kept.lock().all.len(), 1);
    }

    #[tokio::test]
    async fn a_form_is_made_once_for_all_who_ask() {
        let kept = Arc::new(Kept::default());
        let count = Arc::new(Mutex::new(0));
        for (number, made) in [(1, Some(vec![1])), (2, None)] {
            let ask = || {
                let (count, made) = (Arc::clone(&count), made.clone());
                kept.found_or_made(key(number), move || {
                    *count.lock().unwrap() += 1;
                    made
                })
            };
            let (first, second, third) = tokio::join!(ask(), ask(), ask());
            assert!(first == second && second == third);
            assert_eq!(first.map(|form| form.bytes.to_vec()), made);
            assert_eq!(*count.lock().unwrap(), number);
        }
    }

    #[tokio::test]
    async fn a_panic_is_no_form_and_blocks_nobody() {
        let kept = Arc::new(Kept::default());
        assert_eq!(kept.found_or_made(key(1), || panic!("on purpose")).await, None);
        let made = kept.found_or_made(key(1), || Some(vec![1])).await;
        assert_eq!(made, Some(FileForm::of(vec![1])));
    }
}
