//! Alerts: what needs a tenant's attention now. They are worked out from what is stored, at the moment
//! somebody asks, and go by themselves when their cause is gone.

use super::cra::{CraReport, Stage};
use super::day::{Day, as_time};
use super::deadline::{Leads, end_of, is_near, near_from};
use super::finding::Severity;
use super::fold::fold;
use super::risk::{self, Breach};
use crate::clock::rfc3339;
use crate::shape::{Shape, record, text, time, word};
use serde::Serialize;

words! {
    /// What an alert is about.
    Type {
        FindingOverdue = "finding_overdue", TestCaseOverdue = "test_case_overdue", CraClock = "cra_clock",
        ConcentrationBreach = "concentration_breach", ReviewOverdue = "review_overdue",
        DeadlineApproaching = "deadline_approaching", WebhookFailing = "webhook_failing",
        HealthDegraded = "health_degraded",
    }
}

/// The only status there is: an alert that is not open does not exist.
pub const STATUSES: &[&str] = &["open"];

/// An alert, as v2 shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Alert {
    pub id: String,
    pub r#type: Type,
    pub severity: Severity,
    pub title: String,
    pub message: String,
    pub source: Source,
    #[serde(serialize_with = "as_time")]
    pub raised_at: i64,
}

/// What an alert comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Source {
    pub r#type: &'static str,
    pub id: String,
}

