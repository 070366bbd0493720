//! The compliance timeline in the v2 envelope: the same rows as v1, with the filters of v2.

use crate::api::v1::timeline::{CATEGORY, STATUS};
use crate::app::App;
use crate::domain::query::{LIMIT, OFFSET, Param, SEARCH};
use crate::http::envelope::v2_list;
use crate::http::{Answer, Request};

/// What the list may be asked for. Milestones have no level.
pub static PARAMS: &[Param] = &[LIMIT, OFFSET, SEARCH, STATUS, CATEGORY];

/// A page of milestones, by date.
pub fn list(request: &Request, app: &App) -> Answer {
    v2_list(&app.store.milestones(&request.query)?)
}
