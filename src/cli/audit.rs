//! `holdfast audit …`: the log of security-relevant acts.

use super::admin::with_store;
use super::{AuditCommand, Context, print};
use crate::domain::audit::KEPT_DAYS;
use crate::error::Error;
use crate::payload::hex;
use crate::store::{Purpose, Store, Verdict};
use serde_json::json;
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::Path;

const DAY_MS: i64 = 86_400_000;

/// Verifies, exports or prunes.
pub fn audit(context: &Context, command: AuditCommand) -> Result<(), Error> {
    with_store(context, Purpose::Administer, |store| match command {
        AuditCommand::Verify => verify(store),
        AuditCommand::Export { out } => export(store, out.as_deref()),
        AuditCommand::Prune { yes: false } => Err(Error::invalid(format!(
            "this takes away the rows from before the last {KEPT_DAYS} days, for good; export them first, and \
             say so with --yes"
        ))),
        AuditCommand::Prune { yes: true } => {
            let gone = store.prune_audit(context.clock.now_ms() - KEPT_DAYS * DAY_MS)?;
            print(&format!("{gone} rows pruned\n"))
        }
    })
}

fn verify(store: &Store) -> Result<(), Error> {
    match store.verify_audit()? {
        Verdict::Sound { rows, last } => print(&format!("sound: {rows} rows, the last one {}\n", hex(&last))),
        Verdict::Broken { number } => Err(Error::invalid(format!(
            "the audit log is broken: row {number} does not fit the one before it"
        ))),
    }
}

fn export(store: &Store, out: Option<&Path>) -> Result<(), Error> {
    let name = out.map_or("standard output".into(), |path| path.display().to_string());
    let cannot = |cause: std::io::Error| Error::invalid(format!("{name} cannot be written: {cause}"));
    let mut writer: Box<dyn Write> = match out {
        Some(path) => Box::new(BufWriter::new(File::create(path).map_err(cannot)?)),
        None => Box::new(BufWriter::new(std::io::stdout())),
    };
    let written = store.export_audit(|row, hash| {
        let mut line = json!(row);
        // To the millisecond: the chain covers it, and the copy can be verified by it.
        line["at_ms"] = json!(row.at);
        line["hash"] = json!(hex(hash));
        writeln!(writer, "{line}").map_err(cannot)
    });
    let flushed = writer.flush();
    // A reader that went away (`| head`) is no error.
    if out.is_none() && flushed.as_ref().is_err_and(|cause| cause.kind() == ErrorKind::BrokenPipe) {
        return Ok(());
    }
    written.and(flushed.map_err(cannot))
}
