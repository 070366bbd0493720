//! Findings: weaknesses that tests and audits brought to light, and their way to closure.
//!
//! The state machine is here and nowhere else: the API, the import and the workspace
//! call `change`. A risk that was accepted needs a reason and an end, and goes back
//! to open on that day by itself.

use super::day::{Day, as_optional_time, as_time};
use super::form::{Field, Form, Values, choice, codes, day, text, time};
use super::measure::MEASURE_IDS;
use crate::error::Faults;
use crate::shape::{self, CREATED_AT, EXTERNAL_ID, Shape, UPDATED_AT, id};
use serde::Serialize;

words! {
    /// Where a finding stands.
    Status {
        Open = "open", InProgress = "in_progress", Resolved = "resolved", Closed = "closed",
        RiskAccepted = "risk_accepted", FalsePositive = "false_positive",
    }
}
words! {
    /// How bad it is.
    Severity {
        Critical = "critical", High = "high", Medium = "medium", Low = "low", Informational = "informational",
    }
}

impl Status {
    /// Where it may go from here.
    pub fn moves(self) -> &'static [Status] {
        use Status::*;
        match self {
            Open => &[InProgress, RiskAccepted, FalsePositive],
            InProgress => &[Resolved, Open, RiskAccepted, FalsePositive],
            Resolved => &[Closed, InProgress],
            Closed | RiskAccepted | FalsePositive => &[Open],
        }
    }

    /// Does it still need somebody's work?
    pub fn is_open(self) -> bool {
        use Status::*;
        match self {
            Open | InProgress | Resolved => true,
            Closed | RiskAccepted | FalsePositive => false,
        }
    }
}

impl Severity {
    /// Days from detection until it is due; none for what is only worth knowing.
    pub fn due_days(self) -> Option<i32> {
        match self {
            Severity::Critical => Some(7),
            Severity::High => Some(30),
            Severity::Medium => Some(90),
            Severity::Low => Some(180),
            Severity::Informational => None,
        }
    }
}

/// A finding, as v1 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Finding {
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_id: Option<String>,
    pub programme_id: Option<String>,
    pub test_case_id: Option<String>,
    pub title: String,
    pub description: Option<String>,
    pub severity: Severity,
    pub status: Status,
    pub owner: Option<String>,
    pub detected_on: Day,
    pub due_on: Option<Day>,
    pub remediation: Option<String>,
    pub measure_ids: Vec<String>,
    pub acceptance_reason: Option<String>,
    pub acceptance_expires_on: Option<Day>,
    #[serde(serialize_with = "as_optional_time")]
    pub closed_at: Option<i64>,
    #[serde(serialize_with = "as_time")]
    pub created_at: i64,
    #[serde(serialize_with = "as_time")]
    pub updated_at: i64,
}

const PROGRAMME_ID: Field =
    text("programme_id", 64).nullable().says("The programme it belongs to.").such_as("null");
const TEST_CASE_ID: Field =
    text("test_case_id", 64).nullable().says("The test case that found it.").such_as("null");
