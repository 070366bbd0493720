//! Parts of pages: small templates with their values. A page puts one in with `{{ part|safe }}`: each part escapes
//! what it shows, and nothing else is ever marked safe.

mod cell;
mod facts;
mod filters;
mod history;
mod input;
mod list;

pub use cell::{Cell, badge};
pub use facts::Facts;
pub use filters::Filters;
pub use history::{History, shown_change, who};
pub use input::{FaultList, Input, Inputs};
pub use list::{Column, Empty, Heads, Pager, column};
