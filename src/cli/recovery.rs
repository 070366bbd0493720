//! `holdfast backup`, `restore` and `check`: what an operator needs on a bad day.

use super::{Context, print};
use crate::domain::actor::Actor;
use crate::domain::audit::Event;
use crate::error::Error;
use crate::store::{self, Purpose};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Copies the database, whether a server runs on it or not.
pub fn backup(context: &Context, file: &Path) -> Result<(), Error> {
    let config = &context.config;
    let made = store::backup(&config.db, file, &config.reserve.disk, &context.chance)?;
    note(context, Event::BackedUp, format!("{} bytes, {} rows", made.bytes, made.rows));
    print(&format!(
        "{}: {} bytes, {} rows, verified, SHA-256 {}\n",
        made.path.display(),
        made.bytes,
        made.rows,
        made.sha256
    ))
}

/// Puts a backup in the place of the database.
pub fn restore(context: &Context, file: &Path) -> Result<(), Error> {
    let restored = store::restore(&context.config.db, file, &context.clock)?;
    let again = restored.live_again.len();
    note(context, Event::Restored, format!("{again} keys that were revoked since live again"));
    let mut text = format!("{}: restored from {}\n", context.config.db.display(), file.display());
    if let Some(replaced) = restored.replaced {
        let _ = writeln!(text, "the replaced database is kept as {}", replaced.display());
    }
    for (id, name) in restored.live_again {
        // A name may hold what would command a terminal.
        let name: String = name.chars().filter(|char| !char.is_control()).collect();
        let _ = writeln!(text, "revoked after the backup, and live again: key revoke {id} ({name})");
    }
    print(&text)
}

/// Writes the act into the audit log. A file of an older schema is left as it is until somebody serves it, and
/// one on a read-only disk cannot be told anything: what was done is done all the same.
fn note(context: &Context, event: Event, detail: String) {
    if !store::is_current(&context.config.db) {
        return;
    }
    let noted = context
        .store(Purpose::Administer)
        .and_then(|store| store.note_act(event, Actor::command_line(), Some(detail)).and(store.close()));
    if let Err(error) = noted {
        let _ = writeln!(std::io::stderr(), "holdfast: the audit log does not tell of this: {error}");
    }
}

/// Verifies the database without changing it.
pub fn check(context: &Context) -> Result<(), Error> {
    let faults = store::check(&context.config.db)?;
    if faults.is_empty() {
        return print(&format!(
            "{}: sound, schema version {}\n",
            context.config.db.display(),
            store::SCHEMA_VERSION
        ));
    }
    Err(Error::invalid(format!("{}: {}", context.config.db.display(), faults.join("; "))))
}
