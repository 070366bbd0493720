//! Arrangements: what is bought from which provider, for what, and how hard it would be to leave.
//!
//! Only provider, service and criticality have to be known; every gap beyond that
//! is counted by the analysis and never guessed.

use super::day::as_time;
use super::form::{Field, Form, Values, capitals, choice, number, switch, text};
use crate::shape::{CREATED_AT, EXTERNAL_ID, Shape, UPDATED_AT, id};
use serde::Serialize;

words! {
    /// How much depends on it.
    Criticality { Critical = "critical", Important = "important", Standard = "standard" }
}
words! {
    /// How well it could be replaced.
    Substitutability { Easy = "easy", Difficult = "difficult", Impossible = "impossible" }
}

impl Criticality {
    /// What it weighs in an analysis by criticality.
    pub fn weight(self) -> u128 {
        match self {
            Criticality::Critical => 5,
            Criticality::Important => 3,
            Criticality::Standard => 1,
        }
    }
}

/// An arrangement, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Arrangement {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    pub provider_id: String,
    pub service: String,
    pub function: Option<String>,
    pub criticality: Criticality,
    pub technology: Option<String>,
    pub country: Option<String>,
    pub region: Option<String>,
    pub annual_cost_eur: Option<f64>,
    pub substitutability: Option<Substitutability>,
    pub exit_plan: Option<bool>,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    #[serde(serialize_with = "as_time")]
    pub updated_at: i64,
}

/// The largest cost of a year, in euros.
const COST_MAX: f64 = 1e12;

const PROVIDER_ID: Field =
    text("provider_id", 64).says("The provider it is with.").such_as(r#""prv_01K9Z3T7Q4W8XE5RB2N6MHVC0D""#);
const PROVIDER: Field =
    text("provider", 255).nullable().says("The provider's name, instead of its id.").such_as("null");
const SERVICE: Field = text("service", 255).says("What is bought.").such_as(r#""Managed database""#);
const FUNCTION: Field =
    text("function", 255).nullable().says("The business function that needs it.").such_as(r#""Payments""#);
const CRITICALITY: Field = choice("criticality", Criticality::NAMES).says("How much depends on it.");
const TECHNOLOGY: Field =
    text("technology", 255).nullable().says("The technology it stands on.").such_as(r#""PostgreSQL""#);
const COUNTRY: Field = capitals("country", 2, false)
    .nullable()
    .says("The country of processing, two capital letters.")
    .such_as(r#""DE""#);
const REGION: Field = text("region", 255).nullable().says("The region of processing.").such_as(r#""EU""#);
const COST: Field =
    number("annual_cost_eur", 0.0, COST_MAX).nullable().says("What a year of it costs.").such_as("48000");
const SUBSTITUTABILITY: Field =
    choice("substitutability", Substitutability::NAMES).nullable().says("How well it could be replaced.");
const EXIT_PLAN: Field = switch("exit_plan").nullable().says("Whether there is a plan to leave it.");
const SHOWN: &[&str] = &["id", "external_id", "created_at", "updated_at"];

/// An arrangement, as it is shown.
pub static ARRANGEMENT: Shape = Shape {
    name: "Arrangement",
    fields: &[
        id("arr"),
        EXTERNAL_ID,
        PROVIDER_ID.shown(),
        SERVICE.shown(),
        FUNCTION.shown(),
        CRITICALITY.shown(),
        TECHNOLOGY.shown(),
        COUNTRY.shown(),
        REGION.shown(),
        COST.shown(),
        SUBSTITUTABILITY.shown(),
        EXIT_PLAN.shown(),
        CREATED_AT,
        UPDATED_AT,
    ],
};

/// The body of `POST /api/v1/concentration-risk/arrangements`.
pub static NEW_ARRANGEMENT: Form = Form {
    name: "NewArrangement",
    fields: &[
        PROVIDER_ID.required(),
        SERVICE.required(),
        CRITICALITY.required(),
        FUNCTION,
        TECHNOLOGY,
        COUNTRY,
        REGION,
        COST,
        SUBSTITUTABILITY,
        EXIT_PLAN,
    ],
    read_only: SHOWN,
};

/// A change of an arrangement: absent fields keep their value.
pub static ARRANGEMENT_PATCH: Form = Form {
    name: "ArrangementPatch",
    fields: &[
        PROVIDER_ID,
        SERVICE,
        CRITICALITY,
        FUNCTION,
        TECHNOLOGY,
        COUNTRY,
        REGION,
        COST,
        SUBSTITUTABILITY,
        EXIT_PLAN,
    ],
    read_only: SHOWN,
};

/// An arrangement that might be made: its provider may be a name that the register does not know yet.
pub static SUPPOSED_ARRANGEMENT: Form = Form {
    name: "SupposedArrangement",
    fields: &[
        PROVIDER_ID.nullable(),
        PROVIDER,
        SERVICE.required(),
        CRITICALITY.required(),
        FUNCTION,
        TECHNOLOGY,
        COUNTRY,
        REGION,
        COST,
        SUBSTITUTABILITY,
        EXIT_PLAN,
    ],
    read_only: SHOWN,
};

impl Arrangement {
    /// A new arrangement.
    pub fn new(id: String, values: &Values, now_ms: i64) -> Arrangement {
        let mut arrangement = Arrangement {
            id,
            external_id: None,
            provider_id: String::new(),
            service: String::new(),
            function: None,
            criticality: Criticality::Standard,
            technology: None,
            country: None,
            region: None,
            annual_cost_eur: None,
            substitutability: None,
            exit_plan: None,
            created_at: now_ms,
            updated_at: now_ms,
        };
        arrangement.set(values);
        arrangement
    }

    /// Changes what was given.
    pub fn set(&mut self, values: &Values) {
        values.set_text("provider_id", &mut self.provider_id);
        values.set_text("service", &mut self.service);
        values.set_optional_text("function", &mut self.function);
        values.set_word("criticality", Criticality::parse, &mut self.criticality);
        values.set_optional_text("technology", &mut self.technology);
        values.set_optional_text("country", &mut self.country);
        values.set_optional_text("region", &mut self.region);
        values.set_number("annual_cost_eur", &mut self.annual_cost_eur);
        values.set_optional_word("substitutability", Substitutability::parse, &mut self.substitutability);
        values.set_switch("exit_plan", &mut self.exit_plan);
    }

    /// Is it one that business cannot go on without?
    pub fn is_critical(&self) -> bool {
        self.criticality == Criticality::Critical
    }

    /// Could it be replaced without trouble? What nobody has looked at could not.
    pub fn is_easy_to_replace(&self) -> bool {
        self.substitutability == Some(Substitutability::Easy)
    }
}
