//! CRA reports: what a manufacturer tells the authorities under Art. 14 of the Cyber Resilience Act, and
//! the three clocks that run meanwhile.
//!
//! Each clock has its own start: early warning and notification run from awareness, the final report of a
//! vulnerability from the corrective measure, that of an incident from the notification. A start that is
//! not known starts no clock. Being late is shown and never refused.

use super::day::plus_one_month;
use super::form::Values;
use crate::clock::{parse_rfc3339, rfc3339};
use crate::error::Faults;
use serde_json::{Value, json};

words! {
    /// What the report is about.
    Kind { ExploitedVulnerability = "exploited_vulnerability", SevereIncident = "severe_incident" }
}
words! {
    /// How bad it is.
    Severity { Critical = "critical", High = "high", Medium = "medium", Low = "low" }
}
words! {
    /// Where a report stands.
    Status {
        Draft = "draft", EarlyWarningSent = "early_warning_sent", NotificationSent = "notification_sent",
        FinalReportSent = "final_report_sent", Closed = "closed", Withdrawn = "withdrawn",
    }
}
words! {
    /// What is sent, in its order.
    Stage { EarlyWarning = "early_warning", Notification = "notification", FinalReport = "final_report" }
}

const HOUR_MS: i64 = 3_600_000;
/// From awareness to the early warning.
const EARLY_WARNING_MS: i64 = 24 * HOUR_MS;
/// From awareness to the notification.
const NOTIFICATION_MS: i64 = 72 * HOUR_MS;
/// From the corrective measure to the final report on a vulnerability.
const FINAL_REPORT_MS: i64 = 14 * 24 * HOUR_MS;

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Stage; 3] = [Stage::EarlyWarning, Stage::Notification, Stage::FinalReport];
}

impl Status {
    /// Where it may go from here: one step on, or out.
    pub fn moves(self) -> &'static [Status] {
        use Status::*;
        match self {
            Draft => &[EarlyWarningSent, Withdrawn],
            EarlyWarningSent => &[NotificationSent, Withdrawn],
            NotificationSent => &[FinalReportSent, Withdrawn],
            FinalReportSent => &[Closed, Withdrawn],
            Closed | Withdrawn => &[],
        }
    }

    /// The stages that were sent for it to be here. Of a withdrawn one nothing follows.
    fn sent(self) -> &'static [Stage] {
        use Stage::*;
        match self {
            Status::Draft | Status::Withdrawn => &[],
            Status::EarlyWarningSent => &[EarlyWarning],
            Status::NotificationSent => &[EarlyWarning, Notification],
            Status::FinalReportSent | Status::Closed => &[EarlyWarning, Notification, FinalReport],
        }
    }

    /// Do its clocks run?
    pub fn is_running(self) -> bool {
        match self {
            Status::Draft | Status::EarlyWarningSent | Status::NotificationSent => true,
            Status::FinalReportSent | Status::Closed | Status::Withdrawn => false,
        }
    }
}

/// What was handed to an authority at a stage.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Submission {
    pub stage: Stage,
    pub submitted_at: i64,
    pub reference: Option<String>,
    pub authority: Option<String>,
}

impl Submission {
    /// Reads one as it is shown, and as it is stored.
    pub fn of(value: &Value) -> Option<Submission> {
        let optional = |name: &str| value[name].as_str().filter(|text| !text.trim().is_empty());
        Some(Submission {
            stage: Stage::parse(value["stage"].as_str()?)?,
            submitted_at: parse_rfc3339(value["submitted_at"].as_str()?)?,
            reference: optional("reference").map(str::to_owned),
            authority: optional("authority").map(str::to_owned),
        })
    }

    /// As it is shown, and as it is stored.
    pub fn shown(&self) -> Value {
        json!({
            "stage": self.stage,
            "submitted_at": rfc3339(self.submitted_at),
            "reference": self.reference,
            "authority": self.authority,
        })
    }
}

