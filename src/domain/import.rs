//! Import files: JSON with one list per kind, or CSV with one kind per file.
//!
//! Pure: a file goes in, checked rows or every fault come out. A fault of JSON is named
//! by its place (`findings[1].severity`), one of CSV by its line and column. The export
//! writes what is read here, field by field of the same forms.

use super::arrangement::NEW_ARRANGEMENT;
use super::cra_form::NEW_CRA_REPORT;
use super::finding::IMPORTED_FINDING;
use super::form::{Field, Form, Kind, Values, text};
use super::json;
use super::programme::IMPORTED_PROGRAMME;
use super::provider::NEW_PROVIDER;
use super::risk::THRESHOLD_PATCH;
use super::test_case::IMPORTED_TEST_CASE;
use super::webhook::IMPORTED_WEBHOOK;
use crate::error::Faults;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// One kind of rows.
#[derive(Debug)]
pub struct Part {
    /// Its name in the file.
    pub name: &'static str,
    /// What a row may hold.
    pub form: &'static Form,
    /// The fields that point to rows of other parts: field and part.
    pub points: &'static [(&'static str, &'static str)],
}

/// Every list of a file, in an order in which what is pointed to comes first.
pub static PARTS: &[Part] = &[
    Part { name: "providers", form: &NEW_PROVIDER, points: &[] },
    Part { name: "arrangements", form: &NEW_ARRANGEMENT, points: &[("provider_id", "providers")] },
    Part { name: "programmes", form: &IMPORTED_PROGRAMME, points: &[] },
    Part { name: "test_cases", form: &IMPORTED_TEST_CASE, points: &[("programme_id", "programmes")] },
    Part {
        name: "findings",
        form: &IMPORTED_FINDING,
        points: &[("programme_id", "programmes"), ("test_case_id", "test_cases")],
    },
    Part { name: "cra_reports", form: &NEW_CRA_REPORT, points: &[] },
    Part { name: "webhooks", form: &IMPORTED_WEBHOOK, points: &[] },
];

/// The one part that is no list.
pub const THRESHOLDS: &str = "thresholds";

/// The names that every row may have beside its own fields.
static NAMES: Form = Form {
    name: "ImportNames",
    fields: &[
        text("external_id", 255)
            .nullable()
            .says("The object's name in another system; with it a row updates."),
        text("ref", 64).nullable().says("A name for other rows of the same file."),
    ],
    read_only: &[],
};

/// A checked row and what its faults are called.
#[derive(Debug)]
pub struct Row {
    /// The row.
    pub values: Values,
    /// `findings[1].` or `line 3, column `.
    pub place: String,
    /// Its name in another system.
    pub external_id: Option<String>,
    /// Its name in this file.
    pub reference: Option<String>,
}

/// A checked file.
#[derive(Debug, Default)]
pub struct Import {
    /// The rows of each part, in the order of `PARTS`.
    pub parts: Vec<(&'static Part, Vec<Row>)>,
    /// The thresholds, if they are given.
    pub thresholds: Option<Values>,
}

/// The part of a name.
pub fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

/// Reads a JSON file.
pub fn read_json(text: &[u8]) -> Result<Import, Faults> {
    read_object(json::object(text)?)
}

/// Reads a file that is an object already.
pub fn read_object(mut file: Map<String, Value>) -> Result<Import, Faults> {
    let mut faults = Faults::default();
    let mut import = Import::default();
    for part in PARTS {
        let rows = match file.remove(part.name) {
            None => Vec::new(),
            Some(Value::Array(rows)) => rows,
            Some(other) => {
                faults.add(part.name, format!("must be an array, not {}", json::kind_of(&other)));
                continue;
            }
        };
        let mut checked = Vec::with_capacity(rows.len());
        for (position, row) in rows.into_iter().enumerate() {
            let place = format!("{}[{position}]", part.name);
            let kind = json::kind_of(&row);
            match row {
                Value::Object(row) => keep(part, row, format!("{place}."), &mut checked, &mut faults),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                    faults.add(&place, format!("must be an object, not {kind}"));
                }
            }
        }
        import.parts.push((part, checked));
    }
    if let Some(thresholds) = file.remove(THRESHOLDS) {
        let empty = Map::new();
        match THRESHOLD_PATCH.check(thresholds.as_object().unwrap_or(&empty)) {
            Ok(values) => import.thresholds = Some(values),
            Err(found) => blame(&mut faults, "thresholds.", found),
        }
    }
    for name in file.keys() {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).chain([THRESHOLDS]).collect();
        faults.add(name, format!("is not a known part; known are: {}", known.join(", ")));
    }
    finish(import, faults)
}

/// Reads the rows of a CSV file: a header of field names, then one object a line. `records` gives line
/// numbers with their cells.
pub fn read_table(
    part: &'static Part,
    header: &[String],
    records: impl Iterator<Item = (u64, Vec<String>)>,
) -> Result<Import, Faults> {
    let mut faults = Faults::default();
    for name in header
        .iter()
        .filter(|name| field(part, name).is_none() && !part.form.read_only.contains(&name.as_str()))
    {
        faults.add(&format!("line 1, column {name}"), "is not a known field");
    }
    let mut checked = Vec::new();
    for (line, cells) in records {
        let mut object = Map::new();
        for (name, cell) in header.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty()) {
            if let Some(field) = field(part, name) {
                object.insert(name.clone(), value_of(field, cell));
            }
        }
        keep(part, object, format!("line {line}, column "), &mut checked, &mut faults);
    }
    finish(Import { parts: vec![(part, checked)], thresholds: None }, faults)
}

