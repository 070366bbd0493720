//! The library: the reference data as lists and pages, with links between a measure, its evidence, its gaps and the
//! tenant's own work on it.

use super::frame::Frame;
use super::part::{Cell, Column, Empty, Facts, Filters, Heads, Pager, badge, column};
use super::plain::{PlainList, PlainShow, Section, Slot};
use super::words::Words;
use crate::domain::alert::Work;
use crate::domain::day::Day;
use crate::domain::query::Param;
use crate::error::Error;
use crate::http::{Answer, Reply, Visit};
use crate::reference::dataset::{self, Dataset, EVIDENCE, GAP_ANALYSIS, INCIDENT_DRILLS, MEASURES, RADAR};
use serde_json::Value;

/// From this length on a text is a section of its own.
const FACT_CHARS_MAX: usize = 60;

/// A dataset as people read it.
struct Shelf {
    path: &'static str,
    noun: &'static str,
    dataset: &'static Dataset,
    columns: &'static [Column],
}

const TITLE: Column = column("library.field.title", None);
const PRIORITY: Column = column("library.field.priority", None);
const CYCLE: Column = column("library.field.cycle", None);
const DIFFICULTY: Column = column("library.field.difficulty", None);
const MINUTES: Column = column("library.field.duration_minutes", None).figures();

static MEASURE: Shelf = Shelf {
    path: "/measures",
    noun: "measure",
    dataset: &MEASURES,
    columns: &[TITLE, column("library.field.article", None), column("library.field.pillar", None), PRIORITY],
};
static PROOF: Shelf = Shelf {
    path: "/evidence",
    noun: "evidence",
    dataset: &EVIDENCE,
    columns: &[TITLE, column("library.field.kind", None), CYCLE],
};
static GAP: Shelf = Shelf {
    path: "/gap-analysis",
    noun: "gap",
    dataset: &GAP_ANALYSIS,
    columns: &[
        TITLE,
        column("library.field.framework", None),
        column("library.field.status", None),
        PRIORITY,
    ],
};
static SIGNAL: Shelf = Shelf {
    path: "/radar",
    noun: "signal",
    dataset: &RADAR,
    columns: &[
        TITLE,
        column("library.field.authority", None),
        column("library.field.relevance", None),
        column("library.field.date", None).figures(),
    ],
};
static DRILL: Shelf = Shelf {
    path: "/drills",
    noun: "drill",
    dataset: &INCIDENT_DRILLS,
    columns: &[TITLE, DIFFICULTY, MINUTES],
};
static TRAINING: Shelf = Shelf {
    path: "/training",
    noun: "training",
    dataset: &dataset::TRAINING,
    columns: &[TITLE, DIFFICULTY, CYCLE, MINUTES],
};

