//! Values: a body that passed its form, and how a noun takes what it needs out of it.
//!
//! Absent and null are two things: an absent field leaves a value as it is, null clears it.

use super::day::Day;
use crate::clock::parse_rfc3339;
use serde_json::{Map, Value};

/// A body that passed its form: only known fields, switches as booleans.
#[derive(Debug, Default, Clone)]
pub struct Values(pub(super) Map<String, Value>);

impl Values {
    /// A text field that was given and is not null.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The value as it came, null included.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Puts another text in a field's place.
    pub fn replace_text(&mut self, name: &str, text: String) {
        self.0.insert(name.to_owned(), Value::String(text));
    }

    /// Takes a field that is null for one that was not given.
    pub fn forget_null(&mut self, name: &str) {
        if self.0.get(name).is_some_and(Value::is_null) {
            self.0.shift_remove(name);
        }
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets a text that must always be there, if it was given.
    pub fn set_text(&self, name: &str, slot: &mut String) {
        if let Some(text) = self.text(name) {
            text.clone_into(slot);
        }
    }

    /// Sets a text that may be absent: null and the empty text clear it.
    pub fn set_optional_text(&self, name: &str, slot: &mut Option<String>) {
        if let Some(value) = self.get(name) {
            *slot = value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        }
    }

    /// Sets a word of a closed set, if it was given.
    pub fn set_word<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>, slot: &mut T) {
        if let Some(word) = self.text(name).and_then(parse) {
            *slot = word;
        }
    }

    /// Sets a day that may be absent; null clears it.
    pub fn set_day(&self, name: &str, slot: &mut Option<Day>) {
        if let Some(value) = self.get(name) {
            *slot = value.as_str().and_then(Day::parse);
        }
    }

    /// Sets a moment that may be absent; null clears it. Moments are shown to the second: one that comes back as
    /// it was shown is the stored one.
    pub fn set_time(&self, name: &str, slot: &mut Option<i64>) {
        if let Some(value) = self.get(name) {
            let given = value.as_str().and_then(parse_rfc3339);
            let shown = slot.map(|stored| stored - stored.rem_euclid(1000));
            if given.is_none() || given != shown {
                *slot = given;
            }
        }
    }

    /// Sets a list of texts, if it was given.
    pub fn set_texts(&self, name: &str, slot: &mut Vec<String>) {
        if let Some(items) = self.get(name).and_then(Value::as_array) {
            *slot = items.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        }
    }

    /// A number, if it was given and is not null.
    pub fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    /// A whole number, if it was given.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.get(name).and_then(Value::as_i64)
    }

    /// A switch, if it was given.
    pub fn switch(&self, name: &str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }

    /// Sets a number that may be absent; null clears it.
    pub fn set_number(&self, name: &str, slot: &mut Option<f64>) {
        if let Some(value) = self.get(name) {
            *slot = value.as_f64();
        }
    }

    /// Sets a switch that may be absent; null clears it.
    pub fn set_switch(&self, name: &str, slot: &mut Option<bool>) {
        if let Some(value) = self.get(name) {
            *slot = value.as_bool();
        }
    }

    /// Sets a word of a closed set that may be absent; null clears it.
    pub fn set_optional_word<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>, slot: &mut Option<T>) {
        if let Some(value) = self.get(name) {
            *slot = value.as_str().and_then(parse);
        }
    }

    /// An object inside the body, if it was given and is not null.
    pub fn record(&self, name: &str) -> Option<Values> {
        self.get(name).and_then(Value::as_object).map(|fields| Values(fields.clone()))
    }

    /// The objects of a list inside the body.
    pub fn records(&self, name: &str) -> Vec<Values> {
        let items = self.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_object).map(|fields| Values(fields.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_moment_that_comes_back_as_it_was_shown_is_no_change() {
        let set = |given: Value, mut stored: Option<i64>| {
            let Value::Object(fields) = json!({ "at": given }) else { panic!() };
            Values(fields).set_time("at", &mut stored);
            stored
        };
        let stored = Some(1_794_729_607_345);
        assert_eq!(set(json!("2026-11-15T08:00:07Z"), stored), stored);
        assert_eq!(set(json!("2026-11-15T09:00:07+01:00"), stored), stored);
        assert_eq!(set(json!("2026-11-15T08:00:00Z"), stored), Some(1_794_729_600_000));
        assert_eq!(set(json!("2026-11-15T08:00:07.2Z"), stored), Some(1_794_729_607_200));
        assert_eq!(set(Value::Null, stored), None);
        assert_eq!(set(json!("2026-11-15T08:00:07Z"), None), Some(1_794_729_607_000));
    }
}
