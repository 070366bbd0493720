//! Sent: what a form of a page brought, and how it becomes the same values that a body of the API does.
//!
//! A browser sends texts. A field that was not sent stays as it is; one that was sent empty is null where that is
//! allowed. A page sends a hidden empty field before its boxes, so that none ticked is told from none shown.

use super::form::{Field, Form, Kind, Values};
use super::multipart;
use super::query::decode;
use crate::error::{Error, Faults};
use serde_json::{Map, Number, Value};

/// What a form brought.
#[derive(Debug, Default)]
pub struct Sent {
    pairs: Vec<(String, String)>,
    /// Files that were chosen, by the name of their field.
    files: Vec<(String, Vec<u8>)>,
    form: Option<&'static Form>,
    /// It could not be read as a form at all.
    broken: bool,
}

impl Sent {
    /// Reads a body of the kind that forms send.
    pub fn read(body: &[u8], form: Option<&'static Form>) -> Sent {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let mut broken = text.is_empty() && !body.is_empty();
        let mut pairs = Vec::new();
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match (decode(name), decode(value)) {
                // Browsers end lines as mail does.
                (Some(name), Some(value)) => pairs.push((name, value.replace("\r\n", "\n"))),
                (Some(_) | None, _) => broken = true,
            }
        }
        Sent { pairs, files: Vec::new(), form, broken }
    }

    /// Reads a body of the kind that forms with a file send.
    pub fn read_parts(body: &[u8], boundary: &str, form: Option<&'static Form>) -> Sent {
        let mut sent = Sent { form, ..Sent::default() };
        let Some(parts) = multipart::parts(body, boundary) else {
            return Sent { broken: true, ..sent };
        };
        for part in parts {
            match (part.is_file, std::str::from_utf8(part.bytes)) {
                (true, _) if part.bytes.is_empty() => {}
                (true, _) => sent.files.push((part.name.to_owned(), part.bytes.to_vec())),
                (false, Ok(text)) => sent.pairs.push((part.name.to_owned(), text.replace("\r\n", "\n"))),
                (false, Err(_)) => sent.broken = true,
            }
        }
        sent
    }

    /// The file that was chosen for a field, as it is; none if none was, or an empty one.
    pub fn file(&self, name: &str) -> Option<&[u8]> {
        self.files.iter().find(|(known, _)| known == name).map(|(_, bytes)| bytes.as_slice())
    }

    /// The last value of a field, as it was typed.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every value of a field that is not empty.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.pairs
            .iter()
            .filter(move |(known, value)| known == name && !value.is_empty())
            .map(|(_, value)| value.as_str())
    }

    /// Was anything sent?
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The values, by the row's form. Every fault is named.
    pub fn values(&self) -> Result<Values, Error> {
        if self.broken {
            return Err(Error::invalid("the form did not arrive whole"));
        }
        let Some(form) = self.form else { return Ok(Values::default()) };
        let mut body = Map::new();
        let mut faults = Faults::default();
        for field in form.fields.iter().filter(|field| self.text(field.name).is_some()) {
            let once = self.pairs.iter().filter(|(name, _)| name == field.name).count() == 1;
            if !once && !may_repeat(&field.kind) {
                faults.add(field.name, "comes twice; give it once");
                continue;
            }
            match self.value(field) {
                Some(value) => drop(body.insert(field.name.to_owned(), value)),
                // What was emptied is not kept in silence. What is required the form itself asks for.
                None if self.is_blank(field) && !field.required && !form.may_be_empty(field) => {
                    faults.add(field.name, "is required");
                }
                None => {}
            }
        }
        match form.check(&body) {
            Ok(values) => faults.into_result().map(|()| values),
            Err(more) => {
                faults.join(more);
                Err(Error::Invalid(faults))
            }
        }
    }

    fn is_blank(&self, field: &Field) -> bool {
        self.text(field.name).is_none_or(|text| text.trim().is_empty())
    }

    /// A field as the API would get it; none where nothing was filled in that has to be something.
    fn value(&self, field: &Field) -> Option<Value> {
        let text = self.text(field.name).unwrap_or_default();
        let list = || Value::from(self.all(field.name).map(str::to_owned).collect::<Vec<_>>());
        let split = || {
            let items = self.all(field.name).flat_map(|text| text.split([',', '\n']));
            let items = items.map(str::trim).filter(|item| !item.is_empty());
            Value::from(items.map(str::to_owned).collect::<Vec<_>>())
        };
        let is_list = matches!(field.kind, Kind::Choices(_) | Kind::Codes(_) | Kind::Texts { .. });
        if self.is_blank(field) && !is_list {
            return field.nullable.then_some(Value::Null);
        }
        Some(match field.kind {
            Kind::Choices(_) => list(),
            Kind::Codes(_) | Kind::Texts { .. } => split(),
            // Objects inside objects are read by the page that asks for them.
            Kind::Record(_) | Kind::Records { .. } | Kind::Keyed { .. } => return None,
            Kind::Integer { .. } => text.trim().parse::<i64>().map_or(text.into(), Value::from),
            Kind::Number { .. } => {
                let number = text.trim().replace(',', ".").parse().ok().and_then(Number::from_f64);
                number.map_or(text.into(), Value::from)
            }
            Kind::Switch if text == "on" => Value::from("1"),
            Kind::Time => Value::from(in_utc(text)),
            Kind::Text { .. } | Kind::Switch => Value::from(text),
            Kind::Uri { .. } | Kind::Choice(_) | Kind::Day | Kind::Shaped { .. } | Kind::Capitals { .. } => {
                Value::from(text.trim())
            }
        })
    }
}

