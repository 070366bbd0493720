//! Many findings at once: the move with its page in between.

use super::deed::settle;
use super::finding::{PATH, address};
use super::frame::Frame;
use super::part::{Cell, FaultList, Input, Inputs, badge};
use super::words::Words;
use super::{asset, fault, render};
use crate::domain::bulk::{BULK_MOVE, Plan};
use crate::domain::day::Day;
use crate::domain::finding::Status;
use crate::domain::form::Values;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use askama::Template;
use serde_json::Value;

struct Line {
    title: Cell,
    from: Cell,
    hindrance: String,
}

#[derive(Template)]
#[template(path = "finding_move.html")]
struct MovePage {
    frame: Frame,
    /// The chosen status; empty while none is chosen.
    to: String,
    shown_to: Option<Cell>,
    ids: Vec<String>,
    able: Vec<Line>,
    unable: Vec<Line>,
    unknown: Vec<String>,
    says: String,
    /// Fields that the move needs before it can be done.
    acceptance: Option<(Input, Input)>,
    owner: Input,
    note: Input,
    faults: Option<FaultList>,
}

/// `POST /findings/move`: what would move and what would not. Nothing is changed.
pub fn plan(visit: &Visit) -> Answer {
    let ids = ids(visit);
    settle(
        visit.sent.values().and_then(|values| planned(visit, &ids, &values)),
        |plan| Ok(Reply::html(page(visit, ids.clone(), plan, None)?)),
        |faults| page(visit, ids.clone(), Plan::default(), Some(faults)),
    )
}

/// `POST /findings/move/confirm`: moves what can be moved.
pub fn carry_out(visit: &Visit) -> Answer {
    let (ids, tenant) = (ids(visit), visit.tenant()?);
    let done = visit.sent.values().and_then(|mut values| {
        missing(visit, &values).into_result()?;
        // An empty field is no wish to take the owners away.
        values.forget_null("owner");
        tenant.move_findings(&ids, values)
    });
    settle(
        done,
        |done| Ok(visit.go(PATH, Notice::with("done.findings_moved", done.movable()))),
        |faults| {
            let plan = visit.sent.values().and_then(|values| planned(visit, &ids, &values));
            page(visit, ids, plan.unwrap_or_default(), Some(faults))
        },
    )
}

fn ids(visit: &Visit) -> Vec<String> {
    visit.sent.all("id").map(str::to_owned).collect()
}

fn wanted(values: &Values) -> Option<Status> {
    values.text("status").and_then(Status::parse)
}

/// The plan, as if what accepting a risk needs were filled in: that is asked on the page in between.
fn planned(visit: &Visit, ids: &[String], values: &Values) -> Result<Plan, Error> {
    let mut supposed = values.clone();
    if wanted(values) == Some(Status::RiskAccepted) {
        let tomorrow = Day::of_ms(visit.app.clock.now_ms()).plus_days(1);
        supposed.replace_text("acceptance_reason", "-".into());
        supposed.replace_text("acceptance_expires_on", tomorrow.to_string());
    }
    visit.tenant()?.plan_move(ids, &supposed)
}

/// What accepting risks needs and was not given: said once, and not for each finding.
fn missing(visit: &Visit, values: &Values) -> Faults {
    let mut faults = Faults::default();
    if wanted(values) != Some(Status::RiskAccepted) {
        return faults;
    }
    if values.text("acceptance_reason").is_none() {
        faults.add("acceptance_reason", "is required to accept a risk");
    }
    let today = Day::of_ms(visit.app.clock.now_ms());
    match values.text("acceptance_expires_on").and_then(Day::parse) {
        None => faults.add("acceptance_expires_on", "is required to accept a risk"),
        Some(end) if end <= today => faults.add("acceptance_expires_on", "must be after today"),
        Some(_) => {}
    }
    faults
}

fn page(visit: &Visit, ids: Vec<String>, plan: Plan, faults: Option<Faults>) -> Result<String, Error> {
    let words = Words::of(visit);
    let to = visit.sent.text("status").filter(|word| Status::parse(word).is_some()).unwrap_or_default();
    let mut inputs = Inputs::of(Words::of(visit), "finding", &BULK_MOVE, Value::Null);
    if let Some(faults) = faults {
        inputs = inputs.again(visit, faults);
    }
    let accepting = to == Status::RiskAccepted.name();
    let says = words.count("bulk.able", u64::try_from(plan.movable()).unwrap_or(0));
    let line = |planned: &crate::domain::bulk::Planned| Line {
        title: Cell::link(address(&planned.id), &planned.title),
        from: badge(words, planned.from.name()),
        hindrance: planned.hindrance.as_deref().map(|why| fault::said(words, why)).unwrap_or_default(),
    };
    let (able, unable) = plan.findings.iter().map(line).partition(|line| line.hindrance.is_empty());
    render(&MovePage {
        frame: Frame::of(visit, PATH)?,
        to: to.to_owned(),
        shown_to: (!to.is_empty()).then(|| badge(words, to)),
        ids,
        able,
        unable,
        unknown: plan.unknown,
        says,
        acceptance: accepting.then(|| {
            (inputs.field("acceptance_reason").must(), inputs.field("acceptance_expires_on").must())
        }),
        owner: inputs.field("owner"),
        note: inputs.field("note"),
        faults: inputs.faults(),
    })
}
