//! A scene on a canvas: the only place that knows the browser's canvas. It draws again when the scene, the colors, the
//! size or the pixel ratio change.

use chart::draw::{Scale, draw};
use chart::geometry::Spot;
use chart::scene::{Scene, Size};
use chart::theme::Theme;
use leptos::ev::{MouseEvent, PointerEvent};
use leptos::html::Canvas;
use leptos::prelude::*;
use plotters_canvas::CanvasBackend;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{
    Element, HtmlCanvasElement, IntersectionObserver, IntersectionObserverEntry, ResizeObserver,
};

use crate::components::erased::on;

/// What a canvas is seen as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Size on the page.
    pub size: Size,
    /// Device pixels per CSS pixel.
    pub ratio: f64,
}

/// A canvas that shows a scene.
#[component]
pub fn SceneCanvas(
    /// The scene; built for the view that this component reports.
    #[prop(into)]
    scene: Signal<Scene>,
    /// Colors.
    #[prop(into)]
    theme: Signal<&'static Theme>,
    /// The picture in words.
    label: Signal<String>,
    /// Where the canvas says how large it is seen.
    view: RwSignal<View>,
    /// The pointer moved to a spot, or left.
    on_point: Callback<Option<Spot>>,
    /// A click or tap on a spot.
    on_pick: Callback<Spot>,
) -> impl IntoView {
    let canvas = NodeRef::<Canvas>::new();
    let in_sight = RwSignal::new(true);
    Effect::new(move |_| {
        if let Some(canvas) = canvas.get() {
            watch_size(&canvas, view);
            watch_sight(&canvas, in_sight);
        }
    });
    // What nobody sees is neither put in its place nor drawn.
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
            on:pointermove=on(move |event: PointerEvent| on_point.run(Some(spot(&event))))
            on:pointerleave=on(move |_| on_point.run(None))
            on:click=on(move |event: MouseEvent| on_pick.run(spot(&event)))
        ></canvas>
    }
}

fn spot(event: &MouseEvent) -> Spot {
    Spot { x: f64::from(event.offset_x()), y: f64::from(event.offset_y()) }
}

/// Reports the size now and whenever the element or the window's zoom changes.
fn watch_size(canvas: &HtmlCanvasElement, view: RwSignal<View>) {
    let measured = canvas.clone();
    let measure = move || {
        let seen = View {
            size: Size {
                width: f64::from(measured.client_width()),
                height: f64::from(measured.client_height()),
            },
            ratio: window().device_pixel_ratio(),
        };
        // The last report comes when the element is gone, and the signal with it.
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

/// Reports whether an element is in the window or nearly so.
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
    on_sight.forget(); // as above
}

fn paint(canvas: &HtmlCanvasElement, scene: &Scene, theme: &Theme, ratio: f64) {
    let [width, height] =
        [scene.size.width, scene.size.height].map(|length| device_pixels(length, ratio));
    // Even the same size makes a browser lay the canvas out again.
    if (canvas.width(), canvas.height()) != (width, height) {
        canvas.set_width(width);
        canvas.set_height(height);
    }
    let Some(mut backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
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
