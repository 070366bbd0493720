//! One route on the documentation page: its facts, its fields, its examples.

use super::docs::{key_text, limit_text};
use super::markup::{json, sentence};
use crate::domain::form::{Field, Form, Kind};
use crate::domain::query::{Param, ParamKind};
use crate::error::Error;
use crate::http::describe::{answer, failure, operation_id, success_text};
use crate::http::route::{Credentials, Makings, Route, Verb};
use crate::shape::{Is, Shape, Shown};
use serde_json::Value;

/// A route, ready to be written.
pub struct RouteView {
    pub id: String,
    pub method: &'static str,
    pub method_class: &'static str,
    pub path: &'static str,
    /// The path with places to break a line.
    pub path_markup: String,
    pub says: &'static str,
    pub keyed: bool,
    pub key: &'static str,
    pub permission: Option<&'static str>,
    pub scope: &'static str,
    pub limit: String,
    pub extension: bool,
    pub available: bool,
    pub params: Vec<FieldView>,
    pub body: Vec<FieldView>,
    pub body_note: &'static str,
    pub body_text: Option<String>,
    pub answers: Vec<AnswerView>,
    pub fields: Vec<FieldView>,
    pub curl: String,
    pub example: Option<String>,
    pub status: u16,
    pub inputs: Vec<Input>,
}

/// One row of a table of fields or parameters.
pub struct FieldView {
    pub name: String,
    pub kind: String,
    pub required: bool,
    pub says: String,
    pub words: &'static [&'static str],
}

impl FieldView {
    /// The name with places to break a line.
    pub fn name_markup(&self) -> String {
        super::markup::escape(&self.name).replace('_', "_<wbr>").replace('.', ".<wbr>")
    }
}

/// One answer.
pub struct AnswerView {
    pub status: String,
    pub pill: &'static str,
    pub when: String,
}

/// One field of the form that tries a route.
pub struct Input {
    pub name: String,
    pub place: &'static str,
    pub kind: &'static str,
    pub words: &'static [&'static str],
}

/// A closed set longer than this is told by its first words.
const WORDS_SHOWN_MAX: usize = 14;

/// Reads a row.
pub fn view(route: &Route, makings: &Makings) -> Result<RouteView, Error> {
    let body_text = route.takes.map(answer::body_example).map(|value| pretty(&value));
    Ok(RouteView {
        id: operation_id(route),
        method: route.verb.name(),
        method_class: method_class(route.verb),
        path: route.path,
        path_markup: super::markup::escape(route.path).replace('/', "/<wbr>"),
        says: route.says,
        keyed: route.tier.credentials() != Credentials::None,
        key: key_text(route.tier),
        permission: route.needs.map(|permission| permission.name()),
        scope: route.handler.scope().name(),
        limit: limit_text(route.tier, makings.limits),
        extension: route.extension,
        available: route.handler.is_available(),
        params: path_name(route.path)
            .map(path_row)
            .into_iter()
            .chain(route.asks.iter().map(param_row))
            .collect(),
        body: route.takes.map(form_rows).unwrap_or_default(),
        body_note: if route.optional_body { "may be left away" } else { "" },
        curl: curl(route, makings.base_url, body_text.as_deref()),
        body_text,
        answers: answers(route),
        fields: route.shows.map(shape_rows).unwrap_or_default(),
        example: answer::example(route, makings)?.map(|value| json(&value)),
        status: route.gives.status(),
        inputs: inputs(route),
    })
}

