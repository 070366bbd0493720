//! What may be written of a CRA report.

use super::cra::{CraReport, Kind, Severity, Stage, Status, Submission};
use super::form::{Field, Form, Values, choice, codes, keyed, number, shaped, text, time};
use crate::error::Faults;
use crate::shape::{CREATED_AT, EXTERNAL_ID, Is, Shape, Shown, UPDATED_AT, flag, id, list, record, word};
use serde_json::{Map, Value, json};

/// The member states of the European Union, ISO 3166-1 alpha-2.
pub const MEMBER_STATES: &[&str] = &[
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE", "IT", "LT",
    "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK",
];

/// Submissions at the most: one a stage.
const SUBMISSIONS_MAX: usize = Stage::ALL.len();

const KIND: Field = choice("kind", Kind::NAMES).says("What the report is about.");
const TITLE: Field = text("title", 255)
    .says("What it is about, in one line.")
    .such_as(r#""Remote code execution in the payment app""#);
const PRODUCT: Field =
    text("product_name", 255).says("The product with digital elements.").such_as(r#""Altmoor Pay""#);
const VERSION: Field =
    text("product_version", 255).nullable().says("The product's affected versions.").such_as(r#""4.2""#);
const CVE: Field = shaped("cve_id", is_cve_id, "CVE-2026-12345", "^CVE-[0-9]{4}-[0-9]{4,19}$")
    .nullable()
    .says("The vulnerability's CVE identifier.")
    .such_as(r#""CVE-2026-12345""#);
const SEVERITY: Field = choice("severity", Severity::NAMES).nullable().says("How bad it is.");
const CVSS: Field = number("cvss_score", 0.0, 10.0).nullable().says("The vulnerability's CVSS score.");
const STATUS: Field =
    choice("status", Status::NAMES).says("Where it stands; only the allowed moves are taken.");
const AWARE: Field = time("became_aware_at").nullable().says("When you became aware; starts two clocks.");
const MEASURE: Field = time("corrective_measure_at")
    .nullable()
    .says("When a corrective or mitigating measure was available; starts a vulnerability's last clock.");
const WARNED: Field = time("early_warning_sent_at").nullable().says("Stamped by the move if not given.");
const NOTIFIED: Field = time("notification_sent_at").nullable().says("Stamped by the move if not given.");
const REPORTED: Field = time("final_report_sent_at").nullable().says("Stamped by the move if not given.");
const STATES: Field =
    codes("member_states", MEMBER_STATES).says("Where the product is available.").such_as(r#"["DE", "AT"]"#);
const SUMMARY: Field = text("summary", 20_000).nullable().says("What happened, severity and impact.");
const CAUSE: Field = text("root_cause", 20_000).nullable().says("Threat type or root cause.");
const MITIGATION: Field = text("mitigation", 20_000).nullable().says("Measures taken and under way.");
const GUIDANCE: Field = text("user_guidance", 20_000).nullable().says("What users can do.");
const SUBMISSIONS: Field = keyed("submissions", &SUBMISSION, "stage", SUBMISSIONS_MAX)
    .says("What was handed in, one a stage; a list replaces the one before.");
const SHOWN: &[&str] = &[
    "id",
    "external_id",
    "early_warning_due_at",
    "notification_due_at",
    "final_report_due_at",
    "next_deadline",
    "overdue",
    "late_stages",
    "created_at",
    "updated_at",
];

const DUE: &str = "When it is due; null while no clock runs.";

/// A CRA report, as it is shown.
pub static CRA_REPORT: Shape = Shape {
    name: "CraReport",
    fields: &[
        id("cra"),
        EXTERNAL_ID,
        KIND.shown(),
        TITLE.shown(),
        PRODUCT.shown(),
        VERSION.shown(),
        CVE.shown(),
        SEVERITY.shown(),
        CVSS.shown(),
        STATUS.shown(),
        AWARE.shown(),
        crate::shape::time("early_warning_due_at").nullable().says(DUE),
        crate::shape::time("notification_due_at").nullable().says(DUE),
        crate::shape::time("final_report_due_at").nullable().says(DUE),
        WARNED.shown(),
        NOTIFIED.shown(),
        REPORTED.shown(),
        MEASURE.shown(),
        STATES.shown(),
        SUMMARY.shown(),
        CAUSE.shown(),
        MITIGATION.shown(),
        GUIDANCE.shown(),
        list("submissions", &Is::Record(&SUBMITTED)).says(SUBMISSIONS.says),
        record("next_deadline", &NEXT_DEADLINE).nullable().says("The next clock that runs."),
        flag("overdue").says("Whether that has run out."),
        Shown::new("late_stages", Is::Words(Stage::NAMES)).says("Stages that are, or were, late."),
        CREATED_AT,
        UPDATED_AT,
    ],
};

static SUBMITTED: Shape = Shape {
    name: "Submitted",
    fields: &[
        SUBMISSION.fields[0].shown(),
        SUBMISSION.fields[1].shown(),
        SUBMISSION.fields[2].shown(),
        SUBMISSION.fields[3].shown(),
    ],
};

static NEXT_DEADLINE: Shape = Shape {
    name: "NextDeadline",
    fields: &[word("stage", Stage::NAMES).says("What is due."), crate::shape::time("due_at").says("When.")],
};

/// One entry of `submissions`.
pub static SUBMISSION: Form = Form {
    name: "CraSubmission",
    fields: &[
        choice("stage", Stage::NAMES).required().says("What was handed in."),
        time("submitted_at").required().says("When."),
        text("reference", 255).nullable().says("The authority's reference."),
        text("authority", 255).nullable().says("To whom: the coordinating CSIRT, ENISA's platform."),
    ],
    read_only: &[],
};

/// What may be set of a new report; the import uses it.
pub static NEW_CRA_REPORT: Form = Form {
    name: "NewCraReport",
    fields: &[
        KIND.required(),
        TITLE.required(),
        PRODUCT.required(),
        VERSION,
        CVE,
        SEVERITY,
        CVSS,
        STATUS,
        AWARE,
        MEASURE,
        WARNED,
        NOTIFIED,
        REPORTED,
        STATES,
        SUMMARY,
        CAUSE,
        MITIGATION,
        GUIDANCE,
        SUBMISSIONS,
    ],
    read_only: SHOWN,
};

/// The body of `PATCH /api/v1/cra/reports/{id}`: absent fields keep their value.
pub static CRA_REPORT_PATCH: Form = Form {
    name: "CraReportPatch",
    fields: &[
        KIND,
        TITLE,
        PRODUCT,
        VERSION,
        CVE,
        SEVERITY,
        CVSS,
        STATUS,
        AWARE,
        MEASURE,
        WARNED,
        NOTIFIED,
        REPORTED,
        STATES,
        SUMMARY,
        CAUSE,
        MITIGATION,
        GUIDANCE,
        SUBMISSIONS,
    ],
    read_only: SHOWN,
};

/// The change of a report that records a stage as sent, or what came back of one that was: the other stages stay as
/// they are now. `values` passed the form `SUBMISSION`.
pub fn recorded(report: &CraReport, values: &Values) -> Result<Values, Faults> {
    let stage = values.text("stage").and_then(Stage::parse);
    let stage = stage.ok_or_else(|| Faults::one("stage", "is required"))?;
    let at = values.text("submitted_at").unwrap_or_default();
    let others = report.submissions.iter().filter(|submission| submission.stage != stage);
    let mut entries: Vec<Value> = others.map(Submission::shown).collect();
    entries.push(json!({
        "stage": stage, "submitted_at": at,
        "reference": values.text("reference"), "authority": values.text("authority"),
    }));
    let (status, field) = match stage {
        Stage::EarlyWarning => (Status::EarlyWarningSent, "early_warning_sent_at"),
        Stage::Notification => (Status::NotificationSent, "notification_sent_at"),
        Stage::FinalReport => (Status::FinalReportSent, "final_report_sent_at"),
    };
    let mut body = Map::new();
    body.insert("submissions".into(), entries.into());
    body.insert(field.into(), at.into());
    if report.sent_at(stage).is_none() {
        body.insert("status".into(), json!(status));
    }
    CRA_REPORT_PATCH.check(&body)
}

/// `CVE-`, a year of four digits, and 4 to 19 digits.
fn is_cve_id(text: &str) -> bool {
    let digits = |part: &str, fits: std::ops::RangeInclusive<usize>| {
        fits.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let parts = text.strip_prefix("CVE-").and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(year, number)| digits(year, 4..=4) && digits(number, 4..=19))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cve_ids_have_one_form() {
        for good in ["CVE-2026-0001", "CVE-1999-1234567"] {
            assert!(is_cve_id(good), "{good}");
        }
        for bad in [
            "",
            "CVE-2026-123",
            "cve-2026-1234",
            "CVE-26-1234",
            "CVE-2026-12a4",
            "CVE-2026-1234 ",
            "CVE-2026-١٢٣٤",
        ] {
            assert!(!is_cve_id(bad), "{bad}");
        }
    }
}
