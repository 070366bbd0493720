//! Routes as data. Everything the service says or enforces about a route is read
//! from its row; facts of a whole tier are in `tier`, facts of a dataset are in its own row.

use super::reply::Answer;
use super::request::Request;
use super::visit::Visit;
use crate::app::App;
use crate::domain::form::Form;
use crate::domain::permission::Permission;
use crate::domain::query::Param;
use crate::domain::user::Act;
use crate::error::Error;
use crate::limiter::Limits;
use crate::reference::{Dataset, Reference};
use crate::shape::{Shape, Shown};
use crate::store::Tenant;
use serde_json::Value;

pub use super::scope::Scope;
pub use super::tier::{Credentials, Tier};

/// One route.
#[derive(Clone, Copy)]
pub struct Route {
    /// The method; HEAD comes with GET.
    pub verb: Verb,
    /// The full path, so that a search finds it.
    pub path: &'static str,
    /// The tier, with all that follows from it.
    pub tier: Tier,
    /// The code, and with it what it may touch.
    pub handler: Handler,
    /// The permission it needs.
    pub needs: Option<Permission>,
    /// The body it takes.
    pub takes: Option<&'static Form>,
    /// The body may be left away: an empty one counts as `{}`.
    pub optional_body: bool,
    /// The query parameters it takes.
    pub asks: &'static [Param],
    /// What it answers with.
    pub gives: Gives,
    /// What the object, or each item of the list, looks like.
    pub shows: Option<&'static Shape>,
    /// What `meta` has beside what every list has.
    pub meta: &'static [Shown],
    /// Honours `Idempotency-Key`.
    pub once: bool,
    /// Its answer changes only with the tenant's data and the day, so it may be kept until then.
    pub keeps: bool,
    /// It may walk over many rows, so it runs on a thread aside.
    pub aside: bool,
    /// Its form may bring files of so many bytes; 0 where it brings none.
    pub file_max: usize,
    /// Not in the specification.
    pub extension: bool,
    /// One sentence: OpenAPI summary and index text.
    pub says: &'static str,
}

/// The methods that rows may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET, and HEAD with it.
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Verb {
    /// All of them.
    pub const ALL: [Verb; 5] = [Verb::Get, Verb::Post, Verb::Put, Verb::Patch, Verb::Delete];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Get => "GET",
            Verb::Post => "POST",
            Verb::Put => "PUT",
            Verb::Patch => "PATCH",
            Verb::Delete => "DELETE",
        }
    }

    /// The verb of a request's method; HEAD counts as GET.
    pub fn of_method(method: &str) -> Option<Verb> {
        if method == "HEAD" {
            return Some(Verb::Get);
        }
        Verb::ALL.into_iter().find(|verb| verb.name() == method)
    }
}

/// What a handler built at start may look at.
pub struct Makings<'a> {
    /// The whole table.
    pub routes: &'static [Route],
    /// The reference data.
    pub reference: &'a Reference,
    /// The address people use.
    pub base_url: &'a str,
    /// Whom to ask for access.
    pub contact: Option<&'a str>,
    /// The rate limits in force.
    pub limits: Option<&'a Limits>,
}

/// What was built at start.
pub enum Made {
    /// JSON.
    Json(Value),
    /// A page.
    Html(String),
    /// A spreadsheet.
    Csv {
        /// Its text.
        bytes: Vec<u8>,
        /// The name under which it is saved.
        file_name: String,
    },
}

/// A route's code. The variant is the data scope: it cannot be mis-stated.
#[derive(Clone, Copy)]
pub enum Handler {
    /// No code: the dataset as it is, prepared by the build.
    Whole(&'static Dataset),
    /// Built once, at its first use, then served as it is.
    Once(fn(&Makings) -> Result<Made, Error>),
    /// Operational: what the service knows of itself.
    Service(fn(&App) -> Answer),
    /// Shared reference data.
    Shared(fn(&Request, &Reference) -> Answer),
    /// No code: a page of a dataset in the v2 envelope.
    Filtered(&'static Dataset),
    /// The tenant's own data, through a handle that is bound to the key's tenant.
    Tenant(fn(&Request, &Tenant) -> Answer),
    /// The tenant's own data, through its handle, beside what the platform knows: reference data, health.
    /// Rows of tenants are read through the handle only.
    Beside(fn(&Request, &Tenant, &App) -> Answer),
    /// Platform-wide rows, the same for every key.
    Platform(fn(&Request, &App) -> Answer),
    /// What everybody may fetch without a key and that touches no rows: a part of a page.
    Open(fn(&Request) -> Answer),
    /// A page for whoever is signed in and may do that.
    Signed(Act, fn(&Visit) -> Answer),
    /// A page for whoever comes: signing in, using an invitation.
    Guest(fn(&Visit) -> Answer),
    /// The row stands, its code comes later; it answers 501 to whoever may call it.
    Later(Scope),
}

impl Handler {
    /// Whose data it touches.
    pub fn scope(self) -> Scope {
        match self {
            Handler::Whole(_)
            | Handler::Once(_)
            | Handler::Shared(_)
            | Handler::Filtered(_)
            | Handler::Open(_) => Scope::Shared,
            Handler::Service(_) | Handler::Platform(_) | Handler::Guest(_) => Scope::Platform,
            Handler::Tenant(_) | Handler::Beside(_) | Handler::Signed(..) => Scope::Tenant,
            Handler::Later(scope) => scope,
        }
    }

    /// Does this build have code for it?
    pub fn is_available(self) -> bool {
        !matches!(self, Handler::Later(_))
    }
}

/// What a route answers with, when all is well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// One object, or a fixed payload.
    Item,
    /// A page of a list.
    List,
    /// A whole list, unpaged.
    All,
    /// A new object, 201.
    Created,
    /// A new object, 201; or, for a question what would be, one that is not stored, 200.
    CreatedOrShown,
    /// A spreadsheet.
    Csv,
    /// Figures as Prometheus reads them.
    Figures,
    /// Nothing, 204.
    Nothing,
}

impl Gives {
    /// The status of success.
    pub fn status(self) -> u16 {
        match self {
            Gives::Item | Gives::List | Gives::All | Gives::Csv | Gives::Figures => 200,
            Gives::Created | Gives::CreatedOrShown => 201,
            Gives::Nothing => 204,
        }
    }