/// A CRA report: what is stored of it. `shown` adds what is computed.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct CraReport {
    pub id: String,
    pub external_id: Option<String>,
    pub kind: Kind,
    pub title: String,
    pub product_name: String,
    pub product_version: Option<String>,
    pub cve_id: Option<String>,
    pub severity: Option<Severity>,
    pub cvss_score: Option<f64>,
    pub status: Status,
    pub became_aware_at: Option<i64>,
    pub corrective_measure_at: Option<i64>,
    pub early_warning_sent_at: Option<i64>,
    pub notification_sent_at: Option<i64>,
    pub final_report_sent_at: Option<i64>,
    pub member_states: Vec<String>,
    pub summary: Option<String>,
    pub root_cause: Option<String>,
    pub mitigation: Option<String>,
    pub user_guidance: Option<String>,
    pub submissions: Vec<Submission>,
    pub created_at: i64,
    pub updated_at: i64,
}

impl CraReport {
    /// A new report, in any status; stages that its status says were sent are stamped if they are not given.
    pub fn new(id: String, values: &Values, now_ms: i64) -> CraReport {
        let mut report = CraReport {
            id,
            external_id: None,
            kind: Kind::ExploitedVulnerability,
            title: String::new(),
            product_name: String::new(),
            product_version: None,
            cve_id: None,
            severity: None,
            cvss_score: None,
            status: Status::Draft,
            became_aware_at: None,
            corrective_measure_at: None,
            early_warning_sent_at: None,
            notification_sent_at: None,
            final_report_sent_at: None,
            member_states: Vec::new(),
            summary: None,
            root_cause: None,
            mitigation: None,
            user_guidance: None,
            submissions: Vec::new(),
            created_at: now_ms,
            updated_at: now_ms,
        };
        report.set(values);
        values.set_word("status", Status::parse, &mut report.status);
        report.stamp(now_ms);
        report
    }

    /// Changes what was given, and moves it if a status was. Every fault is named, and then nothing is changed.
    pub fn change(&mut self, values: &Values, now_ms: i64) -> Result<(), Faults> {
        let before = self.status;
        let wanted = values.text("status").and_then(Status::parse).unwrap_or(before);
        let mut faults = Faults::default();
        if wanted != before && !before.moves().contains(&wanted) {
            faults.add("status", refusal(before, wanted));
        }
        let mut changed = self.clone();
        changed.set(values);
        for stage in before.sent().iter().filter(|stage| changed.sent_at(**stage).is_none()) {
            let field = format!("{}_sent_at", stage.name());
            faults.add(&field, format!("cannot be removed: the report is {}", before.name()));
        }
        if !faults.fields.is_empty() {
            return Err(faults);
        }
        changed.status = wanted;
        changed.stamp(now_ms);
        changed.updated_at = now_ms;
        *self = changed;
        Ok(())
    }

    /// Takes over a row of an import: it may arrive in any status.
    pub fn absorb(&mut self, values: &Values, now_ms: i64) {
        self.set(values);
        values.set_word("status", Status::parse, &mut self.status);
        self.stamp(now_ms);
        self.updated_at = now_ms;
    }

    /// When a stage was sent.
    pub fn sent_at(&self, stage: Stage) -> Option<i64> {
        match stage {
            Stage::EarlyWarning => self.early_warning_sent_at,
            Stage::Notification => self.notification_sent_at,
            Stage::FinalReport => self.final_report_sent_at,
        }
    }

    /// When a stage's clock started.
    pub fn starts_at(&self, stage: Stage) -> Option<i64> {
        match (stage, self.kind) {
            (Stage::EarlyWarning | Stage::Notification, _) => self.became_aware_at,
            (Stage::FinalReport, Kind::ExploitedVulnerability) => self.corrective_measure_at,
            (Stage::FinalReport, Kind::SevereIncident) => self.notification_sent_at,
        }
    }

