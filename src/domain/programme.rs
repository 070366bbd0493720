//! Programmes: the frame around test cases. Counts and progress are computed, never set.

use super::day::{Day, as_time};
use super::form::{Field, Form, Values, choice, day, text};
use serde::Serialize;

words! {
    /// Where a programme stands.
    Status { Draft = "draft", Active = "active", Completed = "completed", Archived = "archived" }
}
words! {
    /// What it tests against.
    Framework {
        Dora = "dora", Marisk = "marisk", Iso27001 = "iso-27001", Cra = "cra", Nis2 = "nis2",
        CrossFramework = "cross-framework",
    }
}

/// A programme, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Programme {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    pub name: String,
    pub description: Option<String>,
    pub framework: Framework,
    pub status: Status,
    pub owner: Option<String>,
    pub starts_on: Option<Day>,
    pub ends_on: Option<Day>,
    pub test_case_count: i64,
    pub open_finding_count: i64,
    pub progress_pct: f64,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    #[serde(serialize_with = "as_time")]
    pub updated_at: i64,
}

const NAME: Field = text("name", 255).says("What people call it.");
const DESCRIPTION: Field = text("description", 20_000).nullable().says("What it is for.");
const FRAMEWORK: Field = choice("framework", Framework::NAMES).says("What it tests against.");
const STATUS: Field = choice("status", Status::NAMES).says("Where it stands.");
const OWNER: Field = text("owner", 255).nullable().says("Who leads it.");
const STARTS_ON: Field = day("starts_on").nullable().says("Its first day.");
const ENDS_ON: Field = day("ends_on").nullable().says("Its last day.");

/// A programme in an import file.
pub static IMPORTED_PROGRAMME: Form = Form {
    name: "ImportedProgramme",
    fields: &[NAME.required(), FRAMEWORK.required(), DESCRIPTION, STATUS, OWNER, STARTS_ON, ENDS_ON],
    read_only: &["id", "test_case_count", "open_finding_count", "progress_pct", "created_at", "updated_at"],
};

impl Programme {
    /// A new programme; a draft unless it says otherwise.
    pub fn new(id: String, values: &Values, now_ms: i64) -> Programme {
        let mut programme = Programme {
            id,
            external_id: None,
            name: String::new(),
            description: None,
            framework: Framework::CrossFramework,
            status: Status::Draft,
            owner: None,
            starts_on: None,
            ends_on: None,
            test_case_count: 0,
            open_finding_count: 0,
            progress_pct: 0.0,
            created_at: now_ms,
            updated_at: now_ms,
        };
        programme.set(values);
        programme
    }

    /// Changes what was given.
    pub fn set(&mut self, values: &Values) {
        values.set_text("name", &mut self.name);
        values.set_word("framework", Framework::parse, &mut self.framework);
        values.set_optional_text("description", &mut self.description);
        values.set_word("status", Status::parse, &mut self.status);
        values.set_optional_text("owner", &mut self.owner);
        values.set_day("starts_on", &mut self.starts_on);
        values.set_day("ends_on", &mut self.ends_on);
    }
}

/// Share of the test cases that have a result, cancelled ones aside; one decimal.
pub fn progress_pct(done: i64, counted: i64) -> f64 {
    if counted == 0 { 0.0 } else { (done as f64 / counted as f64 * 1000.0).round() / 10.0 }
}
