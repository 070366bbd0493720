//! Search among a tenant's objects, by the words of `search_index`.
//!
//! Every term in the index begins with its tenant, and every question is made of such terms: the rows of
//! others are neither found nor walked over. The triggers in `schema.sql` keep the index with each write.

use super::{Store, Tenant, failed};
use crate::domain::fold::{RULES, fold, words};
use crate::domain::search::{Ask, BODY_BEGINNING, BODY_WORD, TITLE_BEGINNING, TITLE_WORD};
use crate::error::Error;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OptionalExtension};

/// So many of the newest hits are ranked. Older ones follow them as they come: the first page of a word that
/// everything has must not cost a look at everything.
const RANKED_MAX: usize = 10_000;

/// An object that has every word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// How well it has them; none if it is too old to be ranked.
    pub points: u32,
    /// Its row in the index.
    pub number: i64,
}

/// What is shown of an object.
#[derive(Debug)]
pub struct FoundText {
    /// Its id, which tells its kind.
    pub id: String,
    /// Its title or name.
    pub title: String,
    /// Its other texts.
    pub body: String,
}

impl Tenant<'_> {
    /// All objects that answer, best first and then newest first. `pick` says of which the text is wanted;
    /// what it gives comes back with those texts, all of one moment.
    pub fn search<T>(
        &self,
        ask: &Ask,
        pick: impl FnOnce(&[Match]) -> (T, Vec<i64>),
    ) -> Result<(T, Vec<Option<FoundText>>), Error> {
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let (picked, numbers) = pick(&matches(&moment, &self.id, ask)?);
            // An entry without its object is for `holdfast check` to tell; it spoils no search.
            let texts = numbers.iter().map(|number| text(&moment, &self.id, *number).optional());
            Ok((picked, texts.collect::<rusqlite::Result<_>>()?))
        })
    }
}

impl Store {
    /// Fills the index anew; gives how many objects it holds.
    pub fn rebuild_search(&self) -> Result<u64, Error> {
        self.write(|connection| rebuild(connection).map_err(failed))
    }
}

/// Registers `terms(tenant_id, text)`: the text's words as they stand in the index.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS; // triggers may call it
    connection.create_scalar_function("terms", 2, flags, |context| {
        let tenant = scope(context.get_raw(0).as_str()?);
        let text = context.get_raw(1).as_str_or_null()?.unwrap_or_default();
        let mut terms = String::with_capacity(text.len() * 4);
        for word in words(&fold(text)) {
            terms.push_str(&tenant);
            terms.push_str(word);
            terms.push(' ');
        }
        Ok(terms)
    })
}

/// What a tenant's terms begin with: the 26 characters of its id, so that none is the beginning of another.
fn scope(tenant_id: &str) -> String {
    tenant_id.rsplit('_').next().unwrap_or_default().to_ascii_lowercase()
}

/// Was the index filled by other rules than ours, or never?
pub(super) fn is_stale(connection: &Connection) -> rusqlite::Result<bool> {
    let sql = "select not exists (select 1 from search_rules where number = ?1)";
    connection.query_row(sql, [RULES], |row| row.get(0))
}

/// Remembers by which rules the index is filled.
pub(super) fn set_rules(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("delete from search_rules", [])?;
    connection.execute("insert into search_rules values (?1)", [RULES]).map(|_| ())
}

/// Fills the index from the texts, whatever is in it.
pub(super) fn rebuild(connection: &Connection) -> rusqlite::Result<u64> {
    connection.execute("insert into search_index (search_index) values ('delete-all')", [])?;
    let tenants: Vec<String> = connection
        .prepare("select id from tenant")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let mut objects = 0;
    for tenant in tenants {
        connection.execute("delete from search_entry where tenant_id = ?1", [&tenant])?;
        // In the order in which they were made, as the triggers would have had them.
        let added = connection.execute(
            "insert into search_entry (tenant_id, id, number)
             select tenant_id, id, row_number() over (order by substr(id, instr(id, '_')))
               + (select coalesce(max(number), 0) from search_entry)
             from search_text where tenant_id = ?1",
            [&tenant],
        )?;
        objects += added as u64;
    }
    set_rules(connection)?;
    Ok(objects)
}

