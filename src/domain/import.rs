//! Import files: JSON with one list per kind, or CSV with one kind per file.
//!
//! Pure: a file goes in, checked rows or every fault come out. A fault of JSON is named
//! by its place (`findings[1].severity`), one of CSV by its line and column.

use super::finding::IMPORTED_FINDING;
use super::form::{Field, Form, Kind, Values};
use super::json;
use super::programme::IMPORTED_PROGRAMME;
use super::test_case::IMPORTED_TEST_CASE;
use crate::error::Faults;
use serde_json::{Map, Value};

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

/// Every part, in an order in which what is pointed to comes first.
pub static PARTS: &[Part] = &[
    Part { name: "programmes", form: &IMPORTED_PROGRAMME, points: &[] },
    Part { name: "test_cases", form: &IMPORTED_TEST_CASE, points: &[("programme_id", "programmes")] },
    Part {
        name: "findings",
        form: &IMPORTED_FINDING,
        points: &[("programme_id", "programmes"), ("test_case_id", "test_cases")],
    },
];

/// A checked row and what its faults are called.
#[derive(Debug)]
pub struct Row {
    /// The row.
    pub values: Values,
    /// `findings[1].` or `line 3, column `.
    pub place: String,
}

/// A checked file: rows by part, in the order of `PARTS`.
#[derive(Debug, Default)]
pub struct Import {
    /// The rows of each part.
    pub parts: Vec<(&'static str, Vec<Row>)>,
}

/// The part of a name.
pub fn part(name: &str) -> Option<&'static Part> {
    PARTS.iter().find(|part| part.name == name)
}

/// Reads a JSON file.
pub fn read_json(text: &[u8]) -> Result<Import, Faults> {
    let mut file = json::object(text)?;
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
        for (position, row) in rows.iter().enumerate() {
            let place = format!("{}[{position}].", part.name);
            match row.as_object() {
                Some(object) => keep(part.form.check(object), place, &mut checked, &mut faults),
                None => faults.add(
                    place.trim_end_matches('.'),
                    format!("must be an object, not {}", json::kind_of(row)),
                ),
            }
        }
        import.parts.push((part.name, checked));
    }
    for name in file.keys() {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
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
        .filter(|name| field(part.form, name).is_none() && !part.form.read_only.contains(&name.as_str()))
    {
        faults.add(&format!("line 1, column {name}"), "is not a known field");
    }
    let mut checked = Vec::new();
    for (line, cells) in records {
        let mut object = Map::new();
        for (name, cell) in header.iter().zip(&cells).filter(|(_, cell)| !cell.is_empty()) {
            if let Some(field) = field(part.form, name) {
                object.insert(name.clone(), value_of(field, cell));
            }
        }
        keep(part.form.check(&object), format!("line {line}, column "), &mut checked, &mut faults);
    }
    finish(Import { parts: vec![(part.name, checked)] }, faults)
}

fn finish(import: Import, faults: Faults) -> Result<Import, Faults> {
    if faults.fields.is_empty() { Ok(import) } else { Err(faults) }
}

fn keep(checked: Result<Values, Faults>, place: String, rows: &mut Vec<Row>, faults: &mut Faults) {
    match checked {
        Ok(values) => rows.push(Row { values, place }),
        Err(found) => {
            faults.more += found.more;
            for (name, reason) in found.fields {
                faults.add(&format!("{place}{name}"), reason);
            }
        }
    }
}

fn field<'a>(form: &'a Form, name: &str) -> Option<&'a Field> {
    form.fields.iter().find(|field| field.name == name)
}

/// A cell as the field's kind wants it; what does not fit stays text and is found by the check.
fn value_of(field: &Field, cell: &str) -> Value {
    let list =
        || Value::from(cell.split(';').map(str::trim).filter(|item| !item.is_empty()).collect::<Vec<_>>());
    match field.kind {
        Kind::Integer { .. } => cell.parse::<i64>().map_or(Value::from(cell), Value::from),
        Kind::Number { .. } => cell.parse::<f64>().map_or(Value::from(cell), Value::from),
        Kind::Switch => match cell {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            other => Value::from(other),
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
                        "programmes": {}, "fruit": []}"#;
        let names: Vec<String> =
            read_json(file).unwrap_err().fields.into_iter().map(|(name, _)| name).collect();
        assert_eq!(
            names,
            [
                "programmes",
                "findings[1].title",
                "findings[1].severity",
                "findings[1].x",
                "findings[2]",
                "fruit"
            ]
        );
    }

    #[test]
    fn a_table_is_read_by_the_kinds_of_its_fields() {
        let header = ["title", "severity", "measure_ids", "due_on"].map(str::to_owned);
        let good = vec!["t".to_owned(), "low".into(), "DORA-05-01; DORA-05-02".into(), String::new()];
        let bad = vec!["t".to_owned(), "low".into(), "DORA-99-99".into(), "tomorrow".into()];
        let part = part("findings").unwrap();
        let import = read_table(part, &header, [(2, good.clone())].into_iter()).unwrap();
        let values = &import.parts[0].1[0].values;
        assert_eq!(values.get("measure_ids"), Some(&serde_json::json!(["DORA-05-01", "DORA-05-02"])));
        assert_eq!(values.get("due_on"), None);
        let faults = read_table(part, &header, [(2, good), (3, bad)].into_iter()).unwrap_err();
        let names: Vec<&str> = faults.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["line 3, column due_on", "line 3, column measure_ids"]);
    }
}
