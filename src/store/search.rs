//! Search among a tenant's objects, by the words of `search_index`.
//!
//! Every term in the index begins with its tenant, and every question is made of such terms: the rows of
//! others are neither found nor walked over. The triggers in `schema.sql` keep the index with each write.

use super::{Store, Tenant, failed};
use crate::domain::fold::{RULES, fold, words};
use crate::domain::search::{Ask, BODY_BEGINNING, BODY_WORD, TITLE_BEGINNING, TITLE_WORD, Wording};
use crate::error::Error;
use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OptionalExtension};

/// So many hits are given, the newest: a word that everything has must not cost a look at everything.
const HITS_MAX: usize = 100_000;

/// So many of them are ranked, the newest again; older ones follow as they come.
const RANKED_MAX: usize = 10_000;

/// A beginning with up to so many words is asked for by these words: their rows can be read from the newest on.
/// The rows of a beginning with more are gathered first, all of them.
const WORDS_MAX: usize = 64;

/// Up to so many rows of a word are read when another word has so many more: a walk over the rows of the common
/// word would cost more.
const FEW: usize = 1_000;
const MANY: usize = 20_000;

/// Beginnings of so many letters have an index of their own (`prefix` in `schema.sql`).
const INDEXED_LETTERS: usize = 2;

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
    /// The objects that answer, best first and then newest first. `pick` says of which the text is wanted;
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
    let tenant = scope(tenant_id);
    let asked = ask.words.iter().map(|word| Asked::of(connection, &tenant, word));
    let asked = asked.collect::<rusqlite::Result<Vec<Asked>>>()?;
    let all = asked.iter().map(|word| word.beginning.as_str()).collect::<Vec<_>>().join(" AND ");
    if asked.is_empty() || asked.iter().any(|word| word.beginning.is_empty()) {
        return Ok(Vec::new());
    }
    if let Some(few) = few_among_many(connection, &asked)? {
        return by_reading(connection, tenant_id, ask, &few);
    }
    let hits = newest(connection, &all, HITS_MAX)?;
    let (ranked, old) = hits.split_at(hits.len().min(RANKED_MAX));
    let Some(oldest) = ranked.last() else { return Ok(Vec::new()) };
    // From few hits far apart to the end of the index, a common word alone might be found a million times.
    let dense = last_number(connection)? - oldest < 4 * ranked.len() as i64;
    let mut found: Vec<Match> = ranked.iter().map(|number| Match { points: 0, number: *number }).collect();
    for word in &asked {
        let mut points = vec![word.least(); found.len()];
        for (more, way) in word.better() {
            let way = if dense { way } else { format!("{all} AND {way}") };
            raise(&mut points, ranked, &since(connection, &way, *oldest)?, more);
        }
        found.iter_mut().zip(points).for_each(|(each, points)| each.points += points);
    }
    found.sort_unstable_by_key(|each| std::cmp::Reverse((each.points, each.number)));
    found.extend(old.iter().map(|number| Match { points: 0, number: *number }));
    Ok(found)
}

/// The rows of a word that few objects have, if another word is common.
fn few_among_many(connection: &Connection, asked: &[Asked]) -> rusqlite::Result<Option<Vec<i64>>> {
    if asked.len() < 2 {
        return Ok(None);
    }
    let rows = asked.iter().map(|word| newest(connection, &word.beginning, MANY));
    let mut rows = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    rows.sort_unstable_by_key(Vec::len);
    let is_common = rows.last().is_some_and(|most| most.len() == MANY);
    Ok(rows.into_iter().next().filter(|few| is_common && few.len() <= FEW))
}

/// Those among the rows whose texts have every word.
fn by_reading(
    connection: &Connection,
    tenant_id: &str,
    ask: &Ask,
    rows: &[i64],
) -> rusqlite::Result<Vec<Match>> {
    let mut found = Vec::new();
    for number in rows {
        if let Some(FoundText { title, body, .. }) = text(connection, tenant_id, *number).optional()? {
            let points = Wording::new(&title, [body.as_str()].into_iter()).points(ask);
            found.extend(points.map(|points| Match { points, number: *number }));
        }
    }
    found.sort_unstable_by_key(|each| std::cmp::Reverse((each.points, each.number)));
    Ok(found)
}

