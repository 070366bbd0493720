//! A visit: what the handler of a workspace page sees of a request. The entrance has let it in.

use super::cookie::{self, Jar};
use super::peer::address;
use super::reply::Reply;
use super::site::Site;
use crate::app::App;
use crate::domain::language::Language;
use crate::domain::query::Query;
use crate::domain::sent::Sent;
use crate::domain::session::{Session, Token, Visitor};
use crate::domain::user::Act;
use crate::error::Error;
use crate::store::Tenant;
use hyper::header::{ACCEPT_LANGUAGE, CONTENT_TYPE, HeaderMap, HeaderName, ORIGIN, USER_AGENT};
use hyper::http::request::Parts;
use std::net::IpAddr;

/// So long a notice waits for the next page.
const NOTICE_SECONDS: u32 = 60;

/// What the head of a request says, as far as the workspace cares. Keys are not among it.
#[derive(Debug)]
pub struct Arrival {
    /// The path.
    pub path: String,
    /// What stands behind the question mark.
    pub query: String,
    /// The cookie of a session, if one came.
    pub session: Option<String>,
    /// The cookie of somebody who is about to sign in.
    pub visit: Option<String>,
    /// What the page before wanted to be said.
    pub notice: Option<String>,
    pub(super) fetch_site: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) token: Option<String>,
    pub(super) jar: Jar,
    address: Option<IpAddr>,
    agent: Option<String>,
    /// The language to answer in: the browser's, until the person is known and has chosen one.
    pub language: Language,
}

impl Arrival {
    /// Reads it off a head.
    pub fn of(app: &App, head: &Parts) -> Arrival {
        let text = |name: HeaderName| {
            head.headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let secure =
            app.config.tls.is_some() || app.config.behind_proxy || app.base_url.starts_with("https://");
        let jar = Jar { secure };
        Arrival {
            path: head.uri.path().to_owned(),
            query: head.uri.query().unwrap_or_default().to_owned(),
            session: jar.read(&head.headers, cookie::SESSION),
            visit: jar.read(&head.headers, cookie::VISIT),
            notice: jar.read(&head.headers, cookie::NOTICE),
            fetch_site: text(HeaderName::from_static("sec-fetch-site")),
            origin: text(ORIGIN),
            content_type: text(CONTENT_TYPE),
            token: text(HeaderName::from_static("x-csrf-token")),
            jar,
            address: address(head, app.config.behind_proxy),
            agent: text(USER_AGENT),
            language: language_of(&head.headers),
        }
    }
}

/// The language that a browser asks for.
pub fn language_of(headers: &HeaderMap) -> Language {
    let asked = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    Language::asked_for(asked.unwrap_or_default())
}

/// A request for a page of the workspace, checked.
pub struct Visit<'a> {
    /// The parts of the service.
    pub app: &'a App,
    /// All pages, for the navigation.
    pub site: &'static Site,
    /// What the head said.
    pub arrival: &'a Arrival,
    /// The identifier in the path; empty where it has none.
    pub id: String,
    /// What stands behind the question mark, by the row's parameters.
    pub query: Query,
    /// What a form sent, by the row's form.
    pub sent: Sent,
    /// Who is signed in; always somebody on a `Signed` row.
    pub session: Option<Session>,
    /// The token that every form on the page carries.
    pub token: String,
}

impl<'a> Visit<'a> {
    /// Who is signed in.
    pub fn person(&self) -> Result<&Session, Error> {
        self.session.as_ref().ok_or(Error::Denied("Sign in first."))
    }

    /// The data of the person's tenant; what is done with them is the person's doing.
    pub fn tenant(&self) -> Result<Tenant<'a>, Error> {
        let person = self.person()?;
        Ok(self.app.store.tenant(&person.tenant_id).by(person.actor(self.arrival.address)))
    }

    /// May whoever is signed in do that? For what a page offers; the row's own act is asked at the entrance.
    pub fn may(&self, act: Act) -> bool {
        self.session.as_ref().is_some_and(|session| session.role.may(act))
    }

    /// From where the person comes.
    pub fn visitor(&self) -> Visitor {
        Visitor { address: self.arrival.address, agent: self.arrival.agent.clone() }
    }

    /// After a change: on to a page, which says that it was done.
    pub fn go(&self, path: &str, notice: Notice) -> Reply {
        let notice = self.arrival.jar.set(cookie::NOTICE, &notice.0, Some(NOTICE_SECONDS));
        Reply::see_other(path).cookie(&notice)
    }

    /// Lets somebody in: the answer carries the cookie of the session.
    pub fn let_in(&self, reply: Reply, token: &Token) -> Reply {
        reply.cookie(&self.arrival.jar.set(cookie::SESSION, token.reveal(), None))
    }

    /// Lets somebody out: the answer takes the cookie back.
    pub fn let_out(&self, reply: Reply) -> Reply {
        reply.cookie(&self.arrival.jar.clear(cookie::SESSION))
    }
}

/// What the next page says: a key of the catalogue of words, and perhaps a number in it.
pub struct Notice(String);

impl Notice {
    /// A notice.
    pub fn new(key: &str) -> Notice {
        Notice(key.to_owned())
    }

    /// A notice with a number.
    pub fn with(key: &str, number: usize) -> Notice {
        Notice(format!("{key}~{number}"))
    }

    /// The key and the number of a notice that came back. It may be anything: the key is looked up, no more.
    pub fn parts(came: &str) -> (&str, Option<u64>) {
        let (key, number) = came.split_once('~').unwrap_or((came, ""));
        (key, number.parse().ok())
    }
}

/// A path of this origin, and nothing that a browser might take for another one.
pub fn local_path(text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let begins = chars.next() == Some('/') && !matches!(chars.next(), Some('/' | '\\'));
    let plain = text.chars().all(|char| char.is_ascii_graphic() && char != '\\');
    (begins && plain && !text.starts_with("/sign-") && text.len() <= 2000).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_origin_are_gone_on_to() {
        for good in ["/", "/findings?search=a%20b&offset=50", "/a//b"] {
            assert_eq!(local_path(good), Some(good));
        }
        let far =
            ["", "//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil", "javascript:1"];
        for bad in far.into_iter().chain(["/sign-in", "/sign-out", "/a\\b", "/a b", "findings", "/\n"]) {
            assert_eq!(local_path(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn a_notice_comes_back_as_it_went() {
        assert_eq!(Notice::parts(&Notice::with("key.revoked", 3).0), ("key.revoked", Some(3)));
        assert_eq!(Notice::parts(&Notice::new("a").0), ("a", None));
    }
}
