//! The compliance timeline: dated milestones of the rules that the platform watches.
//!
//! A milestone's status is no part of it: it follows the UTC day on which somebody looks.
//! `merge` decides what a sync has to change, so that a second one changes nothing.

use super::day::{Day, as_time};
use super::form::{Field, Form, Values, choice, day, switch, text};
use crate::shape::{self, Shape};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// Days before its date on which a milestone becomes imminent.
pub const IMMINENT_DAYS: i32 = 90;

words! {
    /// Where a milestone stands on a day.
    Status { InForce = "in_force", Imminent = "imminent", Upcoming = "upcoming" }
}
words! {
    /// Whether the day of a date is known, or only its month.
    Precision { Day = "day", Month = "month" }
}

impl Status {
    /// The status on a day of what has this date.
    pub fn on(today: Day, date: Day) -> Status {
        if date <= today {
            Status::InForce
        } else if date <= today.plus_days(IMMINENT_DAYS) {
            Status::Imminent
        } else {
            Status::Upcoming
        }
    }
}

/// A milestone, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Milestone {
    pub id: String,
    pub date: Day,
    pub date_precision: Precision,
    pub title: String,
    pub description: String,
    pub framework: String,
    pub category: String,
    pub authority: String,
    pub source: String,
    pub confirmed: bool,
}