    /// A second status of success, where there is one.
    pub fn also(self) -> Option<u16> {
        (self == Gives::CreatedOrShown).then_some(200)
    }
}

const fn row(verb: Verb, path: &'static str, tier: Tier, handler: Handler) -> Route {
    Route {
        verb,
        path,
        tier,
        handler,
        needs: None,
        takes: None,
        optional_body: false,
        asks: &[],
        gives: Gives::Item,
        shows: None,
        meta: &[],
        once: false,
        keeps: false,
        aside: false,
        file_max: 0,
        extension: false,
        says: "",
    }
}

/// A public row.
pub const fn public(path: &'static str, handler: Handler) -> Route {
    row(Verb::Get, path, Tier::Public, handler)
}

/// An operational row.
pub const fn service(path: &'static str, handler: Handler) -> Route {
    row(Verb::Get, path, Tier::Service, handler)
}

/// A row of API v1.
pub const fn v1(verb: Verb, path: &'static str, handler: Handler) -> Route {
    row(verb, path, Tier::V1, handler)
}

/// A row of API v2; a list over a dataset asks what the dataset's row says.
pub const fn v2(path: &'static str, handler: Handler) -> Route {
    let row = row(Verb::Get, path, Tier::V2, handler);
    if let Handler::Filtered(dataset) = handler {
        return Route { asks: dataset.params, gives: Gives::List, shows: Some(dataset.shape), ..row };
    }
    row
}

/// A page.
pub const fn page(path: &'static str, handler: Handler) -> Route {
    row(Verb::Get, path, Tier::Page, handler)
}

/// A page of the workspace that shows something.
pub const fn view(path: &'static str, act: Act, show: fn(&Visit) -> Answer) -> Route {
    row(Verb::Get, path, Tier::Workspace, Handler::Signed(act, show))
}

/// A form of the workspace that changes something.
pub const fn deed(path: &'static str, act: Act, carry_out: fn(&Visit) -> Answer) -> Route {
    row(Verb::Post, path, Tier::Workspace, Handler::Signed(act, carry_out))
}

/// A page, or a form, of the workspace for those who are not signed in.
pub const fn door(verb: Verb, path: &'static str, answer: fn(&Visit) -> Answer) -> Route {
    row(verb, path, Tier::Workspace, Handler::Guest(answer))
}

/// Parts of pages.
pub const fn asset(path: &'static str, handler: Handler) -> Route {
    row(Verb::Get, path, Tier::Asset, handler)
}

impl Route {
    /// The permission it needs.
    pub const fn needs(mut self, permission: Permission) -> Route {
        self.needs = Some(permission);
        self
    }

    /// The body it takes.
    pub const fn takes(mut self, form: &'static Form) -> Route {
        self.takes = Some(form);
        self
    }

    /// The body may be left away: an empty one counts as `{}`.
    pub const fn optional_body(mut self) -> Route {
        self.optional_body = true;
        self
    }

    /// The query parameters it takes.
    pub const fn asks(mut self, params: &'static [Param]) -> Route {
        self.asks = params;
        self
    }

    /// What it answers with.
    pub const fn gives(mut self, gives: Gives) -> Route {
        self.gives = gives;
        self
    }

    /// What the object, or each item of the list, looks like.
    pub const fn shows(mut self, shape: &'static Shape) -> Route {
        self.shows = Some(shape);
        self
    }

    /// What `meta` has beside what every list has.
    pub const fn meta(mut self, fields: &'static [Shown]) -> Route {
        self.meta = fields;
        self
    }

    /// Honours `Idempotency-Key`.
    pub const fn once(mut self) -> Route {
        self.once = true;
        self
    }

    /// Its answer may be kept until the tenant's data, or the day, change.
    pub const fn keeps(mut self) -> Route {
        self.keeps = true;
        self
    }

    /// It may walk over many rows.
    pub const fn aside(mut self) -> Route {
        self.aside = true;
        self
    }

    /// Its form may bring files of so many bytes in all.
    pub const fn takes_file(mut self, bytes_max: usize) -> Route {
        self.file_max = bytes_max;
        self
    }

    /// Not in the specification.
    pub const fn extension(mut self) -> Route {
        self.extension = true;
        self
    }

    /// What it is for.
    pub const fn says(mut self, sentence: &'static str) -> Route {
        self.says = sentence;
        self
    }

    /// Does it run on a thread aside? Writes do: they wait for the disk. A search does: it walks all
    /// rows, a tenant's or the platform's. A page of the workspace does: that its session was used may be
    /// written. A bounded read does not.
    pub fn runs_aside(&self, query: &str) -> bool {
        let walks =
            query.contains("search=") && self.tier.checks_query() && self.handler.scope() != Scope::Shared;
        self.verb != Verb::Get || self.aside || walks || self.tier == Tier::Workspace
    }

    /// Is its body read? A form of the workspace always has one: the token.
    pub fn wants_body(&self) -> bool {
        self.takes.is_some() || self.tier == Tier::Workspace && self.verb == Verb::Post
    }

    /// `GET /api/ping`
    pub fn name(&self) -> String {
        format!("{} {}", self.verb.name(), self.path)
    }
}
