//! `holdfast import` and `export`: a tenant's data as a file, all of it or nothing.

use super::{Context, print};
use crate::domain::actor::Actor;
use crate::domain::import::{Import, PARTS, part, read_json};
use crate::domain::import_csv;
use crate::error::{Error, Faults};
use crate::store::Purpose;
use std::path::Path;

/// Reads, checks and stores a file. Each fault is a line of its own.
pub fn import(
    context: &Context,
    tenant: &str,
    file: &Path,
    kind: Option<&str>,
    events: bool,
) -> Result<(), Error> {
    let bytes = std::fs::read(file)
        .map_err(|cause| Error::invalid(format!("{} cannot be read: {cause}", file.display())))?;
    let is_csv = kind.is_some() || file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let import = if is_csv { read_csv(&bytes, kind) } else { read_json(&bytes) }.map_err(one_a_line)?;
    let store = context.store(Purpose::Administer)?;
    let imported = store
        .tenant_id(tenant)
        .and_then(|id| store.tenant(&id).by(Actor::command_line()).import(import, events));
    let closed = store.close();
    let imported = match imported {
        Err(Error::Invalid(faults)) => return Err(one_a_line(faults)),
        imported => imported?,
    };
    closed?;
    print(&format!("{} added, {} updated\n", imported.added, imported.updated))
}

/// Writes a tenant's data, to a file or to standard output.
pub fn export(context: &Context, tenant: &str, out: Option<&Path>) -> Result<(), Error> {
    let store = context.store(Purpose::Administer)?;
    let exported =
        store.tenant_id(tenant).and_then(|id| store.tenant(&id).by(Actor::command_line()).export());
    store.close()?;
    let text = format!("{:#}\n", exported?);
    match out {
        None => print(&text),
        Some(path) => std::fs::write(path, text)
            .map_err(|cause| Error::invalid(format!("{} cannot be written: {cause}", path.display()))),
    }
}

fn read_csv(bytes: &[u8], kind: Option<&str>) -> Result<Import, Faults> {
    let kinds: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
    let part = kind.and_then(part).ok_or_else(|| Faults {
        summary: format!("a CSV file needs --kind, one of: {}", kinds.join(", ")),
        ..Faults::default()
    })?;
    import_csv::read(part, bytes)
}

/// Standard error gets every fault on a line; the last line sums up.
pub fn one_a_line(faults: Faults) -> Error {
    if faults.fields.is_empty() {
        return Error::Invalid(faults);
    }
    use std::io::Write;
    let mut out = std::io::stderr();
    for (name, reason) in &faults.fields {
        let _ = writeln!(out, "{name}: {reason}");
    }
    let count = faults.fields.len() + faults.more;
    Error::invalid(format!("nothing was imported: {count} faults"))
}
