//! What becomes of a deed: on to the next page, or the same page again with what was wrong.

use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};

/// `next` after what was done, `again` after what does not fit; anything else is for the error page.
pub fn settle<T>(
    done: Result<T, Error>,
    next: impl FnOnce(T) -> Answer,
    again: impl FnOnce(Faults) -> Result<String, Error>,
) -> Answer {
    match done {
        Ok(done) => next(done),
        Err(Error::Invalid(faults)) => Ok(Reply::faulty_page(again(faults)?)),
        Err(other) => Err(other),
    }
}

/// Adds a note to the object at `path`, whose page is `page`.
pub fn note(
    visit: &Visit,
    path: &str,
    page: impl FnOnce(&Visit, Option<Faults>) -> Result<String, Error>,
) -> Answer {
    let body = visit.sent.values().map(|values| values.text("body").unwrap_or_default().to_owned());
    let noted = body.and_then(|body| visit.tenant()?.add_note(&visit.id, &body));
    let next = |_| Ok(visit.go(path, Notice::new("done.noted")));
    settle(noted, next, |faults| page(visit, Some(faults)))
}
