//! Cells: one value as a table or a list of facts shows it. Meaning is in the word and the shape; colour repeats it.

use super::super::time;
use super::super::words::Words;
use crate::clock::rfc3339;
use crate::domain::day::Day;
use askama::Template;

/// Within so many days a day is soon.
const SOON_DAYS: i64 = 7;

/// One value.
#[derive(Clone, Debug, Default, Template)]
#[template(path = "part/cell.html")]
pub struct Cell {
    /// What is read.
    pub text: String,
    /// A class of the stylesheet; empty for none.
    pub class: &'static str,
    /// Where it leads; empty for nowhere.
    pub href: String,
    /// The moment or day, for machines; empty where it is none.
    pub iso: String,
    /// A second line; empty for none.
    pub sub: String,
    /// The language of the text, where it is not the page's.
    pub lang: &'static str,
}

impl Cell {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), ..Cell::default() }
    }

    /// Text that may be missing.
    pub fn optional(words: Words, text: Option<&str>) -> Cell {
        text.map_or_else(|| Cell::missing(words), Cell::text)
    }

    /// Nothing.
    pub fn missing(words: Words) -> Cell {
        Cell { text: words.t("cell.none").into(), class: "faint", ..Cell::default() }
    }

    /// A link.
    pub fn link(href: impl Into<String>, text: impl Into<String>) -> Cell {
        Cell { href: href.into(), ..Cell::text(text) }
    }

    /// An identifier.
    pub fn reference(text: impl Into<String>) -> Cell {
        Cell { class: "ref ref-wrap", ..Cell::text(text) }
    }

    /// A moment.
    pub fn moment(words: Words, wall_ms: i64) -> Cell {
        Cell { iso: rfc3339(wall_ms), ..Cell::text(time::moment(words, wall_ms)) }
    }

    /// A moment that may be missing.
    pub fn optional_moment(words: Words, wall_ms: Option<i64>) -> Cell {
        wall_ms.map_or_else(|| Cell::missing(words), |wall_ms| Cell::moment(words, wall_ms))
    }

    /// A day.
    pub fn day(words: Words, day: Option<Day>) -> Cell {
        day.map_or_else(
            || Cell::missing(words),
            |day| Cell { iso: day.to_string(), ..Cell::text(time::day(words, day)) },
        )
    }

    /// A day by which something has to be done: late or soon where it is, in words.
    pub fn due(words: Words, day: Option<Day>, today: Day) -> Cell {
        let cell = Cell::day(words, day);
        let Some(left) = day.map(|day| time::days_between(today, day)) else { return cell };
        let number = left.unsigned_abs();
        match left {
            ..0 => Cell { class: "late", sub: words.count("due.late", number), ..cell },
            0 => Cell { class: "soon", sub: words.t("due.today").into(), ..cell },
            _ if left <= SOON_DAYS => Cell { class: "soon", sub: words.count("due.in", number), ..cell },
            _ => cell,
        }
    }

    /// The text is from the library, which is written in English.
    pub fn of_the_library(mut self) -> Cell {
        self.lang = "en";
        self
    }

    /// With a second line.
    pub fn below(mut self, text: impl Into<String>) -> Cell {
        self.sub = text.into();
        self
    }
}

/// A severity or a status: a shape and a word.
pub fn badge(words: Words, word: &str) -> Cell {
    let class = match word {
        "critical" => "sev sev-critical",
        "high" => "sev sev-high",
        "medium" => "sev sev-medium",
        "low" => "sev sev-low",
        "informational" => "sev sev-informational",
        "in_progress" | "active" | "early_warning_sent" => "st st-progress",
        "resolved" | "notification_sent" => "st st-resolved",
        "closed" | "completed" | "final_report_sent" => "st st-closed",
        "passed" | "delivered" | "on" | "done" => "st st-ok",
        "risk_accepted" => "st st-accepted",
        "false_positive" => "st st-false",
        "archived" | "cancelled" | "withdrawn" | "off" | "disabled" | "revoked" | "expired" => "st st-off",
        "failed" | "refused" => "st st-failed",
        "pending" | "sending" | "blocked" | "invited" => "st st-waiting",
        "imminent" => "st st-imminent",
        "upcoming" => "st st-upcoming",
        "in_force" => "st st-force",
        _ => "st st-open",
    };
    Cell { class, ..Cell::text(words.word(word)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_says_in_words_that_it_is_late_or_soon() {
        let today = Day::parse("2026-11-16").unwrap();
        let due = |day| Cell::due(Words::ENGLISH, Day::parse(day), today);
        assert_eq!((due("2026-11-12").class, due("2026-11-12").sub.as_str()), ("late", "4 days late"));
        assert_eq!((due("2026-11-17").class, due("2026-11-17").sub.as_str()), ("soon", "in 1 day"));
        assert_eq!((due("2026-12-17").class, due("2026-12-17").sub.as_str()), ("", ""));
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "<img src=x onerror=alert(1)>";
        let cell = Cell::link("/a\"b", hostile).below(hostile);
        let html = cell.to_string();
        assert!(!html.contains("<img") && !html.contains("a\"b"), "{html}");
    }
}
