//! The road that every request takes, step by step. Ordinary Rust: the loop that
//! waits for sockets is in `server`.

use super::cache::{Cache, Question};
use super::finish::{Policies, RequestIds};
use super::gate::{self, Passage};
use super::prepared::{Prepared, prepare};
use super::reply::{Answer, Content, Reply};
use super::request::Request;
use super::route::{Gives, Handler, Makings, Route, Scope, Tier};
use super::router::{Door, Found, Router};
use super::site::Site;
use super::visit::Arrival;
use super::{entrance, envelope};
use crate::app::App;
use crate::config::Metrics;
use crate::domain::json;
use crate::domain::language::Language;
use crate::domain::query::{Query, decode_segment};
use crate::error::Error;
use crate::payload::{Payload, digest};
use bytes::Bytes;
use hyper::header::{ALLOW, HeaderName, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

/// The longest path and query together.
const URI_BYTES_MAX: usize = 8 * 1024;
const DAY_MS: i64 = 86_400_000;

/// The service with its table: all that a request may meet.
pub struct House {
    /// The parts.
    pub app: App,
    /// The rows of the table, and behind them those of the site.
    pub routes: Vec<&'static Route>,
    /// Pages for people.
    pub site: &'static Site,
    /// Numbers for requests that bring none.
    pub request_ids: RequestIds,
    /// `RateLimit-Policy` of both tiers.
    pub policies: Policies,
    /// Finished pages.
    pages: Cache,
    router: Router,
    /// The rows that an address of their own shows.
    metrics: Router,
    /// The table of the API, without pages.
    api: &'static [Route],
    /// The payload of each row that has a fixed one, made when it is first asked for: most are never, and
    /// the largest need megabytes to be made.
    prepared: Vec<OnceLock<Option<Arc<Prepared>>>>,
}

/// A question that is kept while its answer is made.
struct Asked {
    row: usize,
    tenant: String,
    id: String,
    query: String,
}

impl Asked {
    fn borrowed(&self) -> Question<'_> {
        Question { row: self.row, tenant: &self.tenant, id: &self.id, query: &self.query }
    }
}

/// A request that got past the gate, or the answer to one that did not.
pub struct Ticket {
    /// What the request is called in the log and in the answer.
    pub request_id: HeaderValue,
    /// The row, where one matched.
    pub row: Option<usize>,
    /// What the gate found out.
    pub passage: Passage,
    /// The answer, if it is known already.
    pub done: Option<Reply>,
    /// The language that whoever asks has chosen, where that is known.
    pub language: Option<Language>,
    id: Option<String>,
    query: String,
    arrival: Option<Arrival>,
    once: Option<String>,
}

impl House {
    /// Builds the router; a table that does not fit is an error.
    pub fn new(app: App, routes: &'static [Route], site: &'static Site) -> Result<House, Error> {
        let rows: Vec<&'static Route> = routes.iter().chain(site.pages).collect();
        let prepared = rows.iter().map(|_| OnceLock::new()).collect();
        Ok(House {
            api: routes,
            // Only those who ask for figures have the row that shows them.
            router: Router::new(&rows, |route| {
                route.gives != Gives::Figures || app.config.metrics == Metrics::On
            })?,
            metrics: Router::new(&rows, |route| route.gives == Gives::Figures)?,
            request_ids: RequestIds::new()?,
            policies: Policies::new(&app.limiter),
            pages: Cache::default(),
            app,
            routes: rows,
            site,
            prepared,
        })
    }

    /// The payload of a row whose answer is always the same; none if it is not.
    fn prepared(&self, row: usize, route: &Route) -> Result<Option<&Arc<Prepared>>, Error> {
        let place = &self.prepared[row];
        if let Some(made) = place.get() {
            return Ok(made.as_ref());
        }
        let makings = Makings {
            routes: self.api,
            reference: &self.app.reference,
            base_url: &self.app.base_url,
            contact: self.app.config.contact.as_deref(),
            limits: self.app.limiter.limits(),
        };
        let made = prepare(route, &makings)?;
        Ok(place.get_or_init(|| made).as_ref())
    }

