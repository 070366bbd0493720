//! Forms: what a body may hold, as rows.
//!
//! One row per field feeds three readers: the check of a request (422, every fault
//! at once), the OpenAPI schema, and the workspace's inputs. A form knows
//! types and bounds; rules that need more than the field itself live with their noun.

use super::fits;
use super::json::kind_of;
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
    /// A value as it may look, in JSON; empty where the kind tells enough.
    pub such_as: &'static str,
}

/// Type and bounds of a field.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Text of at most so many characters; unless it may be null, one of them is no white space.
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
    /// A text of a given shape.
    Shaped {
        /// Has it the shape?
        fits: fn(&str) -> bool,
        /// The shape in words, for people.
        example: &'static str,
        /// The shape as a pattern, for the OpenAPI document.
        pattern: &'static str,
    },
    /// A list of objects by a form of their own, no two alike in one field; it may be empty.
    Keyed {
        /// The form of each.
        of: &'static Form,
        /// The field in which no two are the same.
        key: &'static str,
        /// Items at the most.
        max_items: usize,
    },
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

/// A text of a given shape.
pub const fn shaped(
    name: &'static str,
    fits: fn(&str) -> bool,
    example: &'static str,
    pattern: &'static str,
) -> Field {
    Field::new(name, Kind::Shaped { fits, example, pattern })
}

/// A list of objects, no two alike in one field.
pub const fn keyed(name: &'static str, of: &'static Form, key: &'static str, max_items: usize) -> Field {
    Field::new(name, Kind::Keyed { of, key, max_items })
}

impl Field {
    const fn new(name: &'static str, kind: Kind) -> Field {
        Field { name, kind, required: false, nullable: false, says: "", such_as: "" }
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

    /// A value as it may look, in JSON.
    pub const fn such_as(mut self, json: &'static str) -> Field {
        self.such_as = json;
        self
    }

    /// The value in its one spelling. Faults inside an object are named by their way; all others by the field.
    fn check(&self, value: &Value) -> Result<Value, Faults> {
        if value.is_null() && self.nullable {
            return Ok(Value::Null);
        }
        let checked = match self.kind {
            Kind::Text { max_chars } | Kind::Uri { max_chars } => self.check_text(value, max_chars),
            Kind::Integer { min, max } => fits::integer(value, min, max),
            Kind::Switch => fits::switch(value),
            Kind::Choice(of) => fits::choice(value, of),
            Kind::Choices(of) => fits::choices(value, of),
            Kind::Codes(of) => fits::codes(value, of),
            Kind::Number { min, max } => fits::number(value, min, max),
            Kind::Day => fits::day(value),
            Kind::Time => fits::time(value),
            Kind::Texts { max_items, max_chars } => fits::texts(value, max_items, max_chars),
            Kind::Shaped { fits, example, .. } => fits::shaped(value, fits, example),
            Kind::Keyed { of, key, max_items } => {
                return fits::keyed(self.name, value, of, key, max_items);
            }
            Kind::Capitals { chars, digits } => fits::capitals(value, chars, digits),
            Kind::Record(of) => return fits::record(self.name, value, of),
            Kind::Records { of, max_items } => return fits::records(self.name, value, of, max_items),
        };
        checked.map_err(|reason| Faults::one(self.name, reason))
    }

    /// Is it text that cannot be blank? All that cannot be null is, in a change as in a new object.
    pub fn is_never_blank(&self) -> bool {
        !self.nullable && matches!(self.kind, Kind::Text { .. } | Kind::Uri { .. })
    }

    fn check_text(&self, value: &Value, max_chars: usize) -> Result<Value, String> {
        let text = value.as_str().ok_or_else(|| format!("must be a string, not {}", kind_of(value)))?;
        if text.trim().is_empty() && self.is_never_blank() {
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

const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut position = 0;
    while position < one.len() && position < other.len() && one[position] == other[position] {
        position += 1;
    }
    position == one.len() && position == other.len()
}

impl Form {
    /// One of its fields, for a form that takes it over. Only for tables: a name that is none does not compile there.
    pub const fn field(&self, name: &str) -> Field {
        let mut position = 0;
        while position < self.fields.len() {
            if same(self.fields[position].name, name) {
                return self.fields[position];
            }
            position += 1;
        }
        panic!("the form has no such field");
    }

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

    /// Is it a change of something that is there? Nothing has to be in it, since what is left away stays.
    pub fn is_change(&self) -> bool {
        !self.fields.iter().any(|field| field.required)
    }

    /// May an input of this field be left empty? Null is empty, and so is a list. In something new, what is not
    /// required has a value of its own; in a change there is one, and emptying it would say nothing.
    pub fn may_be_empty(&self, field: &Field) -> bool {
        let is_list = matches!(field.kind, Kind::Codes(_) | Kind::Texts { .. });
        field.nullable || is_list || !(field.required || field.is_never_blank() || self.is_change())
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