const TITLE: Field = text("title", 255)
    .says("What is wrong, in one line.")
    .such_as(r#""Backups are not kept apart from the network""#);
const DESCRIPTION: Field =
    text("description", 20_000).nullable().says("What is wrong, at length.").such_as("null");
const SEVERITY: Field = choice("severity", Severity::NAMES).says("How bad it is.").such_as(r#""high""#);
const STATUS: Field =
    choice("status", Status::NAMES).says("Where it stands; only the allowed moves are taken.");
const OWNER: Field = text("owner", 255).nullable().says("Who sees to it.").such_as(r#""IT operations""#);
const DETECTED_ON: Field = day("detected_on").says("When it was found; today if not given.");
const DUE_ON: Field = day("due_on")
    .nullable()
    .says("When it has to be done; by severity if not given.")
    .such_as(r#""2026-12-15""#);
const REMEDIATION: Field =
    text("remediation", 20_000).nullable().says("What is to be done.").such_as(r#""Keep one copy offline""#);
const MEASURES: Field =
    codes("measure_ids", MEASURE_IDS).says("DORA measures that it touches.").such_as(r#"["DORA-12-01"]"#);
const REASON: Field =
    text("acceptance_reason", 2_000).nullable().says("Why the risk is accepted.").such_as("null");
const EXPIRES: Field =
    day("acceptance_expires_on").nullable().says("Until when the risk is accepted.").such_as("null");
const SHOWN: &[&str] = &["id", "external_id", "closed_at", "created_at", "updated_at"];

/// A finding, as it is shown.
pub static FINDING: Shape = Shape {
    name: "Finding",
    fields: &[
        id("fnd"),
        EXTERNAL_ID,
        PROGRAMME_ID.shown(),
        TEST_CASE_ID.shown(),
        TITLE.shown(),
        DESCRIPTION.shown(),
        SEVERITY.shown(),
        STATUS.shown(),
        OWNER.shown(),
        DETECTED_ON.shown(),
        DUE_ON.shown(),
        REMEDIATION.shown(),
        MEASURES.shown(),
        REASON.shown(),
        EXPIRES.shown(),
        shape::time("closed_at").nullable().says("When it was closed.").such_as("null"),
        CREATED_AT,
        UPDATED_AT,
    ],
};

/// The body of `POST /api/v1/findings`.
pub static NEW_FINDING: Form = Form {
    name: "NewFinding",
    fields: &[
        TITLE.required(),
        SEVERITY.required(),
        PROGRAMME_ID,
        TEST_CASE_ID,
        DESCRIPTION,
        OWNER,
        DETECTED_ON,
        DUE_ON,
        REMEDIATION,
        MEASURES,
    ],
    read_only: SHOWN,
};

/// The body of `PATCH /api/v1/findings/{id}`: absent fields keep their value.
pub static FINDING_PATCH: Form = Form {
    name: "FindingPatch",
    fields: &[
        TITLE,
        SEVERITY,
        STATUS,
        PROGRAMME_ID,
        TEST_CASE_ID,
        DESCRIPTION,
        OWNER,
        DETECTED_ON,
        DUE_ON,
        REMEDIATION,
        MEASURES,
        REASON,
        EXPIRES,
    ],
    read_only: SHOWN,
};

/// A finding in an import file: any status, and what the file itself needs.
pub static IMPORTED_FINDING: Form = Form {
    name: "ImportedFinding",
    fields: &[
        TITLE.required(),
        SEVERITY.required(),
        STATUS,
        PROGRAMME_ID,
        TEST_CASE_ID,
        DESCRIPTION,
        OWNER,
        DETECTED_ON,
        DUE_ON,
        REMEDIATION,
        MEASURES,
        REASON,
        EXPIRES,
        time("closed_at").nullable(),
    ],
    read_only: &["id", "created_at", "updated_at"],
};

impl Finding {
    /// A new, open finding. Its due date follows its severity unless one was given.
    pub fn new(id: String, values: &Values, now_ms: i64) -> Finding {
        let today = Day::of_ms(now_ms);
        let mut finding = Finding {
            id,
            external_id: None,
            programme_id: None,
            test_case_id: None,
            title: String::new(),
            description: None,
            severity: Severity::Medium,
            status: Status::Open,
            owner: None,
            detected_on: today,
            due_on: None,
            remediation: None,
            measure_ids: Vec::new(),
            acceptance_reason: None,
            acceptance_expires_on: None,
            closed_at: None,
            created_at: now_ms,
            updated_at: now_ms,
        };
        finding.set(values);
        if values.get("due_on").is_none() {
            finding.due_on = finding.default_due_on();
        }
        finding
    }

    /// Changes what was given, and moves it if a status was. `Ok` holds the status before a move.
    pub fn change(&mut self, values: &Values, now_ms: i64) -> Result<Option<Status>, Faults> {
        let before = self.status;
        let wanted = values.text("status").and_then(Status::parse).unwrap_or(before);
        if wanted != before && !before.moves().contains(&wanted) {
            let allowed: Vec<&str> = before.moves().iter().map(|status| status.name()).collect();
            let reason = format!(
                "cannot go from {} to {}; possible are: {}",
                before.name(),
                wanted.name(),
                allowed.join(", ")
            );
            return Err(Faults::one("status", reason));
        }
        let due_followed_severity = self.due_on == self.default_due_on();
        self.set(values);
        if values.get("due_on").is_none() && due_followed_severity {
            self.due_on = self.default_due_on();
        }
        self.updated_at = now_ms;
        self.enter(wanted, now_ms)?;
        Ok((wanted != before).then_some(before))
    }

    /// Puts it into a status, with what belongs to that. The import uses it without the moves.
    pub fn enter(&mut self, status: Status, now_ms: i64) -> Result<(), Faults> {
        self.status = status;
        if status == Status::RiskAccepted {
            self.check_acceptance(Day::of_ms(now_ms))?;
        } else {
            self.acceptance_reason = None;
            self.acceptance_expires_on = None;
        }
        match status {
            Status::Closed => self.closed_at = self.closed_at.or(Some(now_ms)),
            Status::Open
            | Status::InProgress
            | Status::Resolved
            | Status::RiskAccepted
            | Status::FalsePositive => {
                self.closed_at = None;
            }
        }
        Ok(())
    }

    /// Takes over a row of an import: it may arrive in any status.
    pub fn absorb(&mut self, values: &Values, now_ms: i64) -> Result<(), Faults> {
        self.set(values);
        if values.get("due_on").is_none() && self.due_on.is_none() {
            self.due_on = self.default_due_on();
        }
        values.set_time("closed_at", &mut self.closed_at);
        self.updated_at = now_ms;
        let status = values.text("status").and_then(Status::parse).unwrap_or(self.status);
        self.enter(status, now_ms)
    }

    fn check_acceptance(&self, today: Day) -> Result<(), Faults> {
        let mut faults = Faults::default();
        if self.acceptance_reason.is_none() {
            faults.add("acceptance_reason", "is required to accept a risk");
        }
        match self.acceptance_expires_on {
            None => faults.add("acceptance_expires_on", "is required to accept a risk"),
            Some(end) if end <= today => faults.add("acceptance_expires_on", "must be after today"),
            Some(_) => {}
        }
        if faults.fields.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn default_due_on(&self) -> Option<Day> {
        self.severity.due_days().map(|days| self.detected_on.plus_days(days))
    }

    fn set(&mut self, values: &Values) {
        values.set_text("title", &mut self.title);
        values.set_word("severity", Severity::parse, &mut self.severity);
        values.set_optional_text("programme_id", &mut self.programme_id);
        values.set_optional_text("test_case_id", &mut self.test_case_id);
        values.set_optional_text("description", &mut self.description);
        values.set_optional_text("owner", &mut self.owner);
        let mut detected_on = Some(self.detected_on);
        values.set_day("detected_on", &mut detected_on);
        self.detected_on = detected_on.unwrap_or(self.detected_on);
        values.set_day("due_on", &mut self.due_on);
        values.set_optional_text("remediation", &mut self.remediation);
        values.set_texts("measure_ids", &mut self.measure_ids);
        values.set_optional_text("acceptance_reason", &mut self.acceptance_reason);
        values.set_day("acceptance_expires_on", &mut self.acceptance_expires_on);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: i64 = 1_794_729_600_000;

    fn values(body: serde_json::Value) -> Values {
        FINDING_PATCH.check(body.as_object().unwrap()).unwrap()
    }

    fn finding(body: serde_json::Value) -> Finding {
        Finding::new("fnd_1".into(), &values(body), NOW)
    }

    #[test]
    fn due_dates_follow_severity_until_somebody_sets_one() {
        let mut finding = finding(json!({ "title": "t", "severity": "high" }));
        assert_eq!(finding.due_on, Day::parse("2026-12-15"));
        finding.change(&values(json!({ "severity": "critical" })), NOW).unwrap();
        assert_eq!(finding.due_on, Day::parse("2026-11-22"));
        finding.change(&values(json!({ "due_on": "2027-01-01" })), NOW).unwrap();
        finding.change(&values(json!({ "severity": "low" })), NOW).unwrap();
        assert_eq!(finding.due_on, Day::parse("2027-01-01"), "a date that was set stays");
        assert_eq!(super::tests::finding(json!({ "title": "t", "severity": "informational" })).due_on, None);
    }

    #[test]
    fn every_pair_of_statuses_is_either_a_move_or_refused() {
        for from in Status::NAMES {
            for to in Status::NAMES.iter().filter(|to| *to != from) {
                let mut finding = finding(json!({ "title": "t", "severity": "low" }));
                finding.status = Status::parse(from).unwrap();
                let patch = values(json!({
                    "status": to, "acceptance_reason": "small", "acceptance_expires_on": "2027-01-01",
                }));
                let allowed = finding.status.moves().contains(&Status::parse(to).unwrap());
                let before = finding.clone();
                match finding.change(&patch, NOW) {
                    Ok(previous) => assert!(allowed && previous == Status::parse(from), "{from} to {to}"),
                    Err(faults) => {
                        assert!(!allowed, "{from} to {to}");
                        let reason = &faults.fields[0].1;
                        assert!(before.status.moves().iter().all(|status| reason.contains(status.name())));
                        assert_eq!(finding, before, "nothing is changed");
                    }
                }
            }
        }
    }

    #[test]
    fn accepting_a_risk_needs_a_reason_and_an_end_after_today() {
        let mut finding = finding(json!({ "title": "t", "severity": "low" }));
        let faults = finding.clone().change(&values(json!({ "status": "risk_accepted" })), NOW).unwrap_err();
        assert_eq!(faults.fields.len(), 2);
        let late = json!({ "status": "risk_accepted", "acceptance_reason": "r", "acceptance_expires_on": "2026-11-15" });
        assert!(finding.clone().change(&values(late), NOW).is_err());
        let good = json!({ "status": "risk_accepted", "acceptance_reason": "r", "acceptance_expires_on": "2026-11-16" });
        finding.change(&values(good), NOW).unwrap();
        finding.change(&values(json!({ "status": "open" })), NOW).unwrap();
        assert_eq!((finding.acceptance_reason, finding.acceptance_expires_on), (None, None));
    }

    #[test]
    fn closing_stamps_a_time_and_reopening_takes_it_away() {
        let mut finding = finding(json!({ "title": "t", "severity": "low" }));
        for status in ["in_progress", "resolved", "closed"] {
            finding.change(&values(json!({ "status": status })), NOW).unwrap();
        }
        assert_eq!(finding.closed_at, Some(NOW));
        finding.change(&values(json!({ "status": "open" })), NOW + 1).unwrap();
        assert_eq!(finding.closed_at, None);
    }
}
