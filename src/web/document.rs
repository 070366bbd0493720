//! Documents that one can hand to an auditor: a programme, a test case, a finding and a list of findings as PDF files.
//!
//! The rule: what stands in them is said in `pdf/report`; here it is read, within bounds, and named.

use super::export::{in_turn, send};
use super::time;
use super::words::Words;
use crate::domain::day::Day;
use crate::domain::finding::Finding;
use crate::domain::history::{Entry, Note};
use crate::domain::page::Page;
use crate::domain::query::{Query, encode};
use crate::domain::test_case::TestCase;
use crate::error::Error;
use crate::http::{Answer, Visit};
use crate::pdf;
use crate::pdf::document::Document;
use crate::pdf::report::{self, Names, Part, Printed, ROWS_MAX, Told};
use crate::pdf::words::Wording;
use crate::store::Listed;
use std::collections::BTreeSet;

/// The most acts and notes of an object.
const TOLD_MAX: u64 = 1_000;
/// The most test cases of a programme; they are read with all their text.
const CASES_MAX: u64 = 2_000;
/// The fields of a history that hold an id of something with a name.
const LINKS: &[&str] = &["programme_id", "test_case_id"];

impl Wording for Words {
    fn language(&self) -> &'static str {
        self.lang()
    }

    fn t(&self, key: &str) -> &'static str {
        Words::t(*self, key)
    }

    fn count(&self, key: &str, number: u64) -> String {
        Words::count(*self, key, number)
    }

    fn decimal(&self, number: f64) -> String {
        Words::decimal(*self, number)
    }

    fn word(&self, word: &str) -> String {
        Words::word(*self, word)
    }

    fn field(&self, noun: &str, name: &str) -> String {
        Words::field(*self, noun, name)
    }

    fn day(&self, day: Day) -> String {
        time::day(*self, day)
    }

    fn moment(&self, wall_ms: i64) -> String {
        time::moment(*self, wall_ms)
    }
}

/// What was done to an object and written about it.
struct Story {
    history: Listed<Entry>,
    notes: Listed<Note>,
}

impl Story {
    fn of(visit: &Visit, object_id: &str) -> Result<Story, Error> {
        let (tenant, page) = (visit.tenant()?, Page { limit: TOLD_MAX, offset: 0 });
        Ok(Story { history: tenant.history(object_id, page)?, notes: tenant.notes(object_id, page)? })
    }

    fn told(&self) -> Told<'_> {
        Told { history: part(&self.history), notes: part(&self.notes) }
    }

    /// The ids in it that have a name.
    fn ids(&self) -> impl Iterator<Item = &str> {
        let changes = self.history.items.iter().flat_map(|entry| &entry.changes);
        let links = changes.filter(|change| LINKS.contains(&change.field.as_str()));
        links.flat_map(|change| [change.before.as_str(), change.after.as_str()]).flatten()
    }
}

fn part<T>(listed: &Listed<T>) -> Part<'_, T> {
    Part { items: &listed.items, total: listed.total }
}

/// `GET /programmes/{programme}/export.pdf`
pub fn programme(visit: &Visit) -> Answer {
    in_turn(visit, || made_of_programme(visit))
}

fn made_of_programme(visit: &Visit) -> Answer {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let programme = tenant.programme(&visit.id)?;
    let of = format!("programme_id={}", encode(&programme.id));
    let cases = tenant.test_cases(&asked(&of, super::test_case::PARAMS, CASES_MAX)?)?;
    let findings = findings_of(visit, &of)?;
    let story = Story::of(visit, &programme.id)?;
    let names = names(visit, story.ids(), &[])?;
    let (printed, told) = (printed(visit, &words)?, story.told());
    let document =
        report::programme_document(printed, &programme, part(&cases), part(&findings), told, &names);
    file(visit, &document, "programme", Some(&programme.id))
}

/// `GET /test-cases/{test_case}/export.pdf`
pub fn test_case(visit: &Visit) -> Answer {
    in_turn(visit, || made_of_test_case(visit))
}

fn made_of_test_case(visit: &Visit) -> Answer {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let case: TestCase = tenant.test_case(&visit.id)?;
    let findings = findings_of(visit, &format!("test_case_id={}", encode(&case.id)))?;
    let story = Story::of(visit, &case.id)?;
    let ids = story.ids().chain([case.programme_id.as_str()]);
    let names = names(visit, ids, &case.measure_ids)?;
    let (printed, told) = (printed(visit, &words)?, story.told());
    let document = report::test_case_document(printed, &case, part(&findings), told, &names);
    file(visit, &document, "test-case", Some(&case.id))
}

