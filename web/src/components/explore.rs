//! Comparison of all devices for the model. A web worker computes it device by device, so the page stays responsive.

use leptos::prelude::*;

use super::erased::{block, flag, later, on, text};
use super::inverse::table;
use crate::state::advice::inverse::Answer;
use crate::state::check::CLAIM;
use crate::state::explore::{CELL, COLUMNS, ORDERS};
use crate::state::fragment;
use crate::state::goal::Goal;
use crate::state::inputs::Inputs;
use crate::state::model::inputs::ModelInputs;
use crate::state::model::url as model_url;
use crate::state::program;
use crate::state::session::Session;
use crate::state::url;

/// State of the comparison.
#[derive(Debug, Clone, PartialEq, Default)]
enum Stage {
    #[default]
    Idle,
    /// Number of devices done, number of all devices, and a sentence with both.
    Runs([String; 3]),
    Done(Answer),
    Failed(String),
}

/// State shared by the parts of the comparison.
#[derive(Debug, Clone, Copy)]
struct Comparison {
    session: Session,
    stage: RwSignal<Stage>,
    /// Whether the user has stopped the comparison.
    stop: RwSignal<bool>,
    /// Key of the table's sort order.
    order: RwSignal<&'static str>,
    /// Model and goal of the last comparison; `None` before the first.
    asked: RwSignal<Option<(ModelInputs, Goal)>>,
}

impl Comparison {
    /// Requests one device after the other, then the table; the worker keeps all results.
    async fn run(self) -> Result<(), String> {
        let (query, carried) = self
            .session
            .inputs
            .with_untracked(|inputs| (url::write(inputs), fragment::text(inputs)));
        let mut progress = progress(&ask("begin", &format!("{query}\n{carried}")).await?);
        // A disposed signal means that the user left the view.
        while progress[0] != progress[1] && self.stop.try_get_untracked() == Some(false) {
            self.stage.set(Stage::Runs(progress));
            progress = self::progress(&ask("next", "").await?);
        }
        self.show().await
    }

    /// Requests the table in the selected sort order.
    async fn show(self) -> Result<(), String> {
        let Some(order) = self.order.try_get_untracked() else { return Ok(()) };
        let said = ask("table", order).await?;
        let mut lines = said.lines();
        let sentence = lines.next().unwrap_or_default().to_owned();
        let rows = lines.map(|line| line.split(CELL).map(str::to_owned).collect()).collect();
        let answer = Answer { sentence, columns: COLUMNS.to_vec(), rows };
        drop(self.stage.try_set(Stage::Done(answer)));
        Ok(())
    }

    fn begin(self) {
        self.asked.set(Some(self.session.inputs.with_untracked(compared)));
        self.stop.set(false);
        self.stage.set(Stage::Runs(["0", "1", "The comparison is being fetched."].map(Into::into)));
        later(async move {
            if let Err(reason) = self.run().await {
                drop(self.stage.try_set(Stage::Failed(reason)));
            }
        });
    }

    fn save(self) {
        later(async move {
            let name = "ridgepoint-devices.csv";
            let saved = match ask("csv", "").await {
                Ok(csv) => program::ask("ridgepointSave", &[&name.into(), &csv.into()]).await,
                Err(reason) => Err(reason.into()),
            };
            if saved.is_err() {
                let reason = "The table could not be saved; compare again.".to_owned();
                drop(self.stage.try_set(Stage::Failed(reason)));
            }
        });
    }

    /// Whether model or goal have changed since the comparison.
    fn is_old(self) -> bool {
        self.asked.with(|asked| {
            let same =
                |inputs: &Inputs| asked.as_ref().is_none_or(|asked| *asked == compared(inputs));
            !self.session.inputs.with(same)
        })
    }
}

/// Inputs of a comparison: the model without the user's claim, and the goal.
fn compared(inputs: &Inputs) -> (ModelInputs, Goal) {
    let mut model = inputs.model.clone();
    for key in CLAIM {
        model_url::put(&mut model, key, "");
    }
    (model, inputs.goal.clone())
}

