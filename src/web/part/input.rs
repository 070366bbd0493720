//! Inputs: the fields of a page's form, made from the rows of the domain's form. Label, hint, fault, field, in this
//! order; what was typed is kept.

use super::super::fault;
use super::super::words::Words;
use crate::domain::form::{Field, Form, Kind};
use crate::domain::sent::Sent;
use crate::error::Faults;
use crate::http::Visit;
use askama::Template;
use serde_json::Value;

/// From this length on a text gets several lines.
const LINE_CHARS_MAX: usize = 512;

/// How a field looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    /// One line; the type of the input.
    Line(&'static str),
    /// Several lines.
    Area,
    /// A list that opens.
    Pick,
    /// One of a few, all shown.
    Radios,
    /// Any of a few.
    Boxes,
    /// On or off.
    Switch,
}

/// A field of a form.
#[derive(Template)]
#[template(path = "part/input.html")]
pub struct Input {
    words: Words,
    id: String,
    name: String,
    label: String,
    hint: Option<&'static str>,
    fault: Option<String>,
    optional: bool,
    look: Look,
    value: String,
    /// Value, text, chosen.
    options: Vec<(String, String, bool)>,
    max_chars: usize,
    complete: &'static str,
}

impl Input {
    /// The same field under an id of its own, where a page has it more than once.
    pub fn named(mut self, id: &str) -> Input {
        self.id = id.to_owned();
        self
    }

    /// The same field where it has to be filled in, though its row can do without.
    pub fn must(mut self) -> Input {
        self.optional = false;
        self
    }
}

/// The fields of one form, with what they hold and what is wrong with it.
pub struct Inputs<'a> {
    words: Words,
    noun: &'static str,
    form: &'static Form,
    object: Value,
    sent: Option<&'a Sent>,
    faults: Faults,
}

impl<'a> Inputs<'a> {
    /// A form that shows what `object` has: a record as the API shows it, or first suggestions.
    pub fn of(words: Words, noun: &'static str, form: &'static Form, object: Value) -> Inputs<'a> {
        Inputs { words, noun, form, object, sent: None, faults: Faults::default() }
    }

    /// The same form after a try: what was typed, and what is wrong with it.
    pub fn again(mut self, visit: &'a Visit, faults: Faults) -> Inputs<'a> {
        self.sent = Some(&visit.sent);
        self.faults = faults;
        self
    }

    /// A field, as its row says.
    pub fn field(&self, name: &str) -> Input {
        let Some(field) = self.form.fields.iter().find(|field| field.name == name) else {
            return self.made(name, Look::Line("text"), true, 0, Vec::new());
        };
        let words_of =
            |of: &[&str]| of.iter().map(|word| ((*word).to_owned(), self.words.word(word))).collect();
        let (look, max_chars, options): (Look, usize, Vec<(String, String)>) = match field.kind {
            Kind::Text { max_chars } if max_chars > LINE_CHARS_MAX => (Look::Area, max_chars, Vec::new()),
            Kind::Text { max_chars } | Kind::Uri { max_chars } => (Look::Line("text"), max_chars, Vec::new()),
            Kind::Integer { .. } | Kind::Number { .. } => (Look::Line("text"), 30, Vec::new()),
            // Nobody knows is an answer too: it must not become a no by looking at the form.
            Kind::Switch if field.nullable => {
                let word = |value: &str, word: &str| (value.to_owned(), self.words.word(word));
                (Look::Pick, 0, vec![word("1", "true"), word("0", "false")])
            }
            Kind::Switch => (Look::Switch, 0, Vec::new()),
            Kind::Choice(of) if of.len() <= 5 && !field.nullable => (Look::Radios, 0, words_of(of)),
            Kind::Choice(of) => (Look::Pick, 0, words_of(of)),
            Kind::Choices(of) => (Look::Boxes, 0, words_of(of)),
            Kind::Codes(of) if of.len() <= 12 => (Look::Boxes, 0, words_of(of)),
            Kind::Codes(_) | Kind::Texts { .. } => (Look::Line("text"), 0, Vec::new()),
            Kind::Day => (Look::Line("date"), 0, Vec::new()),
            Kind::Time => (Look::Line("datetime-local"), 0, Vec::new()),
            Kind::Shaped { .. } => (Look::Line("text"), 0, Vec::new()),
            Kind::Capitals { chars, .. } => (Look::Line("text"), chars, Vec::new()),
            Kind::Record(_) | Kind::Records { .. } | Kind::Keyed { .. } => (Look::Area, 0, Vec::new()),
        };
        self.made(name, look, self.is_optional(field), max_chars, options)
    }

    /// A field with a list of the page's own to choose from: value and text.
    pub fn pick(&self, name: &str, options: Vec<(String, String)>) -> Input {
        let field = self.form.fields.iter().find(|field| field.name == name);
        let optional = field.is_none_or(|field| self.is_optional(field));
        self.made(name, Look::Pick, optional, 0, options)
    }

    fn is_optional(&self, field: &Field) -> bool {
        self.form.may_be_empty(field) && (field.nullable || !matches!(field.kind, Kind::Choice(_)))
    }

    /// A field whose input has another type, such as `password` or `email`.
    pub fn typed(&self, name: &str, kind: &'static str, complete: &'static str) -> Input {
        Input { look: Look::Line(kind), complete, ..self.field(name) }
    }

    /// What is wrong, on top of the form; nothing if nothing is.
    pub fn faults(&self) -> Option<FaultList> {
        if self.faults.fields.is_empty() && self.faults.summary.is_empty() {
            return None;
        }
        let number = self.faults.fields.len() + self.faults.more;
        let title = match number {
            0 => self.words.t("form.not_done").to_owned(),
            _ => self.words.count("form.not_saved", number as u64),
        };
        let known = |name: &str| self.form.fields.iter().any(|field| field.name == name);
        let items = self.faults.fields.iter().map(|(name, reason)| {
            let target = if known(name) { format!("#{name}") } else { String::new() };
            (target, self.fault_text(name, reason))
        });
        let mut items: Vec<(String, String)> = items.collect();
        if !self.faults.summary.is_empty() {
            items.insert(0, (String::new(), sentence(&fault::said(self.words, &self.faults.summary))));
        }
        Some(FaultList { title, items })
    }

    fn made(
        &self,
        name: &str,
        look: Look,
        optional: bool,
        max_chars: usize,
        options: Vec<(String, String)>,
    ) -> Input {
        let fault = self.faults.fields.iter().find(|(faulty, _)| faulty == name);
        let secret = name.contains("password");
        let held: Vec<String> = match self.sent {
            _ if secret => Vec::new(),
            Some(sent) if sent.text(name).is_some() => match look {
                Look::Boxes => sent.all(name).map(str::to_owned).collect(),
                Look::Line(_) | Look::Area | Look::Pick | Look::Radios | Look::Switch => {
                    sent.text(name).map(str::to_owned).into_iter().collect()
                }
            },
            Some(_) | None => texts(&self.object[name], look),
        };
        let chosen = |value: &String| held.contains(value);
        let value = match look {
            Look::Boxes => String::new(),
            Look::Line(_) | Look::Area | Look::Pick | Look::Radios | Look::Switch => held.join(", "),
        };
        Input {
            words: self.words,
            id: name.to_owned(),
            name: name.to_owned(),
            label: self.words.field(self.noun, name),
            hint: self.words.hint(self.noun, name),
            fault: fault.map(|(_, reason)| self.fault_text(name, reason)),
            optional,
            look,
            value,
            options: options
                .into_iter()
                .map(|(value, text)| {
                    let is_chosen = chosen(&value);
                    (value, text, is_chosen)
                })
                .collect(),
            max_chars,
            complete: "",
        }
    }

    /// A reason as the API gives it, with the field's label before it and other fields by their labels.
    fn fault_text(&self, name: &str, reason: &str) -> String {
        let reason = fault::said(self.words, reason);
        if reason.starts_with(char::is_uppercase) {
            return reason;
        }
        let label = |word: &str| {
            let bare = word.trim_end_matches([',', '.', ';']);
            let known = bare.contains('_') && self.form.fields.iter().any(|field| field.name == bare);
            match known {
                true => {
                    let label = self.words.field(self.noun, bare);
                    word.replace(bare, &self.words.say("form.quoted", &[("text", &label)]))
                }
                false => word.to_owned(),
            }
        };
        let reason: Vec<String> = reason.split(' ').map(label).collect();
        format!("{} {}", self.words.field(self.noun, name), reason.join(" "))
    }
}

