//! The frame around every page of the workspace: navigation, who is signed in, notice, foot.
//!
//! A link is shown only where its page exists and the person may open it: both are read from the table of pages.

use super::time;
use super::words::Words;
use crate::app::PLATFORM_VERSION;
use crate::error::Error;
use crate::http::route::{Handler, Verb};
use crate::http::{Notice, Visit};

/// Title of a group (a key of the catalogue, or none), and its links: key and path.
type Group = (&'static str, &'static [(&'static str, &'static str)]);

/// The navigation.
static NAVIGATION: &[Group] = &[
    ("", &[("nav.dashboard", "/")]),
    (
        "nav.testing",
        &[
            ("nav.programmes", "/programmes"),
            ("nav.test_cases", "/test-cases"),
            ("nav.findings", "/findings"),
        ],
    ),
    ("nav.reporting", &[("nav.cra_reports", "/cra-reports"), ("nav.timeline", "/timeline")]),
    (
        "nav.third_parties",
        &[
            ("nav.concentration", "/concentration"),
            ("nav.providers", "/providers"),
            ("nav.arrangements", "/arrangements"),
        ],
    ),
    (
        "nav.library",
        &[
            ("nav.measures", "/measures"),
            ("nav.evidence", "/evidence"),
            ("nav.gap_analysis", "/gap-analysis"),
            ("nav.radar", "/radar"),
            ("nav.drills", "/drills"),
            ("nav.training", "/training"),
        ],
    ),
    (
        "nav.settings",
        &[
            ("nav.webhooks", "/webhooks"),
            ("nav.api_keys", "/api-keys"),
            ("nav.users", "/users"),
            ("nav.thresholds", "/thresholds"),
            ("nav.audit", "/audit"),
            ("nav.health", "/health"),
            ("nav.docs", "/docs"),
        ],
    ),
];

/// A group of links.
pub struct NavGroup {
    /// Its title; empty for none.
    pub title: &'static str,
    /// Its links.
    pub links: Vec<NavLink>,
}

/// A link of the navigation.
pub struct NavLink {
    /// What it says.
    pub text: &'static str,
    /// Where it leads.
    pub path: &'static str,
    /// Does the page stand here?
    pub here: bool,
}

/// What the frame shows.
pub struct Frame {
    /// The catalogue.
    pub words: Words,
    /// The house.
    pub tenant: String,
    /// Who is signed in.
    pub person: String,
    /// As what.
    pub role: String,
    /// The token that every form carries.
    pub token: String,
    /// The navigation.
    pub groups: Vec<NavGroup>,
    /// What was done on the page before.
    pub notice: Option<String>,
    /// Is there a page to search on?
    pub search: bool,
    /// The language of what the page is about, where that is known: the library is written in English.
    pub texts_lang: &'static str,
    /// When the page was made.
    pub made_at: String,
    /// The version of the service.
    pub version: &'static str,
}

impl Frame {
    /// The frame of a page that stands at `here` in the navigation.
    pub fn of(visit: &Visit, here: &str) -> Result<Frame, Error> {
        let (words, person) = (Words::of(visit), visit.person()?);
        let links = |links: &'static [(&str, &'static str)]| {
            let open = links.iter().filter(|(_, path)| is_open(visit, path));
            open.map(|(key, path)| NavLink { text: words.t(key), path, here: *path == here }).collect()
        };
        let groups = NAVIGATION
            .iter()
            .map(|(title, of)| NavGroup { title: words.find(title).unwrap_or_default(), links: links(of) });
        Ok(Frame {
            words,
            tenant: person.tenant.clone(),
            person: person.name.clone(),
            role: words.word(person.role.name()),
            token: visit.token.clone(),
            groups: groups.filter(|group| !group.links.is_empty()).collect(),
            notice: visit.arrival.notice.as_deref().and_then(|came| notice(words, came)),
            search: is_open(visit, "/findings"),
            texts_lang: if is_library(here) { "en" } else { "" },
            made_at: time::moment(words, visit.app.clock.now_ms()),
            version: PLATFORM_VERSION,
        })
    }

    /// The text of a key.
    pub fn t(&self, key: &str) -> &'static str {
        self.words.t(key)
    }
}

fn is_library(here: &str) -> bool {
    let shelves = NAVIGATION.iter().filter(|(title, _)| *title == "nav.library");
    shelves.flat_map(|(_, links)| links.iter()).any(|(_, path)| *path == here)
}

/// Is there a page at this path that the person may open?
pub fn is_open(visit: &Visit, path: &str) -> bool {
    let row = visit.site.pages.iter().find(|row| row.verb == Verb::Get && row.path == path);
    row.is_some_and(|row| match row.handler {
        Handler::Signed(act, _) => visit.may(act),
        Handler::Whole(_)
        | Handler::Once(_)
        | Handler::Service(_)
        | Handler::Shared(_)
        | Handler::Filtered(_)
        | Handler::Tenant(_)
        | Handler::Beside(_)
        | Handler::Platform(_)
        | Handler::Open(_)
        | Handler::Guest(_)
        | Handler::Later(_) => true,
    })
}

/// Whatever the cookie holds, only words of the catalogue are shown.
fn notice(words: Words, came: &str) -> Option<String> {
    let (key, number) = Notice::parts(came);
    let known = key.starts_with("done.") && words.find(key).is_some();
    known.then(|| words.count(key, number.unwrap_or(0)))
}
