//! The page between a wish and what cannot be undone.

use super::frame::Frame;
use super::part::FaultList;
use super::words::Words;
use super::{asset, render};
use crate::error::Error;
use crate::http::{Answer, Reply, Visit};
use askama::Template;

/// The page.
#[derive(Template)]
#[template(path = "confirm.html")]
pub struct Confirm {
    /// The frame.
    pub frame: Frame,
    /// The question.
    pub title: String,
    /// What will happen.
    pub text: String,
    /// Where the answer goes.
    pub action: String,
    /// What the button says.
    pub button: &'static str,
    /// Where one comes back to.
    pub back: String,
    /// Why it was refused, after a try.
    pub faults: Option<FaultList>,
}

impl Confirm {
    /// Asks whether to delete what is at `address` and called `name`; the words are those of its noun.
    pub fn deletion(
        visit: &Visit,
        list: &str,
        noun: &str,
        address: String,
        name: &str,
    ) -> Result<Confirm, Error> {
        let words = Words::of(visit);
        Ok(Confirm {
            frame: Frame::of(visit, list)?,
            title: words.say(&format!("{noun}.delete_title"), &[("name", name)]),
            text: words.t(&format!("{noun}.delete_text")).to_owned(),
            action: format!("{address}/delete"),
            button: words.t(&format!("{noun}.delete")),
            back: address,
            faults: None,
        })
    }

    /// The question, or what became of a refused yes.
    pub fn answer(mut self, refused: Option<Error>) -> Answer {
        match refused {
            None => Ok(Reply::html(render(&self)?)),
            Some(Error::Invalid(faults)) => {
                self.faults = Some(FaultList::refused(self.frame.words, &faults));
                Ok(Reply::faulty_page(render(&self)?))
            }
            Some(other) => Err(other),
        }
    }
}
