//! Public bodies: `{"data": [...], "meta": {...}}` and what a dataset adds.
//!
//! `data` comes first and each record is written once, so that later pages can be
//! cut out of the same bytes: the positions of the records go with the body.

use super::catalogue::Catalogue;
use super::words::{Framework, Level};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The body of one public dataset.
pub struct Body {
    /// Name of the dataset, as in its path.
    pub slug: &'static str,
    /// The whole JSON text.
    pub json: String,
    /// Where each record stands in it: first byte and the byte behind the last.
    pub records: Vec<(usize, usize)>,
}

/// The bodies of all datasets, public or cut into pages only.
pub fn all(catalogue: &Catalogue, version: &str) -> Vec<Body> {
    let in_gap_analysis = |framework: &Framework| *framework != Framework::Cra;
    let requirements: Vec<_> =
        catalogue.requirements.data.iter().filter(|each| in_gap_analysis(&each.framework)).collect();
    let frameworks: Vec<_> = catalogue
        .requirements
        .extra
        .frameworks
        .iter()
        .filter(|each| in_gap_analysis(&each.framework))
        .collect();
    let gap_extra = json!({ "basis": catalogue.requirements.extra.basis, "frameworks": frameworks });
    let none = Value::Null;
    let body = |slug, records: Vec<Value>, extra: &Value, updated_on: &str| {
        build(slug, &records, extra, updated_on, version)
    };
    vec![
        body(
            "risk-register",
            values(&catalogue.risks.data),
            &risk_extra(catalogue),
            &catalogue.risks.updated_on,
        ),
        body(
            "vendor-scorecard",
            values(&catalogue.vendors.data),
            &json!(catalogue.vendors.extra),
            &catalogue.vendors.updated_on,
        ),
        body(
            "incident-drills",
            values(&catalogue.drills.data),
            &json!(catalogue.drills.extra),
            &catalogue.drills.updated_on,
        ),
        body("gap-analysis", values(&requirements), &gap_extra, &catalogue.requirements.updated_on),
        body("measures", values(&catalogue.measures.data), &none, &catalogue.measures.updated_on),
        body("evidence", values(&catalogue.evidence.data), &none, &catalogue.evidence.updated_on),
        body("radar", values(&catalogue.signals.data), &none, &catalogue.signals.updated_on),
        body(
            "compliance-training",
            values(&catalogue.trainings.data),
            &none,
            &catalogue.trainings.updated_on,
        ),
        body(
            "vendor-risk-assessment",
            values(&catalogue.questions.data),
            &json!(catalogue.questions.extra),
            &catalogue.questions.updated_on,
        ),
        body("dashboard-widgets", values(&catalogue.widgets.data), &none, &catalogue.widgets.updated_on),
    ]
}

fn values<T: Serialize>(records: &[T]) -> Vec<Value> {
    records.iter().map(|record| json!(record)).collect()
}

fn build(slug: &'static str, records: &[Value], extra: &Value, updated_on: &str, version: &str) -> Body {
    let mut text = String::from("{\"data\":[");
    let mut positions = Vec::with_capacity(records.len());
    for record in records {
        if !positions.is_empty() {
            text.push(',');
        }
        let start = text.len();
        text.push_str(&record.to_string());
        positions.push((start, text.len()));
    }
    let meta = json!({ "count": records.len(), "version": version, "updated_on": updated_on });
    text.push_str(&format!("],\"meta\":{meta}"));
    for (name, value) in extra.as_object().unwrap_or(&Map::new()) {
        text.push_str(&format!(",{}:{value}", json!(name)));
    }
    text.push('}');
    Body { slug, json: text, records: positions }
}

/// Categories, scales, and the matrix: each cell with its score, its level and how many risks stand there.
fn risk_extra(catalogue: &Catalogue) -> Value {
    let cell = |likelihood: u8, impact: u8| {
        let score = likelihood * impact;
        let here = |risk: &&super::record::Risk| risk.likelihood == likelihood && risk.impact == impact;
        json!({
            "likelihood": likelihood,
            "impact": impact,
            "score": score,
            "level": Level::of_score(score),
            "risks": catalogue.risks.data.iter().filter(here).count(),
        })
    };
    let rows: Vec<Value> = (1..=5)
        .rev()
        .map(|likelihood| {
            let cells: Vec<Value> = (1..=5).map(|impact| cell(likelihood, impact)).collect();
            json!({ "likelihood": likelihood, "cells": cells })
        })
        .collect();
    json!({
        "categories": catalogue.risks.extra.categories,
        "matrix": { "scales": catalogue.risks.extra.scales, "rows": rows },
    })
}
