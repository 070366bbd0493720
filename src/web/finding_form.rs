//! The form of a finding: new and edit.

use super::deed::settle;
use super::finding::{NOUN, PATH, address, of_object};
use super::frame::Frame;
use super::part::{FaultList, Input, Inputs};
use super::words::Words;
use super::{asset, choose, render};
use crate::domain::day::Day;
use crate::domain::finding::{FINDING_PATCH, Finding, NEW_FINDING, Status};
use crate::domain::query::Param;
use crate::error::Error;
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::Filed;
use askama::Template;
use serde_json::{Value, json};

/// What a new finding may be told at first.
pub static NEW_PARAMS: &[Param] = &[
    of_object("programme_id", "The programme it belongs to."),
    of_object("test_case_id", "The test case that found it."),
];

#[derive(Template)]
#[template(path = "finding_form.html")]
struct FormPage {
    frame: Frame,
    title: &'static str,
    action: String,
    back: String,
    faults: Option<FaultList>,
    fields: [Input; 8],
    name: Input,
    severity: Input,
    acceptance: Option<(Input, Input)>,
}

/// `GET /findings/new`
pub fn new(visit: &Visit) -> Answer {
    let first = json!({
        "programme_id": visit.query.get("programme_id"),
        "test_case_id": visit.query.get("test_case_id"),
        "detected_on": Day::of_ms(visit.app.clock.now_ms()),
    });
    let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_FINDING, first);
    Ok(Reply::html(form_page(visit, &inputs, None)?))
}

/// `POST /findings`
pub fn create(visit: &Visit) -> Answer {
    let filed = visit.sent.values().and_then(|mut values| {
        // No due day of one's own: it follows the severity.
        values.forget_null("due_on");
        visit.tenant()?.file_finding(values, None)
    });
    settle(
        filed,
        |(Filed::New(finding) | Filed::Before(finding))| {
            Ok(visit.go(&address(&finding.id), Notice::new("done.finding_created")))
        },
        |faults| {
            let inputs = Inputs::of(Words::of(visit), NOUN, &NEW_FINDING, Value::Null).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

/// `GET /findings/{finding}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let finding = visit.tenant()?.finding(&visit.id)?;
    let inputs = Inputs::of(Words::of(visit), NOUN, &FINDING_PATCH, json!(finding));
    Ok(Reply::html(form_page(visit, &inputs, Some(&finding))?))
}

/// `POST /findings/{finding}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_finding(&visit.id, values)),
        |finding| Ok(visit.go(&address(&finding.id), Notice::new("done.finding_changed"))),
        |faults| {
            let finding = tenant.finding(&visit.id)?;
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &FINDING_PATCH, json!(finding)).again(visit, faults);
            form_page(visit, &inputs, Some(&finding))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, finding: Option<&Finding>) -> Result<String, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let here = finding.map_or(PATH.to_owned(), |finding| address(&finding.id));
    let held = |name: &str, own: Option<&Option<String>>| {
        let own = own.and_then(|own| own.as_deref()).or(visit.query.get(name));
        visit.sent.text(name).or(own).filter(|id| !id.is_empty()).map(str::to_owned)
    };
    let programme = held("programme_id", finding.map(|finding| &finding.programme_id));
    let test_case = held("test_case_id", finding.map(|finding| &finding.test_case_id));
    let accepted = finding.is_some_and(|finding| finding.status == Status::RiskAccepted);
    render(&FormPage {
        frame: Frame::of(visit, PATH)?,
        title: if finding.is_some() { words.t("finding.edit") } else { words.t("finding.new") },
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        name: inputs.field("title"),
        severity: inputs.field("severity"),
        fields: [
            inputs.pick("programme_id", choose::programmes(&tenant, programme.as_deref())?),
            inputs.pick("test_case_id", choose::test_cases(&tenant, test_case.as_deref())?),
            inputs.field("detected_on"),
            inputs.field("due_on"),
            inputs.field("owner"),
            inputs.field("description"),
            inputs.field("remediation"),
            inputs.field("measure_ids"),
        ],
        acceptance: accepted
            .then(|| (inputs.field("acceptance_reason"), inputs.field("acceptance_expires_on"))),
    })
}
