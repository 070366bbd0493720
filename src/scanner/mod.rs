//! The scan of ourselves: the bill of materials that is compiled in, held against the operator's folder
//! of advisories. No address is ever asked.

mod bill;
mod folder;

pub use bill::BILL;

use crate::domain::scan::{Report, Source, settle};
use crate::error::Error;
use folder::Seen;
use std::path::Path;

/// Scans what this executable is made of. None if it was told to stop before the end.
pub fn scan(folder: Option<&Path>, stop: &dyn Fn() -> bool) -> Result<Option<Report>, Error> {
    let components = bill::components()?;
    let seen = match folder {
        None => None,
        Some(folder) => match folder::read(folder, &components, stop) {
            Ok(Some(seen)) => Some(Ok(seen)),
            Ok(None) => return Ok(None),
            Err(cause) => {
                log::warn!("HOLDFAST_ADVISORIES: {} cannot be read: {cause}", folder.display());
                Some(Err(()))
            }
        },
    };
    let note = note(seen.as_ref().map(Result::as_ref));
    let seen = seen.and_then(Result::ok).unwrap_or_default();
    Ok(Some(Report {
        source: Source::Own,
        target: Some(format!("holdfast {}", env!("CARGO_PKG_VERSION"))),
        components: Some(components.len()),
        advisories_as_of: seen.newest_ms,
        reported_at: None,
        note,
        findings: settle(seen.found),
    }))
}

/// What the reader has to know. A scan without advisories found nothing because it knew nothing.
fn note(seen: Option<Result<&Seen, &()>>) -> Option<String> {
    let none = "no advisories, so nothing could be found:";
    match seen {
        None => Some(format!("{none} HOLDFAST_ADVISORIES is not set")),
        Some(Err(())) => Some(format!("{none} the folder of HOLDFAST_ADVISORIES cannot be read")),
        Some(Ok(seen)) if seen.records == 0 => Some(match seen.faults {
            0 => format!("{none} the folder of HOLDFAST_ADVISORIES holds no OSV record"),
            faults => format!(
                "{none} none of {faults} files or records of HOLDFAST_ADVISORIES could be used; the log names them"
            ),
        }),
        Some(Ok(seen)) => {
            let mut notes = Vec::new();
            if seen.faults > 0 {
                notes.push(format!(
                    "{} advisory files or records could not be used; the log names them",
                    seen.faults
                ));
            }
            if seen.is_cut {
                notes.push("there are more findings than are kept".into());
            }
            Some(notes.join("; ")).filter(|note| !note.is_empty())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn go_on() -> bool {
        false
    }

    fn record(id: &str, name: &str, events: Value) -> Value {
        json!({
            "id": id, "modified": "2026-06-01T10:00:00Z",
            "affected": [{
                "package": { "ecosystem": "crates.io", "name": name },
                "ranges": [{ "type": "SEMVER", "events": events }],
            }],
        })
    }

    fn scan_of(files: &[(&str, String)]) -> Report {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        scan(Some(folder.path()), &go_on).unwrap().unwrap()
    }

    #[test]
    fn without_advisories_a_scan_says_so() {
        let unset = scan(None, &go_on).unwrap().unwrap();
        assert_eq!((unset.advisories_as_of, unset.findings.len()), (None, 0));
        assert!(unset.note.unwrap().contains("HOLDFAST_ADVISORIES is not set"));
        let gone = scan(Some(Path::new("/no/such/folder")), &go_on).unwrap().unwrap();
        assert!(gone.note.unwrap().contains("cannot be read"));
        assert!(scan_of(&[]).note.unwrap().contains("holds no OSV record"));
        assert!(scan_of(&[("bad.json", "{".into())]).note.unwrap().contains("none of 1"));
        assert!(unset.components.unwrap() > 100);
    }

    #[test]
    fn nested_folders_and_arrays_are_read_and_bad_files_counted() {
        let all = json!([{ "introduced": "0" }]);
        let array =
            json!([record("A-2", "ring", all.clone()), 7, record("A-3", "none-of-ours", all.clone())]);
        let mut newest = record("A-4", "none-of-ours", all.clone());
        newest["modified"] = json!("2026-07-01T00:00:00+02:00");
        let report = scan_of(&[
            ("a/b/one.json", record("A-1", "tokio", all).to_string()),
            ("a/array.json", array.to_string()),
            ("newest.JSON", newest.to_string()),
            ("broken.json", "{\"id\": ".into()),
            ("twice.json", format!("{} {{}}", record("A-5", "none-of-ours", json!([])))),
            ("empty.json", String::new()),
            ("README.md", "not looked at".into()),
        ]);
        let ids: Vec<&str> = report.findings.iter().map(|each| each.id.as_str()).collect();
        assert_eq!(ids, ["A-2", "A-1"], "by severity, then package");
        assert_eq!(report.advisories_as_of, crate::clock::parse_rfc3339("2026-06-30T22:00:00Z"));
        // The 7 in the array, and three files.
        assert!(report.note.unwrap().starts_with("4 advisory files or records could not be used"));
    }

    #[test]
    fn a_loop_of_links_ends_and_a_stop_is_obeyed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("again")).unwrap();
        let one = record("A-1", "ring", json!([{ "introduced": "0" }]));
        std::fs::write(folder.path().join("one.json"), one.to_string()).unwrap();
        let report = scan(Some(folder.path()), &go_on).unwrap().unwrap();
        assert_eq!(report.findings.len(), 1);
        assert_eq!(scan(Some(folder.path()), &|| true).unwrap(), None);
    }

    #[test]
    fn sqlite_is_found_by_its_address() {
        let mut sqlite = record("S-1", "", json!([{ "introduced": "0" }, { "fixed": "99.0.0" }]));
        sqlite["affected"][0]["package"] = json!({ "purl": "pkg:generic/sqlite" });
        let report = scan_of(&[("sqlite.json", sqlite.to_string())]);
        assert_eq!(report.findings[0].package.as_deref(), Some("sqlite"));
        assert_eq!(report.findings[0].fixed_in.as_deref(), Some("99.0.0"));
    }
}
