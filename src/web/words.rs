//! The catalogue: every word of the workspace that people read, by key, in `data/words/*.tsv`.
//!
//! A line is a key, a tab and the English text; `{n}` and the like stand for what is put in. Another language is
//! another column. What has no key of its own (words of closed sets, names of fields) is made readable from its name.

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
    include_str!("../../data/words/settings.tsv"),
    include_str!("../../data/words/test_case.tsv"),
];

static CATALOGUE: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = FILES.iter().flat_map(|file| file.lines());
    lines.filter_map(|line| line.split_once('\t')).collect()
});

/// The words of one language.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    language: Language,
}

impl Words {
    /// The words of English.
    pub const ENGLISH: Words = Words { language: Language::English };

    /// The words of whoever reads the page.
    pub fn of(visit: &Visit) -> Words {
        Words { language: visit.language() }
    }

    /// The language, as `lang` of a page says it.
    pub fn lang(self) -> &'static str {
        self.language.name()
    }

    /// `1776` as `1,776`.
    pub fn number(self, number: u64) -> String {
        grouped(number)
    }

    /// The text of a key. A test looks that every key of the pages is there.
    pub fn t(self, key: &str) -> &'static str {
        self.find(key).unwrap_or_default()
    }

    /// The text of a key, if it is there.
    pub fn find(self, key: &str) -> Option<&'static str> {
        CATALOGUE.get(key).copied()
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
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            out.push(',');
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
        for line in FILES.iter().flat_map(|file| file.lines()).filter(|line| !line.is_empty()) {
            let (key, text) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            assert!(seen.insert(key), "{key} stands twice");
            assert!(!text.trim().is_empty() && !text.contains('\t') && !text.contains('!'), "{line}");
        }
    }

    #[test]
    fn words_without_a_key_are_readable() {
        assert_eq!(Words::ENGLISH.word("some_odd_word"), "Some odd word");
        assert_eq!(
            (grouped(7), grouped(1776), grouped(1_000_000)),
            ("7".into(), "1,776".into(), "1,000,000".into())
        );
    }
}
