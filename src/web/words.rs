//! The catalogue: every word of the workspace that people read, by key, in `data/words/*.tsv`.
//!
//! A line is a key, the English and the German text, with tabs between them; `{n}` and the like stand for what is put
//! in. What has no key of its own (a word or a field that came from outside) is made readable from its name.

use crate::domain::language::Language;
use crate::http::Visit;
use std::collections::HashMap;
use std::sync::LazyLock;

/// One file for each part of the workspace.
static FILES: &[&str] = &[
    include_str!("../../data/words/cra.tsv"),
    include_str!("../../data/words/dashboard.tsv"),
    include_str!("../../data/words/document.tsv"),
    include_str!("../../data/words/finding.tsv"),
    include_str!("../../data/words/frame.tsv"),
    include_str!("../../data/words/library.tsv"),
    include_str!("../../data/words/people.tsv"),
    include_str!("../../data/words/programme.tsv"),
    include_str!("../../data/words/register.tsv"),
    include_str!("../../data/words/said.tsv"),
    include_str!("../../data/words/settings.tsv"),
    include_str!("../../data/words/test_case.tsv"),
    include_str!("../../data/words/words.tsv"),
];

/// Key, English, German.
static CATALOGUE: LazyLock<HashMap<&'static str, (&'static str, &'static str)>> = LazyLock::new(|| {
    let lines = FILES.iter().flat_map(|file| file.lines());
    lines.filter_map(columns).map(|(key, english, german)| (key, (english, german))).collect()
});

/// Every key with its English text, in the order of the files.
pub fn lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = FILES.iter().flat_map(|file| file.lines());
    lines.filter_map(columns).map(|(key, english, _)| (key, english))
}

/// The columns of a line: the key, and its text in each language.
fn columns(line: &str) -> Option<(&str, &str, &str)> {
    let mut columns = line.split('\t');
    Some((columns.next()?, columns.next()?, columns.next()?))
}

/// The words of one language.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    language: Language,
}

impl Words {
    /// The words of English.
    pub const ENGLISH: Words = Words::in_language(Language::English);

    /// The words of a language.
    pub const fn in_language(language: Language) -> Words {
        Words { language }
    }

    /// The words of whoever reads the page.
    pub fn of(visit: &Visit) -> Words {
        Words::in_language(visit.arrival.language)
    }

    /// Are they those that the domain speaks too?
    pub fn is_english(self) -> bool {
        self.language == Language::English
    }

    /// The language, as `lang` of a page says it.
    pub fn lang(self) -> &'static str {
        self.language.name()
    }

    /// `1776` as `1,776`; in German as `1.776`.
    pub fn number(self, number: u64) -> String {
        let mark = match self.language {
            Language::English => ',',
            Language::German => '.',
        };
        grouped(number, mark)
    }

    /// A number with one decimal, `33.3`; in German `33,3`.
    pub fn decimal(self, number: f64) -> String {
        self.point(&format!("{number:.1}"))
    }

    /// A written number with its decimal point as the language has it.
    pub fn point(self, number: &str) -> String {
        match self.language {
            Language::English => number.to_owned(),
            Language::German => number.replace('.', ","),
        }
    }

    /// The text of a key. A test looks that every key of the pages is there.
    pub fn t(self, key: &str) -> &'static str {
        self.find(key).unwrap_or_default()
    }

    /// The text of a key, if it is there.
    pub fn find(self, key: &str) -> Option<&'static str> {
        let (english, german) = CATALOGUE.get(key)?;
        Some(match self.language {
            Language::English => english,
            Language::German => german,
        })
    }

    /// The text of a key, with something put in for `{name}`.
    pub fn say<const N: usize>(self, key: &str, parts: &[(&str, &str); N]) -> String {
        let mut text = self.t(key).to_owned();
        for (name, part) in parts {
            text = text.replace(&format!("{{{name}}}"), part);
        }
        text
    }

    /// A sentence with a number, `key.one` for one and `key` for all others.
    pub fn count(self, key: &str, number: u64) -> String {
        let one = self.find(&format!("{key}.one")).filter(|_| number == 1);
        one.unwrap_or_else(|| self.t(key)).replace("{n}", &self.number(number))
    }

    /// A word of a closed set, as people read it.
    pub fn word(self, word: &str) -> String {
        self.find(&format!("word.{word}")).map_or_else(|| readable(word), str::to_owned)
    }

    /// The name of a noun's field.
    pub fn field(self, noun: &str, name: &str) -> String {
        let own = self.find(&format!("{noun}.field.{name}"));
        own.or_else(|| self.find(&format!("field.{name}"))).map_or_else(|| readable(name), str::to_owned)
    }

    /// The hint at a noun's field, if there is one.
    pub fn hint(self, noun: &str, name: &str) -> Option<&'static str> {
        self.find(&format!("{noun}.hint.{name}"))
    }
}

