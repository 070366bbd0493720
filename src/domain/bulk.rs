//! Moving many findings at once: first a plan that says what can move and what cannot, then the same again for
//! good. The plan is made by the state machine itself, so that both say the same.

use super::finding::{FINDING_PATCH, Finding, Status};
use super::form::{Form, Values};
use super::moves::NOTE;

/// Findings that are moved at once, at the most.
pub const BULK_MAX: usize = 500;

/// What a bulk move may say.
pub static BULK_MOVE: Form = Form {
    name: "BulkMove",
    fields: &[
        FINDING_PATCH.field("status").required(),
        FINDING_PATCH.field("acceptance_reason"),
        FINDING_PATCH.field("acceptance_expires_on"),
        FINDING_PATCH.field("owner"),
        NOTE,
    ],
    read_only: &[],
};

/// A finding in a plan.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Planned {
    pub id: String,
    pub title: String,
    pub from: Status,
    /// Why it cannot move; none if it can.
    pub hindrance: Option<String>,
}

/// What a bulk move would do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Every finding that was asked for and exists, in that order.
    pub findings: Vec<Planned>,
    /// Ids that name none.
    pub unknown: Vec<String>,
}

impl Plan {
    /// How many can move.
    pub fn movable(&self) -> usize {
        self.findings.iter().filter(|planned| planned.hindrance.is_none()).count()
    }
}

/// Tries the move on a finding: what it becomes, or why it cannot.
pub fn try_move(finding: &Finding, values: &Values, now_ms: i64) -> Result<Finding, String> {
    let wanted = values.text("status").and_then(Status::parse);
    if wanted == Some(finding.status) {
        return Err(format!("is {} already", finding.status.name()));
    }
    let mut moved = finding.clone();
    match moved.change(values, now_ms) {
        Ok(_) => Ok(moved),
        Err(faults) => Err(faults.to_string()),
    }
}

/// What the move would do to these findings.
pub fn plan(findings: &[Finding], unknown: Vec<String>, values: &Values, now_ms: i64) -> Plan {
    let planned = |finding: &Finding| Planned {
        id: finding.id.clone(),
        title: finding.title.clone(),
        from: finding.status,
        hindrance: try_move(finding, values, now_ms).err(),
    };
    Plan { findings: findings.iter().map(planned).collect(), unknown }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: i64 = 1_794_729_600_000;

    #[test]
    fn a_plan_says_what_can_move_and_why_the_rest_cannot() {
        let values = |body: serde_json::Value| FINDING_PATCH.check(body.as_object().unwrap()).unwrap();
        let made = |status: &str| {
            let new = values(json!({ "title": status, "severity": "low" }));
            let mut finding = Finding::new(format!("fnd_{status}"), &new, NOW);
            finding.status = Status::parse(status).unwrap();
            finding
        };
        let findings: Vec<Finding> = ["open", "in_progress", "resolved", "closed"].map(made).to_vec();
        let told = plan(&findings, vec!["fnd_x".into()], &values(json!({ "status": "in_progress" })), NOW);
        let able: Vec<bool> = told.findings.iter().map(|planned| planned.hindrance.is_none()).collect();
        assert_eq!(able, [true, false, true, false]);
        assert_eq!(told.findings[1].hindrance.as_deref(), Some("is in_progress already"));
        assert!(told.findings[3].hindrance.as_ref().unwrap().contains("possible are: open"));
        assert_eq!((told.movable(), told.unknown.len()), (2, 1));
        let bare = plan(&findings, Vec::new(), &values(json!({ "status": "risk_accepted" })), NOW);
        assert_eq!(bare.movable(), 0, "accepting a risk needs a reason and an end");
        let body = json!({ "status": "risk_accepted", "acceptance_reason": "r", "acceptance_expires_on": "2027-01-01" });
        assert_eq!(plan(&findings, Vec::new(), &values(body), NOW).movable(), 2);
    }
}
