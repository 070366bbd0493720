//! The register out of a file: the page that takes one, the preview that says what it would do, and doing it.
//!
//! The text travels from the preview to the confirmation in the form itself; nothing is stored in between.

use super::fault::{all_said, said};
use super::frame::Frame;
use super::part::{FaultList, Input, Inputs, shown_change};
use super::words::Words;
use super::{asset, render};
use crate::domain::form::{Form, Kind, Values, choice, text};
use crate::domain::import_csv::Table;
use crate::domain::query::{Param, filter};
use crate::domain::register::{self, BYTES_MAX, Entry, Figures, Found, Holding, PROVIDER_NAME, Plan, Step};
use crate::domain::spreadsheet;
use crate::error::{Error, Faults};
use crate::http::{Answer, Notice, Reply, Visit};
use crate::store::seal;
use askama::Template;
use serde_json::{Value, json};

const NOUN: &str = "import";
const PATH: &str = "/register/import";
/// So many rows of a plan are shown.
const SHOWN_MAX: usize = 50;
/// What the forms may bring: a file that is a little too large is told so, and not cut off.
pub const FILE_BYTES_MAX: usize = BYTES_MAX + BYTES_MAX / 2;

/// Which kind of rows the page begins with.
pub static PARAMS: &[Param] = &[filter("kind", Holding::NAMES, "What the file holds.")];

/// A file to look at.
pub static FILE: Form = Form {
    name: "RegisterFile",
    fields: &[choice("kind", Holding::NAMES).required(), text("text", BYTES_MAX).nullable()],
    read_only: &[],
};

/// A file that was looked at.
pub static SEALED_FILE: Form = Form {
    name: "SealedRegisterFile",
    fields: &[
        choice("kind", Holding::NAMES).required(),
        text("text", BYTES_MAX).required(),
        text("seal", 64).required(),
    ],
    read_only: &[],
};

/// A row that would do something.
struct Line {
    number: String,
    does: &'static str,
    name: String,
    /// Field, before, after.
    changes: Vec<(String, String, String)>,
}

struct Preview {
    kind: &'static str,
    says: Vec<String>,
    faulty: bool,
    /// Line, column, what to change.
    faults: Vec<(String, String, String)>,
    more_faults: String,
    lines: Vec<Line>,
    more_lines: String,
    /// What the button says; empty if there is nothing to do.
    button: String,
    seal: String,
    text: String,
}

/// A head that a file may have.
struct Head {
    name: &'static str,
    says: String,
    /// The words that may stand below it.
    of: String,
    required: bool,
}

struct Guide {
    title: &'static str,
    sample: String,
    heads: Vec<Head>,
}

#[derive(Template)]
#[template(path = "register_import.html")]
struct ImportPage {
    frame: Frame,
    faults: Option<FaultList>,
    preview: Option<Preview>,
    /// Is a file asked for?
    asks: bool,
    kind: Input,
    text: Input,
    guides: Vec<Guide>,
}

/// `GET /register/import`
pub fn page(visit: &Visit) -> Answer {
    let kind = visit.query.get("kind").unwrap_or(Holding::Providers.name());
    Ok(Reply::html(made(
        visit,
        &Inputs::of(Words::of(visit), NOUN, &FILE, json!({ "kind": kind })),
        None,
        None,
    )?))
}

/// `POST /register/import`: what a file would do. Nothing is changed.
pub fn check(visit: &Visit) -> Answer {
    match visit.sent.values().and_then(|values| looked_at(visit, &values)) {
        Ok(preview) => shown(visit, preview, None),
        Err(Error::Invalid(faults)) => refused(visit, faults),
        Err(other) => Err(other),
    }
}