/// Objects as the export writes them: the fields of the part's form, a name for other rows, and the
/// names of what they point to. `names` knows ids of earlier parts and learns those of this one.
pub fn write_part(part: &Part, shown: Vec<Value>, names: &mut HashMap<String, String>) -> Vec<Value> {
    let mut rows = Vec::with_capacity(shown.len());
    for (number, mut object) in (1..).zip(shown) {
        let reference = format!("{}-{number}", part.name);
        let mut row = json!({ "ref": reference });
        if let Some(id) = object["id"].as_str() {
            names.insert(id.to_owned(), reference);
        }
        if object["external_id"].is_string() {
            row["external_id"] = object["external_id"].take();
        }
        for field in part.form.fields {
            let value = object.get_mut(field.name).map(Value::take).unwrap_or(Value::Null);
            let named = part.points.iter().any(|(name, _)| *name == field.name);
            let pointed = value.as_str().filter(|_| named).and_then(|id| names.get(id)).cloned();
            if !value.is_null() || field.nullable {
                row[field.name] = pointed.map_or(value, Value::from);
            }
        }
        rows.push(row);
    }
    rows
}

fn finish(import: Import, faults: Faults) -> Result<Import, Faults> {
    if faults.fields.is_empty() { Ok(import) } else { Err(faults) }
}

fn keep(part: &Part, mut row: Map<String, Value>, place: String, rows: &mut Vec<Row>, faults: &mut Faults) {
    let mut names = Map::new();
    for field in NAMES.fields {
        names.extend(row.remove(field.name).map(|value| (field.name.to_owned(), value)));
    }
    match (NAMES.check(&names), part.form.check(&row)) {
        (Ok(names), Ok(values)) => rows.push(Row {
            values,
            place,
            external_id: names.text("external_id").map(str::to_owned),
            reference: names.text("ref").map(str::to_owned),
        }),
        (names, values) => {
            names.err().into_iter().chain(values.err()).for_each(|found| blame(faults, &place, found));
        }
    }
}

/// Adds what was found wrong in one place.
pub fn blame(faults: &mut Faults, place: &str, found: Faults) {
    if !found.summary.is_empty() {
        faults.add(place.trim_end_matches(['.', ' ']), found.summary);
    }
    faults.more += found.more;
    for (name, reason) in found.fields {
        faults.add(&format!("{place}{name}"), reason);
    }
}

fn field<'a>(part: &'a Part, name: &str) -> Option<&'a Field> {
    part.form.fields.iter().chain(NAMES.fields).find(|field| field.name == name)
}

/// A cell as the field's kind wants it; what does not fit stays text and is found by the check.
pub(super) fn value_of(field: &Field, cell: &str) -> Value {
    let list =
        || Value::from(cell.split(';').map(str::trim).filter(|item| !item.is_empty()).collect::<Vec<_>>());
    match field.kind {
        Kind::Integer { .. } => cell.parse::<i64>().map_or(Value::from(cell), Value::from),
        Kind::Number { .. } => cell.parse::<f64>().map_or(Value::from(cell), Value::from),
        Kind::Switch => match cell.to_lowercase().as_str() {
            "true" | "yes" | "wahr" | "ja" => Value::Bool(true),
            "false" | "no" | "falsch" | "nein" => Value::Bool(false),
            _ => Value::from(cell),
        },
        Kind::Choices(_) | Kind::Codes(_) | Kind::Texts { .. } => list(),
        // A cell cannot hold an object; the check says so.
        Kind::Record(_) | Kind::Records { .. } | Kind::Keyed { .. } => Value::from(cell),
        Kind::Text { .. }
        | Kind::Uri { .. }
        | Kind::Choice(_)
        | Kind::Capitals { .. }
        | Kind::Shaped { .. }
        | Kind::Day
        | Kind::Time => Value::from(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named_by_its_place() {
        let file = br#"{"findings": [{"title": "a", "severity": "low"}, {"title": " ", "severity": "worst", "x": 1}, 7],
                        "programmes": {}, "fruit": [], "thresholds": {"enabled": 7}}"#;
        let names: Vec<String> =
            read_json(file).unwrap_err().fields.into_iter().map(|(name, _)| name).collect();
        let expected = [
            "programmes",
            "findings[1].title",
            "findings[1].severity",
            "findings[1].x",
            "findings[2]",
            "thresholds.enabled",
            "fruit",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_table_is_read_by_the_kinds_of_its_fields() {
        let header = ["title", "severity", "measure_ids", "due_on", "external_id"].map(str::to_owned);
        let good =
            vec!["t".to_owned(), "low".into(), "DORA-05-01; DORA-05-02".into(), String::new(), "x".into()];
        let bad = vec!["t".to_owned(), "low".into(), "DORA-99-99".into(), "tomorrow".into(), String::new()];
        let part = part("findings").unwrap();
        let import = read_table(part, &header, [(2, good.clone())].into_iter()).unwrap();
        let row = &import.parts[0].1[0];
        assert_eq!(row.values.get("measure_ids"), Some(&json!(["DORA-05-01", "DORA-05-02"])));
        assert_eq!((row.values.get("due_on"), row.external_id.as_deref()), (None, Some("x")));
        let faults = read_table(part, &header, [(2, good), (3, bad)].into_iter()).unwrap_err();
        let names: Vec<&str> = faults.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["line 3, column due_on", "line 3, column measure_ids"]);
    }
}
