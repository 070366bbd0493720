//! The folder of advisories: OSV records as JSON files, one record or an array each, in folders of any depth.
//!
//! One file is in memory at a time, so a copy of a whole database costs time and no memory. A
//! file that cannot be used is named in the log and counted; it never ends the scan.

use crate::domain::osv::{Component, Record};
use crate::domain::scan::{FINDINGS_MAX, Vulnerability};
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The largest file that is read; all of crates.io's advisories in one array are a third of it.
const FILE_BYTES_MAX: u64 = 16 << 20;
/// The deepest folder.
const DEPTH_MAX: usize = 16;
/// Faults that are named in the log; of the rest only the number is told.
const NAMED_MAX: u64 = 20;

/// What the folder held.
#[derive(Debug, Default)]
pub struct Seen {
    /// Records that could be used, whatever they are about.
    pub records: u64,
    /// Files and records that could not.
    pub faults: u64,
    /// When the newest record was changed.
    pub newest_ms: Option<i64>,
    /// What is known of our components.
    pub found: Vec<Vulnerability>,
    /// More was found than is kept.
    pub is_cut: bool,
}

/// Reads the folder; none if it was told to stop. Links to folders are not followed.
pub fn read(
    folder: &Path,
    components: &[Component],
    stop: &dyn Fn() -> bool,
) -> std::io::Result<Option<Seen>> {
    let mut desk = Desk { seen: Seen::default(), by_name: by_name(components) };
    let mut folders = vec![(folder.to_owned(), 0)];
    let mut first = true;
    while let Some((folder, depth)) = folders.pop() {
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            // The operator's own folder has to be there; one inside it is a fault like another.
            Err(cause) if first => return Err(cause),
            Err(cause) => {
                desk.fault(&folder, &cause.to_string());
                continue;
            }
        };
        first = false;
        for entry in entries {
            if stop() {
                return Ok(None);
            }
            match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
                Ok((path, kind)) if kind.is_dir() && depth < DEPTH_MAX => folders.push((path, depth + 1)),
                Ok((path, kind)) if !kind.is_dir() && is_json(&path) => desk.file(&path),
                Ok(_) => {}
                Err(cause) => desk.fault(&folder, &cause.to_string()),
            }
        }
    }
    if desk.seen.faults > NAMED_MAX {
        log::warn!(
            "HOLDFAST_ADVISORIES: {} more files or records cannot be used",
            desk.seen.faults - NAMED_MAX
        );
    }
    Ok(Some(desk.seen))
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// A record names few packages, so the few components of a name are asked, not all.
fn by_name(components: &[Component]) -> HashMap<&str, Vec<&Component>> {
    let mut by_name: HashMap<&str, Vec<&Component>> = HashMap::new();
    for component in components {
        by_name.entry(component.name.as_str()).or_default().push(component);
    }
    by_name
}

struct Desk<'a> {
    seen: Seen,
    by_name: HashMap<&'a str, Vec<&'a Component>>,
}

impl Desk<'_> {
    fn fault(&mut self, path: &Path, reason: &str) {
        self.seen.faults += 1;
        if self.seen.faults <= NAMED_MAX {
            log::warn!("HOLDFAST_ADVISORIES: {}: {reason}", path.display());
        }
    }

    fn file(&mut self, path: &PathBuf) {
        let bytes = match bytes_of(path) {
            Ok(bytes) => bytes,
            Err(cause) => return self.fault(path, &cause.to_string()),
        };
        let mut reader = serde_json::Deserializer::from_slice(&bytes);
        let each = Each { desk: self, path };
        if let Err(fault) = each.deserialize(&mut reader).and_then(|()| reader.end()) {
            self.fault(path, &format!("is not valid JSON: {fault}"));
        }
    }

    fn record(&mut self, path: &Path, value: Value) {
        let record = match Record::read(value) {
            Ok(record) => record,
            Err(reason) => return self.fault(path, &reason),
        };
        self.seen.records += 1;
        self.seen.newest_ms = self.seen.newest_ms.max(Some(record.modified_ms()));
        let mut faults = Vec::new();
        for component in record.package_names().filter_map(|name| self.by_name.get(name)).flatten() {
            match record.finds(component) {
                Ok(None) => {}
                Ok(Some(_)) if self.seen.found.len() >= FINDINGS_MAX => self.seen.is_cut = true,
                Ok(Some(found)) => self.seen.found.push(found),
                Err(reason) => faults.push(reason),
            }
        }
        for reason in faults {
            self.fault(path, &reason);
        }
    }
}

fn bytes_of(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(std::io::Error::other("is no file"));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(std::io::Error::other(format!("is larger than {} MiB", FILE_BYTES_MAX >> 20)));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0));
    file.by_ref().take(FILE_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Hands on the records of a file one by one.
struct Each<'a, 'b> {
    desk: &'a mut Desk<'b>,
    path: &'a Path,
}

impl<'de> DeserializeSeed<'de> for Each<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, file: D) -> Result<(), D::Error> {
        file.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Each<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.write_str("an OSV record, or an array of them")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<(), M::Error> {
        let value = serde::Deserialize::deserialize(MapAccessDeserializer::new(map))?;
        self.desk.record(self.path, value);
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut records: S) -> Result<(), S::Error> {
        while let Some(value) = records.next_element()? {
            self.desk.record(self.path, value);
        }
        Ok(())
    }
}