/// A milestone, as it is shown.
pub static SHOWN_MILESTONE: Shape = Shape {
    name: "Milestone",
    fields: &[
        shape::text("id").says("Its code.").such_as(r#""TL-2027-12-11-CRA""#),
        shape::Shown::new("date", shape::Is::Day)
            .says("Its date; the first of the month if only that is known."),
        shape::word("date_precision", Precision::NAMES).says("Whether the day is known."),
        shape::text("title").says("What happens.").such_as(r#""The Cyber Resilience Act applies in full""#),
        shape::text("description").says("What it means."),
        shape::text("framework").says("The rules it belongs to.").such_as(r#""cra""#),
        shape::text("category").says("What kind of milestone it is.").such_as(r#""application""#),
        shape::text("authority").says("Who set it.").such_as(r#""European Union""#),
        shape::text("source").says("Where it is written."),
        shape::flag("confirmed").says("Whether the date was checked against its source."),
        shape::word("status", Status::NAMES).says("Where it stands today (UTC)."),
    ],
};

/// What a sync did, as it is shown.
pub static SYNCED: Shape = Shape {
    name: "Synced",
    fields: &[
        shape::whole("added"),
        shape::whole("updated"),
        shape::whole("removed"),
        shape::whole("unchanged"),
        shape::time("synced_at").says("When."),
    ],
};

/// A milestone, as the APIs show it on a day.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// The milestone.
    #[serde(flatten)]
    pub milestone: Milestone,
    /// Where it stands on that day.
    pub status: Status,
}

impl Milestone {
    /// The milestone with its status on a day.
    pub fn shown_on(self, today: Day) -> Shown {
        Shown { status: Status::on(today, self.date), milestone: self }
    }

    /// A milestone out of values that passed `MILESTONE`; `None` if they did not.
    pub fn of(values: &Values) -> Option<Milestone> {
        let owned = |name| values.text(name).map(str::to_owned);
        Some(Milestone {
            id: owned("id")?,
            date: values.text("date").and_then(Day::parse)?,
            date_precision: values.text("date_precision").and_then(Precision::parse)?,
            title: owned("title")?,
            description: owned("description")?,
            framework: owned("framework")?,
            category: owned("category")?,
            authority: owned("authority")?,
            source: owned("source")?,
            confirmed: values.switch("confirmed")?,
        })
    }
}

/// One milestone in the operator's file: the fields of the build's own, every one of them needed.
pub static MILESTONE: Form = Form {
    name: "Milestone",
    fields: &[
        text("id", 64).required().says("Unlike every other; it may have letters, digits, dot, - and _."),
        day("date").required().says("When it happens."),
        choice("date_precision", Precision::NAMES).required().says("How exactly the date is known."),
        TITLE.required(),
        text("description", 2_000).required().says("What happens, at length."),
        text("framework", 64).required().says("The body of rules, as a word like `dora`."),
        text("category", 64).required().says("What kind of milestone, as a word like `deadline`."),
        text("authority", 255).required().says("Who set it."),
        text("source", 1_000).required().says("Where it is written."),
        switch("confirmed").required().says("Was it read in the source?"),
    ],
    read_only: &[],
};
const TITLE: Field = text("title", 255).says("What happens, in one line.");

/// The body of `POST /api/v1/compliance-timeline/sync`: there is nothing to say.
pub static NOTHING: Form = Form { name: "Nothing", fields: &[], read_only: &[] };

/// Is it an identifier that an address could carry?
pub fn is_plain_id(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// Is it a word in kebab or snake case, as `iso-27001` and `level_2`?
pub fn is_plain_word(word: &str) -> bool {
    word.split(['-', '_']).all(|part| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    })
}

/// What a sync has to change.
#[derive(Debug, Default, PartialEq)]
pub struct Changes {
    /// Milestones that are not stored yet.
    pub added: Vec<Milestone>,
    /// Milestones that are stored in another wording, in their new one.
    pub updated: Vec<Milestone>,
    /// Ids of stored milestones that nobody wants any more.
    pub removed: Vec<String>,
    /// How many are stored as they are wanted.
    pub unchanged: usize,
}

/// What leads from the stored milestones to the wanted ones. Ids are unique on both sides.
pub fn merge(stored: &[Milestone], wanted: Vec<Milestone>) -> Changes {
    let known: HashMap<&str, &Milestone> = stored.iter().map(|each| (each.id.as_str(), each)).collect();
    let kept: HashSet<String> = wanted.iter().map(|each| each.id.clone()).collect();
    let mut changes = Changes::default();
    for milestone in wanted {
        match known.get(milestone.id.as_str()) {
            None => changes.added.push(milestone),
            Some(before) if **before != milestone => changes.updated.push(milestone),
            Some(_) => changes.unchanged += 1,
        }
    }
    let gone = stored.iter().filter(|each| !kept.contains(&each.id));
    changes.removed = gone.map(|each| each.id.clone()).collect();
    changes
}

/// What a sync did, as the API tells it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the fields' names are those of the API")]
pub struct Synced {
    pub added: usize,
    pub updated: usize,
    pub removed: usize,
    pub unchanged: usize,
    #[serde(serialize_with = "as_time")]
    pub synced_at: i64,
}

impl Changes {
    /// Is everything as it is wanted?
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.updated.is_empty() && self.removed.is_empty()
    }

    /// The figures of a sync at this moment.
    pub fn figures(&self, synced_at: i64) -> Synced {
        Synced {
            added: self.added.len(),
            updated: self.updated.len(),
            removed: self.removed.len(),
            unchanged: self.unchanged,
            synced_at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milestone(id: &str, title: &str) -> Milestone {
        Milestone {
            id: id.into(),
            date: Day::parse("2027-01-01").unwrap(),
            date_precision: Precision::Day,
            title: title.into(),
            description: "d".into(),
            framework: "dora".into(),
            category: "deadline".into(),
            authority: "EU".into(),
            source: "s".into(),
            confirmed: true,
        }
    }

    #[test]
    fn a_status_turns_on_the_day_itself_and_ninety_days_before() {
        let today = Day::parse("2026-11-15").unwrap();
        for (days, status) in [
            (-1000, Status::InForce),
            (-1, Status::InForce),
            (0, Status::InForce),
            (1, Status::Imminent),
            (90, Status::Imminent),
            (91, Status::Upcoming),
            (5000, Status::Upcoming),
        ] {
            assert_eq!(Status::on(today, today.plus_days(days)), status, "{days}");
        }
        let last = Day::parse("9999-12-31").unwrap();
        assert_eq!(
            Status::on(last.plus_days(-1), last),
            Status::Imminent,
            "the calendar ends, and nothing else"
        );
    }

    #[test]
    fn merging_names_what_differs_and_nothing_else() {
        let stored = [milestone("A", "as it is"), milestone("B", "old"), milestone("C", "gone")];
        let wanted = vec![milestone("D", "new"), milestone("B", "new wording"), milestone("A", "as it is")];
        let changes = merge(&stored, wanted.clone());
        assert_eq!(changes.added, [milestone("D", "new")]);
        assert_eq!(changes.updated, [milestone("B", "new wording")]);
        assert_eq!(changes.removed, ["C"]);
        assert_eq!(changes.unchanged, 1);
        assert!(!changes.is_empty());
        let again = merge(&wanted, wanted.clone());
        assert_eq!(again, Changes { unchanged: 3, ..Changes::default() });
        assert!(again.is_empty());
        assert_eq!(merge(&stored, Vec::new()).removed, ["A", "B", "C"]);
    }

    #[test]
    fn every_field_counts_as_a_change() {
        let before = milestone("A", "t");
        let day = Day::parse("2027-01-02").unwrap();
        for after in [
            Milestone { date: day, ..before.clone() },
            Milestone { date_precision: Precision::Month, ..before.clone() },
            Milestone { description: "x".into(), ..before.clone() },
            Milestone { framework: "x".into(), ..before.clone() },
            Milestone { category: "x".into(), ..before.clone() },
            Milestone { authority: "x".into(), ..before.clone() },
            Milestone { source: "x".into(), ..before.clone() },
            Milestone { confirmed: false, ..before.clone() },
        ] {
            assert_eq!(merge(std::slice::from_ref(&before), vec![after.clone()]).updated, [after]);
        }
    }

    #[test]
    fn words_are_kebab_or_snake() {
        for good in ["dora", "iso-27001", "level_2", "a", "psd3-psr"] {
            assert!(is_plain_word(good), "{good}");
        }
        for bad in ["", "-", "a-", "_a", "a--b", "Dora", "a b", "größe", "a.b"] {
            assert!(!is_plain_word(bad), "{bad}");
        }
        assert!(is_plain_id("TL-001") && is_plain_id("own.1_a"));
        assert!(!is_plain_id("") && !is_plain_id("a/b") && !is_plain_id("a b") && !is_plain_id("ä"));
    }
}
