//! DORA measures: list, record, and the two exports.

use crate::domain::spreadsheet;
use crate::error::Error;
use crate::http::envelope::{V1_VERSION, v1_page, v1_record};
use crate::http::route::{Made, Makings};
use crate::http::{Answer, Request};
use crate::reference::Reference;
use crate::reference::dataset::MEASURES;
use crate::reference::source::record::Measure;
use serde_json::json;

/// A page of measures.
pub fn list(request: &Request, reference: &Reference) -> Answer {
    Ok(v1_page(&request.query, reference.table(&MEASURES)?))
}

/// One measure.
pub fn show(request: &Request, reference: &Reference) -> Answer {
    let record = reference.table(&MEASURES)?.record(request.id()).ok_or(Error::NotFound("measure"))?;
    Ok(v1_record(record))
}

/// All measures as JSON, unpaged.
pub fn export_json(makings: &Makings) -> Result<Made, Error> {
    let measures = &makings.reference.catalogue.measures.data;
    let meta = json!({ "version": V1_VERSION, "count": measures.len(), "total": measures.len() });
    Ok(Made::Json(json!({ "data": measures, "meta": meta })))
}

/// All measures as CSV, in the same order.
pub fn export_csv(makings: &Makings) -> Result<Made, Error> {
    let measures = &makings.reference.catalogue.measures;
    let header = [
        "id",
        "article",
        "pillar",
        "area",
        "title",
        "description",
        "target",
        "priority",
        "tier",
        "cycle",
        "evidence_ids",
        "marisk",
        "iso_27001",
        "nis2",
    ];
    let rows = measures.data.iter().map(cells);
    let file_name = format!("measures-{}.csv", measures.updated_on);
    Ok(Made::Csv { bytes: spreadsheet::write(&header, rows)?, file_name })
}

/// Lists are joined by a semicolon and a blank, which no reference contains.
fn cells(measure: &Measure) -> Vec<String> {
    vec![
        measure.id.clone(),
        measure.article.clone(),
        measure.pillar.name().into(),
        measure.area.name().into(),
        measure.title.clone(),
        measure.description.clone(),
        measure.target.clone(),
        measure.priority.name().into(),
        measure.tier.name().into(),
        measure.cycle.clone(),
        measure.evidence_ids.join("; "),
        measure.mappings.marisk.join("; "),
        measure.mappings.iso_27001.join("; "),
        measure.mappings.nis2.join("; "),
    ]
}
