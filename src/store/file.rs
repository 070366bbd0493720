//! The database file: made, recognised, or refused.
//!
//! A new file is built under another name and linked into place whole, so that a
//! crash leaves either no database or a good one.

use super::lock::ServerLock;
use super::{Purpose, audit, migrate, search};
use crate::chance::Chance;
use crate::clock::Clock;
use crate::domain::fold::fold;
use crate::error::Error;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// "HFST": how SQLite files of ours are told from others.
const APPLICATION_ID: i32 = 0x4846_5354;
/// The schema that this binary reads and writes.
pub const SCHEMA_VERSION: i32 = 3;
/// The first SQLite whose write-ahead log is free of the corruption of 3.7.0 to 3.51.2.
const SQLITE_VERSION_MIN: i32 = 3_051_003;
/// The first bytes of every SQLite file.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// The whole schema.
pub(super) const SCHEMA: &str = include_str!("../../schema.sql");

/// The one true name of a file, whichever link or detour led to it: lock, log and copies stand beside that.
pub fn resolve(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        (Ok(_) | Err(_), _) => path.to_owned(),
    }
}

/// Opens the writer's connection to a database that is ours, sound and current.
pub fn open(path: &Path, purpose: Purpose, clock: &Clock, chance: &Chance) -> Result<Connection, Error> {
    if rusqlite::version_number() < SQLITE_VERSION_MIN {
        return Err(refusal(path, "cannot be trusted to this SQLite: it is older than 3.51.3"));
    }
    if !path.exists() {
        refuse_remains(path)?;
        match purpose {
            Purpose::Serve | Purpose::Provision => create(path, chance)?,
            Purpose::Administer => {
                return Err(refusal(
                    path,
                    "does not exist; start `holdfast serve` once, or name it with --db",
                ));
            }
        }
    }
    recognise_bytes(path)?;
    refuse_protected(path)?;
    let mut connection = connect(path)?;
    let version = recognise(&connection, path)?;
    // Only now, when the file is known to be ours, is anything in it changed.
    make_private(path)?;
    set_up_writer(&mut connection, path)?;
    if version < SCHEMA_VERSION {
        // A server of an older build may be using the file: nobody upgrades it under its feet.
        let _lock = match purpose {
            Purpose::Serve => None,
            Purpose::Provision | Purpose::Administer => Some(ServerLock::take(path)?),
        };
        migrate::upgrade(&mut connection, path, version, &migrate::steps(), clock)?;
        audit::note_upgrade(&connection, version, clock.now_ms())?;
    }
    if search::is_stale(&connection).map_err(|cause| damaged(path, &cause))? {
        fill_search(&mut connection).map_err(|cause| {
            refusal(
                path,
                &format!("has a search index of other rules that could not be filled anew ({cause})"),
            )
        })?;
    }
    Ok(connection)
}

/// After an upgrade, or by a build that folds words in another way. Of several processes one does it.
fn fill_search(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if search::is_stale(&transaction)? {
        search::rebuild(&transaction)?;
    }
    transaction.commit()
}

/// Where a database has been and is gone, no new one is made: a log that was left behind would be played
/// into it, and nobody would look for the old one.
fn refuse_remains(path: &Path) -> Result<(), Error> {
    if beside(path, "restoring").exists() {
        return Err(refusal(path, "is missing: a restore was cut off; run it again"));
    }
    if wal_of(path).exists() {
        return Err(refusal(
            path,
            "is missing, though its log is there; restore a backup, or move the log away",
        ));
    }
    Ok(())
}

/// What only looking needs.
pub fn reader_flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// The settings of a reader.
pub fn set_up_reader(connection: &mut Connection) -> rusqlite::Result<()> {
    set_up(connection)?;
    connection.execute_batch("pragma query_only = on; pragma cache_size = -2000;")
}

/// Opens a file for looking only: neither it nor its folder is changed.
pub fn open_read_only(path: &Path) -> Result<Connection, Error> {
    if !path.exists() {
        return Err(refusal(path, "does not exist"));
    }
    recognise_bytes(path)?;
    let mut connection = match wal_of(path).exists() {
        true => Connection::open_with_flags(path, reader_flags()),
        // Nobody has it open. Without this promise even a reader would leave a log beside it.
        false => Connection::open_with_flags(unchanging(path), reader_flags() | OpenFlags::SQLITE_OPEN_URI),
    }
    .map_err(|cause| damaged(path, &cause))?;
    set_up_reader(&mut connection).map_err(|cause| damaged(path, &cause))?;
    Ok(connection)
}

/// A database's write-ahead log.
pub fn wal_of(path: &Path) -> PathBuf {
    with_ending(path, "-wal")
}

/// The index of that log.
pub fn shm_of(path: &Path) -> PathBuf {
    with_ending(path, "-shm")
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// The address of a file that nobody changes while it is open.
fn unchanging(path: &Path) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    format!("file:{path}?immutable=1")
}

/// Is it ours, and of which version?
pub fn recognise(connection: &Connection, path: &Path) -> Result<i32, Error> {
    let number = |pragma: &str| -> Result<i32, Error> {
        connection
            .query_row(&format!("pragma {pragma}"), [], |row| row.get(0))
            .map_err(|cause| damaged(path, &cause))
    };
    if number("application_id")? != APPLICATION_ID {
        return Err(refusal(path, "is an SQLite file, but not a Holdfast database"));
    }
    let version = number("user_version")?;
    if version > SCHEMA_VERSION {
        let text = format!(
            "has schema version {version}, newer than this binary's {SCHEMA_VERSION}; use the binary that wrote it"
        );
        return Err(refusal(path, &text));
    }
    Ok(version)
}

