//! The register in a file: rows of a spreadsheet become new and changed providers or arrangements, or every fault
//! by its line and column.
//!
//! Pure: a plan is made from the file and from what is there, by the forms of the API. It is made once to be shown and
//! once more in the transaction that carries it out, so that both say the same.

use super::arrangement::{ARRANGEMENT_PATCH, Arrangement, NEW_ARRANGEMENT};
use super::form::{Form, Values};
use super::history::{Change, Recorded, changes};
use super::import_csv::{self, Table};
use super::provider::{NEW_PROVIDER, PROVIDER_PATCH, Provider};
use super::register_row::{Blame, Index, Names, Row, step};
use crate::error::Faults;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A file, at the most.
pub const BYTES_MAX: usize = 2 * 1024 * 1024;
/// Rows of a file, at the most.
pub const ROWS_MAX: usize = 5_000;
/// So many faults are named; of the rest only the number.
const FAULTS_MAX: usize = 200;
/// The column that names the object itself.
pub const ID: &str = "id";
/// The column that names a provider as people do.
pub const PROVIDER_NAME: &str = "provider_name";
/// The column that names a provider by its id.
pub const PROVIDER_ID: &str = "provider_id";

words! {
    /// What a file holds.
    Holding { Providers = "providers", Arrangements = "arrangements" }
}

/// What has to be changed in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Its line; the heads are line 1.
    pub line: u64,
    /// The head of its column; empty where it is the whole line.
    pub column: String,
    /// What is wrong, without its subject.
    pub reason: String,
}

/// All that has to be changed.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// The first ones.
    pub faults: Vec<Fault>,
    /// Faults beyond those.
    pub more: usize,
    /// Rows that have one.
    pub rows: usize,
}

/// A row that would add or change something.
#[derive(Debug)]
pub struct Step<T> {
    /// Its line.
    pub line: u64,
    /// What is there; none for something new.
    pub before: Option<T>,
    /// What it would become. Something new has no id yet.
    pub after: T,
}

/// What a file would do.
#[derive(Debug)]
pub struct Plan<T> {
    /// The rows that do something, in their order.
    pub steps: Vec<Step<T>>,
    /// Rows that say what is there already.
    pub unchanged: usize,
    /// What is wrong. Then nothing is done.
    pub found: Found,
}

/// How many rows do what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Figures {
    pub added: usize,
    pub changed: usize,
    pub unchanged: usize,
}

/// What can stand in the register.
pub trait Entry: Recorded + Clone {
    /// The form of a new one.
    const NEW: &'static Form;
    /// The form of a change.
    const PATCH: &'static Form;
    /// The head under which a row without an id is recognised.
    const KNOWN_BY: &'static str;
    /// By what a row without an id is recognised.
    fn key(&self) -> String;
    /// What people call it.
    fn called(&self) -> &str;
    /// A new one, without an id.
    fn made(values: &Values, now_ms: i64) -> Self;
    /// Changes what was given.
    fn take(&mut self, values: &Values, now_ms: i64);
}

impl Entry for Provider {
    const NEW: &'static Form = &NEW_PROVIDER;
    const PATCH: &'static Form = &PROVIDER_PATCH;
    const KNOWN_BY: &'static str = "name";

    fn key(&self) -> String {
        self.name.clone()
    }

    fn called(&self) -> &str {
        &self.name
    }

    fn made(values: &Values, now_ms: i64) -> Provider {
        Provider::new(String::new(), values, now_ms)
    }

    fn take(&mut self, values: &Values, now_ms: i64) {
        self.set(values);
        self.updated_at = now_ms;
    }
}

impl Entry for Arrangement {
    const NEW: &'static Form = &NEW_ARRANGEMENT;
    const PATCH: &'static Form = &ARRANGEMENT_PATCH;
    const KNOWN_BY: &'static str = "service";

    fn key(&self) -> String {
        let function = self.function.as_deref().unwrap_or_default();
        [self.provider_id.as_str(), &self.service, function].join("\0")
    }

    fn called(&self) -> &str {
        &self.service
    }

    fn made(values: &Values, now_ms: i64) -> Arrangement {
        Arrangement::new(String::new(), values, now_ms)
    }

    fn take(&mut self, values: &Values, now_ms: i64) {
        self.set(values);
        self.updated_at = now_ms;
    }
}

impl Holding {
    /// The form of a new row.
    pub fn form(self) -> &'static Form {
        match self {
            Holding::Providers => &NEW_PROVIDER,
            Holding::Arrangements => &NEW_ARRANGEMENT,
        }
    }

    /// The heads that a file may have.
    pub fn heads(self) -> Vec<&'static str> {
        let named = (self == Holding::Arrangements).then_some(PROVIDER_NAME);
        [ID].into_iter().chain(named).chain(self.form().fields.iter().map(|field| field.name)).collect()
    }

    /// Heads that a file may have and that say nothing: what is stamped or counted.
    fn is_ignored(self, head: &str) -> bool {
        self.form().read_only.contains(&head)
    }
}

