//! Sentences of the domain in the reader's language.
//!
//! The domain says in English what is wrong; the API hands that out as it is. Here a sentence is recognised by its
//! pattern in the catalogue (`said.…`) and said in the other language. One that no pattern fits stays as it is.

use super::time;
use super::words::{self, Words};
use crate::clock::parse_rfc3339;
use crate::domain::day::Day;
use crate::error::Faults;
use std::sync::LazyLock;

/// Key and English pattern, the one with the most letters of its own first, so that the closest fit wins.
static PATTERNS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
    let mut patterns: Vec<_> = words::lines().filter(|(key, _)| key.starts_with("said.")).collect();
    patterns.sort_by_key(|(_, pattern)| std::cmp::Reverse(own_letters(pattern)));
    patterns
});

fn own_letters(pattern: &str) -> usize {
    pieces(pattern).map(|(text, _)| text.len()).sum()
}

/// The pieces of a pattern: text, and the name of what stands behind it, empty at the end.
fn pieces(pattern: &str) -> impl Iterator<Item = (&str, &str)> {
    pattern.split('}').map(|piece| piece.split_once('{').unwrap_or((piece, "")))
}

/// A sentence of the domain, as the reader reads it.
pub fn said(words: Words, text: &str) -> String {
    if words.is_english() {
        return text.to_owned();
    }
    let fit = PATTERNS.iter().find_map(|(key, pattern)| Some((key, parts(pattern, text)?)));
    let Some((key, parts)) = fit else {
        return match text.split_once(": ") {
            // The name of a parameter, and what is wrong with it.
            Some((name, reason)) if !name.contains(' ') => format!("{name}: {}", said(words, reason)),
            Some(_) | None => text.to_owned(),
        };
    };
    parts.iter().fold(words.t(key).to_owned(), |sentence, (name, part)| {
        sentence.replace(&format!("{{{name}}}"), &put_in(words, name, part))
    })
}

/// All that is wrong, in one line.
pub fn all_said(words: Words, faults: &Faults) -> String {
    if words.is_english() {
        return faults.to_string();
    }
    let reasons = faults.fields.iter().map(|(_, reason)| reason).chain([&faults.summary]);
    let said: Vec<String> =
        reasons.filter(|reason| !reason.is_empty()).map(|reason| said(words, reason)).collect();
    said.join("; ")
}

/// What stands in the gaps of a pattern, if the text fits it.
fn parts<'a>(pattern: &'static str, text: &'a str) -> Option<Vec<(&'static str, &'a str)>> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut gap = "";
    for (piece, next_gap) in pieces(pattern) {
        let at = match (gap, next_gap) {
            ("", _) => rest.starts_with(piece).then_some(0)?,
            // The last piece is looked for at the end.
            (_, "") => rest.strip_suffix(piece)?.len(),
            (_, _) => rest.find(piece)?,
        };
        if !gap.is_empty() {
            found.push((gap, &rest[..at]));
        }
        rest = &rest[at + piece.len()..];
        gap = next_gap;
    }
    rest.is_empty().then_some(found)
}

/// What stands in a gap, as the reader reads it; the gap's name tells what that is.
fn put_in(words: Words, name: &str, part: &str) -> String {
    let said = match name.trim_end_matches(|char: char| char.is_ascii_digit()) {
        "word" | "words" => Some(listed(words, part)),
        "day" => Day::parse(part).map(|day| time::day(words, day)),
        "moment" => parse_rfc3339(part).map(|at| time::moment(words, at)),
        "number" => Some(words.point(part)),
        _ => None,
    };
    said.unwrap_or_else(|| part.to_owned())
}

fn listed(words: Words, part: &str) -> String {
    let each = part.split(", ").map(|word| match words.find(&format!("word.{word}")) {
        Some(said) => words.say("form.quoted", &[("text", said)]),
        None => word.to_owned(),
    });
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::language::Language;

    #[test]
    fn a_pattern_fits_whole_sentences_and_gives_what_stands_in_its_gaps() {
        let pattern = "has {n} characters; at most {max} are allowed";
        assert_eq!(
            parts(pattern, "has 9 characters; at most 5 are allowed"),
            Some(vec![("n", "9"), ("max", "5")])
        );
        for other in ["has 9 characters; at most 5 are allowed here", "it has 9 characters", "", "has "] {
            assert_eq!(parts(pattern, other), None, "{other}");
        }
        assert_eq!(parts("is required", "is required"), Some(vec![]));
        assert_eq!(parts("is required", "is required to accept a risk"), None);
        assert_eq!(parts("is {a}", "is ü} {"), Some(vec![("a", "ü} {")]));
    }

    #[test]
    fn the_domain_is_said_in_german_and_the_unknown_stays() {
        let german = Words::in_language(Language::German);
        let moved = "cannot go from open to closed; possible are: in_progress, false_positive";
        let told = said(german, moved);
        assert!(told.contains("„Offen“") && told.contains("„In Bearbeitung“, „Falsch positiv“"), "{told}");
        let late = "The finding was due on 2026-11-09 and is not finished.";
        assert_eq!(
            said(german, late),
            "Die Feststellung war am 9. Nov. 2026 fällig und ist nicht abgeschlossen."
        );
        let breach = "Nordwolke has a provider share of 36.5 %; the threshold is 30 %.";
        assert!(said(german, breach).contains("Anteil von 36,5 %"), "{}", said(german, breach));
        assert_eq!(said(german, "is something new"), "is something new");
        assert_eq!(said(Words::ENGLISH, moved), moved);
    }
}
