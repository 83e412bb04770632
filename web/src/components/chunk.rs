//! The chunks that have views, by name. `crate::chunks` maps the names to code; a component asks through the context, so that it
//! does not depend on all others.

use core::pin::Pin;

use leptos::prelude::*;

use crate::state::chunks::Refusal;

/// Builds a view. The caller runs it, so that the view is owned by the component that shows it.
pub type MakeView = fn() -> AnyView;

/// A chunk that is being fetched. Boxed to one type, because the code that awaits each future would be duplicated.
pub type Arriving = Pin<Box<dyn Future<Output = Result<MakeView, Refusal>>>>;

/// Fetches the chunk of a part of the page. Only `app` provides it.
#[derive(Debug, Clone, Copy)]
pub struct Chunks(pub fn(Chunk) -> Arriving);

/// Part of the page that is fetched when it is first needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chunk {
    Model,
    Explore,
    Kernel,
    Measure,
    /// The one with all parts of the Measure view that are empty before a daemon is connected.
    Measured(MeasuredPart),
    Trust,
    /// The form for custom devices.
    DeviceEditor,
    /// The recommendation for an operator, in the chunk of the Kernel view.
    OperatorAdvice,
    /// The one with all parts behind a click.
    More(LazyPart),
}

/// A part of the Measure view that is empty before a daemon is connected; all parts share one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MeasuredPart {
    /// The job that runs, and how the shown one ended.
    Running,
    /// Measured results beside the expected ones.
    Table,
    Sensors,
    /// The jobs that the daemon stores.
    History,
    /// A running inference server.
    Engine,
    /// The form for products of many shapes.
    Sweep,
}

impl From<MeasuredPart> for Chunk {
    fn from(part: MeasuredPart) -> Self {
        Self::Measured(part)
    }
}

impl From<LazyPart> for Chunk {
    fn from(part: LazyPart) -> Self {
        Self::More(part)
    }
}

/// A part of the page that is hidden until the user clicks; all parts share one chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LazyPart {
    /// The user's own points on the roofline, and the form that adds them.
    OwnPoints,
    /// The goal and bounds of the recommendation.
    Goal,
    /// The check whether a claimed speed is possible.
    Check,
    /// The items of the export menu.
    ExportItems,
    /// The list of keyboard shortcuts.
    KeyDialog,
    /// The limits of the chosen format, as bars.
    Limits,
    /// Why an answer is not of the reader's input.
    WhyStale,
    /// The ways out where no scheme meets the bounds, and where a model lies beside a host.
    UnderVerdict,
    /// The right column of the Plan view.
    Inspector,
    /// The table below its charts.
    SchemeTable,
    /// The popover that explains a number of its tabs.
    Explanation,
    /// The fields of a part of the scenario.
    Fields,
    /// The tabs of the Plan view other than the schemes.
    Operators,
    Memory,
    Scale,
    Questions,
    /// The Compare view, the choices that open it, and its picker of another device.
    Compare,
    CompareBar,
    OtherDevice,
}
