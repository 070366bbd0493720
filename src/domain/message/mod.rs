//! Messages: an event in words for people, the same for every channel.
//!
//! Each says what happened, how bad it is, who owns it, when it is due, and where to read on. The
//! channels' modules only put it into their form; each escapes what people wrote in its own way.

pub mod mail;
pub mod slack;
pub mod teams;

use super::event::EventName;
use serde_json::Value;

/// How much a message should stand out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Needs somebody at once.
    Alarm,
    /// Needs somebody soon.
    Warning,
    /// Good to know.
    Notice,
    /// Something is done.
    Good,
}

impl Tone {
    /// Its colour where a channel takes one.
    pub fn colour(self) -> &'static str {
        match self {
            Tone::Alarm => "#b3261e",
            Tone::Warning => "#b26a00",
            Tone::Notice => "#30638e",
            Tone::Good => "#2e7d32",
        }
    }
}

/// A message, before a channel gives it its form. Nothing in it is escaped.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// What happened, in our own words.
    pub headline: String,
    /// What it happened to, in the words of whoever named it.
    pub title: String,
    /// Label and value; values may be people's words.
    pub facts: Vec<(&'static str, String)>,
    /// Where to read on.
    pub link: String,
    /// How much it should stand out.
    pub tone: Tone,
    /// Whose it is and since when, for the last line.
    pub footer: String,
}

impl Message {
    /// The message of a stored event.
    pub fn of_event(payload: &Value, base_url: &str) -> Message {
        let data = &payload["data"];
        let name = payload["event"].as_str().and_then(EventName::parse);
        let subject = Subject::of(data);
        let (headline, tone) = match name {
            Some(EventName::FindingCreated) => ("New finding".to_owned(), severity_tone(data)),
            Some(EventName::FindingStatusChanged | EventName::TestCaseStatusChanged) => {
                (format!("{} is now {}", subject.noun(), words(&text(data, "status"))), status_tone(data))
            }
            Some(EventName::DeadlineApproaching) => (due_headline(data), Tone::Warning),
            None => ("Something happened".to_owned(), Tone::Notice),
        };
        Message {
            headline,
            title: subject.title(data),
            facts: facts(data),
            link: format!("{base_url}{}", subject.path(data)),
            tone,
            footer: footer(payload),
        }
    }

    /// What a webhook says when somebody tries it.
    pub fn of_test(webhook: &str, tenant: &str, base_url: &str) -> Message {
        Message {
            headline: "Test message".to_owned(),
            title: webhook.to_owned(),
            facts: vec![("Result", "This webhook works.".to_owned())],
            link: format!("{base_url}/webhooks"),
            tone: Tone::Good,
            footer: tenant.to_owned(),
        }
    }

    /// The whole in one line, for notifications and subjects.
    pub fn one_line(&self) -> String {
        let first = self.facts.first().filter(|(label, _)| *label == "Severity");
        let severity = first.map(|(_, value)| format!(" ({value})")).unwrap_or_default();
        one_line(&format!("{}{severity}: {}", self.headline, self.title))
    }
}

/// What an event is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Finding,
    TestCase,
    CraReport,
    Review,
}

impl Subject {
    /// The identifier's prefix tells the kind.
    fn of(data: &Value) -> Subject {
        match text(data, "id").split('_').next() {
            Some("tc") => Subject::TestCase,
            Some("cra") => Subject::CraReport,
            Some("anl") => Subject::Review,
            Some(_) | None => Subject::Finding,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Subject::Finding => "Finding",
            Subject::TestCase => "Test case",
            Subject::CraReport => "CRA report",
            Subject::Review => "Review of concentration risk",
        }
    }

    fn title(self, data: &Value) -> String {
        match self {
            Subject::Finding | Subject::TestCase | Subject::CraReport => text(data, "title"),
            Subject::Review => "Review of concentration risk".to_owned(),
        }
    }

    /// The page in the workspace.
    fn path(self, data: &Value) -> String {
        match self {
            Subject::Finding => format!("/findings/{}", text(data, "id")),
            Subject::TestCase => format!("/test-cases/{}", text(data, "id")),
            Subject::CraReport => format!("/cra-reports/{}", text(data, "id")),
            Subject::Review => "/concentration".to_owned(),
        }
    }
}

