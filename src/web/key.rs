//! API keys: made and shown once, revoked with or without what came of them.

use super::deed::settle;
use super::frame::Frame;
use super::part::{Cell, FaultList, Input, Inputs, Pager};
use super::time;
use super::words::Words;
use super::{asset, render};
use crate::domain::day::Day;
use crate::domain::form::{Form, choice};
use crate::domain::key::{ApiKey, Expiry, WORKSPACE_KEY};
use crate::domain::query::{OFFSET, Param};
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::Reach;
use askama::Template;
use serde_json::json;

const NOUN: &str = "key";
const PATH: &str = "/api-keys";
/// So many days before its end a key is marked.
const ENDS_SOON_DAYS: i64 = 14;

/// What the list may be asked for.
pub static PARAMS: &[Param] = &[OFFSET];

/// Revoking a key.
pub static REVOKE: Form =
    Form { name: "RevokeKey", fields: &[choice("reach", &["alone", "descendants"])], read_only: &[] };

struct Row {
    id: String,
    name: String,
    prefix: String,
    permissions: String,
    created: Cell,
    used: Cell,
    expires: Cell,
    /// Why it counts no more; empty while it does.
    over: String,
}

/// A key that is shown this once.
struct Fresh {
    name: String,
    secret: String,
    /// Where one goes on to.
    next: &'static str,
}

#[derive(Template)]
#[template(path = "keys.html")]
struct KeysPage {
    frame: Frame,
    base_url: String,
    fresh: Option<Fresh>,
    faults: Option<FaultList>,
    counts: String,
    rows: Vec<Row>,
    pager: Pager,
    name: Input,
    permissions: Input,
    expires: Input,
}

#[derive(Template)]
#[template(path = "key_revoke.html")]
struct RevokePage {
    frame: Frame,
    id: String,
    title: String,
}

/// `GET /api-keys`
pub fn list(visit: &Visit) -> Answer {
    Ok(Reply::html(made(visit, None, None)?))
}

fn made(visit: &Visit, fresh: Option<Fresh>, faults: Option<Faults>) -> Result<String, Error> {
    let (words, now_ms) = (Words::of(visit), visit.app.clock.now_ms());
    let keys = visit.tenant()?.keys()?;
    let page = visit.query.page();
    let shown = &keys[page.range(keys.len())];
    let mut inputs = Inputs::of(Words::of(visit), NOUN, &WORKSPACE_KEY, json!({ "expires": "365" }));
    if let Some(faults) = faults {
        inputs = inputs.again(visit, faults);
    }
    let expiries = Expiry::NAMES.iter().map(|expiry| {
        let text = words.t(&format!("key.expires.{expiry}"));
        ((*expiry).to_owned(), text.to_owned())
    });
    let live = keys.iter().filter(|key| key.is_live(now_ms)).count() as u64;
    render(&KeysPage {
        frame: Frame::of(visit, PATH)?,
        base_url: visit.app.base_url.clone(),
        fresh,
        faults: inputs.faults(),
        counts: words.count("key.live", live),
        rows: shown.iter().map(|key| row(words, key, now_ms)).collect(),
        pager: Pager::of(words, PATH, &visit.query, page, shown.len(), keys.len() as u64),
        name: inputs.field("name"),
        permissions: inputs.field("permissions"),
        expires: inputs.pick("expires", expiries.collect()),
    })
}

fn row(words: Words, key: &ApiKey, now_ms: i64) -> Row {
    let mut permissions = vec![words.t("key.read").to_owned()];
    permissions.extend(key.permissions.names().iter().map(|name| words.word(name)));
    let over = match (key.revoked_at_ms, key.is_live(now_ms)) {
        (Some(at), _) => words.say("key.revoked", &[("at", &time::moment(words, at))]),
        (None, false) => words.t("key.expired").to_owned(),
        (None, true) => String::new(),
    };
    Row {
        id: key.id.clone(),
        name: key.name.clone(),
        prefix: format!("{}…", key.prefix),
        permissions: permissions.join(", "),
        created: Cell::moment(words, key.created_at_ms),
        used: match key.last_used_at_ms {
            Some(at) => Cell::moment(words, at),
            None => Cell { class: "faint", ..Cell::text(words.t("key.never_used")) },
        },
        expires: expires(words, key, now_ms),
        over,
    }
}

/// The day on which it ends; one that ends soon says in how many days.
fn expires(words: Words, key: &ApiKey, now_ms: i64) -> Cell {
    let Some(end_ms) = key.expires_at_ms else {
        return Cell { class: "faint", ..Cell::text(words.t("key.no_end")) };
    };
    let cell = Cell::day(words, Some(Day::of_ms(end_ms)));
    let left = time::days_between(Day::of_ms(now_ms), Day::of_ms(end_ms));
    match key.is_live(now_ms) && left <= ENDS_SOON_DAYS {
        true => Cell { class: "soon", ..cell }.below(words.count("due.in", left.unsigned_abs())),
        false => cell,
    }
}

/// `POST /api-keys`: the secret stands in this answer and nowhere else.
pub fn create(visit: &Visit) -> Answer {
    let key = visit.sent.values().and_then(|values| {
        // Only these pages may be named, and each is a path of ours.
        let next = match values.text("redirect_to") {
            Some("profile") => "/profile",
            Some(_) | None => PATH,
        };
        Ok((visit.tenant()?.make_workspace_key(&values)?, next))
    });
    settle(
        key,
        |((key, secret), next)| {
            let fresh = Fresh { name: key.name, secret: secret.reveal().to_owned(), next };
            Ok(Reply::html(made(visit, Some(fresh), None)?))
        },
        |faults| made(visit, None, Some(faults)),
    )
}

fn known(visit: &Visit) -> Result<ApiKey, Error> {
    let keys = visit.tenant()?.keys()?;
    keys.into_iter().find(|key| key.id == visit.id).ok_or(Error::NotFound("key"))
}

/// `GET /api-keys/{key}/revoke`
pub fn ask_revoke(visit: &Visit) -> Answer {
    let key = known(visit)?;
    let title = Words::of(visit).say("key.revoke_title", &[("name", &key.name)]);
    Ok(Reply::html(render(&RevokePage { frame: Frame::of(visit, PATH)?, id: key.id, title })?))
}

/// `POST /api-keys/{key}/revoke`
pub fn revoke(visit: &Visit) -> Answer {
    let reach = match visit.sent.values()?.text("reach") {
        Some("descendants") => Reach::WithDescendants,
        Some(_) | None => Reach::Alone,
    };
    let revoked = visit.tenant()?.revoke_key(&visit.id, reach)?;
    Ok(visit.go(PATH, Notice::with("done.keys_revoked", revoked)))
}
