//! Search: what is asked for, how well something answers it, and what is shown of it.
//!
//! Every word that is asked for must be the beginning of some word of the object. How well it is met decides
//! the rank, by the same points for stored objects and for reference data.

use super::fold::{fold, is_mark, words};
use crate::shape::{Is, Shape, Shown, text};
use serde::Serialize;

/// Points of a word that a title has as it is.
pub const TITLE_WORD: u32 = 100;
/// Points of a word that begins a word of a title.
pub const TITLE_BEGINNING: u32 = 80;
/// Points of a word that a text has as it is.
pub const BODY_WORD: u32 = 50;
/// Points of a word that begins a word of a text.
pub const BODY_BEGINNING: u32 = 30;

/// Characters of a snippet, and how many of them stand before the word that was found.
const SNIPPET_CHARS: usize = 160;
const LEAD_CHARS: usize = 50;

/// What somebody looks for.
#[derive(Debug, PartialEq)]
pub struct Ask {
    /// The words, folded, each once.
    pub words: Vec<String>,
    /// The text as it came: it may be an id.
    pub text: String,
}

impl Ask {
    /// Reads a question. Whatever is no letter and no digit only stands between words.
    pub fn new(text: &str) -> Ask {
        let folded = fold(text);
        let mut asked: Vec<String> = Vec::new();
        for word in words(&folded) {
            if !asked.iter().any(|known| known == word) {
                asked.push(word.to_owned());
            }
        }
        Ask { words: asked, text: text.trim().to_owned() }
    }

    /// The points of an object that meets every word in the best way.
    pub fn best(&self) -> u32 {
        TITLE_WORD * self.count()
    }

    /// Points as a share of the best, 0 to 1.
    pub fn score(&self, points: u32) -> f64 {
        let share = f64::from(points) / f64::from(self.best().max(1));
        (share * 1000.0).round() / 1000.0
    }

    fn count(&self) -> u32 {
        u32::try_from(self.words.len()).unwrap_or(u32::MAX / TITLE_WORD)
    }
}

/// One result, as v2 shows it.
#[derive(Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Hit {
    pub r#type: &'static str,
    pub id: String,
    pub title: String,
    pub snippet: String,
    pub score: f64,
    pub href: String,
}