fn method_class(verb: Verb) -> &'static str {
    match verb {
        Verb::Get => "method",
        Verb::Post => "method method-post",
        Verb::Put | Verb::Patch => "method method-patch",
        Verb::Delete => "method method-delete",
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn path_name(path: &str) -> Option<&str> {
    Some(path.split_once('{')?.1.split_once('}')?.0)
}

fn path_row(name: &str) -> FieldView {
    FieldView {
        name: name.to_owned(),
        kind: "in the path".into(),
        required: true,
        says: "The object's identifier.".into(),
        words: &[],
    }
}

fn param_row(param: &Param) -> FieldView {
    let (kind, words) = match param.kind {
        ParamKind::Limit => ("whole number from 1".to_owned(), no_words()),
        ParamKind::Offset => ("whole number from 0".to_owned(), no_words()),
        ParamKind::Text { max_chars } | ParamKind::Needed { max_chars } => {
            (format!("text, up to {max_chars}"), no_words())
        }
        ParamKind::Choice(of) => ("one of".to_owned(), of),
        ParamKind::Integer { min, max } => (format!("whole number {min} to {max}"), no_words()),
        ParamKind::Day => ("day".to_owned(), no_words()),
    };
    let required = param.is_needed();
    FieldView { name: param.name.into(), kind, required, says: sentence(param.says), words }
}

fn no_words() -> &'static [&'static str] {
    &[]
}

fn form_rows(form: &Form) -> Vec<FieldView> {
    let mut rows = Vec::new();
    add_form_rows(&mut rows, form, "");
    rows
}

fn add_form_rows(rows: &mut Vec<FieldView>, form: &Form, before: &str) {
    for field in form.fields {
        let (kind, words, inner) = field_kind(field);
        let kind = if field.nullable { format!("{kind}, or null") } else { kind };
        let name = format!("{before}{}", field.name);
        rows.push(FieldView {
            name: name.clone(),
            kind,
            required: field.required,
            says: sentence(field.says),
            words,
        });
        if let Some((of, mark)) = inner {
            add_form_rows(rows, of, &format!("{name}{mark}."));
        }
    }
}

type Inner = Option<(&'static Form, &'static str)>;

fn field_kind(field: &Field) -> (String, &'static [&'static str], Inner) {
    let plain = |kind: String| (kind, no_words(), None);
    match field.kind {
        Kind::Text { max_chars } => plain(format!("text, up to {max_chars}")),
        Kind::Uri { max_chars } => plain(format!("address, up to {max_chars}")),
        Kind::Integer { min, max } => plain(format!("whole number {min} to {max}")),
        Kind::Switch => plain("true, false, 0, 1, \"0\" or \"1\"".into()),
        Kind::Choice(of) => ("one of".into(), of, None),
        Kind::Choices(of) => ("one or more of".into(), of, None),
        Kind::Codes(of) if of.len() > 2 * WORDS_SHOWN_MAX => plain(format!("list of ids, such as {}", of[0])),
        Kind::Codes(of) => ("some of".into(), of, None),
        Kind::Number { min, max } => plain(format!("number {min} to {max}")),
        Kind::Day => plain("day, YYYY-MM-DD".into()),
        Kind::Time => plain("time, RFC 3339".into()),
        Kind::Shaped { example, .. } => plain(format!("text like {example}")),
        Kind::Texts { max_items, .. } => plain(format!("list of texts, up to {max_items}")),
        Kind::Capitals { chars, digits: true } => plain(format!("{chars} capital letters or digits")),
        Kind::Capitals { chars, digits: false } => plain(format!("{chars} capital letters")),
        Kind::Record(of) => ("object".into(), no_words(), Some((of, ""))),
        Kind::Records { of, max_items } | Kind::Keyed { of, max_items, .. } => {
            (format!("list of objects, up to {max_items}"), no_words(), Some((of, "[]")))
        }
    }
}

fn shape_rows(shape: &'static Shape) -> Vec<FieldView> {
    let mut rows = Vec::new();
    add_shape_rows(&mut rows, &mut Vec::new(), shape, "");
    rows
}

/// Objects inside objects follow their field; a shape that was told already is not told again.
fn add_shape_rows(
    rows: &mut Vec<FieldView>,
    told: &mut Vec<&'static str>,
    shape: &'static Shape,
    before: &str,
) {
    told.push(shape.name);
    for field in shape.fields {
        let name = format!("{before}{}", field.name);
        let (kind, words, inner) = shown_kind(&field.is);
        let again = inner.is_some_and(|(of, _)| told.contains(&of.name));
        let kind = if again { format!("{kind}, as above") } else { kind };
        rows.push(FieldView {
            name: name.clone(),
            kind: kind_of(field, kind),
            required: false,
            says: sentence(field.says),
            words,
        });
        if let (Some((of, mark)), false) = (inner, again) {
            add_shape_rows(rows, told, of, &format!("{name}{mark}."));
        }
    }
}

