//! `holdfast scan import`: the report of another scanner, all of it or nothing.

use super::import::one_a_line;
use super::{Context, print};
use crate::domain::report::read;
use crate::domain::scan::Summary;
use crate::error::Error;
use crate::store::Purpose;
use std::io::Read;
use std::path::Path;

/// The largest report.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads, checks and stores a report. Each fault is a line of its own.
pub fn import(context: &Context, file: &Path) -> Result<(), Error> {
    let report = read(&bytes_of(file)?).map_err(one_a_line)?;
    let (source, found) = (report.source.name(), Summary::of(&report.findings));
    let store = context.store(Purpose::Administer)?;
    let kept = store.keep_scan(report);
    store.close()?;
    kept?;
    print(&format!("{source}: {} findings, {} critical, {} high\n", found.total, found.critical, found.high))
}

fn bytes_of(file: &Path) -> Result<Vec<u8>, Error> {
    let cannot =
        |cause: std::io::Error| Error::invalid(format!("{} cannot be read: {cause}", file.display()));
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(cannot)?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        let limit = FILE_BYTES_MAX >> 20;
        return Err(Error::invalid(format!("{} is larger than {limit} MiB", file.display())));
    }
    Ok(bytes)
}
