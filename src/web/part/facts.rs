//! Facts: names and values, one below the other.

use super::cell::Cell;
use askama::Template;

/// A list of names and values.
#[derive(Debug, Default, Template)]
#[template(path = "part/facts.html")]
pub struct Facts {
    rows: Vec<(String, Cell)>,
}

impl Facts {
    /// With one more.
    pub fn with(mut self, name: impl Into<String>, value: Cell) -> Facts {
        self.rows.push((name.into(), value));
        self
    }
}