    /// When a stage is due; nothing while its clock has not started.
    pub fn due_at(&self, stage: Stage) -> Option<i64> {
        let start = self.starts_at(stage)?;
        Some(match (stage, self.kind) {
            (Stage::EarlyWarning, _) => start + EARLY_WARNING_MS,
            (Stage::Notification, _) => start + NOTIFICATION_MS,
            (Stage::FinalReport, Kind::ExploitedVulnerability) => start + FINAL_REPORT_MS,
            (Stage::FinalReport, Kind::SevereIncident) => plus_one_month(start),
        })
    }

    /// The next stage to be sent and when it is due, while a clock runs for it.
    pub fn next_deadline(&self) -> Option<(Stage, i64)> {
        let next = Stage::ALL.into_iter().find(|stage| self.sent_at(*stage).is_none());
        let next = next.filter(|_| self.status.is_running())?;
        Some((next, self.due_at(next)?))
    }

    /// The stages that were sent after their time, or are not sent and their time is over.
    pub fn late_stages(&self, now_ms: i64) -> Vec<Stage> {
        let is_late = |stage: &Stage| {
            let until = self.sent_at(*stage).or(self.status.is_running().then_some(now_ms));
            matches!((self.due_at(*stage), until), (Some(due), Some(until)) if until > due)
        };
        Stage::ALL.into_iter().filter(is_late).collect()
    }

    /// The report as v1 shows it at a moment.
    pub fn shown(&self, now_ms: i64) -> Value {
        let time = |ms: Option<i64>| ms.map(rfc3339);
        let next = self.next_deadline();
        let mut shown = json!({
            "id": self.id,
            "external_id": self.external_id,
            "kind": self.kind,
            "title": self.title,
            "product_name": self.product_name,
            "product_version": self.product_version,
            "cve_id": self.cve_id,
            "severity": self.severity,
            "cvss_score": self.cvss_score,
            "status": self.status,
            "became_aware_at": time(self.became_aware_at),
            "early_warning_due_at": time(self.due_at(Stage::EarlyWarning)),
            "notification_due_at": time(self.due_at(Stage::Notification)),
            "final_report_due_at": time(self.due_at(Stage::FinalReport)),
            "early_warning_sent_at": time(self.early_warning_sent_at),
            "notification_sent_at": time(self.notification_sent_at),
            "final_report_sent_at": time(self.final_report_sent_at),
            "corrective_measure_at": time(self.corrective_measure_at),
            "member_states": self.member_states,
            "summary": self.summary,
            "root_cause": self.root_cause,
            "mitigation": self.mitigation,
            "user_guidance": self.user_guidance,
            "submissions": self.submissions.iter().map(Submission::shown).collect::<Vec<_>>(),
            "next_deadline": next.map(|(stage, due)| json!({ "stage": stage, "due_at": rfc3339(due) })),
            "overdue": next.is_some_and(|(_, due)| now_ms > due),
            "late_stages": self.late_stages(now_ms),
            "created_at": rfc3339(self.created_at),
            "updated_at": rfc3339(self.updated_at),
        });
        if let Some(fields) = shown.as_object_mut().filter(|_| self.external_id.is_none()) {
            fields.shift_remove("external_id");
        }
        shown
    }

    /// Stages that the status says were sent, and of which nobody said when, were sent now.
    fn stamp(&mut self, now_ms: i64) {
        for stage in self.status.sent() {
            let slot = match stage {
                Stage::EarlyWarning => &mut self.early_warning_sent_at,
                Stage::Notification => &mut self.notification_sent_at,
                Stage::FinalReport => &mut self.final_report_sent_at,
            };
            slot.get_or_insert(now_ms);
        }
    }

