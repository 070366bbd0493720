//! Lists of a tenant's rows: filter, total and page in one read transaction.

use crate::domain::fold::fold;
use crate::domain::page::Page;
use crate::domain::query::Query;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, RowIndex, params_from_iter};

/// An identifier begins with its time.
const NEWEST_FIRST: &str = "id desc";

/// A page of rows and how many there are in all.
#[derive(Debug)]
pub struct Listed<T> {
    /// The page's rows.
    pub items: Vec<T>,
    /// Rows that match, on this page or not.
    pub total: u64,
    /// The page that was applied.
    pub page: Page,
}

/// The conditions of a list, beginning with whose rows they are.
pub struct Filter {
    clauses: String,
    values: Vec<Value>,
    order: &'static str,
    /// Whose rows.
    own: &'static str,
}

const OF_TENANT: &str = "tenant_id = ?1";
const OF_ALL: &str = "true";

impl Filter {
    /// All rows of a tenant.
    pub fn of_tenant(tenant_id: &str) -> Filter {
        let values = vec![Value::from(tenant_id.to_owned())];
        Filter { clauses: OF_TENANT.into(), values, order: NEWEST_FIRST, own: OF_TENANT }
    }

    /// All rows of a table that belongs to no tenant.
    pub fn of_platform() -> Filter {
        Filter { clauses: OF_ALL.into(), values: Vec::new(), order: NEWEST_FIRST, own: OF_ALL }
    }

    /// In another order than newest first.
    pub fn ordered(mut self, order: &'static str) -> Filter {
        self.order = order;
        self
    }

    /// A column must have this value, if one is asked for.
    pub fn equals(mut self, column: &'static str, wanted: Option<&str>) -> Filter {
        if let Some(wanted) = wanted {
            self.values.push(Value::from(wanted.to_owned()));
            self.clauses.push_str(&format!(" and {column} = ?{}", self.values.len()));
        }
        self
    }

    /// A further condition, as it is.
    pub fn and(mut self, clause: &str) -> Filter {
        self.clauses.push_str(" and ");
        self.clauses.push_str(clause);
        self
    }

    /// A further condition with a value; `?` stands for it.
    pub fn and_with(mut self, clause: &str, value: impl Into<Value>) -> Filter {
        self.values.push(value.into());
        let clause = clause.replace('?', &format!("?{}", self.values.len()));
        self.and(&clause)
    }

    /// Every word of the query's `search` must occur in one of the columns.
    pub fn search(mut self, columns: &[&'static str], query: &Query) -> Filter {
        let text: Vec<String> = columns.iter().map(|column| format!("coalesce({column}, '')")).collect();
        let text = text.join(" || ' ' || ");
        for word in query.get("search").unwrap_or_default().split_whitespace() {
            self = self.and_with(&format!("instr(fold({text}), ?) > 0"), fold(word));
        }
        self
    }

    /// How many rows match.
    pub fn count(&self, connection: &Connection, table: &'static str) -> rusqlite::Result<u64> {
        let sql = format!("select count(*) from {table} where {}", self.clauses);
        let count: i64 =
            connection.prepare_cached(&sql)?.query_row(params_from_iter(&self.values), |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    /// The matching rows of a page, newest first unless another order was asked for.
    pub fn page<T>(
        &self,
        connection: &Connection,
        table: &'static str,
        select: &str,
        page: Page,
        map: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        // Bound, not written: each page would else be a statement of its own to be compiled.
        let mut values = self.values.clone();
        values.push(Value::from(i64::try_from(page.limit).unwrap_or(i64::MAX)));
        values.push(Value::from(i64::try_from(page.offset).unwrap_or(i64::MAX)));
        let (clauses, order) = (&self.clauses, &self.order);
        let slice = format!("order by {order} limit ?{} offset ?{}", values.len() - 1, values.len());
        let own = self.own;
        let sql = match page.offset == 0 && self.order == NEWEST_FIRST {
            true => format!("{select} where {clauses} {slice}"),
            // What is left out is walked over in an index, without fetching the rows; and what has to be
            // sorted is sorted by its columns, without carrying whole rows about.
            false => format!(
                "{select} where {own} and id in (select id from {table} where {clauses} {slice}) order by {order}"
            ),
        };
        let mut rows = connection.prepare_cached(&sql)?;
        let items = rows.query_map(params_from_iter(&values), map)?;
        items.collect()
    }
}

/// Filter, total and page of one moment.
pub fn list<T>(
    connection: &Connection,
    table: &'static str,
    select: &str,
    filter: &Filter,
    page: Page,
    map: impl FnMut(&Row) -> rusqlite::Result<T>,
) -> rusqlite::Result<Listed<T>> {
    let moment = connection.unchecked_transaction()?;
    let total = filter.count(&moment, table)?;
    let items = filter.page(&moment, table, select, page, map)?;
    Ok(Listed { items, total, page })
}

/// A word of a closed set out of a column. An unknown one is a damaged row.
pub fn word<T>(row: &Row, column: impl RowIndex, parse: impl Fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str().map_err(|cause| damaged(index, cause))?;
    parse(text).ok_or_else(|| damaged(index, format!("`{text}` is none of the words of column {index}")))
}

/// A day out of a column that may be empty.
pub fn day(row: &Row, column: impl RowIndex) -> rusqlite::Result<Option<crate::domain::day::Day>> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str_or_null().map_err(|cause| damaged(index, cause))?;
    Ok(text.and_then(crate::domain::day::Day::parse))
}

/// A list of texts out of a column that holds a JSON array.
pub fn texts(row: &Row, column: impl RowIndex) -> rusqlite::Result<Vec<String>> {
    let index = column.idx(row.as_ref())?;
    let text = row.get_ref(index)?.as_str().map_err(|cause| damaged(index, cause))?;
    if text == "[]" {
        return Ok(Vec::new());
    }
    serde_json::from_str(text).map_err(|cause| damaged(index, cause))
}

/// A list of texts for a column that holds a JSON array.
pub fn json_array(texts: &[String]) -> String {
    serde_json::Value::from(texts).to_string()
}

/// The error of a row that holds what it cannot hold.
pub fn damaged(index: usize, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(index, rusqlite::types::Type::Text, cause.into())
}
