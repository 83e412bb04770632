//! The exploration in the worker: one device or model after the other, so that the page stays responsive and can stop it.

use leptos::prelude::*;

use crate::components::erased::{later, memo};
use crate::state::explore::ExploreField;
use crate::state::explore::asked::ExploreQuestion;
use crate::state::explore::narrowing::{brush, brush_text};
use crate::state::explore::shown::{ExploreAnswer, address};
use crate::state::inputs::Inputs;
use crate::state::program;
use crate::state::session::{Session, Step};
use chart::front::Brush;

/// How far the exploration is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Stage {
    #[default]
    Idle,
    /// Number done, number of all, and a sentence with both.
    Runs([String; 3]),
    Done,
    /// The reason, as a sentence; empty where a field says it.
    Failed(String),
}

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct Exploration {
    pub session: Session,
    pub stage: RwSignal<Stage>,
    /// The last answer; it stays while the next one is computed.
    pub answer: RwSignal<Option<ExploreAnswer>>,
    /// Key of the point at the pointer.
    pub pointed: RwSignal<Option<String>>,
    /// Key of the point that was chosen.
    pub chosen: RwSignal<Option<String>>,
    /// The part of the chart that narrows the table.
    pub brush: Memo<Option<Brush>>,
    /// Number of the exploration that is under way; an earlier one stops.
    turn: StoredValue<u32>,
    /// The user has stopped the exploration of this number.
    stopped: StoredValue<u32>,
}

impl Exploration {
    /// Nothing was explored yet.
    pub fn new(session: Session) -> Self {
        Self {
            session,
            stage: RwSignal::new(Stage::Idle),
            answer: RwSignal::new(None),
            pointed: RwSignal::new(None),
            chosen: RwSignal::new(None),
            brush: memo(move |_| session.inputs.with(|inputs| brush(inputs).ok().flatten())),
            turn: StoredValue::new(0),
            stopped: StoredValue::new(0),
        }
    }

    /// Begins the exploration of the inputs; one that is under way ends.
    pub fn begin(self) {
        self.turn.update_value(|turn| *turn += 1);
        let turn = self.turn.get_value();
        let inputs = self.session.inputs.get_untracked();
        later(async move {
            let ended = match ExploreQuestion::read(&inputs) {
                Ok(_) => self.run(turn, inputs).await,
                Err(_) => Err(String::new()), // its field says it
            };
            if let Err(reason) = ended
                && self.is_current(turn)
            {
                drop(self.stage.try_set(Stage::Failed(reason)));
            }
        });
    }

    /// Marks a part of the chart as part of a drag, or the whole chart as a choice.
    pub fn narrow(self, to: Option<&Brush>) {
        let (step, text) = match to {
            Some(part) => (Step::Drag, brush_text(part)),
            None => (Step::Choice, String::new()),
        };
        self.session.edit(step, |inputs| inputs.explore.set(ExploreField::Brush, text));
    }

    /// Ends the exploration with what it has found.
    pub fn stop(self) {
        self.stopped.set_value(self.turn.get_value());
    }

    /// False if another exploration has begun or the user has left the view, which disposes the value.
    fn is_current(self, turn: u32) -> bool {
        self.turn.try_get_value() == Some(turn)
    }

    async fn run(self, turn: u32, inputs: Inputs) -> Result<(), String> {
        let mut said = ask("begin", &address(&inputs)).await?;
        while self.is_current(turn) {
            let progress = parts(&said);
            if progress[0] == progress[1] || self.stopped.get_value() == turn {
                break;
            }
            self.stage.set(Stage::Runs(progress));
            said = ask("next", "").await?;
        }
        if !self.is_current(turn) {
            return Ok(());
        }
        let reply = ask("rows", "").await?;
        if self.is_current(turn) {
            self.show(ExploreAnswer::read(&reply, &inputs));
        }
        Ok(())
    }

    fn show(self, answer: ExploreAnswer) {
        self.pointed.set(None);
        self.chosen.set(None);
        self.answer.set(Some(answer));
        self.stage.set(Stage::Done);
    }

    /// Saves all rows as a file.
    pub fn save(self, kind: &'static str) {
        later(async move {
            let name = format!("ridgepoint-explore.{kind}");
            let saved = match ask(kind, "").await {
                Ok(file) => program::ask("ridgepointSave", &[&name.into(), &file.into()]).await,
                Err(reason) => Err(reason.into()),
            };
            if saved.is_err() {
                let reason = "The table could not be saved; change a field and try again.";
                drop(self.stage.try_set(Stage::Failed(reason.to_owned())));
            }
        });
    }
}

/// Calls a function of the worker and returns its reply; `Err` is a message for the user.
async fn ask(function: &str, text: &str) -> Result<String, String> {
    let reply = program::ask("ridgepointExplore", &[&function.into(), &text.into()]).await;
    let reason = match reply {
        Ok(said) => return Ok(said.as_string().unwrap_or_default()),
        Err(reason) if reason.is_null() => {
            "The part that compares could not be fetched; try again when you are online.".to_owned()
        }
        Err(reason) => reason.as_string().unwrap_or_else(|| {
            "This build of the page cannot explore; cargo xtask serve makes one that can."
                .to_owned()
        }),
    };
    Err(reason)
}

fn parts(said: &str) -> [String; 3] {
    let mut parts = said.split('\t');
    [(); 3].map(|()| parts.next().unwrap_or_default().to_owned())
}
