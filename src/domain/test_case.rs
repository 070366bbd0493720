//! Test cases: what is tested, when, and how it ended. The moves are here and nowhere else.

use super::day::{Day, as_optional_time, as_time};
use super::form::{Field, Form, Values, choice, codes, day, text};
use super::measure::MEASURE_IDS;
use crate::error::Faults;
use crate::shape::{CREATED_AT, EXTERNAL_ID, Shape, UPDATED_AT, id, whole};
use serde::Serialize;

words! {
    /// Where a test case stands.
    Status {
        Planned = "planned", InProgress = "in_progress", Passed = "passed", Failed = "failed", Blocked = "blocked",
        Cancelled = "cancelled",
    }
}
words! {
    /// What kind of test it is, after DORA Art. 25(1) and 26.
    Type {
        VulnerabilityAssessment = "vulnerability_assessment", OpenSourceAnalysis = "open_source_analysis",
        NetworkSecurity = "network_security", GapAnalysis = "gap_analysis", PhysicalSecurity = "physical_security",
        Questionnaire = "questionnaire", ScanningSolution = "scanning_solution",
        SourceCodeReview = "source_code_review", ScenarioBased = "scenario_based", Compatibility = "compatibility",
        Performance = "performance", EndToEnd = "end_to_end", PenetrationTest = "penetration_test", Tlpt = "tlpt",
    }
}
words! {
    /// How pressing it is.
    Priority { Critical = "critical", High = "high", Medium = "medium", Low = "low" }
}

impl Status {
    /// Where it may go from here.
    pub fn moves(self) -> &'static [Status] {
        use Status::*;
        match self {
            Planned => &[InProgress, Cancelled],
            InProgress => &[Passed, Failed, Blocked, Cancelled],
            Blocked => &[InProgress, Cancelled],
            Passed | Failed => &[InProgress],
            Cancelled => &[],
        }
    }

    /// Is nothing left to be done?
    pub fn is_finished(self) -> bool {
        use Status::*;
        match self {
            Passed | Failed | Cancelled => true,
            Planned | InProgress | Blocked => false,
        }
    }
}

/// A test case, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct TestCase {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    pub programme_id: String,
    pub title: String,
    pub description: Option<String>,
    pub r#type: Type,
    pub status: Status,
    pub priority: Priority,
    pub assignee: Option<String>,
    pub scheduled_on: Option<Day>,
    pub due_on: Option<Day>,
    #[serde(serialize_with = "as_optional_time")]
    pub executed_at: Option<i64>,
    pub result_summary: Option<String>,
    pub measure_ids: Vec<String>,
    pub finding_count: i64,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    #[serde(serialize_with = "as_time")]
    pub updated_at: i64,
}