/// `POST /register/import/confirm`: takes the file in, if it still does what was shown.
pub fn carry_out(visit: &Visit) -> Answer {
    let done = visit.sent.values().and_then(|values| {
        let holding = holding(&values)?;
        let (_, table) = register::read(given(visit, &values)?).map_err(Error::Invalid)?;
        let seal = values.text("seal").unwrap_or_default().to_owned();
        Ok((holding, visit.tenant()?.import_register(holding, table, seal)?))
    });
    match done {
        Ok((holding, done)) => {
            Ok(visit.go(list_of(holding), Notice::with("done.imported", done.added + done.changed)))
        }
        Err(Error::Invalid(faults)) => {
            // What it would do now is shown anew, to be agreed to or not.
            match visit.sent.values().and_then(|values| looked_at(visit, &values)) {
                Ok(preview) => shown(visit, preview, Some(faults)),
                Err(_) => refused(visit, faults),
            }
        }
        Err(other) => Err(other),
    }
}

/// `GET /register/import/sample.csv`
pub fn sample(visit: &Visit) -> Answer {
    let holding = visit.query.get("kind").and_then(Holding::parse).unwrap_or(Holding::Providers);
    let by_name = holding == Holding::Arrangements;
    let heads: Vec<&str> = holding
        .heads()
        .into_iter()
        .filter(|head| *head != "id" && !(by_name && *head == "provider_id"))
        .collect();
    let row = heads.iter().map(|head| example(holding, head)).collect();
    let bytes = spreadsheet::write(&heads, [row].into_iter())?;
    Ok(Reply::file(bytes, "text/csv; charset=utf-8", format!("{}-sample.csv", holding.name())))
}

/// What may stand below a head.
fn example(holding: Holding, head: &str) -> String {
    let form = if head == PROVIDER_NAME { Holding::Providers.form() } else { holding.form() };
    let name = if head == PROVIDER_NAME { "name" } else { head };
    let Some(field) = form.fields.iter().find(|field| field.name == name) else { return String::new() };
    match (serde_json::from_str(field.such_as).unwrap_or(Value::Null), field.kind) {
        (Value::String(text), _) => text,
        (Value::Number(number), _) => number.to_string(),
        (_, Kind::Choice(of)) => of.first().copied().unwrap_or_default().to_owned(),
        (_, Kind::Switch) => "true".to_owned(),
        _ => String::new(),
    }
}

fn holding(values: &Values) -> Result<Holding, Error> {
    values.text("kind").and_then(Holding::parse).ok_or(Error::field("kind", "is required"))
}

fn list_of(holding: Holding) -> &'static str {
    match holding {
        Holding::Providers => "/providers",
        Holding::Arrangements => "/arrangements",
    }
}

/// The bytes of the file. One that was chosen counts: the rows of the try before may still stand in the field.
fn given<'a>(visit: &'a Visit, values: &'a Values) -> Result<&'a [u8], Error> {
    match (visit.sent.file("file"), values.text("text")) {
        (None, None) => Err(Error::field("text", "Paste the rows here, or choose a file.")),
        (Some(file), _) => Ok(file),
        (None, Some(text)) => Ok(text.as_bytes()),
    }
}

fn looked_at(visit: &Visit, values: &Values) -> Result<Preview, Error> {
    let holding = holding(values)?;
    let (text, table) = register::read(given(visit, values)?).map_err(Error::Invalid)?;
    let preview = planned(visit, holding, &table)?;
    Ok(Preview { text, ..preview })
}

fn planned(visit: &Visit, holding: Holding, table: &Table) -> Result<Preview, Error> {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    Ok(match holding {
        Holding::Providers => preview(words, holding, "provider", &tenant.plan_providers(table)?),
        Holding::Arrangements => preview(words, holding, "arrangement", &tenant.plan_arrangements(table)?),
    })
}

