//! Signing in and out, and the first password by an invitation.

use super::part::{FaultList, Input, Inputs};
use super::words::Words;
use super::{asset, render};
use crate::app::PLATFORM_VERSION;
use crate::domain::form::{Form, text};
use crate::domain::password::PASSWORD_BYTES_MAX;
use crate::domain::query::{Param, ParamKind, encode};
use crate::error::{Error, Faults};
use crate::http::visit::local_path;
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::{Invitation, SignIn};
use askama::Template;
use serde_json::json;

/// What the sign-in page may be asked for.
pub static PARAMS: &[Param] =
    &[Param { name: "next", kind: ParamKind::Text { max_chars: 2000 }, says: "Where to go afterwards." }];

/// What the form sends. What does not fit is as wrong as a wrong password.
pub static SIGN_IN: Form = Form {
    name: "SignIn",
    fields: &[text("email", 254).required(), text("password", PASSWORD_BYTES_MAX).required()],
    read_only: &[],
};

/// What the form of an invitation sends.
pub static FIRST_PASSWORD: Form = Form {
    name: "FirstPassword",
    fields: &[text("name", 255).nullable(), text("password", PASSWORD_BYTES_MAX).required()],
    read_only: &[],
};

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignInPage {
    words: Words,
    token: String,
    next: String,
    notice: Option<&'static str>,
    faults: Option<FaultList>,
    email: Input,
    password: Input,
    version: &'static str,
}

#[derive(Template)]
#[template(path = "invitation.html")]
struct InvitationPage {
    words: Words,
    token: String,
    action: String,
    /// Who was invited, and to where; none if the link counts no more.
    invited: Option<(String, String)>,
    faults: Option<FaultList>,
    name: Input,
    password: Input,
    version: &'static str,
}

/// `GET /sign-in`
pub fn page(visit: &Visit) -> Answer {
    let next = visit.query.get("next").and_then(local_path);
    if visit.session.is_some() {
        return Ok(Reply::see_other(next.unwrap_or("/")));
    }
    Ok(Reply::html(sign_in_page(visit, next, None)?))
}

fn sign_in_page(visit: &Visit, next: Option<&str>, fault: Option<String>) -> Result<String, Error> {
    let typed = visit.sent.text("email").unwrap_or_default();
    let inputs = Inputs::of(Words::of(visit), "sign_in", &SIGN_IN, json!({ "email": typed }));
    let notice = match visit.arrival.notice.as_deref() {
        Some("done.signed_out") => Some(Words::of(visit).t("done.signed_out")),
        Some("done.password_set") => Some(Words::of(visit).t("done.password_set")),
        Some(_) | None => None,
    };
    render(&SignInPage {
        words: Words::of(visit),
        token: visit.token.clone(),
        next: next.map(|next| format!("?next={}", encode(next))).unwrap_or_default(),
        notice,
        faults: fault.map(FaultList::one),
        email: inputs.typed("email", "email", "username"),
        password: inputs.typed("password", "password", "current-password"),
        version: PLATFORM_VERSION,
    })
}

/// `POST /sign-in`
pub fn sign_in(visit: &Visit) -> Answer {
    let next = visit.query.get("next").and_then(local_path);
    let field = |name| visit.sent.text(name).unwrap_or_default();
    let outcome = visit.app.store.sign_in(
        field("email"),
        field("password"),
        &visit.visitor(),
        visit.arrival.session.as_deref(),
    )?;
    let again = |fault: String| sign_in_page(visit, next, Some(fault));
    match outcome {
        SignIn::Welcome(token) => Ok(visit.let_in(Reply::see_other(next.unwrap_or("/")), &token)),
        SignIn::Wrong => Ok(Reply::faulty_page(again(Words::of(visit).t("sign_in.wrong").into())?)),
        SignIn::Wait { seconds } => {
            Ok(Reply::busy_page(again(Words::of(visit).count("sign_in.wait", seconds))?, seconds))
        }
        SignIn::Busy => Ok(Reply::busy_page(again(Words::of(visit).t("sign_in.busy").into())?, 1)),
    }
}

/// `POST /sign-out`
pub fn sign_out(visit: &Visit) -> Answer {
    if let Some(cookie) = &visit.arrival.session {
        visit.app.store.sign_out(cookie, visit.visitor().address)?;
    }
    Ok(visit.let_out(visit.go("/sign-in", Notice::new("done.signed_out"))))
}

/// `GET /invitation/{token}`
pub fn invitation(visit: &Visit) -> Answer {
    let page = invitation_page(visit, Faults::default())?;
    Ok(Reply::html(page))
}

fn invitation_page(visit: &Visit, faults: Faults) -> Result<String, Error> {
    let invited = visit.app.store.invited(&visit.id)?;
    let known = invited.as_ref().map(|user| user.name.clone()).unwrap_or_default();
    let inputs = Inputs::of(Words::of(visit), "invitation", &FIRST_PASSWORD, json!({ "name": known }))
        .again(visit, faults);
    render(&InvitationPage {
        words: Words::of(visit),
        token: visit.token.clone(),
        action: format!("/invitation/{}", encode(&visit.id)),
        invited: invited.map(|user| (user.email, user.tenant)),
        faults: inputs.faults(),
        name: inputs.typed("name", "text", "name"),
        password: inputs.typed("password", "password", "new-password"),
        version: PLATFORM_VERSION,
    })
}

/// `POST /invitation/{token}`
pub fn accept(visit: &Visit) -> Answer {
    let field = |name| visit.sent.text(name).unwrap_or_default();
    let outcome = match visit.app.store.use_invitation(&visit.id, field("name"), field("password")) {
        Err(Error::Invalid(faults)) => return Ok(Reply::faulty_page(invitation_page(visit, faults)?)),
        other => other?,
    };
    match outcome {
        Invitation::Used { .. } => Ok(visit.go("/sign-in", Notice::new("done.password_set"))),
        Invitation::Gone => Ok(Reply::faulty_page(invitation_page(visit, Faults::default())?)),
        Invitation::Refused(reason) => {
            Ok(Reply::faulty_page(invitation_page(visit, Faults::one("password", reason))?))
        }
        Invitation::Busy => {
            let busy = Faults { summary: Words::of(visit).t("sign_in.busy").into(), ..Faults::default() };
            Ok(Reply::busy_page(invitation_page(visit, busy)?, 1))
        }
    }
}
