//! Forms: what a body may hold, as rows.
//!
//! One row per field feeds three readers: the check of a request (422, every fault
//! at once), the OpenAPI schema, and later the workspace's inputs. A form knows
//! types and bounds; rules that need more than the field itself live with their noun.

use super::day::Day;
use super::json::kind_of;
use crate::clock::{parse_rfc3339, rfc3339};
use crate::error::Faults;
use serde_json::{Map, Value};

pub use super::values::Values;

/// The fields of one kind of body.
#[derive(Debug)]
pub struct Form {
    /// Name of the schema in the OpenAPI document.
    pub name: &'static str,
    /// The fields that may be set.
    pub fields: &'static [Field],
    /// Fields a record shows and nobody may set: accepted and ignored, so that read-change-write works.
    pub read_only: &'static [&'static str],
}

/// One field.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the body.
    pub name: &'static str,
    /// Type and bounds.
    pub kind: Kind,
    /// Must it be there?
    pub required: bool,
    /// May it be null?
    pub nullable: bool,
    /// One sentence for people.
    pub says: &'static str,
}

/// Type and bounds of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Text of at most so many characters, with one that is not white space if required.
    Text {
        /// Characters, not bytes.
        max_chars: usize,
    },
    /// An address; what it may point to is its noun's business.
    Uri {
        /// Characters, not bytes.
        max_chars: usize,
    },
    /// A whole number within bounds.
    Integer {
        /// Smallest.
        min: i64,
        /// Largest.
        max: i64,
    },
    /// true, false, 0, 1, "0" or "1".
    Switch,
    /// One of a closed set of words.
    Choice(&'static [&'static str]),
    /// At least one of a closed set of words, none twice.
    Choices(&'static [&'static str]),
    /// Identifiers of a closed catalogue, none twice; the list may be empty.
    Codes(&'static [&'static str]),
    /// A number within bounds.
    Number {
        /// Smallest.
        min: f64,
        /// Largest.
        max: f64,
    },
    /// A day, `2026-11-15`.
    Day,
    /// A moment, `2026-11-15T08:00:00Z`.
    Time,
    /// A list of short texts, none twice; it may be empty.
    Texts {
        /// Items at the most.
        max_items: usize,
        /// Characters of each at the most.
        max_chars: usize,
    },
    /// A code of exactly so many capital letters, or letters and digits.
    Capitals {
        /// Its length.
        chars: usize,
        /// Are digits among them?
        digits: bool,
    },
    /// An object with a form of its own; its faults are named with their way, `what_if.remove`.
    Record(&'static Form),
    /// A list of such objects, `add[0].service`.
    Records {
        /// The form of each.
        of: &'static Form,
        /// Objects at the most.
        max_items: usize,
    },
}

/// A text field.
pub const fn text(name: &'static str, max_chars: usize) -> Field {
    Field::new(name, Kind::Text { max_chars })
}

/// An address.
pub const fn uri(name: &'static str, max_chars: usize) -> Field {
    Field::new(name, Kind::Uri { max_chars })
}

/// A whole number within bounds.
pub const fn integer(name: &'static str, min: i64, max: i64) -> Field {
    Field::new(name, Kind::Integer { min, max })
}

/// A switch in any of its six spellings.
pub const fn switch(name: &'static str) -> Field {
    Field::new(name, Kind::Switch)
}

