//! Charts that leave the page: as files, each on a sheet with its texts, and on paper, as SVG in the colors of paper.

use core::cell::Cell;

use chart::draw::{Scale, draw};
use chart::scene::{Scene, Size};
use chart::sheet::{Caption, named_marks, sheet};
use chart::svg::scene_svg;
use chart::theme::{PAPER, Theme};
use js_sys::{Array, Function, Reflect, global};
use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlCanvasElement};

use super::backend::CanvasBackend;
use super::shown::{ShownChart, charts};
use crate::components::erased::later;
use crate::state::chunks::generate;
use crate::state::export_kinds::{Document, scenario_line};
use crate::state::inputs::View;
use crate::state::program;
use crate::state::session::Session;

/// Size of a chart in a file [px].
const FILE: Size = Size { width: 960.0, height: 600.0 };
/// Device pixels per pixel of a file.
const FINENESS: f64 = 2.0;
/// Width of a chart on paper [px], and the heights between which it keeps that of the page.
const PAPER_WIDTH: f64 = 700.0;
const PAPER_HEIGHT: (f64, f64) = (220.0, 380.0);
/// CSS class of what is on paper only.
const CLASS: &str = "paper";
/// Style of the page on paper.
const STYLE: &str = include_str!("../../assets/paper.css");

thread_local! {
    static BEGUN: Cell<bool> = const { Cell::new(false) };
}

/// Puts pictures on the page for the time of a print, and prepares for one when the reader's keys ask for it. Every view
/// begins it; the first one does.
pub fn begin(session: Session) {
    if BEGUN.replace(true) {
        return;
    }
    if adopt(STYLE).is_err() {
        leptos::logging::warn!("this browser takes no style for paper");
    }
    let _forever = window_event_listener_untyped("beforeprint", |_| put_up());
    let _forever = window_event_listener_untyped("afterprint", |_| take_down());
    let _forever = window_event_listener(leptos::ev::keydown, move |event: KeyboardEvent| {
        let asks = (event.ctrl_key() || event.meta_key()) && event.key() == "p";
        if asks && !event.shift_key() && !event.alt_key() {
            event.prevent_default();
            print(session);
        }
    });
}

/// Adds a style sheet to the page. The page's policy forbids style elements, and allows this.
fn adopt(style: &str) -> Result<(), JsValue> {
    let constructor: Function = Reflect::get(&global(), &"CSSStyleSheet".into())?.dyn_into()?;
    let sheet = Reflect::construct(&constructor, &Array::new())?;
    let replace: Function = Reflect::get(&sheet, &"replaceSync".into())?.dyn_into()?;
    replace.call1(&sheet, &style.into())?;
    Reflect::set(&document(), &"adoptedStyleSheets".into(), &Array::of1(&sheet)).map(drop)
}

/// Prints the page; of one operator, with its formulas.
pub fn print(session: Session) {
    later(async move {
        let inputs = session.inputs.get_untracked();
        take_down();
        if inputs.view == View::Kernel {
            let work = generate(Document::Work, &inputs).await.unwrap_or_default();
            append("main", &format!("<div class=\"{CLASS} work\">{work}</div>"));
        }
        drop(window().print());
    });
}

/// A chart as a file: title, scenario, picture, marks, legend and link.
pub fn svg_file(chart: ShownChart, session: Session) -> String {
    scene_svg(&file_scene(chart, session), file_theme(session))
}

/// Saves a chart as PNG.
///
/// # Errors
/// Returns the reason as a sentence if the file could not be saved.
pub async fn save_png(name: &str, chart: ShownChart, session: Session) -> Result<(), String> {
    let Some(canvas) = drawn(&file_scene(chart, session), file_theme(session)) else {
        return Err("the browser does not draw pictures".to_owned());
    };
    let saved = program::ask("ridgepointSavePicture", &[&name.into(), &canvas]).await;
    saved.map(drop).map_err(|_refused| program::NOT_SAVED.to_owned())
}

fn drawn(scene: &Scene, theme: &Theme) -> Option<HtmlCanvasElement> {
    let canvas: HtmlCanvasElement = document().create_element("canvas").ok()?.unchecked_into();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a picture has thousands of pixels"
    )]
    let pixels = |length: f64| (length * FINENESS) as u32;
    canvas.set_width(pixels(scene.size.width));
    canvas.set_height(pixels(scene.size.height));
    let mut backend = CanvasBackend::new(&canvas)?;
    draw(scene, theme, Scale::uniform(FINENESS), &mut backend).ok()?;
    Some(canvas)
}

fn file_theme(session: Session) -> &'static Theme {
    untrack(move || session.colors.theme())
}

fn file_scene(chart: ShownChart, session: Session) -> Scene {
    let picture = chart.laid_out(FILE);
    let of_address = || session.inputs.with_untracked(scenario_line);
    let caption = Caption {
        title: chart.title.to_owned(),
        scenario: chart.scenario.map_or_else(of_address, |line| line.get_untracked()),
        legend: chart.legend.get_untracked(),
        link: window().location().href().unwrap_or_default(),
    };
    let marks = chart.marks.map_or_else(|| named_marks(&picture), |marks| marks.get_untracked());
    sheet(picture, &caption, &marks)
}

/// Adds the SVG of each chart beside its canvas, and the link of the page below everything.
fn put_up() {
    for element in all(&format!(".chart > .{CLASS}, .address.{CLASS}")) {
        element.remove();
    }
    let (least, most) = PAPER_HEIGHT;
    for chart in charts() {
        let height = chart.view.get_untracked().size.height.clamp(least, most);
        let scene = chart.laid_out(Size { width: PAPER_WIDTH, height });
        let svg = scene_svg(&scene, &PAPER);
        append(&format!("#{}", chart.id), &format!("<div class=\"{CLASS}\">{svg}</div>"));
    }
    append("main", &format!("<p class=\"address {CLASS}\"></p>"));
    if let Some(line) = all(&format!(".address.{CLASS}")).pop() {
        line.set_text_content(window().location().href().ok().as_deref());
    }
}

fn take_down() {
    for element in all(&format!(".{CLASS}")) {
        element.remove();
    }
}

fn append(selector: &str, html: &str) {
    if let Ok(Some(element)) = document().query_selector(selector) {
        drop(element.insert_adjacent_html("beforeend", html));
    }
}

/// The elements that a selector finds, in order.
pub fn all(selector: &str) -> Vec<Element> {
    let Ok(list) = document().query_selector_all(selector) else { return Vec::new() };
    (0..list.length()).filter_map(|place| list.item(place)?.dyn_into().ok()).collect()
}