/// What an alert looks like.
pub static ALERT: Shape = Shape {
    name: "Alert",
    fields: &[
        text("id")
            .says("The same as long as its cause is the same.")
            .such_as(r#""finding_overdue:fnd_01K9Z3T7Q4W8XE5RB2N6MHVC0D""#),
        word("type", Type::NAMES).says("What it is about."),
        word("severity", Severity::NAMES).says("How bad it is."),
        text("title").says("What it comes from, in one line.").such_as(r#""Backups are not tested""#),
        text("message")
            .says("What is wrong, in one sentence.")
            .such_as(r#""The finding was due on 2026-11-14 and is not finished.""#),
        record("source", &SOURCE).says("What it comes from."),
        time("raised_at").says("Since when."),
    ],
};
static SOURCE: Shape = Shape {
    name: "AlertSource",
    fields: &[
        text("type").says("The kind of object.").such_as(r#""finding""#),
        text("id").says("Its identifier.").such_as(r#""fnd_01K9Z3T7Q4W8XE5RB2N6MHVC0D""#),
    ],
};

/// A finding or test case that is not finished and has a day on which it is due.
#[derive(Clone, Debug)]
pub struct Due {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// How bad it is, or how pressing.
    pub severity: Severity,
    /// The day.
    pub due_on: Day,
    /// When it was made.
    pub created_at: i64,
}

/// The two nouns that are due on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A finding.
    Finding,
    /// A test case.
    TestCase,
}

impl Work {
    fn names(self) -> (Type, &'static str, &'static str) {
        match self {
            Work::Finding => (Type::FindingOverdue, "finding", "finding"),
            Work::TestCase => (Type::TestCaseOverdue, "test_case", "test case"),
        }
    }
}

impl Alert {
    fn new(
        r#type: Type,
        severity: Severity,
        source: Source,
        title: &str,
        message: String,
        raised_at: i64,
    ) -> Alert {
        let id = format!("{}:{}", r#type.name(), source.id);
        Alert { id, r#type, severity, title: title.to_owned(), message, source, raised_at }
    }

    /// Of work that is due: overdue, or near; nothing while there is time.
    pub fn of_work(work: Work, due: &Due, leads: &Leads, now_ms: i64) -> Option<Alert> {
        let (overdue, noun, spoken) = work.names();
        let source = Source { r#type: noun, id: due.id.clone() };
        let day = due.due_on;
        if let Some(midnight) = over_since(day, now_ms) {
            let message = format!("The {spoken} was due on {day} and is not finished.");
            return Some(Alert::new(overdue, due.severity, source, &due.title, message, midnight));
        }
        let raised_at = near_from(due.created_at, end_of(day), leads.work_ms);
        (now_ms >= raised_at).then(|| {
            let message = format!("The {spoken} is due on {day}.");
            Alert::new(Type::DeadlineApproaching, due.severity, source, &due.title, message, raised_at)
        })
    }

    /// Of a CRA report: the next stage whose clock runs, and every other that is late and not sent.
    pub fn of_cra_report(report: &CraReport, leads: &Leads, now_ms: i64) -> Vec<Alert> {
        if !report.status.is_running() {
            return Vec::new();
        }
        let next = report.next_deadline().map(|(stage, _)| stage);
        let unsent = Stage::ALL.into_iter().filter(|stage| report.sent_at(*stage).is_none());
        let clocks =
            unsent.filter_map(|stage| Some((stage, report.starts_at(stage)?, report.due_at(stage)?)));
        clocks
            .filter(|(stage, _, due_at)| next == Some(*stage) || now_ms > *due_at)
            .map(|(stage, start, due_at)| cra_clock(report, stage, (start, due_at), leads, now_ms))
            .collect()
    }

    /// Of a share that is larger than its threshold. `number` tells the breaches of an analysis apart.
    pub fn of_breach(breach: &Breach, number: usize, analysed_at: i64) -> Alert {
        let severity = match breach.severity {
            risk::Severity::High => Severity::High,
            risk::Severity::Medium => Severity::Medium,
        };
        let source = Source { r#type: "analysis", id: breach.analysis_id.clone().unwrap_or_default() };
        let title = format!("Concentration on {}", breach.name);
        let message = format!(
            "{} has a {} share of {:.1} %; the threshold is {} %.",
            breach.name,
            breach.dimension.name(),
            breach.share_pct,
            breach.threshold_pct
        );
        let mut alert = Alert::new(Type::ConcentrationBreach, severity, source, &title, message, analysed_at);
        alert.id = format!("{}:{}:{number}", alert.id, breach.dimension.name());
        alert
    }

    /// Of the review that follows an analysis: overdue, or near.
    pub fn of_review(
        analysis_id: &str,
        analysed_at: i64,
        due_on: Day,
        leads: &Leads,
        now_ms: i64,
    ) -> Option<Alert> {
        let source = Source { r#type: "analysis", id: analysis_id.to_owned() };
        let title = "Review of concentration risk";
        if let Some(midnight) = over_since(due_on, now_ms) {
            let message = format!("The next analysis was due on {due_on}.");
            return Some(Alert::new(Type::ReviewOverdue, Severity::High, source, title, message, midnight));
        }
        let raised_at = near_from(analysed_at, end_of(due_on), leads.review_ms);
        (now_ms >= raised_at).then(|| {
            let message = format!("The next analysis is due on {due_on}.");
            Alert::new(Type::DeadlineApproaching, Severity::Medium, source, title, message, raised_at)
        })
    }

    /// Of a webhook that has not got through since a moment.
    pub fn of_webhook(id: String, name: &str, since_ms: i64, last_outcome: Option<&str>) -> Alert {
        let outcome =
            last_outcome.map_or_else(String::new, |outcome| format!(" The last attempt: {outcome}."));
        let message = format!("Nothing has been delivered to `{name}` since {}.{outcome}", rfc3339(since_ms));
        let source = Source { r#type: "webhook", id };
        Alert::new(
            Type::WebhookFailing,
            Severity::High,
            source,
            &format!("Webhook {name}"),
            message,
            since_ms,
        )
    }

    /// Of the service itself, while a check of its health fails.
    pub fn of_health(status: &str, failing: &[&str], now_ms: i64) -> Alert {
        let severity = if status == "down" { Severity::Critical } else { Severity::High };
        let message = format!("The service is {status}; failing: {}.", failing.join(", "));
        let source = Source { r#type: "platform", id: "health".into() };
        Alert::new(Type::HealthDegraded, severity, source, "Service health", message, now_ms)
    }

    /// Does it have every one of these folded words in its texts?
    pub fn has_words(&self, words: &[String]) -> bool {
        let text = fold(&format!("{} {} {}", self.id, self.title, self.message));
        words.iter().all(|word| text.contains(word.as_str()))
    }

    /// Worst first, then newest first.
    pub fn rank(&self) -> impl Ord + use<'_> {
        (self.severity, std::cmp::Reverse(self.raised_at), &self.id)
    }
}

/// Since when a day is over, if it is: a day that something is due on belongs to it whole.
fn over_since(day: Day, now_ms: i64) -> Option<i64> {
    let midnight = day.plus_days(1).start_ms();
    (now_ms >= midnight).then_some(midnight)
}

fn cra_clock(
    report: &CraReport,
    stage: Stage,
    (start, due_at): (i64, i64),
    leads: &Leads,
    now_ms: i64,
) -> Alert {
    let spoken = stage.name().replace('_', " ");
    let due = rfc3339(due_at);
    let (severity, message, raised_at) = if now_ms > due_at {
        (Severity::Critical, format!("The {spoken} was due at {due} and is not sent."), due_at)
    } else if is_near(start, due_at, leads.stage_ms, now_ms) {
        (Severity::High, format!("The {spoken} is due at {due}."), start)
    } else {
        (Severity::Medium, format!("The {spoken} is due at {due}."), start)
    };
    let source = Source { r#type: "cra_report", id: report.id.clone() };
    let mut alert = Alert::new(Type::CraClock, severity, source, &report.title, message, raised_at);
    alert.id = format!("{}:{}", alert.id, stage.name());
    alert
}