    /// The row of a ticket.
    pub fn route(&self, ticket: &Ticket) -> Option<&'static Route> {
        ticket.row.and_then(|row| self.routes.get(row).copied())
    }

    /// First half of the road: everything that needs no body.
    pub fn admit(&self, head: &Parts, door: Door) -> Ticket {
        Ticket { request_id: self.request_ids.of(&head.headers), ..self.find(head, door) }
    }

    fn find(&self, head: &Parts, door: Door) -> Ticket {
        if let Some(reply) = refuse_head(head) {
            return Ticket::done(reply);
        }
        let router = match door {
            Door::Front => &self.router,
            Door::Metrics => &self.metrics,
        };
        match router.find(head.method.as_str(), head.uri.path()) {
            Found::Row(row, id) => {
                let route = self.routes[row];
                let passage = gate::admit(&self.app, route, head);
                let mut ticket = Ticket { row: Some(row), passage, ..Ticket::empty() };
                if ticket.passage.refused.is_none() {
                    // A segment that does not decode names nothing: the handler will not find it.
                    ticket.id = id.map(|raw| decode_segment(raw).unwrap_or_default());
                    if route.once {
                        let header = head.headers.get("idempotency-key");
                        ticket.once = header.map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
                    }
                    if route.tier == Tier::Workspace {
                        ticket.arrival = Some(Arrival::of(&self.app, head));
                    }
                    if route.tier.checks_query() {
                        ticket.query = head.uri.query().unwrap_or_default().to_owned();
                    }
                }
                ticket
            }
            Found::WrongMethod(place) => {
                let route = self.routes[place.any];
                let preflight = head.method == Method::OPTIONS && route.tier.is_open_to_browsers();
                let mut reply = match preflight {
                    true => preflight_reply(),
                    false => wrong_method(head.method.as_str(), &place.allow),
                };
                if let Ok(allow) = HeaderValue::from_str(&place.allow) {
                    reply.headers.push((ALLOW, allow));
                }
                Ticket { row: Some(place.any), ..Ticket::done(reply) }
            }
            Found::Nothing => Ticket::done(Reply::refusal(
                StatusCode::NOT_FOUND,
                "there is nothing at this path; GET /api lists the public endpoints",
            )),
        }
    }

    /// Second half of the road: body, query, handler. A panic costs this request and no more.
    pub fn answer(&self, ticket: &mut Ticket, body: &Bytes) -> Reply {
        if let Some(reply) = ticket.done.take() {
            return reply;
        }
        let outcome = match ticket.passage.refused.take() {
            Some(refused) => Err(refused),
            None => catch_unwind(AssertUnwindSafe(|| self.handle(ticket, body)))
                .unwrap_or_else(|_| Err(Error::Internal("the handler panicked".into()))),
        };
        self.settle(ticket, outcome)
    }

    /// An answer or an error, as a reply. What the caller must not see goes to the log.
    pub fn settle(&self, ticket: &Ticket, outcome: Answer) -> Reply {
        outcome.unwrap_or_else(|error| {
            if let Error::Internal(text) = &error {
                let route = self.route(ticket).map_or("-", |route| route.path);
                let request_id = ticket.request_id.to_str().unwrap_or("-");
                log::error!(req_id = request_id, route_template = route; "{route} id={request_id}: {text}");
            }
            Reply::of_error(&error, self.app.config.contact.as_deref())
        })
    }

    fn handle(&self, ticket: &mut Ticket, body: &Bytes) -> Answer {
        let Some((row, route)) = ticket.row.and_then(|row| Some((row, *self.routes.get(row)?))) else {
            return Err(Error::NotFound("route"));
        };
        if let Some(mut arrival) = ticket.arrival.take() {
            let id = ticket.id.take().unwrap_or_default();
            let answer = entrance::answer(&self.app, self.site, route, id, &mut arrival, body);
            ticket.language = Some(arrival.language);
            return answer;
        }
        let prepared = self.prepared(row, route)?;
        if let Some(payload) = prepared.filter(|_| !route.tier.checks_query()) {
            return Ok(Reply::prepared(Arc::clone(payload)));
        }
        let keeps = self.keeps(ticket, row, route);
        if let Some((question, version)) = &keeps
            && let Some(page) = self.pages.get(&question.borrowed(), *version)
        {
            return Ok(Reply::prepared(Arc::clone(&page.content)));
        }
        let request = self.request(ticket, route, body)?;
        if let Some(payload) = prepared {
            return Ok(Reply::prepared(Arc::clone(payload)));
        }
        let reply = self.call(route, &request)?;
        let (Some((question, version)), Content::Json(body)) = (&keeps, &reply.content) else {
            return Ok(reply);
        };
        let digest = reply.digest.clone().unwrap_or_else(|| self.digest_of(question, *version));
        let content = Arc::new(Prepared::json(Payload::with_digest(body.clone(), digest)));
        self.pages.put(&question.borrowed(), *version, &content);
        Ok(Reply::prepared(content))
    }

    /// The digest of an answer, from what it is made from: cheaper than from its bytes. The number of this
    /// run of the process is part of it, since versions begin anew with each.
    fn digest_of(&self, question: &Asked, version: u64) -> String {
        digest(&[
            self.request_ids.beginning().as_bytes(),
            question.tenant.as_bytes(),
            question.id.as_bytes(),
            question.query.as_bytes(),
            &question.row.to_le_bytes(),
            &version.to_le_bytes(),
        ])
    }

    /// The question under which an answer may be kept, and the version of the data it is made from. The
    /// version is read before the data are: a page can be younger than its version, never older.
    fn keeps(&self, ticket: &Ticket, row: usize, route: &Route) -> Option<(Asked, u64)> {
        let asked = |tenant: &str| Asked {
            row,
            tenant: tenant.to_owned(),
            id: ticket.id.clone().unwrap_or_default(),
            query: ticket.query.clone(),
        };
        if route.gives == Gives::List && route.handler.scope() == Scope::Shared {
            return Some((asked(""), 0));
        }
        let key = &ticket.passage.caller.as_ref()?.key;
        // Days are part of the version: what is overdue changes at midnight.
        let today = u64::try_from(self.app.clock.now_ms() / DAY_MS).unwrap_or(0);
        route.keeps.then(|| (asked(&key.tenant_id), (today << 40) + key.version.now()))
    }

    /// Opens the handle that the row's handler may have, and calls it.
    fn call(&self, route: &Route, request: &Request) -> Answer {
        match route.handler {
            Handler::Service(answer) => answer(&self.app),
            Handler::Shared(answer) => answer(request, &self.app.reference),
            Handler::Tenant(answer) => {
                let caller = request.caller()?;
                answer(request, &self.app.store.tenant(&caller.key.tenant_id).by(caller.actor()))
            }
            Handler::Beside(answer) => {
                let tenant = self.app.store.tenant(&request.caller()?.key.tenant_id);
                answer(request, &tenant, &self.app)
            }
            Handler::Platform(answer) => answer(request, &self.app),
            Handler::Open(answer) => answer(request),
            Handler::Filtered(dataset) => {
                Ok(envelope::v2_page(&request.query, self.app.reference.table(dataset)?))
            }
            Handler::Later(_) => Err(Error::NotYet),
            Handler::Signed(..) | Handler::Guest(_) => {
                Err(Error::Internal("a page of the workspace is answered at its entrance".into()))
            }
            Handler::Whole(_) | Handler::Once(_) => {
                Err(Error::Internal("a fixed payload was not prepared".into()))
            }
        }
    }

    /// Checks query and body together, so that one answer names every fault.
    fn request(&self, ticket: &mut Ticket, route: &'static Route, body: &Bytes) -> Result<Request, Error> {
        // What a row without code will take one day is not known yet.
        let query = match route.tier.checks_query() && route.handler.is_available() {
            true => Query::check(&ticket.query, route.asks),
            false => Ok(Query::default()),
        };
        let values = match route.takes {
            Some(form) if route.optional_body && body.is_empty() => form.check(&Default::default()),
            Some(form) => json::object(body).and_then(|object| form.check(&object)),
            None => Ok(Default::default()),
        };
        match (query, values) {
            (Ok(query), Ok(body)) => Ok(Request {
                id: ticket.id.take(),
                query,
                body,
                once: ticket.once.take(),
                caller: ticket.passage.caller.clone(),
            }),
            (Err(mut faults), Err(more)) => {
                faults.join(more);
                Err(Error::Invalid(faults))
            }
            (Err(faults), Ok(_)) | (Ok(_), Err(faults)) => Err(Error::Invalid(faults)),
        }
    }
}