/// A word that is asked for, in the index's own language. Its terms are letters and digits only, so that
/// nothing in them can be an operator.
struct Asked {
    /// The word as it is.
    whole: String,
    /// Whatever begins with it; empty if nothing does.
    beginning: String,
    /// May an object have the word as it is?
    has_whole: bool,
    /// May an object have a longer word that begins with it?
    has_longer: bool,
}

impl Asked {
    fn of(connection: &Connection, tenant: &str, word: &str) -> rusqlite::Result<Asked> {
        let term = format!("{tenant}{word}");
        let whole = format!("\"{term}\"");
        let known = match word.chars().count() {
            ..=INDEXED_LETTERS => None,
            _ => beginning_with(connection, &term)?,
        };
        Ok(match known {
            Some(terms) => {
                let has_whole = terms.contains(&term);
                let has_longer = terms.len() > usize::from(has_whole);
                let either = terms.iter().map(|term| format!("\"{term}\"")).collect::<Vec<_>>().join(" OR ");
                let beginning = if terms.is_empty() { either } else { format!("({either})") };
                Asked { whole, beginning, has_whole, has_longer }
            }
            None => Asked { beginning: format!("{whole} *"), whole, has_whole: true, has_longer: true },
        })
    }

    /// The points of a hit of which no more is known.
    fn least(&self) -> u32 {
        if self.has_longer { BODY_BEGINNING } else { BODY_WORD }
    }

    /// The questions for hits with more points, from the least to the best: the last that holds counts.
    fn better(&self) -> Vec<(u32, String)> {
        let Asked { whole, beginning, has_whole, has_longer } = self;
        let ways = [
            (*has_whole && *has_longer, BODY_WORD, whole.clone()),
            (*has_longer, TITLE_BEGINNING, format!("title : {beginning}")),
            (*has_whole, TITLE_WORD, format!("title : {whole}")),
        ];
        ways.into_iter().filter(|(asked, ..)| *asked).map(|(_, points, way)| (points, way)).collect()
    }
}

/// The terms that begin so, if there are not too many of them.
fn beginning_with(connection: &Connection, start: &str) -> rusqlite::Result<Option<Vec<String>>> {
    // Each is looked up for itself: the table would tell every row of a term before the next term.
    let mut next = connection.prepare_cached("select term from search_term where term >= ?1 limit 1")?;
    let mut terms: Vec<String> = Vec::new();
    let mut from = start.to_owned();
    while let Some(term) = next.query_row([&from], |row| row.get::<_, String>(0)).optional()? {
        if !term.starts_with(start) {
            break;
        }
        if terms.len() == WORDS_MAX {
            return Ok(None);
        }
        from = format!("{term}\u{1}");
        terms.push(term);
    }
    Ok(Some(terms))
}

/// Gives more points to those numbers that are among the chosen: the newest come first here, the oldest there.
fn raise(points: &mut [u32], numbers: &[i64], chosen: &[i64], more: u32) {
    let mut chosen = chosen.iter().rev().copied().peekable();
    for (number, points) in numbers.iter().zip(points) {
        while chosen.next_if(|next| next > number).is_some() {}
        if chosen.peek() == Some(number) {
            *points = more;
        }
    }
}

/// The rows that answer a question in the index's own language, newest first.
fn newest(connection: &Connection, question: &str, most: usize) -> rusqlite::Result<Vec<i64>> {
    let sql = "select rowid from search_index where search_index match ?1 order by rowid desc limit ?2";
    let mut rows = connection.prepare_cached(sql)?;
    rows.query_map((question, most as i64), |row| row.get(0))?.collect()
}

/// Those from a row on, oldest first: the other way round, FTS5 would look for one more until the first of all.
fn since(connection: &Connection, question: &str, oldest: i64) -> rusqlite::Result<Vec<i64>> {
    let sql = "select rowid from search_index where search_index match ?1 and rowid >= ?2 order by rowid";
    let mut rows = connection.prepare_cached(sql)?;
    rows.query_map((question, oldest), |row| row.get(0))?.collect()
}

fn last_number(connection: &Connection) -> rusqlite::Result<i64> {
    // Of all tenants, for it is only a bound; its index knows it at once.
    let sql = "select coalesce(max(number), 0) from search_entry";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
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