/// What a list may be asked for: all that the dataset can, but no `limit`, so that a page stays small.
pub const fn params(dataset: &'static Dataset) -> &'static [Param] {
    match dataset.params {
        [_limit, rest @ ..] => rest,
        [] => &[],
    }
}

/// `GET /measures`
pub fn measures(visit: &Visit) -> Answer {
    list(visit, &MEASURE)
}

/// `GET /measures/{measure}`
pub fn measure(visit: &Visit) -> Answer {
    show(visit, &MEASURE)
}

/// `GET /evidence`
pub fn evidence(visit: &Visit) -> Answer {
    list(visit, &PROOF)
}

/// `GET /evidence/{evidence}`
pub fn proof(visit: &Visit) -> Answer {
    show(visit, &PROOF)
}

/// `GET /gap-analysis`
pub fn gaps(visit: &Visit) -> Answer {
    list(visit, &GAP)
}

/// `GET /gap-analysis/{requirement}`
pub fn gap(visit: &Visit) -> Answer {
    show(visit, &GAP)
}

/// `GET /radar`
pub fn radar(visit: &Visit) -> Answer {
    list(visit, &SIGNAL)
}

/// `GET /radar/{signal}`
pub fn signal(visit: &Visit) -> Answer {
    show(visit, &SIGNAL)
}

/// `GET /drills`
pub fn drills(visit: &Visit) -> Answer {
    list(visit, &DRILL)
}

/// `GET /drills/{drill}`
pub fn drill(visit: &Visit) -> Answer {
    show(visit, &DRILL)
}

/// `GET /training`
pub fn trainings(visit: &Visit) -> Answer {
    list(visit, &TRAINING)
}

/// `GET /training/{training}`
pub fn training(visit: &Visit) -> Answer {
    show(visit, &TRAINING)
}

fn list(visit: &Visit, shelf: &'static Shelf) -> Answer {
    let (words, query) = (Words::of(visit), &visit.query);
    let selection = visit.app.reference.table(shelf.dataset)?.select(query);
    let mut json = vec![b'['];
    selection.write_records(&mut json);
    json.push(b']');
    let records: Vec<Value> =
        serde_json::from_slice(&json).map_err(|cause| Error::internal("reading the library", cause))?;
    let row = |record: &Value| {
        let id = record["id"].as_str().unwrap_or_default();
        let title = record["title"].as_str().unwrap_or_default();
        let first =
            Cell { class: "title", ..Cell::link(format!("{}/{id}", shelf.path), title).of_the_library() }
                .below(id);
        let slots = shelf.columns.iter().skip(1).map(|column| {
            let field = column.key.rsplit('.').next().unwrap_or_default();
            Slot {
                label: words.t(column.key).to_owned(),
                class: column.class,
                cell: short(words, field, &record[field]),
            }
        });
        (first, slots.collect())
    };
    let total = selection.total as u64;
    let found = words.count("library.found", total);
    let page = PlainList {
        frame: Frame::of(visit, shelf.path)?,
        title: words.t(&format!("{}.title", shelf.noun)),
        lead: words.t(&format!("{}.lead", shelf.noun)).to_owned(),
        actions: Vec::new(),
        filters: Filters::of(words, shelf.noun, shelf.path, query, shelf.dataset.params, found),
        heads: Heads::of(words, shelf.path, query, shelf.columns),
        rows: records.iter().map(row).collect(),
        pager: Pager::of(words, shelf.path, query, selection.page, records.len(), total),
        empty: Empty {
            title: words.t("library.no_match").to_owned(),
            text: words.t("library.no_match_text").to_owned(),
            links: vec![(shelf.path.to_owned(), words.t("filter.clear"))],
        },
    };
    Ok(Reply::html(page.page()?))
}

/// A value in one line.
fn short(words: Words, field: &str, value: &Value) -> Cell {
    match value {
        Value::String(text) if matches!(field, "priority" | "relevance") => badge(words, text),
        Value::String(text) => match Day::parse(text) {
            Some(day) => Cell::day(words, Some(day)),
            None => Cell::text(readable(words, text)),
        },
        Value::Bool(yes) => Cell::text(words.word(if *yes { "true" } else { "false" })),
        Value::Number(number) => Cell::text(number.to_string()),
        Value::Array(items) => {
            let texts: Vec<String> =
                items.iter().filter_map(Value::as_str).map(|text| readable(words, text)).collect();
            Cell::optional(words, Some(texts.join(", ")).as_deref().filter(|text| !text.is_empty()))
        }
        Value::Null | Value::Object(_) => Cell::missing(words),
    }
}

/// A word of a closed set as people read it; any other text as it is.
fn readable(words: Words, text: &str) -> String {
    let is_word =
        |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || matches!(char, '_' | '-');
    if text.chars().all(is_word) { words.word(text) } else { text.to_owned() }
}

fn show(visit: &Visit, shelf: &'static Shelf) -> Answer {
    let words = Words::of(visit);
    let found = visit.app.reference.table(shelf.dataset)?.record(&visit.id);
    let bytes = found.ok_or(Error::NotFound(shelf.noun))?;
    let record: Value =
        serde_json::from_slice(bytes).map_err(|cause| Error::internal("reading the library", cause))?;
    let (mut facts, mut sections) = (Facts::default(), Vec::new());
    for (field, value) in record.as_object().into_iter().flatten().filter(|(field, _)| *field != "title") {
        let name = words.field("library", field);
        match (field.as_str(), value) {
            ("measure_ids" | "evidence_ids", Value::Array(ids)) => {
                sections.push(linked(visit, field, name, ids))
            }
            ("mappings", Value::Object(of)) => {
                for (framework, references) in of {
                    facts =
                        facts.with(words.word(&framework.replace('_', "-")), short(words, field, references));
                }
            }
            (_, Value::String(text)) if text.chars().count() > FACT_CHARS_MAX => {
                sections.push(prose(name, text))
            }
            (_, Value::Array(items)) if items.iter().any(Value::is_object) || items.len() > 3 => {
                let lines =
                    items.iter().map(|item| (Cell::text(line(item)).of_the_library(), Cell::default()));
                sections.push(Section {
                    title: name,
                    text: String::new(),
                    lines: lines.collect(),
                    more: None,
                });
            }
            ("id", Value::String(id)) => facts = facts.with(name, Cell::reference(id)),
            (_, value) => facts = facts.with(name, short(words, field, value)),
        }
    }
    if shelf.path == MEASURE.path {
        sections.extend(around_measure(visit)?);
    }
    let page = PlainShow {
        frame: Frame::of(visit, shelf.path)?,
        list: (shelf.path, words.t(&format!("{}.title", shelf.noun))),
        title: record["title"].as_str().unwrap_or_default().to_owned(),
        meta: vec![Cell { class: "ref", ..Cell::text(visit.id.clone()) }],
        actions: Vec::new(),
        sections: sections
            .into_iter()
            .filter(|section| !section.text.is_empty() || !section.lines.is_empty())
            .collect(),
        facts,
        history: None,
    };
    Ok(Reply::html(page.page()?))
}

fn prose(title: String, text: &str) -> Section {
    Section { title, text: text.to_owned(), lines: Vec::new(), more: None }
}

/// An item of a list: a text, or the texts and numbers of an object.
fn line(item: &Value) -> String {
    match item {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let texts = fields.values().filter(|value| !value.is_null());
            let texts = texts.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            texts.collect::<Vec<_>>().join(" · ")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => item.to_string(),
    }
}

/// Records of another shelf, by their ids.
fn linked(visit: &Visit, field: &str, title: String, ids: &[Value]) -> Section {
    let catalogue = &visit.app.reference.catalogue;
    let one = |id: &str| {
        let (path, name) = match field {
            "evidence_ids" => (
                PROOF.path,
                catalogue.evidence.data.iter().find(|each| each.id == id).map(|each| each.title.as_str()),
            ),
            _ => (
                MEASURE.path,
                catalogue.measures.data.iter().find(|each| each.id == id).map(|each| each.title.as_str()),
            ),
        };
        (Cell::link(format!("{path}/{id}"), name.unwrap_or(id)).of_the_library().below(id), Cell::default())
    };
    let lines = ids.iter().filter_map(Value::as_str).map(one);
    Section { title, text: String::new(), lines: lines.collect(), more: None }
}

/// The gaps at a measure, and the tenant's own findings and test cases on it.
fn around_measure(visit: &Visit) -> Result<Vec<Section>, Error> {
    let (words, id) = (Words::of(visit), &visit.id);
    let requirements = visit.app.reference.catalogue.requirements.data.iter();
    let gaps = requirements.filter(|each| each.measure_ids.contains(id)).map(|each| {
        let what = Cell::link(format!("{}/{}", GAP.path, each.id), &each.title)
            .of_the_library()
            .below(&each.article);
        (what, Cell::text(words.word(each.status.name())))
    });
    let work = visit.tenant()?.work_on_measure(id)?;
    let own = work.into_iter().map(|(work, id, title, status)| {
        let (pages, noun) = match work {
            Work::Finding => ("/findings", words.t("finding.title_one")),
            Work::TestCase => ("/test-cases", words.t("test_case.title_one")),
        };
        (Cell::link(format!("{pages}/{id}"), title).below(noun), badge(words, &status))
    });
    let section =
        |key: &str, lines| Section { title: words.t(key).to_owned(), text: String::new(), lines, more: None };
    Ok(vec![section("measure.gaps", gaps.collect()), section("measure.own", own.collect())])
}