/// One line that says which file, and why not.
pub fn refusal(path: &Path, why: &str) -> Error {
    Error::Internal(format!("the database {} {why}", path.display()))
}

fn damaged(path: &Path, cause: &rusqlite::Error) -> Error {
    refusal(path, &format!("is damaged ({cause}); restore a backup"))
}

fn set_up(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::from_secs(5))?; // first: the next lines may have to wait
    connection.set_prepared_statement_cache_capacity(64);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    // Else every new value of a parameter makes SQLite plan the statement anew.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DML, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DQS_DDL, false)?;
    connection.execute_batch(
        "pragma foreign_keys = on; pragma trusted_schema = off; pragma cell_size_check = on;
         pragma mmap_size = 0; pragma temp_store = memory;",
    )?;
    let deterministic = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    // SQLite's own lower() knows ASCII only.
    connection.create_scalar_function("fold", 1, deterministic, |context| {
        Ok(context.get_raw(0).as_str_or_null()?.map(fold))
    })?;
    search::register(connection)
}

/// A connection that may write; nothing is changed by opening it.
pub fn connect(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|cause| damaged(path, &cause))?;
    connection.busy_timeout(Duration::from_secs(5)).map_err(|cause| damaged(path, &cause))?;
    if connection.is_readonly(MAIN_DB).map_err(|cause| damaged(path, &cause))? {
        return Err(refusal(path, "cannot be written: it, or the disk it is on, is read-only"));
    }
    // Reading the schema first tells a damaged file before anything is written to it.
    connection
        .query_row("select count(*) from sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map_err(|cause| damaged(path, &cause))?;
    Ok(connection)
}

fn set_up_writer(connection: &mut Connection, path: &Path) -> Result<(), Error> {
    let mode: String = connection
        .query_row("pragma journal_mode = wal", [], |row| row.get(0))
        .map_err(|cause| refusal(path, &format!("cannot be written ({cause})")))?;
    if mode != "wal" {
        return Err(refusal(path, "does not take a write-ahead log; is it on a network file system?"));
    }
    set_up(connection)
        .and_then(|()| {
            connection.execute_batch(
                "pragma synchronous = full; pragma cache_size = -8000;
                 pragma journal_size_limit = 67108864; pragma wal_autocheckpoint = 1000;",
            )
        })
        .map_err(|cause| damaged(path, &cause))
}

/// What can be told without SQLite: empty, foreign or write-protected files.
pub fn recognise_bytes(path: &Path) -> Result<(), Error> {
    use std::io::Read;
    let unreadable = |cause: std::io::Error| refusal(path, &format!("cannot be read ({cause})"));
    let meta = fs::metadata(path).map_err(unreadable)?;
    if !meta.is_file() {
        return Err(refusal(path, "is not a file"));
    }
    let mut start = Vec::new();
    let mut file = fs::File::open(path).map_err(unreadable)?;
    file.by_ref().take(MAGIC.len() as u64).read_to_end(&mut start).map_err(unreadable)?;
    if start.is_empty() {
        return Err(refusal(path, "is empty; remove it to begin anew, or restore a backup"));
    }
    if start != MAGIC {
        return Err(refusal(path, "is not an SQLite file, or its beginning is damaged"));
    }
    Ok(())
}

/// Root may write to anything; a file without any write permission was protected on purpose.
pub fn refuse_protected(path: &Path) -> Result<(), Error> {
    if mode_of(path)? & 0o222 == 0 {
        return Err(refusal(path, "is write-protected (no write permission is set)"));
    }
    Ok(())
}

/// A file that others may read becomes its owner's alone.
fn make_private(path: &Path) -> Result<(), Error> {
    if mode_of(path)? & 0o077 != 0 {
        log::warn!("the database could be read by others; it is for its owner only now");
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))
            .map_err(|cause| refusal(path, &format!("cannot be made private ({cause})")))?;
    }
    Ok(())
}

fn mode_of(path: &Path) -> Result<u32, Error> {
    let meta = fs::metadata(path).map_err(|cause| refusal(path, &format!("cannot be read ({cause})")))?;
    Ok(meta.permissions().mode())
}

/// Builds the file under a name of its own and links it into place: of several processes that begin
/// together one makes the database, and the others find it.
fn create(path: &Path, chance: &Chance) -> Result<(), Error> {
    let unfinished = beside(path, &format!("new-{}", crate::payload::hex(&chance.bytes::<8>()?)));
    let cannot = |cause: &dyn std::fmt::Display| refusal(path, &format!("cannot be made ({cause})"));
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)
        .map_err(|cause| cannot(&cause))?;
    let built = build(&unfinished).map_err(|cause| cannot(&cause));
    let linked = built.and_then(|()| match fs::hard_link(&unfinished, path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::AlreadyExists => Err(cannot(&cause)),
        Ok(()) | Err(_) => Ok(()),
    });
    remove_if_there(&unfinished).map_err(|cause| cannot(&cause))?;
    linked?;
    sync_folder(path).map_err(|cause| cannot(&cause))
}

/// Writes the whole schema into an empty file, and syncs it.
fn build(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(SCHEMA)?;
    search::set_rules(&transaction)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()?;
    connection.close().map_err(|(_, cause)| cause)
}

/// `holdfast.db` and `lock` give `holdfast.db.lock`.
pub fn beside(path: &Path, ending: &str) -> PathBuf {
    with_ending(path, &format!(".{ending}"))
}

/// A rename is durable only when its folder is.
pub fn sync_folder(path: &Path) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}

/// Removes a file, content with its not being there.
pub fn remove_if_there(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => Err(cause),
        Ok(()) | Err(_) => Ok(()),
    }
}
