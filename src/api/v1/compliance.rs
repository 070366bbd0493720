//! Compliance status: built once at start, since it follows from the data of the build.

use crate::error::Error;
use crate::http::envelope::v1_item;
use crate::http::route::{Made, Makings};
use crate::reference::compliance::{detail, overview};
use crate::reference::source::words::Framework;

/// All frameworks.
pub fn all(makings: &Makings) -> Result<Made, Error> {
    Ok(Made::Json(v1_item(overview(&makings.reference.catalogue))))
}

/// DORA.
pub fn dora(makings: &Makings) -> Result<Made, Error> {
    one(makings, Framework::Dora)
}

/// MaRisk.
pub fn marisk(makings: &Makings) -> Result<Made, Error> {
    one(makings, Framework::Marisk)
}

/// ISO 27001.
pub fn iso_27001(makings: &Makings) -> Result<Made, Error> {
    one(makings, Framework::Iso27001)
}

/// The Cyber Resilience Act.
pub fn cra(makings: &Makings) -> Result<Made, Error> {
    one(makings, Framework::Cra)
}

fn one(makings: &Makings, framework: Framework) -> Result<Made, Error> {
    Ok(Made::Json(v1_item(detail(&makings.reference.catalogue, framework))))
}
