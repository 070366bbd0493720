//! The profile: one's own name, language, password and sessions.

use super::deed::settle;
use super::frame::Frame;
use super::part::{Cell, Facts, FaultList, Input, Inputs};
use super::words::Words;
use super::{asset, render};
use crate::domain::form::{Form, text};
use crate::domain::language::{Language, OWN_LANGUAGE};
use crate::domain::password::PASSWORD_BYTES_MAX;
use crate::domain::session::OwnSession;
use crate::domain::user::OWN_NAME;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::PasswordChange;
use askama::Template;
use serde_json::json;

const PATH: &str = "/profile";
/// What ends all sessions but this one.
const OTHERS: &str = "others";

/// Changing the password.
pub static NEW_PASSWORD: Form = Form {
    name: "NewPassword",
    fields: &[
        text("old_password", PASSWORD_BYTES_MAX).required(),
        text("new_password", PASSWORD_BYTES_MAX).required(),
    ],
    read_only: &[],
};

/// Ending a session, or all others.
pub static END_SESSION: Form =
    Form { name: "EndSession", fields: &[text("session", 64).required()], read_only: &[] };

struct SessionRow {
    id: String,
    /// Is it the one that asks?
    here: bool,
    agent: Cell,
    began: Cell,
    used: Cell,
}

#[derive(Template)]
#[template(path = "profile.html")]
struct ProfilePage {
    frame: Frame,
    facts: Facts,
    faults: Option<FaultList>,
    name: Input,
    old_password: Input,
    new_password: Input,
    language: Input,
    sessions: Vec<SessionRow>,
}

/// `GET /profile`
pub fn page(visit: &Visit) -> Answer {
    Ok(Reply::html(made(visit, None, None)?))
}

fn made(visit: &Visit, name: Option<Faults>, password: Option<Faults>) -> Result<String, Error> {
    let (words, person, tenant) = (Words::of(visit), visit.person()?, visit.tenant()?);
    let user = tenant.user(&person.user_id)?;
    let mut names = Inputs::of(words, "profile", &OWN_NAME, json!({ "name": user.name }));
    let mut passwords = Inputs::of(words, "profile", &NEW_PASSWORD, json!({}));
    let failed = |faults: &Faults| !faults.fields.is_empty() || !faults.summary.is_empty();
    if let Some(faults) = name.filter(failed) {
        names = names.again(visit, faults);
    }
    if let Some(faults) = password.filter(failed) {
        passwords = passwords.again(visit, faults);
    }
    let chosen = person.language.map_or("browser", Language::name);
    let languages = Inputs::of(words, "profile", &OWN_LANGUAGE, json!({ "language": chosen }));
    let sessions = tenant.sessions(&person.user_id)?;
    let facts = Facts::default()
        .with(words.field("profile", "email"), Cell::text(&user.email))
        .with(words.field("profile", "role"), Cell::text(words.word(user.role.name())))
        .with(words.field("profile", "tenant"), Cell::text(&user.tenant))
        .with(words.field("profile", "created_at"), Cell::moment(words, user.created_at_ms));
    render(&ProfilePage {
        frame: Frame::of(visit, PATH)?,
        facts,
        faults: names.faults().or_else(|| passwords.faults()),
        name: names.typed("name", "text", "name"),
        old_password: passwords.typed("old_password", "password", "current-password"),
        new_password: passwords.typed("new_password", "password", "new-password"),
        language: languages.field("language"),
        sessions: sessions.iter().map(|session| row(words, session, &person.id)).collect(),
    })
}

fn row(words: Words, session: &OwnSession, here: &str) -> SessionRow {
    let agent = Cell::optional(words, session.agent.as_deref());
    SessionRow {
        id: session.id.clone(),
        here: session.id == here,
        agent: agent.below(session.address.as_deref().unwrap_or_default()),
        began: Cell::moment(words, session.created_at),
        used: Cell::moment(words, session.seen_at),
    }
}

/// `POST /profile`
pub fn rename(visit: &Visit) -> Answer {
    let person = visit.person()?;
    let name = visit.sent.values().map(|values| values.text("name").unwrap_or_default().to_owned());
    settle(
        name.and_then(|name| visit.tenant()?.rename_user(&person.user_id, &name)),
        |_| Ok(visit.go(PATH, Notice::new("done.name_changed"))),
        |faults| made(visit, Some(faults), None),
    )
}

/// `POST /profile/language`
pub fn choose_language(visit: &Visit) -> Answer {
    let (person, values) = (visit.person()?, visit.sent.values()?);
    let language = values.text("language").and_then(Language::parse);
    visit.tenant()?.choose_language(&person.user_id, language)?;
    Ok(visit.go(PATH, Notice::new("done.language_changed")))
}

/// `POST /profile/password`
pub fn change_password(visit: &Visit) -> Answer {
    let (words, person) = (Words::of(visit), visit.person()?);
    let again = |faults: Faults| made(visit, None, Some(faults));
    if let Err(Error::Invalid(faults)) = visit.sent.values() {
        return Ok(Reply::faulty_page(again(faults)?));
    }
    let field = |name| visit.sent.text(name).unwrap_or_default();
    let (old, new) = (field("old_password"), field("new_password"));
    let whole = |text: String| Faults { summary: text, ..Faults::default() };
    match visit.tenant()?.change_password(&person.user_id, old, new, &person.id)? {
        PasswordChange::Done(token) => {
            Ok(visit.let_in(visit.go(PATH, Notice::new("done.password_changed")), &token))
        }
        PasswordChange::Wrong => {
            let faults = Faults::one("old_password", words.t("profile.wrong"));
            Ok(Reply::faulty_page(again(faults)?))
        }
        PasswordChange::Refused(reason) => {
            Ok(Reply::faulty_page(again(Faults::one("new_password", reason))?))
        }
        PasswordChange::Wait { seconds } => {
            let page = again(whole(words.count("sign_in.wait", seconds)))?;
            Ok(Reply::busy_page(page, seconds))
        }
        PasswordChange::Busy => Ok(Reply::busy_page(again(whole(words.t("sign_in.busy").into()))?, 1)),
    }
}

/// `POST /profile/sessions`
pub fn end_session(visit: &Visit) -> Answer {
    let (person, tenant) = (visit.person()?, visit.tenant()?);
    match visit.sent.text("session").unwrap_or_default() {
        OTHERS => {
            let ended = tenant.end_other_sessions(&person.user_id, &person.id)?;
            Ok(visit.go(PATH, Notice::with("done.sessions_ended", ended)))
        }
        session => {
            tenant.end_session(&person.user_id, session)?;
            Ok(visit.go(PATH, Notice::with("done.sessions_ended", 1)))
        }
    }
}