/// One of a closed set.
pub const fn choice(name: &'static str, of: &'static [&'static str]) -> Field {
    Field::new(name, Kind::Choice(of))
}

/// One or more of a closed set.
pub const fn choices(name: &'static str, of: &'static [&'static str]) -> Field {
    Field::new(name, Kind::Choices(of))
}

/// A number within bounds.
pub const fn number(name: &'static str, min: f64, max: f64) -> Field {
    Field::new(name, Kind::Number { min, max })
}

/// A day.
pub const fn day(name: &'static str) -> Field {
    Field::new(name, Kind::Day)
}

/// A moment.
pub const fn time(name: &'static str) -> Field {
    Field::new(name, Kind::Time)
}

/// Identifiers of a closed catalogue.
pub const fn codes(name: &'static str, of: &'static [&'static str]) -> Field {
    Field::new(name, Kind::Codes(of))
}

/// A list of short texts.
pub const fn texts(name: &'static str, max_items: usize, max_chars: usize) -> Field {
    Field::new(name, Kind::Texts { max_items, max_chars })
}

/// A code of capital letters, or of capital letters and digits.
pub const fn capitals(name: &'static str, chars: usize, digits: bool) -> Field {
    Field::new(name, Kind::Capitals { chars, digits })
}

/// An object with a form of its own.
pub const fn record(name: &'static str, of: &'static Form) -> Field {
    Field::new(name, Kind::Record(of))
}

/// A list of objects with a form of their own.
pub const fn records(name: &'static str, of: &'static Form, max_items: usize) -> Field {
    Field::new(name, Kind::Records { of, max_items })
}

impl Field {
    const fn new(name: &'static str, kind: Kind) -> Field {
        Field { name, kind, required: false, nullable: false, says: "" }
    }

    /// It must be there.
    pub const fn required(mut self) -> Field {
        self.required = true;
        self
    }

    /// It may be null.
    pub const fn nullable(mut self) -> Field {
        self.nullable = true;
        self
    }

    /// What it means.
    pub const fn says(mut self, sentence: &'static str) -> Field {
        self.says = sentence;
        self
    }

    /// The value in its one spelling. Faults inside an object are named by their way; all others by the field.
    fn check(&self, value: &Value) -> Result<Value, Faults> {
        if value.is_null() && self.nullable {
            return Ok(Value::Null);
        }
        let checked = match self.kind {
            Kind::Text { max_chars } | Kind::Uri { max_chars } => self.check_text(value, max_chars),
            Kind::Integer { min, max } => check_integer(value, min, max),
            Kind::Switch => check_switch(value),
            Kind::Choice(of) => check_choice(value, of),
            Kind::Choices(of) => check_choices(value, of),
            Kind::Codes(of) => check_codes(value, of),
            Kind::Number { min, max } => check_number(value, min, max),
            Kind::Day => check_day(value),
            Kind::Time => check_time(value),
            Kind::Texts { max_items, max_chars } => check_texts(value, max_items, max_chars),
            Kind::Capitals { chars, digits } => check_capitals(value, chars, digits),
            Kind::Record(of) => return check_record(self.name, value, of),
            Kind::Records { of, max_items } => return check_records(self.name, value, of, max_items),
        };
        checked.map_err(|reason| Faults::one(self.name, reason))
    }

    fn check_text(&self, value: &Value, max_chars: usize) -> Result<Value, String> {
        let text = value.as_str().ok_or_else(|| format!("must be a string, not {}", kind_of(value)))?;
        if text.trim().is_empty() && !self.nullable {
            return Err("must have at least one character that is not white space".into());
        }
        let chars = text.chars().count();
        if chars > max_chars {
            return Err(format!("has {chars} characters; at most {max_chars} are allowed"));
        }
        if text.contains('\0') {
            return Err("must not contain the character NUL".into());
        }
        Ok(Value::from(text))
    }
}

fn check_integer(value: &Value, min: i64, max: i64) -> Result<Value, String> {
    let reason = || format!("must be a whole number from {min} to {max}");
    let number = value.as_i64().filter(|_| !value.is_f64()).ok_or_else(reason)?;
    if (min..=max).contains(&number) { Ok(Value::from(number)) } else { Err(reason()) }
}

fn check_switch(value: &Value) -> Result<Value, String> {
    let on = match value {
        Value::Bool(on) => Some(*on),
        Value::Number(number) if !number.is_f64() => one_or_zero(number.as_i64()),
        Value::String(text) if text == "1" || text == "0" => Some(text == "1"),
        Value::Null | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => None,
    };
    on.map(Value::Bool).ok_or_else(|| "must be true, false, 0, 1, \"0\" or \"1\"".to_owned())
}

fn one_or_zero(number: Option<i64>) -> Option<bool> {
    number.filter(|number| matches!(number, 0 | 1)).map(|number| number == 1)
}

fn check_choice(value: &Value, of: &[&str]) -> Result<Value, String> {
    match value.as_str() {
        Some(text) if of.contains(&text) => Ok(Value::from(text)),
        Some(_) | None => Err(format!("must be one of: {}", of.join(", "))),
    }
}

fn check_choices(value: &Value, of: &[&str]) -> Result<Value, String> {
    let reason = || format!("must be an array with at least one of: {}", of.join(", "));
    let items = value.as_array().filter(|items| !items.is_empty()).ok_or_else(reason)?;
    for (position, item) in items.iter().enumerate() {
        check_choice(item, of).map_err(|_| reason())?;
        if items[..position].contains(item) {
            return Err(format!("names {item} twice"));
        }
    }
    Ok(value.clone())
}

fn check_codes(value: &Value, of: &[&str]) -> Result<Value, String> {
    let items = value.as_array().ok_or_else(|| format!("must be an array, not {}", kind_of(value)))?;
    for (position, item) in items.iter().enumerate() {
        if !item.as_str().is_some_and(|code| of.contains(&code)) {
            return Err(format!("names {item}, which does not exist"));
        }
        if items[..position].contains(item) {
            return Err(format!("names {item} twice"));
        }
    }
    Ok(value.clone())
}

fn check_number(value: &Value, min: f64, max: f64) -> Result<Value, String> {
    let number = value.as_f64().filter(|number| (min..=max).contains(number));
    number.map(Value::from).ok_or_else(|| format!("must be a number from {min} to {max}"))
}

fn check_day(value: &Value) -> Result<Value, String> {
    let day = value.as_str().and_then(Day::parse);
    day.map(|day| Value::from(day.to_string())).ok_or_else(|| "must be a day as 2026-11-15".to_owned())
}

/// Times are kept to the second.
fn check_time(value: &Value) -> Result<Value, String> {
    let moment = value.as_str().and_then(parse_rfc3339);
    moment
        .map(|ms| Value::from(rfc3339(ms)))
        .ok_or_else(|| "must be a time as 2026-11-15T08:00:00Z".to_owned())
}

fn check_texts(value: &Value, max_items: usize, max_chars: usize) -> Result<Value, String> {
    let reason = || format!("must be an array of at most {max_items} strings of 1 to {max_chars} characters");
    let items = value.as_array().filter(|items| items.len() <= max_items).ok_or_else(reason)?;
    for (position, item) in items.iter().enumerate() {
        let text = item
            .as_str()
            .filter(|text| !text.trim().is_empty() && !text.contains('\0'))
            .ok_or_else(reason)?;
        if text.chars().count() > max_chars {
            return Err(reason());
        }
        if items[..position].contains(item) {
            return Err(format!("names {item} twice"));
        }
    }
    Ok(value.clone())
}

/// The name under which another system knows an object; importing it again updates that object.
pub const EXTERNAL_ID: Field =
    text("external_id", 255).nullable().says("The object's name in another system.");
/// The name by which other rows of the same file point to a row.
pub const REF: Field = text("ref", 64).nullable().says("A name for other rows of the same file.");

fn check_capitals(value: &Value, chars: usize, digits: bool) -> Result<Value, String> {
    let fits = |byte: u8| byte.is_ascii_uppercase() || digits && byte.is_ascii_digit();
    let text = value.as_str().filter(|text| text.len() == chars && text.bytes().all(fits));
    let or_digits = if digits { " or digits" } else { "" };
    text.map(Value::from).ok_or_else(|| format!("must be {chars} capital letters{or_digits}"))
}

/// An object by its own form; what is wrong in it is named by the way to it.
fn check_record(way: &str, value: &Value, of: &Form) -> Result<Value, Faults> {
    let Some(fields) = value.as_object() else {
        return Err(Faults::one(way, format!("must be an object, not {}", kind_of(value))));
    };
    of.check(fields).map(|values| Value::Object(values.0)).map_err(|mut faults| {
        faults.fields.iter_mut().for_each(|(name, _)| *name = format!("{way}.{name}"));
        faults
    })
}

fn check_records(way: &str, value: &Value, of: &Form, max_items: usize) -> Result<Value, Faults> {
    let Some(items) = value.as_array().filter(|items| items.len() <= max_items) else {
        return Err(Faults::one(way, format!("must be an array of at most {max_items} objects")));
    };
    let mut faults = Faults::default();
    let mut checked = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        match check_record(&format!("{way}[{position}]"), item, of) {
            Ok(item) => checked.push(item),
            Err(more) => faults.join(more),
        }
    }
    if faults.fields.is_empty() { Ok(Value::Array(checked)) } else { Err(faults) }
}

impl Form {
    /// Checks a whole body; every fault is named.
    pub fn check(&self, body: &Map<String, Value>) -> Result<Values, Faults> {
        let mut faults = Faults::default();
        let mut values = Map::new();
        for field in self.fields {
            match body.get(field.name).map(|value| field.check(value)) {
                Some(Ok(value)) => {
                    values.insert(field.name.to_owned(), value);
                }
                Some(Err(more)) => more.fields.into_iter().for_each(|(way, reason)| faults.add(&way, reason)),
                None if field.required => faults.add(field.name, "is required"),
                None => {}
            }
        }
        for name in body.keys().filter(|name| !self.knows(name)) {
            faults.add(name, self.unknown_reason());
        }
        if faults.fields.is_empty() { Ok(Values(values)) } else { Err(faults) }
    }

    fn knows(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name) || self.read_only.contains(&name)
    }

    fn unknown_reason(&self) -> String {
        let known: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
        if known.is_empty() {
            return "is not a known field; there are none".into();
        }
        format!("is not a known field; known are: {}", known.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    static SAMPLE: Form = Form {
        name: "Sample",
        fields: &[
            text("name", 5).required(),
            integer("pct", 1, 100),
            switch("on"),
            choice("colour", &["red", "blue"]).nullable(),
            choices("events", &["a", "b"]),
        ],
        read_only: &["id"],
    };

    fn check(body: Value) -> Result<Values, Faults> {
        SAMPLE.check(body.as_object().unwrap())
    }

    #[test]
    fn a_good_body_passes_with_switches_as_booleans() {
        for (spelling, on) in
            [(json!(true), true), (json!(0), false), (json!("1"), true), (json!("0"), false)]
        {
            let values =
                check(json!({"name": "ä ö ü", "pct": 100, "on": spelling, "colour": null, "id": 7})).unwrap();
            assert_eq!(values.get("on"), Some(&Value::Bool(on)));
            assert_eq!(values.get("id"), None, "read-only fields are dropped");
        }
    }

    #[test]
    fn every_fault_is_named_at_once() {
        let faults =
            check(json!({"name": " ", "pct": 0, "on": 2, "colour": "green", "events": [], "extra": 1}))
                .unwrap_err();
        let names: Vec<&str> = faults.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["name", "pct", "on", "colour", "events", "extra"]);
    }

    #[test]
    fn faults_inside_objects_are_named_by_their_way() {
        static OUTER: Form = Form {
            name: "Outer",
            fields: &[record("one", &SAMPLE).nullable(), records("many", &SAMPLE, 2)],
            read_only: &[],
        };
        let check = |body: Value| OUTER.check(body.as_object().unwrap());
        let faults = check(json!({ "one": { "pct": 0, "x": 1 }, "many": [{ "name": "a" }, { "on": 2 }] }));
        let names: Vec<String> = faults.unwrap_err().fields.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["one.name", "one.pct", "one.x", "many[1].name", "many[1].on"]);
        for body in
            [json!({ "one": [] }), json!({ "many": {} }), json!({ "many": [1] }), json!({ "many": null })]
        {
            assert_eq!(check(body.clone()).unwrap_err().fields.len(), 1, "{body}");
        }
        let values = check(json!({ "one": null, "many": [{ "name": "a", "on": "1", "id": 3 }] })).unwrap();
        assert!(values.record("one").is_none());
        assert_eq!(values.records("many")[0].switch("on"), Some(true));
    }

    #[test]
    fn codes_of_capitals_have_one_length_and_no_other_letters() {
        static CODES: Form = Form {
            name: "Codes",
            fields: &[capitals("country", 2, false).nullable(), capitals("lei", 20, true)],
            read_only: &[],
        };
        let fits = |body: Value| CODES.check(body.as_object().unwrap()).is_ok();
        assert!(fits(json!({ "country": "DE", "lei": "529900T8BM49AURSDO55" })));
        assert!(fits(json!({ "country": null })));
        for body in [json!({ "country": "de" }), json!({ "country": "D1" }), json!({ "country": "Ü" })] {
            assert!(!fits(body.clone()), "{body}");
        }
        assert!(!fits(json!({ "lei": "529900T8BM49AURSDO5" })) && !fits(json!({ "lei": null })));
    }

    #[test]
    fn wrong_types_never_slip_through() {
        for pct in [json!(1.5), json!("50"), json!(null), json!(1e99), json!(101), json!(true), json!([1])] {
            assert!(check(json!({"name": "x", "pct": pct})).is_err());
        }
        for on in [json!(2), json!("true"), json!(null), json!([]), json!(1.0), json!({})] {
            assert!(check(json!({"name": "x", "on": on})).is_err());
        }
        for events in [json!("a"), json!(["c"]), json!(["a", "a"]), json!([1]), json!(null)] {
            assert!(check(json!({"name": "x", "events": events})).is_err());
        }
        assert!(check(json!({"name": "123456"})).is_err());
        assert!(check(json!({})).is_err());
    }
}
