//! A picture that leaves the page says by itself what it shows: title and scenario above it, its marks, its legend and its
//! link below. The result is a `Scene`.

use crate::geometry::{Rect, Spot};
use crate::label::{Anchor, Label, text_width};
use crate::mark::Mark;
use crate::scene::{Scene, ScenePoint};
use crate::theme::Ink;

const TITLE: f64 = 17.0;
const FONT: f64 = 12.0;
const MARGIN: f64 = 16.0;
const RADIUS: f64 = 5.0;
/// Height of a line of text over its font size.
const LINE: f64 = 1.5;
/// Distance between the name of a mark and the next mark.
const BETWEEN: f64 = 20.0;

/// The texts around a picture. An empty one takes no room.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Caption {
    pub title: String,
    pub scenario: String,
    /// How to read marks and lines.
    pub legend: String,
    /// Address that shows the picture again.
    pub link: String,
}

/// A mark with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedMark {
    pub mark: Mark,
    pub name: String,
}

/// The marks of a picture that stand for one name each, in the order of drawing. A mark that several points share, such as
/// that of all operators in one format, names none of them.
pub fn named_marks(scene: &Scene) -> Vec<NamedMark> {
    let points = || scene.points.iter().filter(|point| !point.label.is_empty());
    let is_shared =
        |one: &ScenePoint| points().any(|other| other.mark == one.mark && other.label != one.label);
    let mut named: Vec<NamedMark> = Vec::new();
    for point in points().filter(|point| !is_shared(point)) {
        let one = NamedMark { mark: point.mark, name: point.label.clone() };
        if !named.contains(&one) {
            named.push(one);
        }
    }
    named
}

/// The picture with its texts above and below.
pub fn sheet(picture: Scene, caption: &Caption, marks: &[NamedMark]) -> Scene {
    let mut sheet = Sheet { scene: Scene::empty(picture.size), y: MARGIN };
    sheet.write(&caption.title, TITLE, Ink::Main);
    sheet.write(&caption.scenario, FONT, Ink::Muted);
    sheet.put(picture);
    sheet.name(marks);
    sheet.write(&caption.legend, FONT, Ink::Muted);
    sheet.write(&caption.link, FONT, Ink::Muted);
    sheet.scene.size.height = sheet.y + MARGIN / 2.0;
    sheet.scene
}

/// A sheet while it is written; `y` is where its next line begins.
struct Sheet {
    scene: Scene,
    y: f64,
}

impl Sheet {
    fn write(&mut self, text: &str, size: f64, ink: Ink) {
        for line in lines(text, self.scene.size.width - 2.0 * MARGIN, size) {
            let at = Spot { x: MARGIN, y: self.y + size * LINE / 2.0 };
            self.scene.labels.push(Label::new(&line, at, Anchor::Start, ink, size));
            self.y += size * LINE;
        }
    }

    fn put(&mut self, picture: Scene) {
        let top = self.y + MARGIN / 2.0;
        self.y = top + picture.size.height + MARGIN / 2.0;
        let Scene { size, plot, wash, lines, points, mut labels } = moved_down(picture, top);
        labels.append(&mut self.scene.labels);
        self.scene = Scene { size, plot, wash, lines, points, labels };
    }

    /// The marks with their names, side by side.
    fn name(&mut self, marks: &[NamedMark]) {
        let height = FONT * LINE;
        let mut x = MARGIN;
        for NamedMark { mark, name } in marks {
            let before = 2.0 * RADIUS + 6.0;
            let width = before + text_width(name, FONT);
            if x > MARGIN && x + width > self.scene.size.width - MARGIN {
                (x, self.y) = (MARGIN, self.y + height);
            }
            let at = Spot { x: x + RADIUS, y: self.y + height / 2.0 };
            self.scene.points.push(ScenePoint {
                key: String::new(),
                label: name.clone(),
                mark: *mark,
                filled: true,
                at,
                radius: RADIUS,
                focused: false,
                ringed: false,
            });
            let at = Spot { x: x + before, ..at };
            self.scene.labels.push(Label::new(name, at, Anchor::Start, Ink::Main, FONT));
            x += width + BETWEEN;
        }
        if !marks.is_empty() {
            self.y += height;
        }
    }
}