impl Ticket {
    fn done(reply: Reply) -> Ticket {
        Ticket { done: Some(reply), ..Ticket::empty() }
    }

    fn empty() -> Ticket {
        Ticket {
            request_id: HeaderValue::from_static(""),
            row: None,
            passage: Passage::default(),
            done: None,
            language: None,
            id: None,
            query: String::new(),
            arrival: None,
            once: None,
        }
    }

    /// Takes the ticket to another thread, leaving an empty one behind.
    pub fn take(&mut self) -> Ticket {
        let empty = Ticket { request_id: self.request_id.clone(), row: self.row, ..Ticket::empty() };
        std::mem::replace(self, empty)
    }

    /// The cookie of a session, if one came.
    pub fn session_cookie(&self) -> Option<&str> {
        self.arrival.as_ref().and_then(|arrival| arrival.session.as_deref())
    }

    /// May the handler still run?
    pub fn is_open(&self) -> bool {
        self.done.is_none() && self.passage.refused.is_none()
    }
}

/// Faults of the request's head that hyper lets pass.
fn refuse_head(head: &Parts) -> Option<Reply> {
    let hosts = head.headers.get_all(hyper::header::HOST).iter().count();
    if hosts > 1 || (hosts == 0 && head.version == hyper::Version::HTTP_11) {
        return Some(Reply::refusal(StatusCode::BAD_REQUEST, "a request needs the header `Host`, once"));
    }
    let query_bytes = head.uri.query().map_or(0, str::len);
    if head.uri.path().len() + query_bytes > URI_BYTES_MAX {
        let text = format!("the address is too long: at most {URI_BYTES_MAX} bytes are read");
        return Some(Reply::refusal(StatusCode::URI_TOO_LONG, &text));
    }
    None
}

fn wrong_method(method: &str, allow: &str) -> Reply {
    let shown: String = method.chars().take(20).collect();
    let text = format!("{shown} is not possible here; possible are: {allow}");
    Reply::refusal(StatusCode::METHOD_NOT_ALLOWED, &text)
}

/// The answer to a browser that asks before it reads public data from another origin.
fn preflight_reply() -> Reply {
    let mut reply = Reply::empty();
    for (name, value) in [
        ("access-control-allow-methods", "GET, HEAD, OPTIONS"),
        ("access-control-allow-headers", "content-type, if-none-match, x-request-id"),
        ("access-control-max-age", "600"),
    ] {
        reply.headers.push((HeaderName::from_static(name), HeaderValue::from_static(value)));
    }
    reply
}
