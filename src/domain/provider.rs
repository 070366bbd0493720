//! Providers of ICT services: one half of the register behind concentration risk.
//!
//! A provider that names a `parent` counts as one with all others of that parent
//! (closely connected providers, DORA Art. 29(1)).

use super::day::as_time;
use super::form::{Field, Form, Values, capitals, text};
use crate::shape::{CREATED_AT, EXTERNAL_ID, Shape, UPDATED_AT, id};
use serde::Serialize;

/// A provider, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Provider {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    pub name: String,
    pub lei: Option<String>,
    pub parent: Option<String>,
    pub sector: Option<String>,
    pub country: Option<String>,
    pub region: Option<String>,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    #[serde(serialize_with = "as_time")]
    pub updated_at: i64,
}

const NAME: Field =
    text("name", 255).says("What the provider is called.").such_as(r#""Nordlicht Cloud GmbH""#);
const LEI: Field = capitals("lei", 20, true).nullable().says("Its legal entity identifier.").such_as("null");
const PARENT: Field = text("parent", 255)
    .nullable()
    .says("The group it belongs to; providers of one group count as one.")
    .such_as("null");
const SECTOR: Field = text("sector", 255).nullable().says("The sector it works in.").such_as(r#""cloud""#);
const COUNTRY: Field =
    capitals("country", 2, false).nullable().says("Its country, two capital letters.").such_as(r#""DE""#);
const REGION: Field = text("region", 255).nullable().says("The region of its seat.").such_as(r#""EU""#);

/// A provider, as it is shown.
pub static PROVIDER: Shape = Shape {
    name: "Provider",
    fields: &[
        id("prv"),
        EXTERNAL_ID,
        NAME.shown(),
        LEI.shown(),
        PARENT.shown(),
        SECTOR.shown(),
        COUNTRY.shown(),
        REGION.shown(),
        CREATED_AT,
        UPDATED_AT,
    ],
};

/// The body of `POST /api/v1/concentration-risk/providers`.
pub static NEW_PROVIDER: Form = Form {
    name: "NewProvider",
    fields: &[NAME.required(), LEI, PARENT, SECTOR, COUNTRY, REGION],
    read_only: &["id", "external_id", "created_at", "updated_at"],
};

/// A change of a provider: absent fields keep their value.
pub static PROVIDER_PATCH: Form = Form {
    name: "ProviderPatch",
    fields: &[NAME, LEI, PARENT, SECTOR, COUNTRY, REGION],
    read_only: &["id", "external_id", "created_at", "updated_at"],
};

impl Provider {
    /// A new provider.
    pub fn new(id: String, values: &Values, now_ms: i64) -> Provider {
        let mut provider = Provider::named(id, "", now_ms);
        provider.set(values);
        provider
    }

    /// A provider of which only the name is known.
    pub fn named(id: String, name: &str, now_ms: i64) -> Provider {
        Provider {
            id,
            external_id: None,
            name: name.to_owned(),
            lei: None,
            parent: None,
            sector: None,
            country: None,
            region: None,
            created_at: now_ms,
            updated_at: now_ms,
        }
    }

    /// Changes what was given.
    pub fn set(&mut self, values: &Values) {
        values.set_text("name", &mut self.name);
        values.set_optional_text("lei", &mut self.lei);
        values.set_optional_text("parent", &mut self.parent);
        values.set_optional_text("sector", &mut self.sector);
        values.set_optional_text("country", &mut self.country);
        values.set_optional_text("region", &mut self.region);
    }

    /// The name under which it is counted: its parent's, if it names one.
    pub fn group(&self) -> &str {
        self.parent.as_deref().filter(|parent| !parent.trim().is_empty()).unwrap_or(&self.name)
    }
}