/// What is wrong between the texts and the index; for `holdfast check`.
pub(super) fn faults(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let missing = count(
        "select count(*) from search_text as object where not exists
           (select 1 from search_entry where tenant_id = object.tenant_id and id = object.id)",
    )?;
    let left = count(
        "select count(*) from search_entry as entry where not exists
           (select 1 from search_text where tenant_id = entry.tenant_id and id = entry.id)",
    )?;
    let hollow = count(
        "select count(tenant_id) from search_entry where number not in (select rowid from search_index)",
    )?;
    let all =
        [(missing, "objects are not in it"), (left, "entries have no object"), (hollow, "have no words")];
    let found = all.iter().filter(|(count, _)| *count > 0);
    Ok(found
        .map(|(count, what)| format!("search index: {count} {what}; `holdfast reindex` fills it anew"))
        .collect())
}

fn matches(connection: &Connection, tenant_id: &str, ask: &Ask) -> rusqlite::Result<Vec<Match>> {
    let named = by_id(connection, tenant_id, &ask.text)?;
    let mut found: Vec<Match> =
        by_words(connection, tenant_id, ask)?.into_iter().filter(|each| Some(each.number) != named).collect();
    if let Some(number) = named {
        found.insert(0, Match { points: ask.best(), number });
    }
    Ok(found)
}

fn by_id(connection: &Connection, tenant_id: &str, id: &str) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("select number from search_entry where tenant_id = ?1 and id = ?2")?
        .query_row((tenant_id, id), |row| row.get(0))
        .optional()
}

fn by_words(connection: &Connection, tenant_id: &str, ask: &Ask) -> rusqlite::Result<Vec<Match>> {
    if ask.words.is_empty() {
        return Ok(Vec::new());
    }
    let tenant = scope(tenant_id);
    // Letters and digits only, so that nothing in it can be an operator.
    let whole: Vec<String> = ask.words.iter().map(|word| format!("\"{tenant}{word}\"")).collect();
    let all = whole.iter().map(|word| format!("{word} *")).collect::<Vec<_>>().join(" AND ");
    let hits = numbers(connection, &all, i64::MIN, i64::MAX)?;
    let (old, ranked) = hits.split_at(hits.len().saturating_sub(RANKED_MAX));
    let (Some(first), Some(last)) = (ranked.first(), ranked.last()) else { return Ok(Vec::new()) };
    let mut found: Vec<Match> = ranked.iter().map(|number| Match { points: 0, number: *number }).collect();
    for word in &whole {
        // From the least to the best: the last that holds counts.
        let mut ways = vec![(BODY_WORD, word.clone()), (TITLE_WORD, format!("title : {word}"))];
        if old.is_empty() {
            // Beginnings are gathered from all rows, whichever are asked for: not where there are that many.
            ways.insert(1, (TITLE_BEGINNING, format!("title : {word} *")));
        }
        let mut points = vec![BODY_BEGINNING; found.len()];
        for (more, way) in ways {
            raise(&mut points, ranked, &numbers(connection, &way, *first, *last)?, more);
        }
        found.iter_mut().zip(points).for_each(|(each, points)| each.points += points);
    }
    found.sort_unstable_by_key(|each| std::cmp::Reverse((each.points, each.number)));
    found.extend(old.iter().rev().map(|number| Match { points: 0, number: *number }));
    Ok(found)
}

/// Gives more points to those numbers that are among the chosen; both are in order.
fn raise(points: &mut [u32], numbers: &[i64], chosen: &[i64], more: u32) {
    let mut chosen = chosen.iter().copied().peekable();
    for (number, points) in numbers.iter().zip(points) {
        while chosen.next_if(|next| next < number).is_some() {}
        if chosen.peek() == Some(number) {
            *points = more;
        }
    }
}

/// The rows that answer a question in the index's own language, between two of them, in their order.
fn numbers(connection: &Connection, question: &str, first: i64, last: i64) -> rusqlite::Result<Vec<i64>> {
    let sql = "select rowid from search_index where search_index match ?1 and rowid between ?2 and ?3 order by rowid";
    let mut rows = connection.prepare_cached(sql)?;
    let numbers = rows.query_map((question, first, last), |row| row.get(0))?;
    numbers.collect()
}

fn text(connection: &Connection, tenant_id: &str, number: i64) -> rusqlite::Result<FoundText> {
    let id: String = connection
        .prepare_cached("select id from search_entry where tenant_id = ?1 and number = ?2")?
        .query_row((tenant_id, number), |row| row.get(0))?;
    let (title, body) = connection
        .prepare_cached("select title, body from search_text where tenant_id = ?1 and id = ?2")?
        .query_row((tenant_id, &id), |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(FoundText { id, title, body })
}
