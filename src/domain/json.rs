//! JSON bodies, read strictly.
//!
//! Two things that serde_json lets pass are refused: a field that comes twice
//! (two readers of one body must never see two values), and nesting that no form
//! of ours needs.

use crate::error::Faults;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use std::cell::RefCell;
use std::fmt;

/// The deepest nesting that is read.
pub const DEPTH_MAX: usize = 32;

/// Reads a body that must be one JSON object.
pub fn object(body: &[u8]) -> Result<Map<String, Value>, Faults> {
    let whole = |summary: String| Faults { summary, ..Faults::default() };
    if body.is_empty() {
        return Err(whole("a JSON object is needed as the body, and it is empty".into()));
    }
    let value = value(body).map_err(|mut faults| {
        if faults.fields.is_empty() {
            faults.summary = format!("the body is {}", faults.summary);
        }
        faults
    })?;
    let kind = kind_of(&value);
    let Value::Object(fields) = value else {
        return Err(whole(format!("the body must be a JSON object, not {kind}")));
    };
    Ok(fields)
}

/// Reads any JSON value as strictly as a body.
pub fn value(text: &[u8]) -> Result<Value, Faults> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let twice = RefCell::new(None);
    Strict { depth: 0, twice: &twice }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|fault| match twice.take() {
            Some(name) => Faults::one(&name, "comes twice; give it once"),
            None => Faults { summary: format!("not valid JSON: {fault}"), ..Faults::default() },
        })
}

/// The name of a value's type, with its article.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[derive(Clone, Copy)]
struct Strict<'a> {
    depth: usize,
    /// The name of a field that came twice.
    twice: &'a RefCell<Option<String>>,
}

impl<'a> Strict<'a> {
    fn deeper<E: serde::de::Error>(self) -> Result<Strict<'a>, E> {
        if self.depth == DEPTH_MAX {
            return Err(E::custom(format!("nested deeper than {DEPTH_MAX} levels")));
        }
        Ok(Strict { depth: self.depth + 1, ..self })
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(seed)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let seed = self.deeper()?;
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(seed)?;
            if object.contains_key(&name) {
                self.twice.replace(Some(name));
                return Err(A::Error::custom("a field comes twice"));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(body: &str) -> String {
        object(body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn an_object_is_read_whole() {
        let read = object(br#"{"a": [1, -2, 2.5, "x", null, true], "b": {"c": {}}}"#).unwrap();
        assert_eq!(
            Value::Object(read),
            serde_json::json!({"a": [1, -2, 2.5, "x", null, true], "b": {"c": {}}})
        );
    }

    #[test]
    fn what_is_no_object_is_refused_with_its_reason() {
        assert!(fault("").contains("empty"));
        assert!(fault("[]").contains("an array"));
        assert!(fault("{\"a\":1").contains("line 1"));
        assert!(fault("{} {}").contains("trailing"));
        assert!(fault(r#"{"a":1,"a":2}"#).contains("a: comes twice"));
        assert!(fault(r#"{"a":{"b":1,"b":1}}"#).contains("b: comes twice"));
        assert!(fault(r#"{"a":1e999}"#).contains("out of range"));
        assert!(object(b"{\"a\":\"\xff\"}").is_err());
    }

    #[test]
    fn nesting_ends_at_the_named_depth() {
        let nested = |depth: usize| format!("{{\"a\":{}1{}}}", "[".repeat(depth), "]".repeat(depth));
        assert!(object(nested(DEPTH_MAX - 1).as_bytes()).is_ok());
        assert!(fault(&nested(DEPTH_MAX)).contains("nested deeper"));
        assert!(fault(&nested(100_000)).contains("nested deeper"));
    }
}