/// Calls a function of the worker and returns its reply; `Err` is a message for the user.
async fn ask(function: &str, text: &str) -> Result<String, String> {
    let reply = program::ask("ridgepointExplore", &[&function.into(), &text.into()]).await;
    let reason = match reply {
        Ok(said) => return Ok(said.as_string().unwrap_or_default()),
        Err(reason) if reason.is_null() => {
            "The comparison could not be fetched; try again when you are online.".to_owned()
        }
        Err(reason) => reason.as_string().unwrap_or_else(|| {
            "This build of the page cannot compare devices; cargo xtask serve makes one that can."
                .to_owned()
        }),
    };
    Err(reason)
}

fn progress(said: &str) -> [String; 3] {
    let mut parts = said.split(CELL);
    [(); 3].map(|()| parts.next().unwrap_or_default().to_owned())
}

/// Button that starts the comparison, its progress and its table.
#[component]
pub fn Explore() -> impl IntoView {
    let this = Comparison {
        session: expect_context::<Session>(),
        stage: RwSignal::new(Stage::Idle),
        stop: RwSignal::new(false),
        order: RwSignal::new(ORDERS[0].0),
        asked: RwSignal::new(None),
    };
    let runs = flag(move || this.stage.with(|stage| matches!(stage, Stage::Runs(_))));
    let is_done = flag(move || this.stage.with(|stage| matches!(stage, Stage::Done(_))));
    let part = move |index: usize| {
        text(move || {
            this.stage.with(|stage| match stage {
                Stage::Runs(progress) => progress[index].clone(),
                Stage::Idle | Stage::Done(_) | Stage::Failed(_) => String::new(),
            })
        })
    };
    let failure = text(move || {
        this.stage.with(|stage| match stage {
            Stage::Failed(reason) => reason.clone(),
            Stage::Idle | Stage::Runs(_) | Stage::Done(_) => String::new(),
        })
    });
    let found = block(move || match this.stage.get() {
        Stage::Done(answer) => table("All devices", answer).into_any(),
        Stage::Idle | Stage::Runs(_) | Stage::Failed(_) => ().into_any(),
    });
    view! {
        <section class="inverse explore" aria-label="All devices">
            <h2>"All devices"</h2>
            <p class="meaning">"Each with every power mode, scheme, batch and context."</p>
            <p hidden=runs>
                <button type="button" class="tool" on:click=on(move |_| this.begin())>"Compare all devices"</button>
            </p>
            <div hidden=flag(move || !runs.get())>
                <progress aria-label="Devices compared" value=part(0) max=part(1)></progress>
                <p class="far">{part(2)}</p>
                <button type="button" class="tool" on:click=on(move |_| this.stop.set(true))>"Stop"</button>
            </div>
            <p class="message" role="alert">{failure}</p>
            <div class="asked" hidden=flag(move || !is_done.get())>
                <p class="message" role="status" hidden=flag(move || !this.is_old())>
                    "Model or goal have changed since."
                </p>
                {found}
                <Order this=this/>
            </div>
        </section>
    }
}

/// Sort order of the table, and the button that saves it.
#[component]
fn Order(
    /// Comparison whose table is sorted and saved.
    this: Comparison,
) -> impl IntoView {
    let orders = ORDERS.map(|(key, name)| view! { <option value=key>{name}</option> });
    let on_change = move |event| {
        let key = event_target_value(&event);
        this.order.set(ORDERS.iter().find(|(other, _)| *other == key).map_or("", |order| order.0));
        later(async move {
            if let Err(reason) = this.show().await {
                drop(this.stage.try_set(Stage::Failed(reason)));
            }
        });
    };
    view! {
        <div class="field">
            <label for="explore-order">"Sort by"</label>
            <select id="explore-order" on:change=on(on_change)>{orders.collect_view()}</select>
        </div>
        <button type="button" class="tool" on:click=on(move |_| this.save())>"Save as CSV"</button>
    }
}