/// A browser sends a moment without its zone, and without seconds where they are none; pages show UTC.
fn in_utc(text: &str) -> String {
    let minutes = "2026-11-15T08:00".len();
    match text.get(minutes..) {
        Some("") => format!("{text}:00Z"),
        Some(seconds) if seconds.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.')) => {
            format!("{text}Z")
        }
        Some(_) | None => text.to_owned(),
    }
}

/// A switch is sent as 0 and, if it is on, as 1 behind it; lists are sent item by item.
fn may_repeat(kind: &Kind) -> bool {
    matches!(kind, Kind::Switch | Kind::Choices(_) | Kind::Codes(_) | Kind::Texts { .. })
}

#[cfg(test)]
mod tests {
    use super::super::form::{choice, choices, codes, day, integer, number, switch, text, time};
    use super::*;
    use serde_json::json;

    static FORM: Form = Form {
        name: "Sample",
        fields: &[
            text("name", 20).required(),
            text("about", 50).nullable(),
            integer("pct", 1, 100),
            number("cost", 0.0, 1e9).nullable(),
            switch("on"),
            choice("colour", &["red", "blue"]).required(),
            choices("events", &["a", "b"]),
            codes("codes", &["X-1", "X-2"]),
            day("due").nullable(),
            time("at").nullable(),
        ],
        read_only: &[],
    };

    fn values(body: &str) -> Result<Values, Vec<String>> {
        Sent::read(body.as_bytes(), Some(&FORM)).values().map_err(|error| {
            let Error::Invalid(faults) = error else { panic!("{error}") };
            faults.fields.into_iter().map(|(name, _)| name).collect()
        })
    }

    #[test]
    fn texts_become_what_the_form_asks_for() {
        let sent = "name=a%20%3Cb%3E&about=&pct=7&cost=1,5&on=0&on=1&colour=red&events=&events=a&events=b\
                    &codes=X-1,+X-2&due=&at=2026-11-15T08:00&token=t&extra=1";
        let values = values(sent).unwrap();
        assert_eq!(values.text("name"), Some("a <b>"));
        assert_eq!(values.get("about"), Some(&Value::Null));
        assert_eq!((values.integer("pct"), values.number("cost")), (Some(7), Some(1.5)));
        assert_eq!(values.switch("on"), Some(true));
        assert_eq!(values.get("events"), Some(&json!(["a", "b"])));
        assert_eq!(values.get("codes"), Some(&json!(["X-1", "X-2"])));
        assert_eq!(values.get("due"), Some(&Value::Null));
        assert_eq!(values.text("at"), Some("2026-11-15T08:00:00Z"));
        assert_eq!(values.get("extra"), None);
    }

