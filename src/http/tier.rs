//! The access tiers, and all that holds for every route of one.

use crate::limiter::LimitClass;

/// The access tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// Reference data for everybody.
    Public,
    /// Health and the like, for everybody.
    Service,
    /// The tenant API.
    V1,
    /// The read API.
    V2,
    /// Pages for people, in HTML.
    Page,
    /// Pages for whoever is signed in, made for each request.
    Workspace,
    /// What pages are made of: stylesheet, script, pictures. The address changes with the content.
    Asset,
}

/// Where a key may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credentials {
    /// No key is read.
    None,
    /// `Authorization: Bearer` or `X-API-Key`.
    BearerOrHeader,
    /// `Authorization: Bearer` only.
    Bearer,
}

impl Tier {
    /// The keys it accepts.
    pub fn credentials(self) -> Credentials {
        match self {
            Tier::Public | Tier::Service | Tier::Page | Tier::Workspace | Tier::Asset => Credentials::None,
            Tier::V1 => Credentials::BearerOrHeader,
            Tier::V2 => Credentials::Bearer,
        }
    }

    /// How it is limited.
    pub fn limit_class(self) -> Option<LimitClass> {
        match self {
            Tier::Public | Tier::Service | Tier::Page | Tier::Workspace | Tier::Asset => None,
            Tier::V1 => Some(LimitClass::V1),
            Tier::V2 => Some(LimitClass::V2),
        }
    }

    /// Are unknown query parameters an error?
    pub fn checks_query(self) -> bool {
        match self {
            Tier::Public | Tier::Service | Tier::Page | Tier::Workspace | Tier::Asset => false,
            Tier::V1 | Tier::V2 => true,
        }
    }

    /// May pages of other origins read it?
    pub fn is_open_to_browsers(self) -> bool {
        match self {
            Tier::Public | Tier::Service => true,
            Tier::V1 | Tier::V2 | Tier::Page | Tier::Workspace | Tier::Asset => false,
        }
    }

    /// What it holds, for documents.
    pub fn says(self) -> &'static str {
        match self {
            Tier::Public => "Reference data common to all, read-only, no key needed.",
            Tier::Service => "What the service knows of itself, no key needed.",
            Tier::V1 => "Your own data and shared reference data, with a key; some routes write.",
            Tier::V2 => "Lists with filters, limit and offset, with a bearer key.",
            Tier::Page => "Pages for people.",
            Tier::Workspace => "Pages for whoever is signed in.",
            Tier::Asset => "What pages are made of.",
        }
    }

    /// What it is called in documents.
    pub fn title(self) -> &'static str {
        match self {
            Tier::Public => "Public reference data",
            Tier::Service => "Operation",
            Tier::V1 => "API v1",
            Tier::V2 => "API v2",
            Tier::Page => "Pages",
            Tier::Workspace => "Workspace",
            Tier::Asset => "Assets",
        }
    }
}
