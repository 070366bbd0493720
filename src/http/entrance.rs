//! The entrance of the workspace: the one place that asks who comes, whether a form is ours, and whether the role
//! lets them. Behind it no page thinks about cookies and tokens.
//!
//! A key opens nothing here, as a cookie opens nothing at the API. GET changes nothing; that a file was taken is noted.
//! Only a row that takes files takes forms with files.

use super::cookie;
use super::reply::{Answer, Reply};
use super::route::{Handler, Route, Verb};
use super::site::Site;
use super::visit::{Arrival, Visit, local_path};
use crate::app::App;
use crate::domain::audit::Event;
use crate::domain::multipart::boundary;
use crate::domain::query::{Query, encode};
use crate::domain::sent::Sent;
use crate::domain::session::Session;
use crate::domain::user::Act;
use crate::error::Error;
use hyper::StatusCode;

const FORM: &str = "application/x-www-form-urlencoded";
/// The field that carries the token.
const TOKEN: &str = "token";

/// Lets a request for a page in and answers it, or says why not.
pub fn answer(
    app: &App,
    site: &'static Site,
    route: &'static Route,
    id: String,
    arrival: &mut Arrival,
    body: &[u8],
) -> Answer {
    let changes = route.verb != Verb::Get;
    if changes {
        check_origin(app, route, arrival)?;
    }
    let kind = arrival.content_type.as_deref().unwrap_or_default();
    let sent = match boundary(kind) {
        _ if !changes => Sent::default(),
        Some(boundary) => Sent::read_parts(body, boundary, route.takes),
        None => Sent::read(body, route.takes),
    };
    let session = match &arrival.session {
        Some(cookie) => app.store.session(cookie)?,
        None => None,
    };
    arrival.language = session.as_ref().and_then(|session| session.language).unwrap_or(arrival.language);
    let arrival = &*arrival;
    // Who is not signed in is asked for that first, whatever the address says.
    let visit = |session, token| {
        let query = Query::of_page(&arrival.query, route.asks).map_err(Error::Invalid)?;
        Ok::<_, Error>(Visit { app, site, arrival, id, query, sent, session, token })
    };
    match route.handler {
        Handler::Signed(act, handle) => {
            let Some(session) = session else { return turn_away(changes, arrival) };
            let token = app.store.form_token(&session.id)?;
            let visit = visit(Some(session.clone()), token)?;
            if changes && !app.store.is_form_token(&session.id, given_token(&visit))? {
                return Err(Error::Denied(STALE));
            }
            check_role(app, route, act, &session, &visit)?;
            Ok(without_notice(handle(&visit)?, changes, arrival))
        }
        Handler::Guest(handle) => {
            let (cookie, fresh) = match &arrival.visit {
                Some(cookie) => (cookie.clone(), None),
                None if changes => return Err(Error::Denied(STALE)),
                None => {
                    let made = app.store.make_visit()?;
                    (made.reveal().to_owned(), Some(made))
                }
            };
            let visit = visit(session, app.store.visit_token(&cookie)?)?;
            if changes && !app.store.is_visit_token(&cookie, given_token(&visit))? {
                return Err(Error::Denied(STALE));
            }
            let reply = without_notice(handle(&visit)?, changes, arrival);
            Ok(match fresh {
                Some(made) => reply.cookie(&arrival.jar.set(cookie::VISIT, made.reveal(), None)),
                None => reply,
            })
        }
        Handler::Whole(_)
        | Handler::Once(_)
        | Handler::Service(_)
        | Handler::Shared(_)
        | Handler::Filtered(_)
        | Handler::Tenant(_)
        | Handler::Beside(_)
        | Handler::Platform(_)
        | Handler::Open(_)
        | Handler::Later(_) => Err(Error::Internal("no page of the workspace".into())),
    }
}

const STALE: &str = "This form is too old, or did not come from this page. Nothing was changed. Go back, load the page again, and repeat it.";
const FOREIGN: &str = "This form did not come from this site. Nothing was changed.";

/// A form has to come from a page of ours: browsers say so themselves.
fn check_origin(app: &App, route: &Route, arrival: &Arrival) -> Result<(), Error> {
    let ours = match (&arrival.fetch_site, &arrival.origin) {
        (Some(site), _) => site == "same-origin",
        (None, Some(origin)) => *origin == origin_of(&app.base_url),
        (None, None) => false,
    };
    let kind = arrival.content_type.as_deref().unwrap_or_default();
    let form = kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case(FORM));
    let form = form || route.file_max > 0 && boundary(kind).is_some();
    if ours && form { Ok(()) } else { Err(Error::Denied(FOREIGN)) }
}

/// Scheme, host and port of an address.
fn origin_of(base_url: &str) -> String {
    let (scheme, rest) = base_url.split_once("://").unwrap_or(("", base_url));
    format!("{scheme}://{}", rest.split('/').next().unwrap_or_default()).to_lowercase()
}

fn given_token<'a>(visit: &'a Visit) -> &'a str {
    visit.arrival.token.as_deref().or_else(|| visit.sent.text(TOKEN)).unwrap_or_default()
}

/// Nobody is signed in: a page waits behind the sign-in, a change does not.
fn turn_away(changes: bool, arrival: &Arrival) -> Answer {
    if changes {
        return Err(Error::Denied("You are signed out. Nothing was changed. Sign in and repeat it."));
    }
    let wanted = match arrival.query.as_str() {
        "" => arrival.path.clone(),
        query => format!("{}?{query}", arrival.path),
    };
    let next = local_path(&wanted).filter(|wanted| *wanted != "/");
    let next = next.map(|wanted| format!("?next={}", encode(wanted))).unwrap_or_default();
    Ok(Reply::see_other(&format!("/sign-in{next}")))
}

fn check_role(app: &App, route: &Route, act: Act, session: &Session, visit: &Visit) -> Result<(), Error> {
    if session.role.may(act) {
        return Ok(());
    }
    let detail = format!("{} as {}", route.name(), session.role.name());
    let actor = session.actor(visit.visitor().address);
    app.store.note_refusal(Event::PermissionRefused, &session.tenant_id, actor, Some(detail));
    Err(Error::Denied("Your role does not allow this. An owner of your workspace can change your role."))
}

/// A notice is shown once.
fn without_notice(reply: Reply, changes: bool, arrival: &Arrival) -> Reply {
    let shown = !changes && arrival.notice.is_some() && reply.status == StatusCode::OK;
    if shown { reply.cookie(&arrival.jar.clear(cookie::NOTICE)) } else { reply }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_no_path() {
        assert_eq!(origin_of("https://Bank.example/holdfast"), "https://bank.example");
        assert_eq!(origin_of("http://127.0.0.1:8080"), "http://127.0.0.1:8080");
    }
}
