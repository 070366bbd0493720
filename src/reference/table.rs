//! One dataset, cut into records: filter, search, slice.
//!
//! A record's JSON is never written again: pages are made of slices of the body
//! that the build prepared.

use super::dataset::{Dataset, facets};
use super::source::Catalogue;
use crate::domain::fold::fold;
use crate::domain::page::Page;
use crate::domain::query::Query;
use crate::domain::search::{Ask, Hit, Wording, snippet};
use crate::error::Error;
use crate::payload::Payload;
use std::sync::OnceLock;

/// A dataset's body and the facets of its records.
#[derive(Debug)]
pub struct Table {
    /// Its row.
    pub dataset: &'static Dataset,
    /// The whole body as the public tier serves it.
    pub payload: Payload,
    rows: Vec<Row>,
    /// Folded texts, made at the first search.
    haystacks: OnceLock<Vec<String>>,
    /// The records' words, made at the first search across all.
    wordings: OnceLock<Vec<Wording>>,
}

#[derive(Debug)]
struct Row {
    facets: super::dataset::Facets,
    start: usize,
    end: usize,
}

/// The records that a query selects: their number, and the page of them.
#[derive(Debug)]
pub struct Selection<'a> {
    table: &'a Table,
    /// Positions of the page's records.
    positions: Vec<usize>,
    /// Records that match, on this page or not.
    pub total: usize,
    /// The page that was applied.
    pub page: Page,
}

impl Table {
    /// Joins the body's record positions with the records' facets.
    pub fn new(
        dataset: &'static Dataset,
        payload: Payload,
        records: Vec<(usize, usize)>,
        catalogue: &Catalogue,
    ) -> Result<Table, Error> {
        let facets = facets(dataset.slug, catalogue).unwrap_or_default();
        if facets.len() != records.len() {
            return Err(Error::internal("reading the reference data", format!("{} is uneven", dataset.slug)));
        }
        let rows = facets.into_iter().zip(records).map(|(facets, (start, end))| Row { facets, start, end });
        Ok(Table {
            dataset,
            payload,
            rows: rows.collect(),
            haystacks: OnceLock::new(),
            wordings: OnceLock::new(),
        })
    }

    /// The JSON of one record.
    pub fn record(&self, id: &str) -> Option<&[u8]> {
        let row = self.rows.iter().find(|row| row.facets.id == id)?;
        Some(&self.payload.identity[row.start..row.end])
    }

    /// The JSON of the first record.
    pub fn first(&self) -> Option<&[u8]> {
        let row = self.rows.first()?;
        Some(&self.payload.identity[row.start..row.end])
    }

    /// The positions of the records that answer, with their points, in the records' order.
    pub fn find(&self, ask: &Ask) -> Vec<(u32, usize)> {
        // An id is as good as a title: people look for records by it.
        let wording = |row: &Row| {
            let (title, texts) = row.facets.title_and_texts();
            Wording::new(&format!("{} {title}", row.facets.id), texts.iter().map(String::as_str))
        };
        let wordings = self.wordings.get_or_init(|| self.rows.iter().map(wording).collect());
        let points = wordings.iter().map(|wording| wording.points(ask));
        points.enumerate().filter_map(|(position, points)| Some((points?, position))).collect()
    }

    /// A record as a search shows it.
    pub fn hit(&self, position: usize, points: u32, ask: &Ask) -> Option<Hit> {
        let facets = &self.rows.get(position)?.facets;
        let (title, texts) = facets.title_and_texts();
        Some(Hit {
            r#type: self.dataset.noun,
            id: facets.id.clone(),
            title: title.to_owned(),
            snippet: snippet(&texts.join(" "), ask),
            score: ask.score(points),
            href: self.dataset.at.replace("{id}", &facets.id),
        })
    }

    /// The records that a checked query asks for.
    pub fn select(&self, query: &Query) -> Selection<'_> {
        let page = query.page();
        let unfiltered =
            self.dataset.params.iter().all(|param| is_paging(param.name) || query.get(param.name).is_none());
        if unfiltered {
            let total = self.rows.len();
            return Selection { table: self, positions: page.range(total).collect(), total, page };
        }
        let words: Vec<String> =
            query.get("search").unwrap_or_default().split_whitespace().map(fold).collect();
        let matching: Vec<usize> =
            (0..self.rows.len()).filter(|position| self.matches(*position, query, &words)).collect();
        let range = page.range(matching.len());
        Selection { table: self, positions: matching[range].to_vec(), total: matching.len(), page }
    }

    fn matches(&self, position: usize, query: &Query, words: &[String]) -> bool {
        let facets = &self.rows[position].facets;
        let has_words =
            facets.words.iter().all(|(name, word)| query.get(name).is_none_or(|wanted| wanted == *word));
        let min_score = query.get("min_score").and_then(|text| text.parse::<u32>().ok());
        let has_score = min_score.is_none_or(|least| facets.score.is_some_and(|score| score >= least));
        has_words && has_score && self.has_text(position, words)
    }

    fn has_text(&self, position: usize, words: &[String]) -> bool {
        if words.is_empty() {
            return true;
        }
        let folded = |row: &Row| fold(&format!("{} {}", row.facets.id, row.facets.texts.join(" ")));
        let haystacks = self.haystacks.get_or_init(|| self.rows.iter().map(folded).collect());
        words.iter().all(|word| haystacks[position].contains(word))
    }
}

fn is_paging(name: &str) -> bool {
    matches!(name, "limit" | "offset")
}

impl Selection<'_> {
    /// How many records the page holds.
    pub fn count(&self) -> usize {
        self.positions.len()
    }

    /// Writes the page's records, with commas between them.
    pub fn write_records(&self, out: &mut Vec<u8>) {
        let body = &self.table.payload.identity;
        let mut rest = self.positions.as_slice();
        while let [first, ..] = rest {
            // Neighbours in the page that are neighbours in the body are one slice, commas included.
            let run =
                rest.iter().zip(*first..).take_while(|(position, expected)| **position == *expected).count();
            let last = rest[run - 1];
            out.extend_from_slice(&body[self.table.rows[*first].start..self.table.rows[last].end]);
            rest = &rest[run..];
            if !rest.is_empty() {
                out.push(b',');
            }
        }
    }

    /// Bytes that `write_records` will need, about.
    pub fn size_hint(&self) -> usize {
        let row_bytes =
            |position: &usize| self.table.rows[*position].end - self.table.rows[*position].start + 1;
        self.positions.iter().map(row_bytes).sum()
    }
}
