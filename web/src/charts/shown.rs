//! The charts of the page in their order, for what exports and prints them.

use core::cell::RefCell;

use chart::scene::{Scene, Size};
use chart::sheet::NamedMark;
use leptos::prelude::*;

use super::canvas::Viewport;

thread_local! {
    static CHARTS: RefCell<Vec<ShownChart>> = const { RefCell::new(Vec::new()) };
}

/// A chart of the page, and the texts that it carries when it leaves the page.
#[derive(Debug, Clone, Copy)]
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
    pub view: RwSignal<Viewport>,
}

impl ShownChart {
    /// The chart in another size. The canvas is drawn after the old size is back, so it does not change.
    pub fn laid_out(self, size: Size) -> Scene {
        let before = self.view.get_untracked();
        self.view.set(Viewport { size, ..before });
        let scene = self.scene.get_untracked();
        self.view.set(before);
        scene
    }
}

/// The charts that the page has now.
pub fn charts() -> Vec<ShownChart> {
    CHARTS.with_borrow(Clone::clone)
}

/// Adds a chart until its component is removed. `changes` counts both.
pub fn add(chart: ShownChart, changes: RwSignal<u32>) {
    CHARTS.with_borrow_mut(|charts| charts.push(chart));
    changes.update(|count| *count += 1);
    on_cleanup(move || {
        CHARTS.with_borrow_mut(|charts| charts.retain(|other| other.view != chart.view));
        changes.update(|count| *count += 1);
    });
}
