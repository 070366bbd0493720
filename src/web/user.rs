//! Users: who is in, as what; bringing somebody in by a link that is shown once; switching off.

use super::confirm::Confirm;
use super::frame::Frame;
use super::part::{Cell, FaultList, Input, Inputs, Pager, badge};
use super::words::Words;
use super::{asset, render};
use crate::domain::query::{OFFSET, Param};
use crate::domain::session::Token;
use crate::domain::user::{NEW_USER, Role, User};
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use askama::Template;
use serde_json::json;

const NOUN: &str = "user";
const PATH: &str = "/users";

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[OFFSET];

struct Row {
    id: String,
    name: Cell,
    state: Cell,
    /// Value, text, chosen.
    roles: Vec<(&'static str, String, bool)>,
    since: Cell,
    off: bool,
    /// Oneself cannot send oneself a link.
    own: bool,
}

/// A link that is shown this once.
struct Link {
    email: String,
    address: String,
}

#[derive(Template)]
#[template(path = "users.html")]
struct UsersPage {
    frame: Frame,
    link: Option<Link>,
    faults: Option<FaultList>,
    rows: Vec<Row>,
    pager: Pager,
    email: Input,
    name: Input,
    role: Input,
}

/// `GET /users`
pub fn list(visit: &Visit) -> Answer {
    Ok(Reply::html(made(visit, None, None)?))
}

fn made(visit: &Visit, link: Option<Link>, faults: Option<Faults>) -> Result<String, Error> {
    let (words, own) = (Words::of(visit), &visit.person()?.user_id);
    let users = visit.tenant()?.users()?;
    let page = visit.query.page();
    let shown = &users[page.range(users.len())];
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &NEW_USER, json!({ "role": "viewer" }));
    if let Some(faults) = faults {
        inputs = inputs.again(visit, faults);
    }
    let row = |user: &User| Row {
        id: user.id.clone(),
        name: match user.name.is_empty() {
            true => Cell::text(&user.email),
            false => Cell::text(&user.name).below(&user.email),
        },
        state: badge(words, state(user)),
        roles: Role::NAMES.iter().map(|role| (*role, words.word(role), *role == user.role.name())).collect(),
        since: Cell::moment(words, user.created_at_ms),
        off: user.disabled_at_ms.is_some(),
        own: user.id == *own,
    };
    render(&UsersPage {
        frame: Frame::of(visit, PATH)?,
        link,
        faults: inputs.faults(),
        rows: shown.iter().map(row).collect(),
        pager: Pager::of(words, PATH, &visit.query, page, shown.len(), users.len() as u64),
        email: inputs.typed("email", "email", "off"),
        name: inputs.field("name"),
        role: inputs.field("role"),
    })
}

fn state(user: &User) -> &'static str {
    match (user.disabled_at_ms, user.has_password) {
        (Some(_), _) => "disabled",
        (None, false) => "invited",
        (None, true) => "on",
    }
}

/// `POST /users`
pub fn invite(visit: &Visit) -> Answer {
    let invited = visit.sent.values().and_then(|values| {
        let role = values.text("role").and_then(Role::parse).unwrap_or(Role::Viewer);
        let (email, name) =
            (values.text("email").unwrap_or_default(), values.text("name").unwrap_or_default());
        visit.tenant()?.invite_user(email, name, role)
    });
    match invited {
        Ok((user, token)) => shown_once(visit, user.email, &token),
        Err(error) => refused(visit, error),
    }
}

/// The link stands in this answer and nowhere else: it is not stored, so a redirect would lose it.
fn shown_once(visit: &Visit, email: String, token: &Token) -> Answer {
    let address = format!("{}/invitation/{}", visit.app.base_url, token.reveal());
    Ok(Reply::html(made(visit, Some(Link { email, address }), None)?))
}

fn refused(visit: &Visit, error: Error) -> Answer {
    let Error::Invalid(faults) = error else { return Err(error) };
    Ok(Reply::faulty_page(made(visit, None, Some(faults))?))
}

/// `POST /users/{user}/link`
pub fn invite_again(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    let user = tenant.user(&visit.id)?;
    match tenant.invite_again(&user.id) {
        Ok(token) => shown_once(visit, user.email, &token),
        Err(error) => refused(visit, error),
    }
}

/// `POST /users/{user}/role`
pub fn change_role(visit: &Visit) -> Answer {
    let changed = visit.sent.values().and_then(|values| {
        let role = values.text("role").and_then(Role::parse).ok_or(Error::NotFound("role"))?;
        visit.tenant()?.change_role(&visit.id, role)
    });
    match changed {
        Ok(_) => Ok(visit.go(PATH, Notice::new("done.role_changed"))),
        Err(error) => refused(visit, error),
    }
}

/// `GET /users/{user}/disable`
pub fn ask_disable(visit: &Visit) -> Answer {
    confirm(visit)?.answer(None)
}

/// `POST /users/{user}/disable`
pub fn disable(visit: &Visit) -> Answer {
    match visit.tenant()?.disable_user(&visit.id) {
        Ok(_) => Ok(visit.go(PATH, Notice::new("done.user_disabled"))),
        Err(error) => confirm(visit)?.answer(Some(error)),
    }
}

fn confirm(visit: &Visit) -> Result<Confirm, Error> {
    let user = visit.tenant()?.user(&visit.id)?;
    Ok(Confirm {
        frame: Frame::of(visit, PATH)?,
        title: Words::of(visit).say("user.disable_title", &[("email", &user.email)]),
        text: Words::of(visit).t("user.disable_text").to_owned(),
        action: format!("{PATH}/{}/disable", user.id),
        button: Words::of(visit).t("user.disable"),
        back: PATH.to_owned(),
        faults: None,
    })
}

/// `POST /users/{user}/enable`
pub fn enable(visit: &Visit) -> Answer {
    visit.tenant()?.enable_user(&visit.id)?;
    Ok(visit.go(PATH, Notice::new("done.user_enabled")))
}