fn preview<T: Entry>(words: Words, holding: Holding, noun: &str, plan: &Plan<T>) -> Preview {
    let figures = plan.figures();
    let faulty = plan.found.count() > 0;
    let does = figures.added + figures.changed;
    let line = |step: &Step<T>| Line {
        number: step.line.to_string(),
        does: words.t(if step.before.is_some() { "import.changes" } else { "import.adds" }),
        name: step.after.called().to_owned(),
        changes: step.changes().iter().map(|change| shown_change(words, noun, change)).collect(),
    };
    let fault = |fault: &register::Fault| {
        (fault.line.to_string(), fault.column.clone(), sentence(&said(words, &fault.reason)))
    };
    let more = |key: &str, number: usize| if number > 0 { count(words, key, number) } else { String::new() };
    Preview {
        kind: holding.name(),
        says: says(words, figures, &plan.found),
        faulty,
        faults: plan.found.faults.iter().map(fault).collect(),
        more_faults: more("import.more_faults", plan.found.more),
        lines: plan.steps.iter().take(SHOWN_MAX).map(line).collect(),
        more_lines: more("import.more_lines", plan.steps.len().saturating_sub(SHOWN_MAX)),
        button: if faulty || does == 0 { String::new() } else { count(words, "import.confirm", does) },
        seal: seal(plan),
        text: String::new(),
    }
}

fn says(words: Words, figures: Figures, found: &Found) -> Vec<String> {
    let mut says = vec![
        count(words, "import.added", figures.added),
        count(words, "import.changed", figures.changed),
        count(words, "import.unchanged", figures.unchanged),
    ];
    if found.count() > 0 {
        says.push(count(words, "import.faulty", found.rows));
    }
    says
}

fn count(words: Words, key: &str, number: usize) -> String {
    words.count(key, u64::try_from(number).unwrap_or(u64::MAX))
}

/// A reason as a sentence of its own.
fn sentence(reason: &str) -> String {
    let mut letters = reason.chars();
    let begun: String =
        letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default();
    format!("{begun}.")
}

fn shown(visit: &Visit, preview: Preview, refused: Option<Faults>) -> Answer {
    let held = json!({ "kind": preview.kind, "text": preview.text });
    let faulty = preview.faulty || refused.is_some();
    let faults = refused.map(|faults| FaultList::one(sentence(&all_said(Words::of(visit), &faults))));
    let page = made(visit, &Inputs::of(Words::of(visit), NOUN, &FILE, held), faults, Some(preview))?;
    Ok(if faulty { Reply::faulty_page(page) } else { Reply::html(page) })
}

/// The form again, with what was typed.
fn refused(visit: &Visit, faults: Faults) -> Answer {
    let inputs = Inputs::of(Words::of(visit), NOUN, &FILE, Value::Null).again(visit, faults);
    let list = inputs.faults();
    Ok(Reply::faulty_page(made(visit, &inputs, list, None)?))
}

fn made(
    visit: &Visit,
    inputs: &Inputs,
    faults: Option<FaultList>,
    preview: Option<Preview>,
) -> Result<String, Error> {
    let words = Words::of(visit);
    render(&ImportPage {
        frame: Frame::of(visit, "/providers")?,
        faults,
        asks: preview.as_ref().is_none_or(|preview| preview.faulty),
        preview,
        kind: inputs.field("kind"),
        text: inputs.field("text"),
        guides: Holding::NAMES
            .iter()
            .filter_map(|name| Holding::parse(name))
            .map(|of| guide(words, of))
            .collect(),
    })
}

fn guide(words: Words, holding: Holding) -> Guide {
    let (noun, title) = match holding {
        Holding::Providers => ("provider", words.t("import.heads_of_providers")),
        Holding::Arrangements => ("arrangement", words.t("import.heads_of_arrangements")),
    };
    let head = |name: &'static str| {
        let field = holding.form().fields.iter().find(|field| field.name == name);
        let of = match field.map(|field| field.kind) {
            Some(Kind::Choice(of)) => of.join(", "),
            Some(Kind::Switch) => "true, false".to_owned(),
            Some(_) | None => String::new(),
        };
        Head { name, says: words.field(noun, name), of, required: field.is_some_and(|field| field.required) }
    };
    Guide {
        title,
        sample: format!("{PATH}/sample.csv?kind={}", holding.name()),
        heads: holding.heads().into_iter().map(head).collect(),
    }
}
