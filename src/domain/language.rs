//! Languages of the workspace: what a person chose, else what the browser asks for, else English.

use super::form::{Field, Form, choice};

words! {
    /// A language that the pages are written in.
    Language {
        English = "en",
        German = "de",
    }
}

const CHOICES: &[&str] = &["browser", "en", "de"];
const LANGUAGE: Field = choice("language", CHOICES).says("The language of the pages.");

/// Choosing the language of one's pages; `browser` leaves it to the browser.
pub static OWN_LANGUAGE: Form = Form { name: "OwnLanguage", fields: &[LANGUAGE.required()], read_only: &[] };

impl Language {
    /// What `Accept-Language` asks for most, of what there is. Regions do not matter: `de-AT` is German.
    pub fn asked_for(header: &str) -> Language {
        let mut best = (0.0, Language::English);
        for range in header.split(',') {
            let (tag, weight) = range.split_once(';').unwrap_or((range, ""));
            let weight = match weight.trim() {
                "" => Some(1.0),
                given => given.strip_prefix("q=").and_then(|number| number.parse::<f32>().ok()),
            };
            let main = tag.trim().split('-').next().unwrap_or_default().to_ascii_lowercase();
            let language = if main == "*" { Some(Language::English) } else { Language::parse(&main) };
            if let (Some(weight), Some(language)) = (weight.filter(|weight| *weight <= 1.0), language)
                && weight > best.0
            {
                best = (weight, language);
            }
        }
        best.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_language_it_likes_most_of_those_there_are() {
        let german =
            ["de", "de-AT", "DE-de, en;q=0.9", "fr, de;q=0.5, en;q=0.4", "en;q=0.2,de ; q=0.3", "de, *"];
        for header in german {
            assert_eq!(Language::asked_for(header), Language::German, "{header}");
        }
        let english =
            ["", "en", "fr", "*", "en, de", "de;q=0", "de;q=0.3, en-GB;q=0.8", "den", "de;q=x", "de;q=2"];
        for header in english.into_iter().chain(["*, de;q=0.5", ";;,,q=", "de;q=nan"]) {
            assert_eq!(Language::asked_for(header), Language::English, "{header}");
        }
    }

    #[test]
    fn what_can_be_chosen_is_a_language_or_the_browsers() {
        let (browser, languages) = CHOICES.split_first().unwrap();
        assert_eq!((Language::parse(browser), languages), (None, Language::NAMES));
    }
}