/// `GET /findings/{finding}/export.pdf`
pub fn finding(visit: &Visit) -> Answer {
    let (words, tenant) = (Words::of(visit), visit.tenant()?);
    let finding = tenant.finding(&visit.id)?;
    let story = Story::of(visit, &finding.id)?;
    let names = names(visit, story.ids().chain(links(&finding)), &finding.measure_ids)?;
    let document = report::finding_document(printed(visit, &words)?, &finding, story.told(), &names);
    file(visit, &document, "finding", Some(&finding.id))
}

/// `GET /findings/export.pdf`: the findings that the address asks for, in its order.
pub fn findings(visit: &Visit) -> Answer {
    in_turn(visit, || made_of_findings(visit))
}

fn made_of_findings(visit: &Visit) -> Answer {
    let (words, query) = (Words::of(visit), &visit.query);
    let listed = visit.tenant()?.findings_in_brief(&query.first(rows_max()))?;
    let asked = LINKS.iter().filter_map(|field| query.get(field));
    let names = names(visit, listed.items.iter().flat_map(links).chain(asked), &[])?;
    let filter = filter(words, query, &names);
    let document = report::findings_document(printed(visit, &words)?, &filter, part(&listed), &names);
    file(visit, &document, "findings", None)
}

/// Where the document of the list at `path` is, filtered as the list is.
pub fn pdf_of(path: &str, query: &Query) -> String {
    query.link(&format!("{path}/export.pdf"), &[("offset", "")])
}

fn rows_max() -> u64 {
    u64::try_from(ROWS_MAX).unwrap_or(u64::MAX)
}

fn asked(raw: &str, params: &'static [crate::domain::query::Param], most: u64) -> Result<Query, Error> {
    Ok(Query::check(raw, params).map_err(Error::Invalid)?.first(most))
}

/// All findings of something, whatever became of them.
fn findings_of(visit: &Visit, of: &str) -> Result<Listed<Finding>, Error> {
    let query = asked(&format!("status=all&{of}"), super::finding::PARAMS, rows_max())?;
    visit.tenant()?.findings_in_brief(&query)
}

fn links(finding: &Finding) -> impl Iterator<Item = &str> {
    [finding.programme_id.as_deref(), finding.test_case_id.as_deref()].into_iter().flatten()
}

/// What programmes, test cases and measures are called.
fn names<'a>(visit: &Visit, ids: impl Iterator<Item = &'a str>, measures: &[String]) -> Result<Names, Error> {
    let mut names = visit.tenant()?.names(&ids.collect::<BTreeSet<&str>>())?;
    let known = visit.app.reference.catalogue.measures.data.iter();
    names.extend(
        known.filter(|each| measures.contains(&each.id)).map(|each| (each.id.clone(), each.title.clone())),
    );
    Ok(names)
}

/// What was asked for, in words. Without a status the list holds the open ones, and says so.
fn filter(words: Words, query: &Query, names: &Names) -> Vec<(String, String)> {
    let name = |field: &str| words.field(super::finding::NOUN, field);
    let mut filter = Vec::new();
    if query.get("status").is_none() {
        filter.push((name("status"), words.t("finding.any.status").to_owned()));
    }
    for (field, value) in query.given().filter(|(field, _)| !["offset", "sort"].contains(field)) {
        let said = match field {
            "search" => value.to_owned(),
            "programme_id" | "test_case_id" => names.get(value).cloned().unwrap_or_else(|| value.to_owned()),
            _ => words.word(value),
        };
        filter.push((name(field), said));
    }
    filter
}

fn printed<'a>(visit: &'a Visit, words: &'a Words) -> Result<Printed<'a>, Error> {
    let person = visit.person()?;
    Ok(Printed { tenant: &person.tenant, by: &person.name, at: visit.app.clock.now_ms(), words })
}

fn file(visit: &Visit, document: &Document, what: &str, id: Option<&str>) -> Answer {
    let bytes = pdf::render(document)?;
    let day = Day::of_ms(visit.app.clock.now_ms());
    let file_name = match id {
        Some(id) => format!("{what}-{id}-{day}.pdf"),
        None => format!("{what}-{day}.pdf"),
    };
    send(visit, bytes, "application/pdf", file_name, id)
}
