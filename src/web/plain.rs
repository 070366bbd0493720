//! Plain pages: a list, one object, a form. For nouns whose pages need nothing of their own.

use super::frame::Frame;
use super::part::{Cell, Empty, Facts, FaultList, Filters, Heads, History, Input, Pager};
use super::{asset, render};
use crate::error::Error;
use askama::Template;

/// A link that does something: where, what it says, and whether it is the main one.
pub type Action = (String, &'static str, bool);

/// A cell of a list, with the name of its column for narrow screens.
pub struct Slot {
    /// The column's name.
    pub label: String,
    /// A class of the stylesheet.
    pub class: &'static str,
    /// What it shows.
    pub cell: Cell,
}

/// A list.
#[derive(Template)]
#[template(path = "plain_list.html")]
pub struct PlainList {
    /// The frame.
    pub frame: Frame,
    /// What is listed.
    pub title: &'static str,
    /// What that is.
    pub lead: String,
    /// What can be done.
    pub actions: Vec<Action>,
    /// The filter.
    pub filters: Filters,
    /// The heads of the table.
    pub heads: Heads,
    /// The first cell of each row, and the others.
    pub rows: Vec<(Cell, Vec<Slot>)>,
    /// Pages.
    pub pager: Pager,
    /// What is said where nothing is.
    pub empty: Empty,
}

impl PlainList {
    /// The page.
    pub fn page(&self) -> Result<String, Error> {
        render(self)
    }
}

/// A part of an object's page.
pub struct Section {
    /// What it is about.
    pub title: String,
    /// A text, as it was typed; empty for none.
    pub text: String,
    /// Lines: what, and what stands at its end.
    pub lines: Vec<(Cell, Cell)>,
    /// Where all of them are; empty if these are all.
    pub more: Option<(String, &'static str)>,
}

/// One object.
#[derive(Template)]
#[template(path = "plain_show.html")]
pub struct PlainShow {
    /// The frame.
    pub frame: Frame,
    /// The list it is in: where, and what that is.
    pub list: (&'static str, &'static str),
    /// Its name.
    pub title: String,
    /// What stands below its name.
    pub meta: Vec<Cell>,
    /// What can be done.
    pub actions: Vec<Action>,
    /// Its parts.
    pub sections: Vec<Section>,
    /// Its facts.
    pub facts: Facts,
    /// Its history, if it has one.
    pub history: Option<History>,
}

impl PlainShow {
    /// The page.
    pub fn page(&self) -> Result<String, Error> {
        render(self)
    }
}

/// A form.
#[derive(Template)]
#[template(path = "plain_form.html")]
pub struct PlainForm {
    /// The frame.
    pub frame: Frame,
    /// The list it belongs to: where, and what that is.
    pub list: (&'static str, &'static str),
    /// What the form is.
    pub title: &'static str,
    /// What stands above it.
    pub lead: String,
    /// Where it goes.
    pub action: String,
    /// Where one comes back to.
    pub back: String,
    /// What is wrong with it.
    pub faults: Option<FaultList>,
    /// Its fields.
    pub fields: Vec<Input>,
    /// What its button says.
    pub save: &'static str,
}

impl PlainForm {
    /// The page.
    pub fn page(&self) -> Result<String, Error> {
        render(self)
    }
}
