//! A row of a register file: which object it is, what it would become, and all that is wrong with it.
//!
//! Cells are turned into what their fields want; whether they fit is asked of the forms, and of nobody else.

use super::form::{Field, Kind};
use super::import::value_of;
use super::provider::Provider;
use super::register::{Entry, ID, PROVIDER_ID, PROVIDER_NAME};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A reason at a column.
pub type Blame = (&'static str, String);

/// A row's cells by their heads.
pub struct Row<'a>(pub Vec<(&'a str, &'a str)>);

impl Row<'_> {
    /// What stands under a head, if anything does.
    fn get(&self, head: &str) -> Option<&str> {
        self.0
            .iter()
            .find(|(known, _)| *known == head)
            .map(|(_, cell)| *cell)
            .filter(|cell| !cell.trim().is_empty())
    }
}

/// What is there, by id and by what rows without one are recognised by.
pub struct Index<'a, T> {
    by_id: HashMap<&'a str, &'a T>,
    by_key: HashMap<String, Vec<&'a T>>,
}

impl<'a, T: Entry> Index<'a, T> {
    /// Sorts what is there.
    pub fn of(known: &'a [T]) -> Index<'a, T> {
        let mut by_key: HashMap<String, Vec<&T>> = HashMap::new();
        known.iter().for_each(|entry| by_key.entry(entry.key()).or_default().push(entry));
        Index { by_id: known.iter().map(|entry| (entry.object_id(), entry)).collect(), by_key }
    }
}

/// What a row is, and what it would become.
#[expect(clippy::type_complexity, reason = "what is there, and what comes")]
pub fn step<'a, T: Entry>(
    row: &Row,
    separator: char,
    index: &Index<'a, T>,
    now_ms: i64,
    resolve: impl Fn(&Row, &mut Map<String, Value>) -> Vec<Blame>,
) -> Result<(Option<&'a T>, T), Vec<(String, String)>> {
    let mut faults = Vec::new();
    let named = row.get(ID).map(str::trim);
    let known = named.and_then(|id| index.by_id.get(id).copied());
    if named.is_some() && known.is_none() {
        faults.push((
            ID.to_owned(),
            "names nothing of yours; empty this cell to add the row as a new one".to_owned(),
        ));
    }
    let form = if named.is_some() { T::PATCH } else { T::NEW };
    let mut object = Map::new();
    for (head, cell) in &row.0 {
        let Some(field) = form.fields.iter().find(|field| field.name == *head) else { continue };
        match value(field, cell, separator) {
            Ok(Some(value)) => drop(object.insert(field.name.to_owned(), value)),
            Ok(None) if named.is_some() => faults.push((field.name.to_owned(), "is required".to_owned())),
            Ok(None) => {}
            Err(reason) => faults.push((field.name.to_owned(), reason)),
        }
    }
    faults.extend(resolve(row, &mut object).into_iter().map(|(column, reason)| (column.to_owned(), reason)));
    let checked = form.check(&object);
    let told = |name: &String, faults: &[(String, String)]| faults.iter().any(|(known, _)| known == name);
    let values = match checked {
        Ok(values) if faults.is_empty() => values,
        Ok(_) => return Err(faults),
        Err(more) => {
            for (name, reason) in more.fields {
                if !told(&name, &faults) {
                    faults.push((name, reason));
                }
            }
            return Err(faults);
        }
    };
    let fresh = T::made(&values, now_ms);
    let known = match (known, index.by_key.get(&fresh.key()).map(Vec::as_slice)) {
        (Some(known), _) => Some(known),
        (None, None | Some([])) => None,
        (None, Some([one])) => Some(*one),
        (None, Some(several)) => {
            let reason =
                format!("fits {} that are there; add a column id and name the one you mean", several.len());
            return Err(vec![(T::KNOWN_BY.to_owned(), reason)]);
        }
    };
    Ok(match known {
        None => (None, fresh),
        Some(known) => {
            let mut after = known.clone();
            after.take(&values, now_ms);
            (Some(known), after)
        }
    })
}