fn kind_of(field: &Shown, kind: String) -> String {
    match (field.nullable, field.optional) {
        (true, _) => format!("{kind}, or null"),
        (false, true) => format!("{kind}, may be absent"),
        (false, false) => kind,
    }
}

fn shown_kind(is: &Is) -> (String, &'static [&'static str], Option<(&'static Shape, &'static str)>) {
    let plain = |kind: &str| (kind.to_owned(), no_words(), None);
    match is {
        Is::Text => plain("text"),
        Is::Id(prefix) => plain(&format!("id, {prefix}_…")),
        Is::Day => plain("day"),
        Is::Time => plain("time"),
        Is::Whole => plain("whole number"),
        Is::Number => plain("number"),
        Is::Percent => plain("percent"),
        Is::Flag => plain("true or false"),
        Is::Word(of) => ("one of".into(), of, None),
        Is::Words(of) => ("some of".into(), of, None),
        Is::List(of) => {
            let (kind, words, inner) = shown_kind(of);
            (format!("list: {kind}"), words, inner.map(|(shape, _)| (shape, "[]")))
        }
        Is::Record(shape) => ("object".into(), no_words(), Some((shape, ""))),
        Is::Keyed(of) => (format!("object, each value {}", shown_kind(of).0), no_words(), None),
        Is::Anything => plain("object"),
    }
}

fn answers(route: &Route) -> Vec<AnswerView> {
    let good = |status: u16, when: &str| AnswerView {
        status: status.to_string(),
        pill: "pill pill-good",
        when: sentence(when),
    };
    let mut answers = vec![good(route.gives.status(), success_text(route))];
    answers.extend(
        route.gives.also().map(|status| good(status, "A question what would be; nothing is stored.")),
    );
    answers.extend(failure::failures(route).into_iter().map(|failure| AnswerView {
        status: failure.status.into(),
        pill: match failure.status {
            "429" | "500" | "501" => "pill pill-high",
            _ => "pill pill-medium",
        },
        when: sentence(failure.when),
    }));
    answers
}

/// A line to paste. The key comes from the environment, so that it is in no history and in no address.
fn curl(route: &Route, base_url: &str, body: Option<&str>) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut asked: Vec<String> = route
        .asks
        .iter()
        .filter(|param| param.is_needed())
        .map(|param| format!("{}=risk", param.name))
        .collect();
    asked.extend(
        route.asks.iter().any(|param| matches!(param.kind, ParamKind::Limit)).then(|| "limit=5".into()),
    );
    let mark = if asked.is_empty() { "" } else { "?" };
    let address = format!("{base_url}{}{mark}{}", route.path, asked.join("&"));
    let mut parts = match route.verb {
        Verb::Get => vec![format!("curl {}", quote(&address))],
        Verb::Post | Verb::Put | Verb::Patch | Verb::Delete => {
            vec![format!("curl -X {} {}", route.verb.name(), quote(&address))]
        }
    };
    if route.tier.credentials() != Credentials::None {
        parts.push("-H \"Authorization: Bearer $HOLDFAST_KEY\"".into());
    }
    if let Some(body) = body {
        parts.push("-H 'Content-Type: application/json'".into());
        parts.push(format!("-d {}", quote(body)));
    }
    parts.join(" \\\n  ")
}

fn inputs(route: &Route) -> Vec<Input> {
    let path = path_name(route.path).map(|name| Input {
        name: name.into(),
        place: "path",
        kind: "text",
        words: &[],
    });
    let queries = route.asks.iter().map(|param| {
        let (kind, words) = match param.kind {
            ParamKind::Limit | ParamKind::Offset | ParamKind::Integer { .. } => ("number", no_words()),
            ParamKind::Day => ("date", no_words()),
            ParamKind::Text { .. } | ParamKind::Needed { .. } => ("text", no_words()),
            ParamKind::Choice(of) => ("choice", of),
        };
        Input { name: param.name.into(), place: "query", kind, words }
    });
    path.into_iter().chain(queries).collect()
}