fn facts(data: &Value) -> Vec<(&'static str, String)> {
    let known = |label, value: String| (!value.is_empty()).then_some((label, value));
    let severity = words(&text(data, "severity"));
    let priority = if severity.is_empty() { words(&text(data, "priority")) } else { String::new() };
    let moved = match data["previous_status"].as_str() {
        Some(before) => format!("{} (was {})", words(&text(data, "status")), words(before)),
        None => words(&text(data, "status")),
    };
    let owner = match (text(data, "owner"), text(data, "assignee")) {
        (owner, _) if !owner.is_empty() => owner,
        (_, assignee) if !assignee.is_empty() => assignee,
        _ => "nobody yet".to_owned(),
    };
    [
        known("Severity", severity),
        known("Priority", priority),
        known("Status", moved),
        known("Owner", one_line(&owner)),
        known("Due", due(data)),
        known("Product", one_line(&text(data, "product_name"))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The deadline that the event is about, or the object's own.
fn due(data: &Value) -> String {
    let deadline = &data["deadline"];
    match (deadline["due_at"].as_str(), data["due_on"].as_str()) {
        (Some(at), _) => format!("{}, {}", time(at), left(deadline)),
        (None, Some(on)) => on.to_owned(),
        (None, None) => String::new(),
    }
}

fn due_headline(data: &Value) -> String {
    let deadline = &data["deadline"];
    let what = match deadline["kind"].as_str() {
        Some("early_warning") => "Early warning",
        Some("notification") => "Notification",
        Some("final_report") => "Final report",
        Some("test_case") => "Test case",
        Some("review") => "Review",
        Some(_) | None => "Finding",
    };
    format!("{what} due {}", left(deadline))
}

fn left(deadline: &Value) -> String {
    match deadline["hours_left"].as_i64().unwrap_or(0) {
        0 => "within the hour".to_owned(),
        1 => "in 1 hour".to_owned(),
        hours @ 2..48 => format!("in {hours} hours"),
        hours => format!("in {} days", hours / 24),
    }
}

fn severity_tone(data: &Value) -> Tone {
    match data["severity"].as_str() {
        Some("critical") => Tone::Alarm,
        Some("high") => Tone::Warning,
        Some(_) | None => Tone::Notice,
    }
}

fn status_tone(data: &Value) -> Tone {
    match data["status"].as_str() {
        Some("resolved" | "closed" | "passed") => Tone::Good,
        Some("failed" | "blocked") => Tone::Warning,
        Some("open") => severity_tone(data),
        Some(_) | None => Tone::Notice,
    }
}

fn footer(payload: &Value) -> String {
    let tenant = one_line(payload["tenant"]["name"].as_str().unwrap_or_default());
    format!("{tenant}, {}", time(payload["occurred_at"].as_str().unwrap_or_default()))
}

/// `2026-11-15T08:00:00Z` as people write it.
fn time(text: &str) -> String {
    match (text.get(..10), text.get(11..16)) {
        (Some(day), Some(minute)) => format!("{day} {minute} UTC"),
        _ => text.to_owned(),
    }
}

fn text(data: &Value, field: &str) -> String {
    data[field].as_str().unwrap_or_default().to_owned()
}

/// A word of a closed set as people write it.
fn words(word: &str) -> String {
    word.replace('_', " ")
}

/// Control characters and line ends become blanks: a line stays one line.
pub fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// At most so many characters; what is cut off is shown by an ellipsis.
pub fn cut(text: &str, max_chars: usize) -> String {
    if text.chars().count() <= max_chars {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max_chars.saturating_sub(1)).collect();
    format!("{kept}…")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// A finding with everything in it that a channel could trip over.
    pub fn hostile() -> Message {
        let payload = json!({
            "id": "evt_1", "event": "finding.created", "occurred_at": "2026-11-15T08:00:00Z",
            "tenant": { "id": "tnt_1", "name": "Bank <&>" },
            "data": {
                "id": "fnd_1", "title": "<!channel> & \"quote\"\r\nBcc: x@y.example [a](http://b) @all",
                "severity": "critical", "status": "open", "owner": "<@U1>", "due_on": "2026-11-22",
            },
        });
        Message::of_event(&payload, "https://holdfast.example")
    }

    #[test]
    fn a_message_says_what_happened_how_bad_whose_when_and_where() {
        let message = hostile();
        assert_eq!(message.headline, "New finding");
        assert_eq!(message.tone, Tone::Alarm);
        assert_eq!(message.link, "https://holdfast.example/findings/fnd_1");
        assert_eq!(message.footer, "Bank <&>, 2026-11-15 08:00 UTC");
        let facts: Vec<String> =
            message.facts.iter().map(|(label, value)| format!("{label}={value}")).collect();
        assert_eq!(facts, ["Severity=critical", "Status=open", "Owner=<@U1>", "Due=2026-11-22"]);
        assert!(message.one_line().starts_with("New finding (critical): <!channel> & "));
        assert!(!message.one_line().contains(['\r', '\n']));
    }

    #[test]
    fn moves_and_deadlines_have_their_own_words() {
        let moved = json!({ "event": "test_case.status_changed", "data": {
            "id": "tc_1", "title": "Restore", "status": "in_progress", "previous_status": "planned",
            "priority": "high", "assignee": "Ada" } });
        let message = Message::of_event(&moved, "");
        assert_eq!(message.headline, "Test case is now in progress");
        assert_eq!(message.link, "/test-cases/tc_1");
        assert!(message.facts.contains(&("Status", "in progress (was planned)".into())));
        assert!(message.facts.contains(&("Owner", "Ada".into())));
        let near = json!({ "event": "deadline.approaching", "data": { "id": "cra_1", "title": "CVE",
            "deadline": { "kind": "early_warning", "due_at": "2026-11-15T14:00:00Z", "hours_left": 6 } } });
        let message = Message::of_event(&near, "");
        assert_eq!(message.headline, "Early warning due in 6 hours");
        assert!(message.facts.contains(&("Due", "2026-11-15 14:00 UTC, in 6 hours".into())));
        assert!(message.facts.contains(&("Owner", "nobody yet".into())));
        let review = json!({ "event": "deadline.approaching", "data": { "id": "anl_1",
            "deadline": { "kind": "review", "due_at": "2026-12-15T00:00:00Z", "hours_left": 712 } } });
        assert_eq!(
            Message::of_event(&review, "").one_line(),
            "Review due in 29 days: Review of concentration risk"
        );
    }
}
