//! The charts of the page in their order, for what exports and prints them.

use chart::scene::{Scene, Size};
use chart::sheet::NamedMark;
use leptos::prelude::*;

use super::canvas::View;

/// A chart of the page, and the texts that it carries when it leaves the page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShownChart {
    /// `id` of its group.
    pub id: &'static str,
    pub title: &'static str,
    /// How to read its marks and lines.
    pub legend: Signal<String>,
    /// The scenario that it shows; `None` for that of the address.
    pub scenario: Option<Signal<String>>,
    /// The names of its marks; `None` where its points have them.
    pub marks: Option<Signal<Vec<NamedMark>>>,
    /// Scene, laid out for the size in `view`.
    pub scene: Signal<Scene>,
    pub view: RwSignal<View>,
}

impl ShownChart {
    /// The chart in another size. The canvas is drawn after the old size is back, so it does not change.
    pub fn laid_out(self, size: Size) -> Scene {
        let before = self.view.get_untracked();
        self.view.set(View { size, ..before });
        let scene = self.scene.get_untracked();
        self.view.set(before);
        scene
    }
}

/// All charts of the page. Only `app` provides it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShownCharts(RwSignal<Vec<ShownChart>>);

impl ShownCharts {
    /// The charts now; a reader is told when one comes or goes.
    pub fn get(self) -> Vec<ShownChart> {
        self.0.get()
    }

    /// Adds a chart until its component is removed.
    pub fn add(self, chart: ShownChart) {
        self.0.update(|charts| charts.push(chart));
        on_cleanup(move || {
            self.0.try_update(|charts| charts.retain(|other| *other != chart));
        });
    }
}
