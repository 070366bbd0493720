//! Programmes: the frame around test cases. Counts and progress are computed, never set.
//!
//! The import may bring one in any status; people move it step by step by `change`.

use super::day::{Day, as_time};
use super::form::{Field, Form, Values, choice, day, text};
use crate::error::Faults;
use crate::shape::{CREATED_AT, EXTERNAL_ID, Shape, UPDATED_AT, id, percent, whole};
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

impl Status {
    /// Where it may go from here. An archived one comes back as it was worked on.
    pub fn moves(self) -> &'static [Status] {
        use Status::*;
        match self {
            Draft => &[Active, Archived],
            Active => &[Completed, Archived],
            Completed => &[Active, Archived],
            Archived => &[Active],
        }
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

/// A programme, as it is shown.
pub static PROGRAMME: Shape = Shape {
    name: "Programme",
    fields: &[
        id("prg"),
        EXTERNAL_ID,
        NAME.shown(),
        DESCRIPTION.shown(),
        FRAMEWORK.shown(),
        STATUS.shown(),
        OWNER.shown(),
        STARTS_ON.shown(),
        ENDS_ON.shown(),
        whole("test_case_count").says("How many test cases it has."),
        whole("open_finding_count").says("How many of its findings are open."),
        percent("progress_pct")
            .says("The share of its test cases that are passed or failed; cancelled ones aside."),
        CREATED_AT,
        UPDATED_AT,
    ],
};

const NAME: Field = text("name", 255).says("What people call it.").such_as(r#""Resilience testing 2026""#);
const DESCRIPTION: Field = text("description", 20_000).nullable().says("What it is for.");
const FRAMEWORK: Field = choice("framework", Framework::NAMES).says("What it tests against.");
const STATUS: Field = choice("status", Status::NAMES).says("Where it stands.");
const OWNER: Field = text("owner", 255).nullable().says("Who leads it.");
const STARTS_ON: Field = day("starts_on").nullable().says("Its first day.");
const ENDS_ON: Field = day("ends_on").nullable().says("Its last day.");

const SHOWN: &[&str] = &[
    "id",
    "external_id",
    "test_case_count",
    "open_finding_count",
    "progress_pct",
    "created_at",
    "updated_at",
];

/// A new programme: a draft, or one that begins at once.
pub static NEW_PROGRAMME: Form = Form {
    name: "NewProgramme",
    fields: &[
        NAME.required(),
        FRAMEWORK.required(),
        DESCRIPTION,
        choice("status", &["draft", "active"]).says("A draft, or active at once."),
        OWNER,
        STARTS_ON,
        ENDS_ON,
    ],
    read_only: SHOWN,
};

/// A change of a programme: absent fields keep their value.
pub static PROGRAMME_PATCH: Form = Form {
    name: "ProgrammePatch",
    fields: &[NAME, FRAMEWORK, DESCRIPTION, STATUS, OWNER, STARTS_ON, ENDS_ON],
    read_only: SHOWN,
};

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

    /// Changes what was given, and moves it if a status was. Every fault is named, and then nothing is changed.
    pub fn change(&mut self, values: &Values, now_ms: i64) -> Result<(), Faults> {
        let before = self.status;
        let mut changed = self.clone();
        changed.set(values);
        let mut faults = changed.faults();
        if changed.status != before && !before.moves().contains(&changed.status) {
            let allowed: Vec<&str> = before.moves().iter().map(|status| status.name()).collect();
            let (from, to) = (before.name(), changed.status.name());
            faults.add(
                "status",
                format!("cannot go from {from} to {to}; possible are: {}", allowed.join(", ")),
            );
        }
        if !faults.fields.is_empty() {
            return Err(faults);
        }
        changed.updated_at = now_ms;
        *self = changed;
        Ok(())
    }

    /// What does not fit together in it.
    pub fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        if let (Some(starts_on), Some(ends_on)) = (self.starts_on, self.ends_on)
            && ends_on < starts_on
        {
            faults.add("ends_on", "must not be before starts_on");
        }
        faults
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(body: serde_json::Value) -> Values {
        PROGRAMME_PATCH.check(body.as_object().unwrap()).unwrap()
    }

    #[test]
    fn every_pair_of_statuses_is_either_a_move_or_refused() {
        for from in Status::NAMES {
            for to in Status::NAMES.iter().filter(|to| *to != from) {
                let mut programme = Programme::new("prg_1".into(), &values(json!({ "status": from })), 0);
                let (before, wanted) = (programme.clone(), Status::parse(to).unwrap());
                let outcome = programme.change(&values(json!({ "status": to, "name": "n" })), 7);
                assert_eq!(outcome.is_ok(), before.status.moves().contains(&wanted), "{from} to {to}");
                assert!(outcome.is_ok() || programme == before, "nothing is changed");
            }
        }
    }

    #[test]
    fn a_programme_does_not_end_before_it_starts_and_every_fault_is_named() {
        let mut programme = Programme::new("prg_1".into(), &values(json!({ "starts_on": "2026-11-15" })), 0);
        let faults = programme.change(&values(json!({ "ends_on": "2026-11-14", "status": "completed" })), 7);
        let names: Vec<String> = faults.unwrap_err().fields.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["ends_on", "status"]);
        programme.change(&values(json!({ "ends_on": "2026-11-15" })), 7).unwrap();
    }
}
