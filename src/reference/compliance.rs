//! Compliance status: how far the reference institution meets each framework.
//!
//! Every figure is derived from the requirements' states; nothing is counted twice
//! and nothing is stored.

use super::source::Catalogue;
use super::source::record::Requirement;
use super::source::words::{Framework, Implementation, Priority};
use crate::shape::{Is, Shape, Shown, list, percent, record, text, whole, word};
use serde_json::{Value, json};

/// The frameworks of compliance status, in their order.
pub const FRAMEWORKS: [Framework; 4] =
    [Framework::Dora, Framework::Marisk, Framework::Iso27001, Framework::Cra];

/// The words of `status`, best first.
pub const STATUSES: &[&str] = &["compliant", "largely_compliant", "partially_compliant", "non_compliant"];

/// Requirements by their state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    implemented: u32,
    partial: u32,
    planned: u32,
    missing: u32,
}

impl Tally {
    /// Counts requirements.
    pub fn of<'a>(requirements: impl Iterator<Item = &'a Requirement>) -> Tally {
        requirements.fold(Tally::default(), |mut tally, requirement| {
            let count = match requirement.status {
                Implementation::Implemented => &mut tally.implemented,
                Implementation::Partial => &mut tally.partial,
                Implementation::Planned => &mut tally.planned,
                Implementation::Missing => &mut tally.missing,
            };
            *count += 1;
            tally
        })
    }

    fn total(&self) -> u32 {
        self.implemented + self.partial + self.planned + self.missing
    }

    /// Implemented counts whole, partial half. Tenths of a percent, a half rounded up.
    fn score_tenths(&self) -> u32 {
        let total = self.total().max(1);
        ((2 * self.implemented + self.partial) * 1000 + total) / (2 * total)
    }

    /// The score in percent with one decimal.
    pub fn score_pct(&self) -> f64 {
        f64::from(self.score_tenths()) / 10.0
    }

    fn status(&self) -> &'static str {
        match self.score_tenths() {
            950.. => STATUSES[0],
            750..=949 => STATUSES[1],
            400..=749 => STATUSES[2],
            0..=399 => STATUSES[3],
        }
    }

    fn figures(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("requirements", json!(self.total())),
            ("implemented", json!(self.implemented)),
            ("partial", json!(self.partial)),
            ("planned", json!(self.planned)),
            ("missing", json!(self.missing)),
            ("score_pct", json!(self.score_pct())),
            ("status", json!(self.status())),
        ]
    }
}