    fn set(&mut self, values: &Values) {
        values.set_word("kind", Kind::parse, &mut self.kind);
        values.set_text("title", &mut self.title);
        values.set_text("product_name", &mut self.product_name);
        values.set_optional_text("product_version", &mut self.product_version);
        values.set_optional_text("cve_id", &mut self.cve_id);
        if let Some(severity) = values.get("severity") {
            self.severity = severity.as_str().and_then(Severity::parse);
        }
        if let Some(score) = values.get("cvss_score") {
            self.cvss_score = score.as_f64();
        }
        values.set_time("became_aware_at", &mut self.became_aware_at);
        values.set_time("corrective_measure_at", &mut self.corrective_measure_at);
        values.set_time("early_warning_sent_at", &mut self.early_warning_sent_at);
        values.set_time("notification_sent_at", &mut self.notification_sent_at);
        values.set_time("final_report_sent_at", &mut self.final_report_sent_at);
        values.set_texts("member_states", &mut self.member_states);
        values.set_optional_text("summary", &mut self.summary);
        values.set_optional_text("root_cause", &mut self.root_cause);
        values.set_optional_text("mitigation", &mut self.mitigation);
        values.set_optional_text("user_guidance", &mut self.user_guidance);
        if let Some(entries) = values.get("submissions").and_then(Value::as_array) {
            self.submissions = entries.iter().filter_map(Submission::of).collect();
        }
    }
}

fn refusal(before: Status, wanted: Status) -> String {
    let allowed: Vec<&str> = before.moves().iter().map(|status| status.name()).collect();
    let possible = if allowed.is_empty() { "none".into() } else { allowed.join(", ") };
    format!("cannot go from {} to {}; possible are: {possible}", before.name(), wanted.name())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::cra_form::CRA_REPORT_PATCH;

    const NOW: i64 = 1_794_729_600_000;

    fn report(body: Value) -> CraReport {
        CraReport::new("cra_1".into(), &values(body), NOW)
    }

    fn values(body: Value) -> Values {
        CRA_REPORT_PATCH.check(body.as_object().unwrap()).unwrap()
    }

    #[test]
    fn every_pair_of_statuses_is_either_a_move_or_refused() {
        for from in Status::NAMES {
            for to in Status::NAMES.iter().filter(|to| *to != from) {
                let mut report = report(json!({ "title": "t", "status": from }));
                let (before, wanted) = (report.clone(), Status::parse(to).unwrap());
                let allowed = before.status.moves().contains(&wanted);
                let outcome = report.change(&values(json!({ "status": to, "title": "u" })), NOW);
                assert_eq!(outcome.is_ok(), allowed, "{from} to {to}");
                if let Err(faults) = outcome {
                    let reason = &faults.fields[0].1;
                    assert!(before.status.moves().iter().all(|status| reason.contains(status.name())));
                    assert_eq!(report, before, "nothing is changed");
                }
            }
        }
    }

    #[test]
    fn a_status_says_what_was_sent_and_a_given_time_stays() {
        let mut report =
            report(json!({ "status": "notification_sent", "early_warning_sent_at": "2026-11-01T00:00:00Z" }));
        assert_ne!(report.early_warning_sent_at, Some(NOW));
        assert_eq!((report.notification_sent_at, report.final_report_sent_at), (Some(NOW), None));
        let faults = report.change(&values(json!({ "notification_sent_at": null, "status": "draft" })), NOW);
        let names: Vec<String> = faults.unwrap_err().fields.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["status", "notification_sent_at"]);
    }

    #[test]
    fn each_clock_has_its_own_start() {
        let mut report = report(json!({ "kind": "exploited_vulnerability" }));
        assert!(Stage::ALL.iter().all(|stage| report.due_at(*stage).is_none()));
        report.corrective_measure_at = Some(NOW);
        assert_eq!(report.due_at(Stage::FinalReport), Some(NOW + 14 * 24 * HOUR_MS));
        report.kind = Kind::SevereIncident;
        assert_eq!(report.due_at(Stage::FinalReport), None);
        report.notification_sent_at = parse_rfc3339("2027-01-31T10:00:00Z");
        assert_eq!(report.due_at(Stage::FinalReport), parse_rfc3339("2027-02-28T10:00:00Z"));
    }
}