/// `in_progress` as `In progress`.
fn readable(name: &str) -> String {
    let text = name.replace(['_', '.'], " ");
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// `1776` as `1,776`.
fn grouped(number: u64, mark: char) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(mark);
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::path::{Path, PathBuf};

    fn files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { files(&path, found) } else { found.push(path) }
        }
    }

    /// Every key that is written down in the pages' code and templates.
    fn used() -> Vec<(String, String)> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = Vec::new();
        files(&root.join("src/web"), &mut found);
        files(&root.join("templates"), &mut found);
        let pages = found.len();
        files(&root.join("src/pdf"), &mut found);
        let mut keys = Vec::new();
        for (nth, path) in found.iter().enumerate() {
            let text = std::fs::read_to_string(path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap().replace('\n', " ");
            // Documents hand keys on: what looks like one is one.
            let is_key = |text: &&str| {
                text.contains('.')
                    && text.chars().all(|char| char.is_ascii_lowercase() || "._".contains(char))
            };
            let literals = text.split('"').skip(1).step_by(2).filter(is_key).filter(|_| nth >= pages);
            keys.extend(literals.map(|key| (key.to_owned(), path.display().to_string())));
            let calls = [".t(\"", ".say(\"", ".count(\"", "Notice::new(\"", "Notice::with(\""];
            for call in calls {
                for rest in text.split(call).skip(1) {
                    let key = rest.split('"').next().unwrap().to_owned();
                    keys.push((key, path.display().to_string()));
                }
            }
        }
        keys
    }

    #[test]
    fn every_key_that_a_page_names_is_in_the_catalogue_and_none_stands_twice() {
        let keys = used();
        assert!(keys.len() > 50, "{}", keys.len());
        for (key, file) in keys {
            assert!(CATALOGUE.contains_key(key.as_str()), "{file}: `{key}` is not in data/words");
        }
        let mut seen = HashSet::new();
        for line in FILES.iter().flat_map(|file| file.lines()) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [key, english, german] = columns[..] else { panic!("key, English, German: {line:?}") };
            assert!(seen.insert(key), "{key} stands twice");
            for text in [english, german] {
                assert!(!text.is_empty() && text.trim() == text && !text.contains('!'), "{line:?}");
            }
        }
    }

    /// The names in braces.
    fn gaps(text: &str) -> Vec<&str> {
        let mut gaps: Vec<&str> =
            text.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        gaps.sort_unstable();
        gaps
    }

    #[test]
    fn both_languages_put_in_the_same_and_end_alike() {
        for (key, (english, german)) in CATALOGUE.iter() {
            let (there, wanted) = (gaps(german), gaps(english));
            // A sentence of the domain may be said shorter.
            let fits = match key.starts_with("said.") {
                true => there.iter().all(|gap| wanted.contains(gap)),
                false => there == wanted,
            };
            assert!(fits, "{key}: {english} / {german}");
            let ends = |text: &str| text.chars().last().filter(|char| matches!(char, '.' | '?' | ':'));
            let of_one = [key.starts_with("month."), *key == "dashboard.age_1", *key == "bulk.to"];
            assert!(ends(english) == ends(german) || of_one.contains(&true), "{key}: {english} / {german}");
            assert!(!german.contains(['“', '"']) || german.contains('„'), "{key}: {german}");
        }
    }

    #[test]
    fn german_writes_numbers_and_days_as_germans_do() {
        let german = Words::in_language(Language::German);
        assert_eq!((german.number(1776), german.decimal(33.34)), ("1.776".into(), "33,3".into()));
        assert_eq!((german.t("nav.findings"), german.lang()), ("Feststellungen", "de"));
        assert_eq!(german.count("due.in", 1), "in 1 Tag");
        assert_eq!(german.word("risk_accepted"), "Risiko akzeptiert");
    }

    #[test]
    fn words_without_a_key_are_readable() {
        assert_eq!(Words::ENGLISH.word("some_odd_word"), "Some odd word");
        assert_eq!(
            (Words::ENGLISH.number(7), Words::ENGLISH.number(1776), Words::ENGLISH.number(1_000_000)),
            ("7".into(), "1,776".into(), "1,000,000".into())
        );
    }
}