const FRAMEWORK: Shown = word("framework", Framework::NAMES);
const NAME: Shown = text("name").such_as(r#""DORA""#);
const REQUIREMENTS: Shown = whole("requirements").says("How many there are.").such_as("80");
const IMPLEMENTED: Shown = whole("implemented").such_as("46");
const PARTIAL: Shown = whole("partial").such_as("20");
const PLANNED: Shown = whole("planned").such_as("9");
const MISSING: Shown = whole("missing").such_as("5");
const SCORE: Shown = percent("score_pct").says("Implemented counts whole, partial half.").such_as("70.0");
const STATUS: Shown = word("status", STATUSES)
    .says("By the score: from 95, 75, 40, and below.")
    .such_as(r#""partially_compliant""#);
const HREF: Shown =
    text("href").says("Where the framework is told in full.").such_as(r#""/api/v1/compliance-status/dora""#);
const AS_OF: Shown = Shown::new("as_of", Is::Day).says("When the data were last checked.");
const BASIS: Shown = text("basis").says("That the states are those of a reference institution.");

/// Compliance status across frameworks, as it is shown.
pub static OVERVIEW: Shape = Shape {
    name: "ComplianceStatus",
    fields: &[AS_OF, BASIS, SCORE, list("frameworks", &Is::Record(&SUMMARY)).says("The four frameworks.")],
};
/// One framework beside the tenant's own figures, as it is shown.
pub static SCORE_BESIDE_OWN: Shape = Shape {
    name: "ComplianceScore",
    fields: &[
        FRAMEWORK,
        NAME,
        REQUIREMENTS,
        IMPLEMENTED,
        PARTIAL,
        PLANNED,
        MISSING,
        SCORE,
        STATUS,
        HREF,
        record("own", &OWN).says("What the tenant's programmes of this framework show."),
    ],
};
static OWN: Shape = Shape {
    name: "OwnFigures",
    fields: &[
        whole("programmes").such_as("1"),
        whole("test_cases").such_as("12"),
        whole("passed").such_as("6"),
        whole("failed").such_as("2"),
        percent("progress_pct")
            .nullable()
            .says("Test cases with a result, cancelled ones aside.")
            .such_as("66.7"),
        percent("passed_pct").nullable().says("Of those with a result, those that passed.").such_as("75.0"),
        whole("open_findings").such_as("4"),
        whole("overdue_findings").such_as("1"),
    ],
};
static SUMMARY: Shape = Shape {
    name: "FrameworkStatus",
    fields: &[FRAMEWORK, NAME, REQUIREMENTS, IMPLEMENTED, PARTIAL, PLANNED, MISSING, SCORE, STATUS, HREF],
};
/// One framework with its areas and its gaps, as it is shown.
pub static DETAIL: Shape = Shape {
    name: "FrameworkDetail",
    fields: &[
        FRAMEWORK,
        NAME,
        REQUIREMENTS,
        IMPLEMENTED,
        PARTIAL,
        PLANNED,
        MISSING,
        SCORE,
        STATUS,
        HREF,
        AS_OF,
        BASIS,
        list("areas", &Is::Record(&AREA)).says("The same figures by chapter or group of controls."),
        list("gaps", &Is::Record(&GAP)).says("Every requirement that is not implemented."),
    ],
};
static AREA: Shape = Shape {
    name: "AreaStatus",
    fields: &[text("area"), REQUIREMENTS, IMPLEMENTED, PARTIAL, PLANNED, MISSING, SCORE, STATUS],
};
static GAP: Shape = Shape {
    name: "Gap",
    fields: &[
        text("id"),
        text("article"),
        text("area"),
        text("title"),
        word("status", Implementation::NAMES),
        word("priority", Priority::NAMES),
        text("gap").nullable(),
        text("recommendation").nullable(),
        text("owner_role"),
        list("measure_ids", &Is::Text),
    ],
};

/// All four frameworks in short.
pub fn overview(catalogue: &Catalogue) -> Value {
    let counted = |each: &&Requirement| FRAMEWORKS.contains(&each.framework);
    let all = Tally::of(catalogue.requirements.data.iter().filter(counted));
    let frameworks: Vec<Value> = FRAMEWORKS.iter().map(|framework| summary(catalogue, *framework)).collect();
    json!({
        "as_of": catalogue.requirements.updated_on,
        "basis": catalogue.requirements.extra.basis,
        "score_pct": all.score_pct(),
        "frameworks": frameworks,
    })
}

/// One framework with its areas and its gaps.
pub fn detail(catalogue: &Catalogue, framework: Framework) -> Value {
    let mut detail = summary(catalogue, framework);
    detail["as_of"] = json!(catalogue.requirements.updated_on);
    detail["basis"] = json!(catalogue.requirements.extra.basis);
    detail["areas"] = json!(areas(catalogue, framework));
    let gaps = of(catalogue, framework).filter(|each| each.status != Implementation::Implemented);
    detail["gaps"] = gaps.map(gap).collect();
    detail
}

fn of(catalogue: &Catalogue, framework: Framework) -> impl Iterator<Item = &Requirement> {
    catalogue.requirements.data.iter().filter(move |each| each.framework == framework)
}

fn summary(catalogue: &Catalogue, framework: Framework) -> Value {
    let name = catalogue
        .requirements
        .extra
        .frameworks
        .iter()
        .find(|entry| entry.framework == framework)
        .map_or(framework.name(), |entry| entry.name.as_str());
    let mut summary = json!({ "framework": framework, "name": name });
    for (field, value) in Tally::of(of(catalogue, framework)).figures() {
        summary[field] = value;
    }
    summary["href"] = json!(format!("/api/v1/compliance-status/{}", framework.name()));
    summary
}

fn areas(catalogue: &Catalogue, framework: Framework) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for requirement in of(catalogue, framework) {
        if !names.contains(&requirement.area.as_str()) {
            names.push(&requirement.area);
        }
    }
    let area = |name: &str| {
        let mut area = json!({ "area": name });
        for (field, value) in Tally::of(of(catalogue, framework).filter(|each| each.area == name)).figures() {
            area[field] = value;
        }
        area
    };
    names.into_iter().map(area).collect()
}

fn gap(requirement: &Requirement) -> Value {
    json!({
        "id": requirement.id,
        "article": requirement.article,
        "area": requirement.area,
        "title": requirement.title,
        "status": requirement.status,
        "priority": requirement.priority,
        "gap": requirement.gap,
        "recommendation": requirement.recommendation,
        "owner_role": requirement.owner_role,
        "measure_ids": requirement.measure_ids,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_requirement_counts_half_and_a_half_is_rounded_up() {
        let tally = Tally { implemented: 1, partial: 1, planned: 0, missing: 1 };
        assert_eq!(tally.score_pct(), 50.0);
        assert_eq!(Tally { implemented: 2, partial: 0, planned: 1, missing: 0 }.score_pct(), 66.7);
        assert_eq!(Tally { implemented: 1, partial: 0, planned: 7, missing: 0 }.score_pct(), 12.5);
        assert_eq!(Tally::default().score_pct(), 0.0);
    }

    #[test]
    fn the_bounds_of_each_status_belong_to_the_better_one() {
        let status = |implemented, missing| Tally { implemented, missing, ..Tally::default() }.status();
        assert_eq!(status(95, 5), "compliant");
        assert_eq!(status(949, 51), "largely_compliant");
        assert_eq!(status(75, 25), "largely_compliant");
        assert_eq!(status(40, 60), "partially_compliant");
        assert_eq!(status(399, 601), "non_compliant");
    }
}
