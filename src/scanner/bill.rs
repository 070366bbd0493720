//! The bill of materials of this executable, made by `build.rs` and compiled in.

use crate::domain::osv::Component;
use crate::error::Error;
use serde::Deserialize;

/// The CycloneDX document.
pub const BILL: &str = include_str!(concat!(env!("OUT_DIR"), "/sbom.json"));

#[derive(Deserialize)]
struct Bill {
    components: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    version: String,
    purl: String,
}

/// What this executable is made of.
pub fn components() -> Result<Vec<Component>, Error> {
    let bill: Bill = serde_json::from_str(BILL)
        .map_err(|cause| Error::internal("reading the bill of materials", cause))?;
    let component = |entry: Entry| {
        let address = entry.purl.split('@').next().unwrap_or_default().to_owned();
        let ecosystem = address.starts_with("pkg:cargo/").then(|| "crates.io".to_owned());
        Component { ecosystem, name: entry.name, version: entry.version, purl: Some(address) }
    };
    Ok(bill.components.into_iter().map(component).collect())
}