const PROGRAMME_ID: Field = text("programme_id", 64).says("The programme it belongs to.");
const TITLE: Field = text("title", 255)
    .says("What is tested, in one line.")
    .such_as(r#""Restore the core banking system from backup""#);
const TYPE: Field = choice("type", Type::NAMES).says("What kind of test it is.");
const REST: [Field; 9] = [
    text("description", 20_000).nullable().says("What is tested, at length."),
    choice("status", Status::NAMES).says("Where it stands; only the allowed moves are taken."),
    choice("priority", Priority::NAMES).says("How pressing it is."),
    text("assignee", 255).nullable().says("Who runs it."),
    day("scheduled_on").nullable().says("When it is to be run."),
    day("due_on").nullable().says("When it has to be done."),
    super::form::time("executed_at").nullable().says("When it was run; set by a result if not given."),
    text("result_summary", 20_000).nullable().says("What came out."),
    codes("measure_ids", MEASURE_IDS).says("DORA measures that it tests."),
];
/// A test case, as it is shown.
pub static TEST_CASE: Shape = Shape {
    name: "TestCase",
    fields: &[
        id("tc"),
        EXTERNAL_ID,
        PROGRAMME_ID.shown().such_as(r#""prg_01K9Z3T7Q4W8XE5RB2N6MHVC0D""#),
        TITLE.shown(),
        REST[0].shown(),
        TYPE.shown(),
        REST[1].shown(),
        REST[2].shown(),
        REST[3].shown(),
        REST[4].shown(),
        REST[5].shown(),
        REST[6].shown(),
        REST[7].shown(),
        REST[8].shown(),
        whole("finding_count").says("How many findings it has brought to light."),
        CREATED_AT,
        UPDATED_AT,
    ],
};

const SHOWN: &[&str] = &["id", "external_id", "finding_count", "created_at", "updated_at"];

/// The body of `PATCH /api/v1/test-cases/{id}`: absent fields keep their value.
pub static TEST_CASE_PATCH: Form = Form {
    name: "TestCasePatch",
    fields: &[
        PROGRAMME_ID,
        TITLE,
        TYPE,
        REST[0],
        REST[1],
        REST[2],
        REST[3],
        REST[4],
        REST[5],
        REST[6],
        REST[7],
        REST[8],
    ],
    read_only: SHOWN,
};

/// A new test case: planned.
pub static NEW_TEST_CASE: Form = Form {
    name: "NewTestCase",
    fields: &[
        PROGRAMME_ID.required(),
        TITLE.required(),
        TYPE.required(),
        REST[0],
        REST[2],
        REST[3],
        REST[4],
        REST[5],
        REST[8],
    ],
    read_only: SHOWN,
};

/// A test case in an import file: any status, and what the file itself needs.
pub static IMPORTED_TEST_CASE: Form = Form {
    name: "ImportedTestCase",
    fields: &[
        PROGRAMME_ID.required(),
        TITLE.required(),
        TYPE.required(),
        REST[0],
        REST[1],
        REST[2],
        REST[3],
        REST[4],
        REST[5],
        REST[6],
        REST[7],
        REST[8],
    ],
    read_only: &["id", "finding_count", "created_at", "updated_at"],
};

impl TestCase {
    /// A new, planned test case.
    pub fn new(id: String, values: &Values, now_ms: i64) -> TestCase {
        let mut case = TestCase {
            id,
            external_id: None,
            programme_id: String::new(),
            title: String::new(),
            description: None,
            r#type: Type::ScenarioBased,
            status: Status::Planned,
            priority: Priority::Medium,
            assignee: None,
            scheduled_on: None,
            due_on: None,
            executed_at: None,
            result_summary: None,
            measure_ids: Vec::new(),
            finding_count: 0,
            created_at: now_ms,
            updated_at: now_ms,
        };
        case.set(values);
        case
    }

    /// Changes what was given, and moves it if a status was. `Ok` holds the status before a move.
    pub fn change(&mut self, values: &Values, now_ms: i64) -> Result<Option<Status>, Faults> {
        let before = self.status;
        let wanted = values.text("status").and_then(Status::parse).unwrap_or(before);
        if wanted != before && !before.moves().contains(&wanted) {
            let allowed: Vec<&str> = before.moves().iter().map(|status| status.name()).collect();
            let allowed = if allowed.is_empty() { "none".into() } else { allowed.join(", ") };
            let reason =
                format!("cannot go from {} to {}; possible are: {allowed}", before.name(), wanted.name());
            return Err(Faults::one("status", reason));
        }
        self.set(values);
        self.updated_at = now_ms;
        self.enter(wanted, now_ms);
        Ok((wanted != before).then_some(before))
    }

    /// Puts it into a status; a result without a time happened now. The import uses it without the moves.
    pub fn enter(&mut self, status: Status, now_ms: i64) {
        self.status = status;
        if matches!(status, Status::Passed | Status::Failed) && self.executed_at.is_none() {
            self.executed_at = Some(now_ms);
        }
    }

    /// Takes over a row of an import: it may arrive in any status.
    pub fn absorb(&mut self, values: &Values, now_ms: i64) {
        self.set(values);
        self.updated_at = now_ms;
        self.enter(values.text("status").and_then(Status::parse).unwrap_or(self.status), now_ms);
    }

    fn set(&mut self, values: &Values) {
        values.set_text("programme_id", &mut self.programme_id);
        values.set_text("title", &mut self.title);
        values.set_word("type", Type::parse, &mut self.r#type);
        values.set_optional_text("description", &mut self.description);
        values.set_word("priority", Priority::parse, &mut self.priority);
        values.set_optional_text("assignee", &mut self.assignee);
        values.set_day("scheduled_on", &mut self.scheduled_on);
        values.set_day("due_on", &mut self.due_on);
        values.set_time("executed_at", &mut self.executed_at);
        values.set_optional_text("result_summary", &mut self.result_summary);
        values.set_texts("measure_ids", &mut self.measure_ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_pair_of_statuses_is_either_a_move_or_refused() {
        let allowed = [
            ("planned", "in_progress"),
            ("planned", "cancelled"),
            ("in_progress", "passed"),
            ("in_progress", "failed"),
            ("in_progress", "blocked"),
            ("in_progress", "cancelled"),
            ("blocked", "in_progress"),
            ("blocked", "cancelled"),
            ("passed", "in_progress"),
            ("failed", "in_progress"),
        ];
        for from in Status::NAMES {
            for to in Status::NAMES.iter().filter(|to| *to != from) {
                let body = json!({ "status": to });
                let values = TEST_CASE_PATCH.check(body.as_object().unwrap()).unwrap();
                let mut case = TestCase::new("tc_1".into(), &Values::default(), 0);
                case.status = Status::parse(from).unwrap();
                assert_eq!(case.change(&values, 7).is_ok(), allowed.contains(&(from, to)), "{from} to {to}");
                let has_result = case.status.name() == *to && ["passed", "failed"].contains(to);
                assert_eq!(case.executed_at, has_result.then_some(7), "{from} to {to}");
            }
        }
    }
}
