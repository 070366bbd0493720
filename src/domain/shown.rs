//! A field of a form, as a record shows it: what may be set and what is seen are told once.

use super::form::{Field, Kind};
use crate::shape::{Is, Shown};

impl Field {
    /// The same field in an answer. A list of objects has a shape of its own, which its noun writes.
    pub const fn shown(self) -> Shown {
        let is = match self.kind {
            Kind::Text { .. } | Kind::Uri { .. } | Kind::Shaped { .. } | Kind::Capitals { .. } => Is::Text,
            Kind::Integer { .. } => Is::Whole,
            Kind::Number { .. } => Is::Number,
            Kind::Switch => Is::Flag,
            Kind::Choice(of) => Is::Word(of),
            Kind::Choices(of) => Is::Words(of),
            Kind::Codes(_) | Kind::Texts { .. } => Is::List(&Is::Text),
            Kind::Day => Is::Day,
            Kind::Time => Is::Time,
            Kind::Keyed { .. } | Kind::Record(_) | Kind::Records { .. } => Is::Anything,
        };
        let shown = Shown::new(self.name, is).says(self.says).such_as(self.such_as);
        if self.nullable { shown.nullable() } else { shown }
    }
}
