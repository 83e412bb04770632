//! The Measure view, loaded as a chunk of its own.

pub mod calibrate;
pub mod chart;
pub mod connect;
pub mod device_card;
pub mod engine;
pub mod history;
pub mod results;
pub mod running;
pub mod sensors;
pub mod spot;
pub mod sweep;
pub mod table;
pub mod view;

use leptos::prelude::*;
use protocol::bench::BenchSpec;
use protocol::job::JobSpec;

use crate::components::chunk::MeasuredPart;
use crate::components::erased::block;
use crate::components::fetched::Fetched;
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

/// Starts the orders of a form. Returns what is wrong with them, or an empty text.
fn start(daemon: &DaemonLink, orders: Result<Vec<BenchSpec>, String>) -> String {
    match orders {
        Ok(orders) => {
            daemon.start(orders.into_iter().map(JobSpec::Bench).collect());
            String::new()
        }
        Err(why) => why,
    }
}

/// Part of the view that is empty until a daemon is connected, or has left results; it is fetched then.
fn when_connected(part: MeasuredPart) -> AnyView {
    let MeasureContext { client, .. } = expect_context();
    let part = Fetched::of(part.into());
    Effect::new(move |_| {
        if client.with(|client| client.session().is_some() || client.shown().is_some()) {
            part.ask();
        }
    });
    block(move || part.show()).into_any()
}
