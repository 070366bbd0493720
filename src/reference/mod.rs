//! Reference data at run time: the records of `source`, and the bodies that the
//! build prepared from them.
//!
//! Nothing here changes while the process runs, so everything is handed out as it is.

pub mod compliance;
pub mod dataset;
pub mod source;
mod table;
mod timeline;

pub use dataset::Dataset;
pub use table::{Selection, Table};

use crate::error::Error;
use crate::payload::Payload;
use bytes::Bytes;
use include_dir::{Dir, include_dir};
use source::Catalogue;

static SOURCES: Dir = include_dir!("$CARGO_MANIFEST_DIR/data/reference");
static BODIES: Dir = include_dir!("$OUT_DIR/reference");

/// The reference data of this build.
#[derive(Debug)]
pub struct Reference {
    /// The records.
    pub catalogue: Catalogue,
    tables: Vec<Table>,
}

impl Reference {
    /// Reads what was compiled in. The build has checked it, so a fault here is a broken binary.
    pub fn load() -> Result<Reference, Error> {
        let catalogue = Catalogue::read(|name| SOURCES.get_file(name).and_then(|file| file.contents_utf8()))
            .map_err(|fault| Error::internal("reading the reference data", fault))?;
        let tables = dataset::ALL
            .iter()
            .map(|dataset| Table::new(dataset, payload(dataset.slug)?, records(dataset.slug)?, &catalogue))
            .collect::<Result<_, Error>>()?;
        Ok(Reference { catalogue, tables })
    }

    /// The tables, in the order of `dataset::ALL`.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table of a dataset.
    pub fn table(&self, dataset: &Dataset) -> Result<&Table, Error> {
        self.tables
            .iter()
            .find(|table| table.dataset.slug == dataset.slug)
            .ok_or_else(|| Error::internal("finding a dataset", dataset.slug))
    }
}

fn part(slug: &str, ending: &str) -> Result<&'static [u8], Error> {
    let name = format!("{slug}.{ending}");
    let file = BODIES.get_file(&name).ok_or_else(|| Error::internal("finding a prepared body", &name))?;
    Ok(file.contents())
}

fn payload(slug: &str) -> Result<Payload, Error> {
    let bytes = |ending| part(slug, ending).map(Bytes::from_static);
    let digest = String::from_utf8_lossy(part(slug, "digest")?).into_owned();
    Ok(Payload::built(bytes("json")?, bytes("json.gz")?, bytes("json.br")?, digest))
}

/// The positions of the records in the body, as the build wrote them.
fn records(slug: &str) -> Result<Vec<(usize, usize)>, Error> {
    let text = String::from_utf8_lossy(part(slug, "records")?).into_owned();
    text.lines()
        .map(|line| {
            let (start, end) = line.split_once(' ')?;
            Some((start.parse().ok()?, end.parse().ok()?))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| Error::internal("reading record positions", slug))
}

/// A path belongs to a module by the module's longest match: itself or a folder above it. The three
/// bare indexes belong to nothing but their own name.
pub fn belongs(path: &str, beginnings: &[String]) -> bool {
    beginnings.iter().any(|beginning| {
        let rest = path.strip_prefix(beginning.as_str());
        let is_index = matches!(beginning.as_str(), "/api" | "/api/v2");
        rest.is_some_and(|rest| rest.is_empty() || (!is_index && rest.starts_with('/')))
    })
}
