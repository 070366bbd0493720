//! The words of documents: handed in by whoever keeps the catalogue, in whichever language it speaks.
//!
//! The rule: no word that people read stands in this module, only keys of the catalogue.

use crate::clock::rfc3339;
use crate::domain::day::Day;

/// A language: what its catalogue says.
pub trait Wording {
    /// Its short name: `en`.
    fn language(&self) -> &'static str;
    /// The text of a key.
    fn t(&self, key: &str) -> &'static str;
    /// A sentence with a number.
    fn count(&self, key: &str, number: u64) -> String;
    /// A number with one decimal.
    fn decimal(&self, number: f64) -> String;
    /// A word of a closed set, as people read it.
    fn word(&self, word: &str) -> String;
    /// What a field of a noun is called.
    fn field(&self, noun: &str, name: &str) -> String;
    /// A day, as people read it.
    fn day(&self, day: Day) -> String;
    /// A moment, as people read it.
    fn moment(&self, wall_ms: i64) -> String;

    /// The text of a key, with something put in for `{name}`.
    fn say(&self, key: &str, parts: &[(&str, &str)]) -> String {
        put_in(self.t(key), parts)
    }
}

/// A text with something put in for `{name}`. What is put in is not looked at again.
pub fn put_in(text: &str, parts: &[(&str, &str)]) -> String {
    let mut pieces = text.split('{');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let found = piece.split_once('}').and_then(|(name, rest)| {
            parts.iter().find(|(known, _)| *known == name).map(|(_, part)| (*part, rest))
        });
        match found {
            Some((part, rest)) => out.extend([part, rest]),
            None => out.extend(["{", piece]),
        }
    }
    out
}

/// Year, month, day, hour, minute and second, UTC.
pub fn parts(wall_ms: i64) -> [u16; 6] {
    let text = rfc3339(wall_ms);
    let part = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse().ok()).unwrap_or(0);
    [part(0, 4), part(5, 7), part(8, 10), part(11, 13), part(14, 16), part(17, 19)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let parts = [("person", "{at}"), ("at", "9 Nov")];
        assert_eq!(put_in("Printed {at} by {person}.", &parts), "Printed 9 Nov by {at}.");
        assert_eq!(put_in("{open {unknown} }", &parts), "{open {unknown} }");
    }
}
