//! The form of a CRA report: new and edit.

use super::cra::{NOUN, PATH, address};
use super::deed::settle;
use super::frame::Frame;
use super::part::{FaultList, Input, Inputs};
use super::words::Words;
use super::{asset, render};
use crate::clock::rfc3339;
use crate::domain::cra::CraReport;
use crate::domain::cra_form::{CRA_REPORT_PATCH, NEW_CRA_REPORT};
use crate::error::Error;
use crate::http::{Answer, Notice, Reply, Visit};
use askama::Template;
use serde_json::{Value, json};

/// The fields, in the order in which they are asked.
const FIELDS: [&str; 14] = [
    "kind",
    "title",
    "product_name",
    "product_version",
    "became_aware_at",
    "corrective_measure_at",
    "cve_id",
    "severity",
    "cvss_score",
    "member_states",
    "summary",
    "root_cause",
    "mitigation",
    "user_guidance",
];

#[derive(Template)]
#[template(path = "cra_form.html")]
struct FormPage {
    frame: Frame,
    title: &'static str,
    action: String,
    back: String,
    faults: Option<FaultList>,
    fields: Vec<Input>,
}

/// `GET /cra-reports/new`
pub fn new(visit: &Visit) -> Answer {
    let first = json!({ "became_aware_at": rfc3339(visit.app.clock.now_ms()) });
    Ok(Reply::html(form_page(visit, &Inputs::of(Words::of(visit), NOUN, &NEW_CRA_REPORT, first), None)?))
}

/// `POST /cra-reports`
pub fn create(visit: &Visit) -> Answer {
    settle(
        visit.sent.values().and_then(|values| visit.tenant()?.create_cra_report(values)),
        |report| Ok(visit.go(&address(&report.id), Notice::new("done.cra_created"))),
        |faults| {
            let inputs =
                Inputs::of(Words::of(visit), NOUN, &NEW_CRA_REPORT, Value::Null).again(visit, faults);
            form_page(visit, &inputs, None)
        },
    )
}

/// `GET /cra-reports/{report}/edit`
pub fn edit(visit: &Visit) -> Answer {
    let report = visit.tenant()?.cra_report(&visit.id)?;
    let inputs =
        Inputs::of(Words::of(visit), NOUN, &CRA_REPORT_PATCH, report.shown(visit.app.clock.now_ms()));
    Ok(Reply::html(form_page(visit, &inputs, Some(&report))?))
}

/// `POST /cra-reports/{report}`
pub fn change(visit: &Visit) -> Answer {
    let tenant = visit.tenant()?;
    settle(
        visit.sent.values().and_then(|values| tenant.change_cra_report(&visit.id, values)),
        |report| Ok(visit.go(&address(&report.id), Notice::new("done.cra_changed"))),
        |faults| {
            let report = tenant.cra_report(&visit.id)?;
            let shown = report.shown(visit.app.clock.now_ms());
            let inputs = Inputs::of(Words::of(visit), NOUN, &CRA_REPORT_PATCH, shown).again(visit, faults);
            form_page(visit, &inputs, Some(&report))
        },
    )
}

fn form_page(visit: &Visit, inputs: &Inputs, report: Option<&CraReport>) -> Result<String, Error> {
    let words = Words::of(visit);
    let here = report.map_or(PATH.to_owned(), |report| address(&report.id));
    render(&FormPage {
        frame: Frame::of(visit, PATH)?,
        title: if report.is_some() { words.t("cra.edit") } else { words.t("cra.new") },
        action: here.clone(),
        back: here,
        faults: inputs.faults(),
        fields: FIELDS.map(|name| inputs.field(name)).into(),
    })
}