    #[test]
    fn every_fault_is_named_and_what_was_not_sent_is_left_alone() {
        let faults = values("name=+&pct=x&colour=&events=&due=31.12.2026&on=0").unwrap_err();
        assert_eq!(faults, ["name", "pct", "colour", "events", "due"]);
        assert_eq!(values("name=a&name=b&colour=red").unwrap_err()[0], "name");
        assert!(values("name=a&colour=red").unwrap().get("about").is_none());
        assert_eq!(values("name=a&colour=red&on=0").unwrap().switch("on"), Some(false));
        assert!(
            values("name=a&colour=red&pct=").unwrap().get("pct").is_none(),
            "something new has a default"
        );
    }

    #[test]
    fn what_a_change_empties_is_null_or_a_fault_and_never_kept() {
        static CHANGE: Form = Form {
            name: "Change",
            fields: &[
                text("name", 20),
                text("about", 50).nullable(),
                integer("pct", 1, 100),
                choice("colour", &["red", "blue"]),
                codes("codes", &["X-1", "X-2"]),
                switch("plan").nullable(),
                day("found"),
            ],
            read_only: &[],
        };
        let values = |body: &str| Sent::read(body.as_bytes(), Some(&CHANGE)).values();
        let changed = values("about=+&codes=&plan=").unwrap();
        assert_eq!(changed.get("about"), Some(&Value::Null));
        assert_eq!((changed.get("codes"), changed.get("plan")), (Some(&json!([])), Some(&Value::Null)));
        assert_eq!(changed.get("name"), None, "what was not sent stays");
        let Err(Error::Invalid(faults)) = values("name=+&pct=&colour=&found=&about=x") else { panic!() };
        let names: Vec<&str> = faults.fields.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["name", "pct", "colour", "found"]);
        assert!(faults.fields.iter().all(|(_, reason)| reason == "is required"));
    }

    #[test]
    fn a_moment_of_a_page_is_in_utc_to_the_second() {
        for (sent, read) in [
            ("2026-11-15T08:00", "2026-11-15T08:00:00Z"),
            ("2026-11-15T08:00:07", "2026-11-15T08:00:07Z"),
            ("2026-11-15T08:00:07.5", "2026-11-15T08:00:07.5Z"),
            ("2026-11-15T08:00:07Z", "2026-11-15T08:00:07Z"),
            ("2026-11-15T08:00:07+01:00", "2026-11-15T08:00:07+01:00"),
            ("tomorrow", "tomorrow"),
            ("übermorgen, um acht", "übermorgen, um acht"),
            ("---------------äöü", "---------------äöü"),
        ] {
            assert_eq!(in_utc(sent), read);
        }
    }

    #[test]
    fn a_form_with_a_file_is_read_like_any_other() {
        let part = |head: &str, text: &str| {
            format!("--b\r\nContent-Disposition: form-data; {head}\r\n\r\n{text}\r\n")
        };
        let body = [
            part("name=\"name\"", "a"),
            part("name=\"colour\"", "red"),
            part("name=\"about\"", "1\r\n2"),
            part("name=\"none\"; filename=\"\"", ""),
            part("name=\"file\"; filename=\"x\"", "\r\n1\r\n"),
        ];
        let sent = Sent::read_parts((body.concat() + "--b--").as_bytes(), "b", Some(&FORM));
        let values = sent.values().unwrap();
        assert_eq!((values.text("name"), values.text("about")), (Some("a"), Some("1\n2")));
        assert_eq!((sent.file("none"), sent.file("file")), (None, Some(&b"\r\n1\r\n"[..])));
        assert!(Sent::read_parts(body.concat().as_bytes(), "b", Some(&FORM)).values().is_err());
        let latin = [part("name=\"name\"", "X").as_bytes(), b"--b--"].concat();
        let latin: Vec<u8> = latin.iter().map(|byte| if *byte == b'X' { 0xe4 } else { *byte }).collect();
        assert!(Sent::read_parts(&latin, "b", Some(&FORM)).values().is_err());
    }

    #[test]
    fn a_body_that_is_no_form_changes_nothing() {
        for body in [&b"name=%zz"[..], b"\xff"] {
            assert!(Sent::read(body, Some(&FORM)).values().is_err());
        }
    }
}