/// A cell as its field wants it: null for an empty one, none where it may not be empty. The form checks it.
fn value(field: &Field, cell: &str, separator: char) -> Result<Option<Value>, String> {
    if cell.trim().is_empty() {
        return Ok(field.nullable.then_some(Value::Null));
    }
    Ok(Some(match field.kind {
        Kind::Text { .. } => Value::from(cell),
        Kind::Number { .. } if separator != ',' => {
            let number = cell.trim();
            if has_thousands(number) {
                let bare: String = number.chars().filter(char::is_ascii_digit).collect();
                return Err(format!("can be read in two ways; write {bare} if that is what is meant"));
            }
            value_of(field, &number.replace(',', "."))
        }
        Kind::Number { .. }
        | Kind::Uri { .. }
        | Kind::Integer { .. }
        | Kind::Switch
        | Kind::Choice(_)
        | Kind::Choices(_)
        | Kind::Codes(_)
        | Kind::Day
        | Kind::Time
        | Kind::Shaped { .. }
        | Kind::Keyed { .. }
        | Kind::Texts { .. }
        | Kind::Capitals { .. }
        | Kind::Record(_)
        | Kind::Records { .. } => value_of(field, cell.trim()),
    }))
}

/// `48.000` or `48,000`: forty-eight to some, forty-eight thousand to others.
fn has_thousands(number: &str) -> bool {
    let mut groups = number.split(['.', ',']);
    let digits = |group: &str| !group.is_empty() && group.bytes().all(|byte| byte.is_ascii_digit());
    let first = groups.next().is_some_and(|first| digits(first) && first.len() <= 3 && first != "0");
    let mut rest = groups.peekable();
    first && rest.peek().is_some() && rest.all(|group| digits(group) && group.len() == 3)
}

/// Providers by what files call them.
pub struct Names<'a> {
    by_id: HashMap<&'a str, &'a str>,
    by_name: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Names<'a> {
    /// Sorts them.
    pub fn of(providers: &'a [Provider]) -> Names<'a> {
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        providers.iter().for_each(|provider| by_name.entry(&provider.name).or_default().push(&provider.id));
        let by_id = providers.iter().map(|provider| (provider.id.as_str(), provider.name.as_str())).collect();
        Names { by_id, by_name }
    }

    /// Puts the id of the provider into a row that names it.
    pub fn resolve(&self, row: &Row, object: &mut Map<String, Value>) -> Vec<Blame> {
        let (id, name) = (row.get(PROVIDER_ID).map(str::trim), row.get(PROVIDER_NAME));
        let named = name.map(|name| {
            let exact = self.by_name.get(name).or_else(|| self.by_name.get(name.trim()));
            exact.map(Vec::as_slice).unwrap_or_default()
        });
        let (found, blame) = match (id, named) {
            (None, None) => return Vec::new(),
            (Some(id), _) if !self.by_id.contains_key(id) => {
                (None, Some((PROVIDER_ID, "does not exist; name one of your providers".to_owned())))
            }
            (Some(id), None) => (Some(id), None),
            (Some(id), Some(named)) if named.contains(&id) => (Some(id), None),
            (Some(_), Some(_)) => (
                None,
                Some((
                    PROVIDER_NAME,
                    "is another provider than provider_id; empty one of the two cells".to_owned(),
                )),
            ),
            (None, Some([])) => (
                None,
                Some((PROVIDER_NAME, "is no provider that is there; import the providers first".to_owned())),
            ),
            (None, Some([id])) => (Some(*id), None),
            (None, Some(several)) => {
                let reason =
                    format!("is the name of {} providers; use provider_id to say which", several.len());
                (None, Some((PROVIDER_NAME, reason)))
            }
        };
        // Where it is not known which, that is told once, and not again as a missing id.
        object.insert(PROVIDER_ID.to_owned(), Value::from(found.unwrap_or("?")));
        blame.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_two_people_read_differently_is_asked_about() {
        for number in ["48.000", "48,000", "1.234.567", "999,999"] {
            assert!(has_thousands(number), "{number}");
        }
        for number in
            ["48000", "48,5", "0,125", "0.125", "1234.567", "48.000,50", ".500", "48,", "-48,000", "x"]
        {
            assert!(!has_thousands(number), "{number}");
        }
    }
}
