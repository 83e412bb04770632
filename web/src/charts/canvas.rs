//! Draws a scene on a canvas; the only module that uses the browser's canvas. It redraws when the scene, the colors, the
//! size or the pixel ratio change.

use chart::draw::{Scale, draw};
use chart::geometry::Spot;
use chart::scene::{Scene, Size};
use chart::theme::Theme;
use leptos::ev::{MouseEvent, PointerEvent};
use leptos::html::Canvas;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{
    Element, HtmlCanvasElement, IntersectionObserver, IntersectionObserverEntry, ResizeObserver,
};

use super::backend::CanvasBackend;
use crate::components::erased::on;
use crate::state::colors::computed;
use crate::state::computed_style::text_scale;

/// Size and resolution at which a canvas is displayed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// In pixels at the usual size of text: fewer than the canvas has where the reader's text is larger.
    pub size: Size,
    /// Device pixels per pixel of `size`.
    pub ratio: f64,
}

/// A canvas that is not laid out yet.
impl Default for Viewport {
    fn default() -> Self {
        Self { size: Size { width: 1.0, height: 1.0 }, ratio: 1.0 }
    }
}

/// Canvas that draws a scene and reports pointer positions on it.
#[component]
pub fn SceneCanvas(
    /// Scene, laid out for the size in `view`.
    #[prop(into)]
    scene: Signal<Scene>,
    /// Colors of the chart; a change redraws it.
    #[prop(into)]
    theme: Signal<&'static Theme>,
    /// Text alternative for screen readers (`aria-label`).
    label: Signal<String>,
    /// Set by this component to the displayed size and the pixel ratio.
    view: RwSignal<Viewport>,
    /// Called with the pointer's position in CSS pixels; `None` when it leaves the canvas.
    on_point: Callback<Option<Spot>>,
    /// Called with the position of a click or tap, in CSS pixels.
    on_pick: Callback<Spot>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    // The observer reports in the next frame: a chart that comes below the window costs nothing.
    let in_sight = RwSignal::new(false);
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get() {
            watch_size(&canvas, view);
            watch_sight(&canvas, in_sight);
        }
    });
    // A scene outside the window is neither laid out nor drawn.
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get()
            && in_sight.get()
        {
            scene.with(|scene| paint(&canvas, scene, theme.get(), view.get().ratio));
        }
    });
    view! {
        <canvas
            node_ref=canvas
            role="img"
            aria-label=label
            on:pointermove=on(move |event: PointerEvent| on_point.run(Some(spot(&event, view))))
            on:pointerleave=on(move |_| on_point.run(None))
            on:click=on(move |event: MouseEvent| on_pick.run(spot(&event, view)))
        ></canvas>
    }
}

fn spot(event: &MouseEvent, view: RwSignal<Viewport>) -> Spot {
    let scale = view.get_untracked().ratio / window().device_pixel_ratio();
    Spot { x: f64::from(event.offset_x()) / scale, y: f64::from(event.offset_y()) / scale }
}

/// Writes the displayed size to `view` now and whenever the element's size or the window's zoom changes.
fn watch_size(canvas: &HtmlCanvasElement, view: RwSignal<Viewport>) {
    let measured = canvas.clone();
    let measure = move || {
        let [width, height] = [measured.client_width(), measured.client_height()].map(f64::from);
        let scale = text_scale(&computed(&measured, "font-size"), width);
        let seen = Viewport {
            size: Size { width: width / scale, height: height / scale },
            ratio: window().device_pixel_ratio() * scale,
        };
        // The observer reports once more after the element and its signal are disposed.
        if view.try_get_untracked().is_some_and(|known| known != seen) {
            view.set(seen);
        }
    };
    measure();
    let on_zoom = window_event_listener(leptos::ev::resize, {
        let measure = measure.clone();
        move |_| measure()
    });
    let on_size = Closure::<dyn FnMut()>::new(measure);
    let observer = ResizeObserver::new(on_size.as_ref().unchecked_ref());
    on_size.forget(); // lives as long as the page, as the chart does
    if let Ok(observer) = observer {
        observer.observe(canvas);
    }
    on_cleanup(move || on_zoom.remove());
}

/// Writes to `in_sight` whether an element intersects the window; touching its edge counts.
pub fn watch_sight(element: &Element, in_sight: RwSignal<bool>) {
    let on_sight = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
        let last = entries.pop().unchecked_into::<IntersectionObserverEntry>();
        let seen = last.is_intersecting();
        if in_sight.try_get_untracked().is_some_and(|before| before != seen) {
            in_sight.set(seen);
        }
    });
    if let Ok(observer) = IntersectionObserver::new(on_sight.as_ref().unchecked_ref()) {
        observer.observe(element);
    }
    on_sight.forget(); // lives as long as the page
}

fn paint(canvas: &HtmlCanvasElement, scene: &Scene, theme: &Theme, ratio: f64) {
    let [width, height] =
        [scene.size.width, scene.size.height].map(|length| device_pixels(length, ratio));
    // Assigning a size makes the browser lay the canvas out again, even if it is unchanged.
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    let Some(mut backend) = CanvasBackend::new(canvas) else { return };
    if let Err(error) = draw(scene, theme, Scale::uniform(ratio), &mut backend) {
        leptos::logging::error!("the chart could not be drawn: {error}");
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a screen has thousands of pixels"
)]
fn device_pixels(length: f64, ratio: f64) -> u32 {
    (length * ratio + 0.5).max(1.0) as u32
}