fn moved_down(mut scene: Scene, by: f64) -> Scene {
    let move_spot = |spot: &mut Spot| spot.y += by;
    let move_box =
        |bounds: &mut Rect| (bounds.top, bounds.bottom) = (bounds.top + by, bounds.bottom + by);
    move_box(&mut scene.plot);
    scene.wash.iter_mut().flatten().for_each(move_spot);
    scene.lines.iter_mut().flat_map(|line| &mut line.path).for_each(move_spot);
    for point in &mut scene.points {
        move_spot(&mut point.at);
    }
    for label in &mut scene.labels {
        move_spot(&mut label.at);
        move_box(&mut label.bounds);
    }
    scene
}

/// The text in lines that fit a width, broken at blanks; a longer word, such as a link, is broken anywhere.
fn lines(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    let fits = |line: &str| text_width(line, size) <= width;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let last = lines.last_mut().expect("there is one line at least");
        let longer = if last.is_empty() { word.to_owned() } else { format!("{last} {word}") };
        if fits(&longer) {
            *last = longer;
        } else {
            lines.extend(pieces(word, &fits));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

fn pieces(word: &str, fits: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        let last = pieces.last_mut().expect("there is one piece at least");
        let longer = format!("{last}{letter}");
        if fits(&longer) || last.is_empty() {
            *last = longer;
        } else {
            pieces.push(letter.to_string());
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mark::mark;
    use crate::scene::Size;
    use crate::spans::{Span, SpanTime, Spans, scene as spans_scene};
    use calc_core::units::Seconds;

    fn picture(width: f64) -> Scene {
        let row = |key: &str, label: &str, format: &str| {
            let seconds = Seconds::new(2.0);
            let [expected, low, high, ideal] = [seconds; 4];
            let time = SpanTime { mark: mark(format), expected, low, high, ideal };
            Span { key: key.into(), label: label.into(), time: Ok(time) }
        };
        let rows = vec![row("a", "one", "int8"), row("b", "other", "fp16")];
        let spans = Spans { time_name: "time".into(), rows };
        spans_scene(&spans, Size { width, height: 200.0 }, None)
    }

    fn caption() -> Caption {
        Caption {
            title: "Times".into(),
            scenario: "Llama-3.1 8B on 2 × H100 with vllm · 16 users · 4096 tokens in, 128 out"
                .into(),
            legend: "mark: expected · line: interval".into(),
            link: format!("https://example.org/?view=compare&{}", "c=d:t4&".repeat(30)),
        }
    }

    #[test]
    fn every_text_is_on_the_sheet_and_nothing_leaves_it() {
        for width in [960.0, 280.0] {
            let picture = picture(width);
            let marks = named_marks(&picture);
            let sheet = sheet(picture, &caption(), &marks);
            let texts: String = sheet.labels.iter().map(|label| label.text.as_str()).collect();
            for said in ["Times", "16 users", "line: interval", "example.org", "c=d:t4&", "other"] {
                assert!(texts.contains(said), "{said}: {texts}");
            }
            let all = Rect { left: 0.0, top: 0.0, right: width, bottom: sheet.size.height };
            for label in &sheet.labels {
                assert!(all.encloses(&label.bounds), "{label:?}");
            }
        }
    }

    #[test]
    fn a_mark_that_points_share_names_none_of_them() {
        let mut scene = picture(600.0);
        scene.points[1].mark = scene.points[0].mark;
        assert_eq!(named_marks(&scene), []);
        scene.points[1].label = scene.points[0].label.clone();
        assert_eq!(named_marks(&scene).len(), 1);
    }

    #[test]
    fn the_picture_keeps_its_shape_between_its_texts() {
        let before = picture(600.0);
        let marks = named_marks(&before);
        assert_eq!(marks.len(), 2);
        let after = sheet(before.clone(), &caption(), &marks);
        let by = after.plot.top - before.plot.top;
        assert!(by > 30.0 && after.size.height > before.size.height + by);
        for (before, after) in before.points.iter().zip(&after.points) {
            assert_eq!(before.at.moved(0.0, by), after.at);
        }
        let title = after.labels.iter().find(|label| label.text == "Times").expect("a title");
        let link = after.labels.iter().find(|label| label.text.contains("https")).expect("a link");
        assert!(title.at.y < after.plot.top && link.at.y > after.plot.bottom);
        let bare = sheet(picture(600.0), &Caption::default(), &[]);
        assert!(bare.size.height < after.size.height);
    }
}
