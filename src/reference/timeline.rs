//! The milestones that the timeline should have: those of this build and those of the operator's file.
//!
//! The file is read anew each time, and taken whole or not at all; every fault in it is named.

use super::Reference;
use super::source::record;
use crate::domain::day::Day;
use crate::domain::json;
use crate::domain::timeline::{MILESTONE, Milestone, Precision, is_plain_id, is_plain_word};
use crate::error::{Error, Faults};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

/// The largest file that is read.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

impl Reference {
    /// The milestones of this build.
    pub fn milestones(&self) -> Result<Vec<Milestone>, Error> {
        self.catalogue.milestones.data.iter().map(of_record).collect()
    }

    /// The milestones of this build, and behind them those of the operator's file.
    pub fn milestones_with(&self, file: Option<&Path>) -> Result<Vec<Milestone>, Error> {
        let mut all = self.milestones()?;
        if let Some(file) = file {
            let bytes = read(file).map_err(|cause| {
                Error::invalid(format!("the operator's timeline file cannot be read: {cause}"))
            })?;
            all.extend(parse(&bytes, &all).map_err(Error::Invalid)?);
        }
        Ok(all)
    }
}

/// The build has checked the record, so a fault here is a broken binary.
fn of_record(record: &record::Milestone) -> Result<Milestone, Error> {
    let broken = || Error::internal("reading the reference data", &record.id);
    Ok(Milestone {
        id: record.id.clone(),
        date: Day::parse(&record.date).ok_or_else(broken)?,
        date_precision: Precision::parse(record.date_precision.name()).ok_or_else(broken)?,
        title: record.title.clone(),
        description: record.description.clone(),
        framework: record.framework.name().to_owned(),
        category: record.category.name().to_owned(),
        authority: record.authority.clone(),
        source: record.source.clone(),
        confirmed: record.confirmed,
    })
}

/// The reasons hold no path: whoever may sync need not know the operator's folders.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let text = |cause: std::io::Error| cause.kind().to_string();
    // Asked before it is opened: opening a pipe would wait for its writer.
    if !std::fs::metadata(path).map_err(text)?.is_file() {
        return Err("it is no plain file".into());
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(text)?;
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(text)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(format!("it has more than {FILE_BYTES_MAX} bytes"));
    }
    Ok(bytes)
}

/// The milestones of a file; `build` holds the ids that are taken.
fn parse(bytes: &[u8], build: &[Milestone]) -> Result<Vec<Milestone>, Faults> {
    let whole = |text: String| Faults {
        summary: format!("the operator's timeline file {text}"),
        ..Faults::default()
    };
    let root = json::value(bytes).map_err(|fault| whole(format!("is not readable: {fault}")))?;
    let kind = json::kind_of(&root);
    let Value::Object(root) = root else {
        return Err(whole(format!("must be a JSON object, not {kind}")));
    };
    let mut faults = Faults::default();
    check_root(&root, &mut faults);
    let mut taken: HashSet<String> = build.iter().map(|each| each.id.clone()).collect();
    let mut milestones = Vec::new();
    let items = root.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (position, item) in items.iter().enumerate() {
        let mut found = Faults::default();
        milestones.extend(milestone(item, &mut taken, &mut found));
        for (name, reason) in found.fields {
            let dot = if name.is_empty() { "" } else { "." };
            faults.add(&format!("data[{position}]{dot}{name}"), reason);
        }
    }
    if faults.fields.is_empty() {
        return Ok(milestones);
    }
    faults.summary = whole(format!("does not fit: {faults}")).summary;
    Err(faults)
}

fn check_root(root: &Map<String, Value>, faults: &mut Faults) {
    match root.get("data") {
        Some(Value::Array(_)) => {}
        Some(other) => faults.add("data", format!("must be an array, not {}", json::kind_of(other))),
        None => faults.add("data", "is required"),
    }
    if root.get("updated_on").is_some_and(|day| day.as_str().and_then(Day::parse).is_none()) {
        faults.add("updated_on", "must be a day as 2026-11-15");
    }
    for name in root.keys().filter(|name| !["data", "updated_on"].contains(&name.as_str())) {
        faults.add(name, "is not a known field; known are: data, updated_on");
    }
}