/// What a result looks like.
pub static HIT: Shape = Shape {
    name: "SearchHit",
    fields: &[
        text("type").says("What it is.").such_as(r#""risk""#),
        text("id").says("Its identifier.").such_as(r#""R-CYB-01""#),
        text("title").says("Its title or name.").such_as(r#""Ransomware""#),
        text("snippet").says("The part of its text around the first word that was found."),
        Shown::new("score", Is::Number).says("How well it answers, 0 to 1.").such_as("1.0"),
        text("href").says("Where it is shown.").such_as(r#""/api/v2/risk-register?search=R-CYB-01""#),
    ],
};

/// A title and a text, cut into words that can be asked.
#[derive(Debug)]
pub struct Wording {
    /// Words with a space before and behind each, so that their bounds can be looked for.
    title: String,
    body: String,
}

impl Wording {
    /// Cuts them.
    pub fn new<'a>(title: &str, body: impl Iterator<Item = &'a str>) -> Wording {
        Wording { title: spaced([title].into_iter()), body: spaced(body) }
    }

    /// How well it answers; nothing if it lacks a word.
    pub fn points(&self, ask: &Ask) -> Option<u32> {
        let mut points = 0;
        for word in &ask.words {
            let (whole, beginning) = (format!(" {word} "), format!(" {word}"));
            points += match () {
                () if self.title.contains(&whole) => TITLE_WORD,
                () if self.title.contains(&beginning) => TITLE_BEGINNING,
                () if self.body.contains(&whole) => BODY_WORD,
                () if self.body.contains(&beginning) => BODY_BEGINNING,
                () => return None,
            };
        }
        (points > 0).then_some(points)
    }
}

fn spaced<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let mut spaced = String::from(" ");
    for text in texts {
        for word in words(&fold(text)) {
            spaced.push_str(word);
            spaced.push(' ');
        }
    }
    spaced
}

/// The part of a text around the first word that was asked for; its beginning if it has none. One line.
pub fn snippet(text: &str, ask: &Ask) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all: Vec<(usize, char)> = text.char_indices().collect();
    if all.len() <= SNIPPET_CHARS {
        return text;
    }
    let found = place_of(&text, ask).map_or(0, |at| all.partition_point(|(start, _)| *start < at));
    let mut first = found.saturating_sub(LEAD_CHARS).min(all.len() - SNIPPET_CHARS);
    if first > 0 {
        // Not from the middle of a word, unless the word that was found is far away from any gap.
        let gap = all[first..found].iter().position(|(_, letter)| *letter == ' ');
        first += gap.map_or(0, |gap| gap + 1);
    }
    let mut last = (first + SNIPPET_CHARS).min(all.len());
    if last < all.len() {
        let gap = all[first..last].iter().rposition(|(_, letter)| *letter == ' ');
        last = gap.map(|gap| first + gap).filter(|gap| *gap > found).unwrap_or(last);
    }
    let part: String = all[first..last].iter().map(|(_, letter)| *letter).collect();
    let before = if first > 0 { "… " } else { "" };
    let behind = if last < all.len() { " …" } else { "" };
    format!("{before}{part}{behind}")
}

/// Where the first word that was asked for begins.
fn place_of(text: &str, ask: &Ask) -> Option<usize> {
    let is_part = |letter: char| letter.is_alphanumeric() || is_mark(letter);
    let mut rest = text.char_indices().peekable();
    while let Some((start, letter)) = rest.next() {
        if !is_part(letter) {
            continue;
        }
        let mut end = start + letter.len_utf8();
        while let Some((at, letter)) = rest.next_if(|(_, letter)| is_part(*letter)) {
            end = at + letter.len_utf8();
        }
        let word = fold(&text[start..end]);
        if ask.words.iter().any(|asked| word.starts_with(asked.as_str())) {
            return Some(start);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_words_and_nothing_else() {
        assert_eq!(Ask::new(" Größe AND \"grösse* OR (x:y) ").words, ["grosse", "and", "or", "x", "y"]);
        assert!(Ask::new("*** ((").words.is_empty());
    }

    #[test]
    fn titles_count_more_than_texts_and_whole_words_more_than_beginnings() {
        let points =
            |title: &str, body: &str| Wording::new(title, [body].into_iter()).points(&Ask::new("back up"));
        assert_eq!(points("Back up", ""), Some(200));
        assert_eq!(points("Backup upgrade", ""), Some(160));
        assert_eq!(points("x", "up, and back"), Some(100));
        assert_eq!(points("x", "upper backs"), Some(60));
        assert_eq!(points("Back", "x"), None);
        assert_eq!(Wording::new("x", ["y"].into_iter()).points(&Ask::new("***")), None, "no words, no hits");
        assert_eq!(Ask::new("back up").score(160), 0.8);
    }

    #[test]
    fn a_snippet_shows_the_word_that_was_found_in_one_line() {
        let text = format!("{} The Größe\nof it. {}", "before ".repeat(60), "behind ".repeat(60));
        let shown = snippet(&text, &Ask::new("grosse"));
        assert!(shown.starts_with("… before") && shown.ends_with("behind …"), "{shown}");
        assert!(shown.contains("The Größe of it."), "{shown}");
        assert!(shown.chars().count() <= SNIPPET_CHARS + 4, "{shown}");
        assert_eq!(snippet(" short\n text ", &Ask::new("x")), "short text");
        let endless = "ä".repeat(1000);
        assert!(snippet(&endless, &Ask::new("zz")).chars().count() <= SNIPPET_CHARS + 4);
        let late = format!("{} end", "ä".repeat(1000));
        assert!(snippet(&late, &Ask::new("end")).contains("end"));
    }
}
