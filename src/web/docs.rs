//! The documentation page, from the same rows as the OpenAPI document: nothing on it is written twice.

use super::docs_route::{RouteView, view};
use super::{asset, markup, render};
use crate::app::PLATFORM_VERSION;
use crate::domain::event::EventName;
use crate::domain::webhook::Channel;
use crate::error::Error;
use crate::http::describe::failure::{ERRORS, Failure};
use crate::http::envelope::{V1_VERSION, V2_VERSION};
use crate::http::route::{Credentials, Made, Makings, Route, Tier};
use crate::limiter::Limits;
use crate::reference::belongs;
use askama::Template;

#[derive(Template)]
#[template(path = "docs.html")]
struct DocsPage<'a> {
    base_url: &'a str,
    contact: Option<Contact>,
    version: &'static str,
    v1_version: &'static str,
    v2_version: &'static str,
    tiers: Vec<TierView>,
    failures: &'static [Failure],
    limits: Option<&'a Limits>,
    events: &'static [&'static str],
    channels: &'static [&'static str],
    routes: usize,
}

/// Whom to ask, as a link where it is one.
struct Contact {
    text: String,
    href: Option<String>,
}

/// One tier with its routes.
struct TierView {
    anchor: &'static str,
    title: &'static str,
    says: &'static str,
    address: &'static str,
    key: &'static str,
    limit: String,
    groups: Vec<Group>,
}

/// Routes that belong together.
struct Group {
    name: String,
    anchor: String,
    routes: Vec<RouteView>,
}

/// The tiers in the order of the page, each with its anchor and its address.
const TIERS: [(Tier, &str, &str); 4] = [
    (Tier::Public, "public", "/api"),
    (Tier::V1, "v1", "/api/v1"),
    (Tier::V2, "v2", "/api/v2"),
    (Tier::Service, "operation", "/api"),
];

/// `GET /docs`
pub fn page(makings: &Makings) -> Result<Made, Error> {
    let tiers = TIERS
        .into_iter()
        .map(|(tier, anchor, address)| {
            Ok(TierView {
                anchor,
                title: tier.title(),
                says: tier.says(),
                address,
                key: key_text(tier),
                limit: limit_text(tier, makings.limits),
                groups: groups(tier, makings)?,
            })
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let page = DocsPage {
        base_url: makings.base_url,
        contact: makings.contact.map(contact),
        version: PLATFORM_VERSION,
        v1_version: V1_VERSION,
        v2_version: V2_VERSION,
        tiers,
        failures: ERRORS,
        limits: makings.limits,
        events: EventName::NAMES,
        channels: Channel::NAMES,
        routes: makings.routes.len(),
    };
    Ok(Made::Html(render(&page)?))
}

fn contact(text: &str) -> Contact {
    let href = match text {
        url if url.starts_with("https://") || url.starts_with("http://") => Some(url.to_owned()),
        mail if mail.contains('@') && !mail.contains(char::is_whitespace) => Some(format!("mailto:{mail}")),
        _ => None,
    };
    Contact { text: text.to_owned(), href }
}

/// The routes of a tier. Those of v1 stand by module: a reader looks for a noun.
fn groups(tier: Tier, makings: &Makings) -> Result<Vec<Group>, Error> {
    let views = |holds: &dyn Fn(&Route) -> bool| {
        let rows = makings.routes.iter().filter(|route| route.tier == tier && holds(route));
        rows.map(|route| view(route, makings)).collect::<Result<Vec<_>, Error>>()
    };
    if tier != Tier::V1 {
        return Ok(vec![Group { name: String::new(), anchor: String::new(), routes: views(&|_| true)? }]);
    }
    let modules = &makings.reference.catalogue.modules.data;
    let mut groups = Vec::new();
    for module in modules {
        let routes = views(&|route| belongs(route.path, &module.paths))?;
        if !routes.is_empty() {
            groups.push(Group { name: module.name.clone(), anchor: format!("v1-{}", module.id), routes });
        }
    }
    Ok(groups)
}

/// Which key a tier takes, in words.
pub fn key_text(tier: Tier) -> &'static str {
    match tier.credentials() {
        Credentials::None => "none",
        Credentials::Bearer => "Bearer only",
        Credentials::BearerOrHeader => "Bearer or X-API-Key",
    }
}

/// How a tier is limited, in words.
pub fn limit_text(tier: Tier, limits: Option<&Limits>) -> String {
    match (tier.limit_class(), limits) {
        (Some(class), Some(limits)) => {
            let rules = limits.rules(class);
            match rules.burst > rules.standard {
                true => format!("{} in 60 s, burst to {}", rules.standard, rules.burst),
                false => format!("{} in 60 s", rules.standard),
            }
        }
        (Some(_), None) => "switched off here".into(),
        (None, _) => "none".into(),
    }
}
