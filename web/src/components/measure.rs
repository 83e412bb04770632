//! The Measure view, loaded as a chunk of its own.

pub mod calibrate;
pub mod chart;
pub mod connect;
pub mod device_card;
pub mod history;
pub mod results;
pub mod running;
pub mod spot;
pub mod view;

use leptos::prelude::*;

use crate::link::client::Client;
use crate::link::daemon_link::DaemonLink;
use crate::state::measure::answer::MeasureAnswer;
use crate::state::measure::form::MeasuredDevice;
use crate::state::measure::spot::SpotForm;

/// State shared by the components of this view.
#[derive(Debug, Clone, Copy)]
pub struct MeasureContext {
    /// Link to the daemon, which outlives the view.
    pub daemon: StoredValue<DaemonLink>,
    /// Connection state, jobs and sensor readings of the daemon.
    pub client: RwSignal<Client>,
    /// Reason why no measurement can be started; empty if one can.
    pub why_not: Signal<String>,
    /// The device that is measured; `None` while no daemon is connected.
    pub measured: Memo<Option<MeasuredDevice>>,
    /// Form of the spot check.
    pub spot: RwSignal<SpotForm>,
    /// Results of the shown job beside their predictions; `None` if the device has no roofline.
    pub answer: Memo<Option<MeasureAnswer>>,
    /// Key of the precision that the chart shows where the points of all have no room; empty for the first.
    pub precision: RwSignal<String>,
    /// Key of the row at the pointer or the keyboard focus.
    pub pointed: RwSignal<Option<String>>,
}