/// A file whose rows can be told apart. The error says what to change about the file as a whole.
pub fn read(bytes: &[u8]) -> Result<(String, Table), Faults> {
    let whole = |summary: String| Faults { summary, ..Faults::default() };
    if bytes.len() > BYTES_MAX {
        let size = bytes.len().div_ceil(1024);
        return Err(whole(format!(
            "the file has {size} KiB; at most {} KiB are taken at once, so cut it into several files",
            BYTES_MAX / 1024
        )));
    }
    let text = import_csv::text(bytes).map_err(whole)?;
    let table = import_csv::table(&text).map_err(whole)?;
    let rows = table.records.len();
    if table.header.is_empty() || rows == 0 {
        return Err(whole(
            "there are no rows; the first line holds the heads, and a row each line below it".into(),
        ));
    }
    if rows > ROWS_MAX {
        return Err(whole(format!(
            "the file has {rows} rows; at most {ROWS_MAX} are taken at once, so cut it into several files"
        )));
    }
    Ok((text, table))
}

/// What a file of providers would do.
pub fn plan_providers(table: &Table, known: &[Provider], now_ms: i64) -> Plan<Provider> {
    plan(table, Holding::Providers, known, now_ms, |_, _| Vec::new())
}

/// What a file of arrangements would do.
pub fn plan_arrangements(
    table: &Table,
    known: &[Arrangement],
    providers: &[Provider],
    now_ms: i64,
) -> Plan<Arrangement> {
    let names = Names::of(providers);
    plan(table, Holding::Arrangements, known, now_ms, |row, object| names.resolve(row, object))
}

impl Found {
    fn add(&mut self, line: u64, column: &str, reason: impl Into<String>) {
        match self.faults.len() < FAULTS_MAX {
            true => self.faults.push(Fault { line, column: column.to_owned(), reason: reason.into() }),
            false => self.more += 1,
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.faults.len() + self.more
    }
}

impl<T: Entry> Plan<T> {
    /// How many rows do what.
    pub fn figures(&self) -> Figures {
        let changed = self.steps.iter().filter(|step| step.before.is_some()).count();
        Figures { added: self.steps.len() - changed, changed, unchanged: self.unchanged }
    }

    /// All that it would do, in one text: two plans that say the same do the same.
    pub fn outline(&self) -> String {
        let mut text = self.unchanged.to_string();
        for step in &self.steps {
            let (id, key) = (step.after.object_id(), step.after.key());
            text.push_str(&format!("\n{} {id} {key:?} {:?}", step.line, step.changes()));
        }
        text
    }
}

impl<T: Entry> Step<T> {
    /// The fields that would change.
    pub fn changes(&self) -> Vec<Change> {
        self.before.as_ref().map(|before| changes(before, &self.after)).unwrap_or_default()
    }
}

fn plan<T: Entry>(
    table: &Table,
    holding: Holding,
    known: &[T],
    now_ms: i64,
    resolve: impl Fn(&Row, &mut Map<String, Value>) -> Vec<Blame>,
) -> Plan<T> {
    let mut plan = Plan { steps: Vec::new(), unchanged: 0, found: Found::default() };
    if !check_heads(table, holding, &mut plan.found) {
        return plan;
    }
    let index = Index::of(known);
    let mut seen: HashMap<String, u64> = HashMap::new();
    for (line, cells) in &table.records {
        let before_faults = plan.found.count();
        match table.unevenness(cells) {
            Some(reason) => plan.found.add(*line, "", reason),
            None => {
                let row = Row(table
                    .header
                    .iter()
                    .map(String::as_str)
                    .zip(cells.iter().map(String::as_str))
                    .collect());
                match step::<T>(&row, table.separator, &index, now_ms, &resolve) {
                    Err(faults) => {
                        faults.into_iter().for_each(|(column, reason)| plan.found.add(*line, &column, reason))
                    }
                    Ok((before, after)) => {
                        let name = before.map_or_else(|| after.key(), |before| before.object_id().to_owned());
                        if let Some(first) = seen.insert(name, *line) {
                            let reason = format!("is the same as in line {first}; leave one of the two away");
                            plan.found.add(*line, T::KNOWN_BY, reason);
                        } else if before.is_some_and(|before| changes(before, &after).is_empty()) {
                            plan.unchanged += 1;
                        } else {
                            plan.steps.push(Step { line: *line, before: before.cloned(), after });
                        }
                    }
                }
            }
        }
        plan.found.rows += usize::from(plan.found.count() > before_faults);
    }
    plan
}

/// Looks at the heads; `false` if the rows below need not be looked at.
fn check_heads(table: &Table, holding: Holding, found: &mut Found) -> bool {
    let (heads, known) = (&table.header, holding.heads());
    for (place, head) in heads.iter().enumerate() {
        let shown = if head.is_empty() { "(empty)" } else { head };
        if heads[..place].contains(head) {
            found.add(1, shown, "stands twice; leave one of the two columns away");
        } else if !known.contains(&head.as_str()) && !holding.is_ignored(head) {
            let reason = format!("is not a known head; known are: {}", known.join(", "));
            found.add(1, shown, reason);
        }
    }
    let has = |name: &str| heads.iter().any(|head| head == name);
    let named = |name: &str| has(name) || name == PROVIDER_ID && has(PROVIDER_NAME);
    let mut whole = true;
    // Rows that name what they change need no more than that.
    for field in holding.form().fields.iter().filter(|field| field.required && !has(ID)) {
        if !named(field.name) {
            whole = false;
            found.add(1, field.name, "is missing; add a column with this head");
        }
    }
    whole
}