fn milestone(item: &Value, taken: &mut HashSet<String>, faults: &mut Faults) -> Option<Milestone> {
    let Value::Object(fields) = item else {
        faults.add("", format!("must be an object, not {}", json::kind_of(item)));
        return None;
    };
    let checked = MILESTONE.check(fields);
    if let Err(found) = &checked {
        faults.clone_from(found);
    }
    // Looked at beside the form's faults: all of them are named at once.
    let given = |name: &str| fields.get(name).and_then(Value::as_str);
    if let Some(id) = given("id") {
        if !is_plain_id(id) {
            faults.add("id", "may have letters, digits, dot, - and _ only");
        } else if !taken.insert(id.to_owned()) {
            faults.add("id", format!("{id} is used already, by this build or in the file"));
        }
    }
    for name in ["framework", "category"] {
        if given(name).is_some_and(|word| !is_plain_word(word)) {
            faults.add(name, "must be a word of small letters and digits, joined by - or _");
        }
    }
    checked.ok().as_ref().and_then(Milestone::of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn good(id: &str) -> Value {
        json!({
            "id": id, "date": "2027-05-01", "date_precision": "month", "title": "t", "description": "d",
            "framework": "house-rules", "category": "internal_audit", "authority": "us", "source": "s",
            "confirmed": false,
        })
    }

    fn faults(text: &str) -> Faults {
        let build = Reference::load().unwrap().milestones().unwrap();
        parse(text.as_bytes(), &build).unwrap_err()
    }

    #[test]
    fn a_good_file_is_read_whole() {
        let text = json!({ "updated_on": "2026-11-01", "data": [good("own-1"), good("own-2")] }).to_string();
        let read = parse(text.as_bytes(), &[]).unwrap();
        assert_eq!(read.iter().map(|each| each.id.as_str()).collect::<Vec<_>>(), ["own-1", "own-2"]);
        assert_eq!(json!(read[0]), good("own-1"));
        assert!(parse(b"{\"data\": []}", &[]).unwrap().is_empty());
    }

    #[test]
    fn every_fault_is_named_with_its_place() {
        let mut clash = good("TL-001");
        clash["date"] = json!("2027-02-30");
        let mut odd = good("own 1");
        odd["framework"] = json!("House Rules");
        odd["colour"] = json!("red");
        let mut short = good("own-2");
        short.as_object_mut().unwrap().remove("source");
        short["title"] = json!(7);
        let text = json!({ "data": [clash, odd, 5, short, good("own-2")], "more": 1 }).to_string();
        let names: Vec<String> = faults(&text).fields.into_iter().map(|(name, _)| name).collect();
        let expected = [
            "more",
            "data[0].date",
            "data[0].id",
            "data[1].colour",
            "data[1].id",
            "data[1].framework",
            "data[2]",
            "data[3].title",
            "data[3].source",
            "data[4].id",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_is_no_such_file_is_refused_as_a_whole() {
        for (text, reason) in [
            ("", "not valid JSON"),
            ("{", "not valid JSON"),
            ("[]", "must be a JSON object, not an array"),
            ("{}", "data: is required"),
            ("{\"data\": {}}", "must be an array"),
            ("{\"data\": [], \"data\": []}", "comes twice"),
            ("{\"data\": [], \"updated_on\": 1}", "must be a day"),
        ] {
            let fault = faults(text).to_string();
            assert!(fault.contains(reason) && fault.contains("timeline file"), "{text}: {fault}");
        }
    }

    #[test]
    fn only_a_plain_file_of_bounded_size_is_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap_err().contains("no plain file"));
        assert!(read(&folder.path().join("none")).unwrap_err().contains("not found"));
        let large = folder.path().join("large");
        std::fs::write(&large, vec![b' '; FILE_BYTES_MAX as usize + 1]).unwrap();
        assert!(read(&large).unwrap_err().contains("more than"));
    }
}
