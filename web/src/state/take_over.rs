//! Applies an opened file to the page. Loaded with the file reader.

use std::borrow::Cow;
use std::sync::Arc;

use calc_core::catalog;
use leptos::prelude::*;

use super::files::{Opened, OpenedModel};
use super::inputs::View;
use super::place::Own;
use super::session::{Session, Step};
use super::url::Note;

/// An opened file, ready to be applied.
#[derive(Debug)]
pub struct Ready {
    opened: Opened,
    take: fn(Session, Opened, Step),
}

impl Ready {
    /// Wraps an opened file.
    pub fn new(opened: Opened) -> Self {
        Self { opened, take }
    }

    /// Applies the file, as a new history entry or as part of the current one.
    pub fn take(self, session: Session, step: Step) {
        (self.take)(session, self.opened, step);
    }
}

fn take(session: Session, opened: Opened, step: Step) {
    match opened {
        Opened::Device(device) => {
            session.edit(step, |inputs| inputs.set_device(Cow::Owned(*device)));
        }
        Opened::Own(own) => measurements(session, own, step),
        Opened::Model(opened) => model(session, opened),
    }
}

/// Measurements need their device: the current one, or one of the catalog.
fn measurements(session: Session, own: Own, step: Step) {
    let present = session.inputs.with_untracked(|inputs| inputs.device.clone());
    let device = if *present.key == *own.device {
        present
    } else if let Ok(device) = catalog::device(&own.device) {
        Cow::Borrowed(device)
    } else {
        let text = format!(
            "These measurements are of `{}`, which the page does not know; open its device file first.",
            own.device
        );
        session.notes.update(|notes| notes.push(Note { text }));
        return;
    };
    session.edit(step, |inputs| {
        inputs.set_device(device);
        inputs.own = Some(Arc::new(own));
    });
}

fn model(session: Session, model: OpenedModel) {
    session.edit(Step::Choice, |inputs| match (inputs.view, model.presets.first()) {
        (View::Plan | View::Compare | View::Explore | View::Model, _) => {
            (model.take)(&model, inputs);
        }
        (View::Kernel | View::Trust | View::Measure, Some(first)) => first.apply(inputs),
        (View::Kernel | View::Trust | View::Measure, None) => {}
    });
    session.model.set(Some(model));
}
