//! The page between a wish and what cannot be undone.

use super::frame::Frame;
use super::part::FaultList;
use super::{asset, render};
use crate::error::Error;
use crate::http::{Answer, Reply};
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
