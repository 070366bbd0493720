//! Whether a value fits its field: one function a kind. `form` says which kind a field has.

use super::day::Day;
use super::form::Form;
use super::json::kind_of;
use crate::clock::{parse_rfc3339, rfc3339};
use crate::error::Faults;
use serde_json::Value;

/// A whole number within bounds.
pub fn integer(value: &Value, min: i64, max: i64) -> Result<Value, String> {
    let reason = || format!("must be a whole number from {min} to {max}");
    let number = value.as_i64().filter(|_| !value.is_f64()).ok_or_else(reason)?;
    if (min..=max).contains(&number) { Ok(Value::from(number)) } else { Err(reason()) }
}

/// A switch in one of its six spellings, as a boolean.
pub fn switch(value: &Value) -> Result<Value, String> {
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

/// One of a closed set of words.
pub fn choice(value: &Value, of: &[&str]) -> Result<Value, String> {
    match value.as_str() {
        Some(text) if of.contains(&text) => Ok(Value::from(text)),
        Some(_) | None => Err(format!("must be one of: {}", of.join(", "))),
    }
}

/// At least one of a closed set of words, none twice.
pub fn choices(value: &Value, of: &[&str]) -> Result<Value, String> {
    let reason = || format!("must be an array with at least one of: {}", of.join(", "));
    let items = value.as_array().filter(|items| !items.is_empty()).ok_or_else(reason)?;
    for (position, item) in items.iter().enumerate() {
        choice(item, of).map_err(|_| reason())?;
        if items[..position].contains(item) {
            return Err(format!("names {item} twice"));
        }
    }
    Ok(value.clone())
}

/// Identifiers of a closed catalogue, none twice.
pub fn codes(value: &Value, of: &[&str]) -> Result<Value, String> {
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

/// A number within bounds.
pub fn number(value: &Value, min: f64, max: f64) -> Result<Value, String> {
    let number = value.as_f64().filter(|number| (min..=max).contains(number));
    number.map(Value::from).ok_or_else(|| format!("must be a number from {min} to {max}"))
}

/// A day.
pub fn day(value: &Value) -> Result<Value, String> {
    let day = value.as_str().and_then(Day::parse);
    day.map(|day| Value::from(day.to_string())).ok_or_else(|| "must be a day as 2026-11-15".to_owned())
}

/// A moment. Times are kept to the second.
pub fn time(value: &Value) -> Result<Value, String> {
    let moment = value.as_str().and_then(parse_rfc3339);
    moment
        .map(|ms| Value::from(rfc3339(ms)))
        .ok_or_else(|| "must be a time as 2026-11-15T08:00:00Z".to_owned())
}

/// A list of short texts, none twice.
pub fn texts(value: &Value, max_items: usize, max_chars: usize) -> Result<Value, String> {
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

/// A text of a given shape.
pub fn shaped(value: &Value, fits: fn(&str) -> bool, example: &str) -> Result<Value, String> {
    match value.as_str() {
        Some(text) if fits(text) => Ok(Value::from(text)),
        Some(_) | None => Err(format!("must have the form {example}")),
    }
}

/// Capital letters, or digits too, of one length.
pub fn capitals(value: &Value, chars: usize, digits: bool) -> Result<Value, String> {
    let fits = |byte: u8| byte.is_ascii_uppercase() || digits && byte.is_ascii_digit();
    let text = value.as_str().filter(|text| text.len() == chars && text.bytes().all(fits));
    let or_digits = if digits { " or digits" } else { "" };
    text.map(Value::from).ok_or_else(|| format!("must be {chars} capital letters{or_digits}"))
}

/// An object by its own form; what is wrong in it is named by the way to it: `submissions[1].stage`.
pub fn record(way: &str, value: &Value, of: &Form) -> Result<Value, Faults> {
    let Some(fields) = value.as_object() else {
        return Err(Faults::one(way, format!("must be an object, not {}", kind_of(value))));
    };
    of.check(fields).map(|values| Value::Object(values.0)).map_err(|mut faults| {
        faults.fields.iter_mut().for_each(|(name, _)| *name = format!("{way}.{name}"));
        faults
    })
}

/// A list of objects.
pub fn records(way: &str, value: &Value, of: &Form, max_items: usize) -> Result<Value, Faults> {
    let Some(items) = value.as_array().filter(|items| items.len() <= max_items) else {
        return Err(Faults::one(way, format!("must be an array of at most {max_items} objects")));
    };
    let mut faults = Faults::default();
    let mut checked = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        match record(&format!("{way}[{position}]"), item, of) {
            Ok(item) => checked.push(item),
            Err(more) => faults.join(more),
        }
    }
    if faults.fields.is_empty() { Ok(Value::Array(checked)) } else { Err(faults) }
}

/// A list of objects, no two with the same value in the field `key`, each with all its fields.
pub fn keyed(way: &str, value: &Value, of: &Form, key: &str, max_items: usize) -> Result<Value, Faults> {
    let Value::Array(items) = records(way, value, of, max_items)? else { return Ok(Value::Null) };
    let mut faults = Faults::default();
    let mut checked: Vec<Value> = Vec::with_capacity(items.len());
    for (position, item) in items.into_iter().enumerate() {
        let record = with_all_fields(of, item);
        if checked.iter().any(|before| before[key] == record[key]) {
            faults.add(&format!("{way}[{position}].{key}"), format!("names {} twice", record[key]));
        }
        checked.push(record);
    }
    if faults.fields.is_empty() { Ok(Value::Array(checked)) } else { Err(faults) }
}

/// A record shows every field of its form, null where nothing was given.
fn with_all_fields(of: &Form, mut given: Value) -> Value {
    let mut taken = |name: &str| given.get_mut(name).map(Value::take).unwrap_or(Value::Null);
    Value::Object(of.fields.iter().map(|field| (field.name.to_owned(), taken(field.name))).collect())
}
