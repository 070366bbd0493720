//! Pictures, drawn by the server: bars and dials. Their numbers stand in their label, and beside them in text.

use super::words::Words;
use crate::domain::cra::{CraReport, Stage};
use askama::Template;

const MINUTE_MS: i64 = 60_000;

/// A bar of parts, from 0 to 100.
#[derive(Debug, Template)]
#[template(path = "part/bar.html")]
pub struct Bar {
    label: String,
    /// Class, where it begins, how wide it is.
    parts: Vec<(&'static str, f64, f64)>,
    limit: Option<f64>,
}

impl Bar {
    /// A bar; `parts` are classes and widths, one behind the other.
    pub fn new(label: String, parts: &[(&'static str, f64)]) -> Bar {
        let mut begin = 0.0;
        let mut placed = Vec::new();
        for (class, width) in parts.iter().filter(|(_, width)| *width > 0.0) {
            placed.push((*class, hundredths(begin), hundredths(*width)));
            begin += width;
        }
        Bar { label, parts: placed, limit: None }
    }

    /// A share with its limit: what is over it has another colour and stripes.
    pub fn share(label: String, share_pct: f64, limit_pct: f64) -> Bar {
        let parts = [("c-1", share_pct.min(limit_pct)), ("c-over", (share_pct - limit_pct).max(0.0))];
        Bar { limit: Some(hundredths(limit_pct)), ..Bar::new(label, &parts) }
    }
}

fn hundredths(number: f64) -> f64 {
    (number * 100.0).round() / 100.0
}

/// A dial that fills with the time used.
#[derive(Debug, Template)]
#[template(path = "part/dial.html")]
pub struct Dial {
    class: &'static str,
    label: String,
    /// The share of the time that is used; none where no clock runs.
    used_pct: Option<f64>,
    done: bool,
    text: String,
}

/// One stage of a CRA report with its clock.
pub struct Clock {
    /// The stage.
    pub stage: Stage,
    /// What it is called.
    pub name: String,
    /// Its dial.
    pub dial: Dial,
    /// What is left, or that it is over or sent.
    pub left: String,
    /// What follows it; the script of the page keeps the time before it true.
    pub after: &'static str,
    /// When it is due, for machines; empty where no clock runs.
    pub due_iso: String,
    /// Is it late, or is little time left?
    pub is_hot: bool,
    /// When it is due.
    pub due_at: Option<i64>,
    /// When it was sent.
    pub sent_at: Option<i64>,
}

impl Clock {
    /// The clock of a stage at a moment.
    pub fn of(words: Words, report: &CraReport, stage: Stage, now_ms: i64) -> Clock {
        let name = words.word(stage.name());
        let (start, due_at, sent_at) = (report.starts_at(stage), report.due_at(stage), report.sent_at(stage));
        let runs = report.status.is_running() && sent_at.is_none();
        let until = sent_at.unwrap_or(now_ms);
        let used_pct = match (start, due_at) {
            (Some(start), Some(due)) if due > start => {
                Some(((until - start) as f64 / (due - start) as f64 * 100.0).clamp(0.0, 100.0))
            }
            (Some(_) | None, _) => None,
        };
        let late = due_at.is_some_and(|due| until > due);
        let left = match (sent_at, due_at) {
            (Some(_), _) if late => words.t("clock.sent_late").to_owned(),
            (Some(_), _) => words.t("clock.sent").to_owned(),
            (None, Some(due)) if runs => left_text(words, due - now_ms),
            (None, _) => words.t("clock.none").to_owned(),
        };
        let after = if runs && due_at.is_some() && !late { words.t("clock.left") } else { "" };
        let is_hot = runs && (late || used_pct.is_some_and(|used| used >= 75.0));
        let class = match (sent_at.is_some(), used_pct.is_some() && runs) {
            (true, _) => "dial dial-done",
            (false, true) if is_hot => "dial dial-hot",
            (false, true) => "dial",
            (false, false) => "dial dial-idle",
        };
        let used_pct = used_pct.filter(|_| runs || sent_at.is_some());
        let text = used_pct.map(|used| format!("{used:.0} %")).unwrap_or_default();
        let dial = Dial {
            class,
            label: format!("{name}: {left} {after}").trim_end().to_owned(),
            used_pct: used_pct.map(hundredths),
            done: sent_at.is_some(),
            text,
        };
        let due_iso = due_at.filter(|_| runs).map(crate::clock::rfc3339).unwrap_or_default();
        Clock { stage, name, dial, left, after, due_iso, is_hot, due_at, sent_at }
    }
}

/// `5 h 40 min`, `2 d 3 h late`
fn left_text(words: Words, left_ms: i64) -> String {
    let minutes = left_ms.div_euclid(MINUTE_MS).unsigned_abs();
    let (days, hours) = (minutes / 1440, minutes % 1440 / 60);
    let span = match (days, hours) {
        (0, 0) => format!("{minutes} min"),
        (0, _) => format!("{hours} h {} min", minutes % 60),
        (_, _) => format!("{days} d {hours} h"),
    };
    match left_ms < 0 {
        true => words.say("clock.late", &[("time", &span)]),
        false => span,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_add_up_and_say_what_is_over_the_limit() {
        let bar = Bar::share("Provider: \"X\" <b> 36 %".into(), 36.0, 30.0);
        assert_eq!(bar.parts, [("c-1", 0.0, 30.0), ("c-over", 30.0, 6.0)]);
        let html = bar.to_string();
        assert!(!html.contains("<b>") && html.contains("M30 -3V13"), "{html}");
    }

    #[test]
    fn time_left_is_said_in_two_units() {
        assert_eq!(left_text(Words::ENGLISH, 20_400_000), "5 h 40 min");
        assert_eq!(left_text(Words::ENGLISH, 3 * 86_400_000 + 7_200_000), "3 d 2 h");
        assert_eq!(left_text(Words::ENGLISH, -120_000), "2 min late");
    }
}