/// What a record holds, as inputs want it.
fn texts(value: &Value, look: Look) -> Vec<String> {
    match value {
        Value::String(text) if look == Look::Line("datetime-local") => {
            vec![text.chars().take("2026-11-15T08:00:00".len()).collect()]
        }
        Value::String(text) => vec![text.clone()],
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(on) => vec![if *on { "1" } else { "0" }.to_owned()],
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::Null | Value::Object(_) => Vec::new(),
    }
}

/// A sentence of the house begins with a capital and ends with a full stop.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let begun: String =
        chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default();
    if begun.ends_with('.') { begun } else { begun + "." }
}

/// What is wrong, with links to the fields.
#[derive(Template)]
#[template(path = "part/faults.html")]
pub struct FaultList {
    title: String,
    /// Where to, and what.
    items: Vec<(String, String)>,
}

impl FaultList {
    /// A single sentence, for pages whose form is not from a row.
    pub fn one(text: impl Into<String>) -> FaultList {
        FaultList { title: text.into(), items: Vec::new() }
    }

    /// What was refused, in one sentence.
    pub fn refused(words: Words, faults: &Faults) -> FaultList {
        FaultList::one(fault::all_said(words, faults))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::programme::NEW_PROGRAMME;
    use serde_json::json;

    #[test]
    fn an_input_is_its_row_and_shows_its_fault() {
        let inputs = Inputs::of(
            Words::ENGLISH,
            "programme",
            &NEW_PROGRAMME,
            json!({ "name": "<b>", "framework": "dora" }),
        );
        let html = inputs.field("name").to_string();
        assert!(html.contains("maxlength=\"255\"") && !html.contains("<b>"), "{html}");
        assert!(inputs.field("framework").to_string().contains("value=\"dora\" selected"));
        assert!(inputs.field("description").to_string().contains("<textarea"));
        assert!(inputs.field("starts_on").to_string().contains("type=\"date\""));
        assert!(inputs.faults().is_none());
        let faults = Faults::one("ends_on", "must not be before starts_on");
        let inputs = Inputs { faults, ..inputs };
        let html = inputs.field("ends_on").to_string();
        assert!(html.contains("aria-invalid") && html.contains("“Starts on”"), "{html}");
        assert!(inputs.faults().unwrap().to_string().contains("href=\"#ends_on\""));
    }
}
