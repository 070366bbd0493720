//! Thresholds and analyses of concentration.

use super::list::{Listed, damaged, day};
use super::{Desk, Tenant, arrangement, audit, failed, history, provider};
use crate::domain::analysis::{Analysis, ExactShare, Register, analyse};
use crate::domain::audit::Event;
use crate::domain::day::Day;
use crate::domain::fold::fold;
use crate::domain::form::Values;
use crate::domain::id::Kind;
use crate::domain::query::Query;
use crate::domain::risk::{Basis, Breach, Thresholds, breaches};
use crate::domain::what_if::suppose;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

/// A page of breaches, and whether they are reported at all.
pub struct Breaches {
    /// The breaches.
    pub listed: Listed<Breach>,
    /// The switch in the thresholds.
    pub enabled: bool,
}

/// The newest analysis, as far as breaches and its review need it.
pub(super) struct Latest {
    pub id: String,
    pub analysed_at: i64,
    shares: String,
    pub next_review_on: Option<Day>,
}

impl Latest {
    /// Where it exceeds the thresholds; nothing while they are switched off.
    pub fn breaches(&self, thresholds: &Thresholds) -> rusqlite::Result<Vec<Breach>> {
        if !thresholds.enabled {
            return Ok(Vec::new());
        }
        let shares: Vec<ExactShare> =
            serde_json::from_str(&self.shares).map_err(|cause| damaged(2, cause))?;
        Ok(breaches(&shares, thresholds, Some(&self.id)))
    }
}

impl Tenant<'_> {
    /// The thresholds as they are now.
    pub fn thresholds(&self) -> Result<Thresholds, Error> {
        self.read(|connection| thresholds(connection, &self.id))
    }

    /// Changes the thresholds.
    pub fn change_thresholds(&self, values: Values) -> Result<Thresholds, Error> {
        self.write(move |desk| {
            let mut changed = thresholds(desk.connection, desk.tenant_id).map_err(failed)?;
            changed.change(&values, desk.now_ms);
            if !values.is_empty() {
                set_thresholds(desk, &changed)?;
            }
            Ok(changed)
        })
    }

    /// Analyses the register and stores the result.
    pub fn analyse(&self, basis: Basis) -> Result<Analysis, Error> {
        self.write(move |desk| {
            let register = register(desk.connection, desk.tenant_id).map_err(failed)?;
            let thresholds = thresholds(desk.connection, desk.tenant_id).map_err(failed)?;
            let before = latest(desk.connection, desk.tenant_id).map_err(failed)?;
            // The newest must be the last one made, even within a millisecond or when the clock went back.
            let now_ms = before.map_or(desk.now_ms, |before| desk.now_ms.max(before.analysed_at + 1));
            let mut analysis = analyse(&register, &thresholds, basis, now_ms).map_err(Error::Invalid)?;
            analysis.id = Some(desk.new_id(Kind::Analysis)?);
            insert(desk, &analysis)?;
            Ok(analysis)
        })
    }

    /// Analyses the register as it would be with the changes that are supposed; nothing is stored.
    pub fn analyse_supposed(&self, basis: Basis, what_if: &Values) -> Result<Analysis, Error> {
        let (register, thresholds) = self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            Ok((register(&moment, &self.id)?, thresholds(&moment, &self.id)?))
        })?;
        let now_ms = self.now_ms();
        let supposed = suppose(&register, what_if, now_ms).map_err(Error::Invalid)?;
        analyse(&supposed, &thresholds, basis, now_ms).map_err(Error::Invalid)
    }

    /// The latest analysis, in the JSON with which it was answered.
    pub fn latest_analysis(&self) -> Result<String, Error> {
        let body = self.read(|connection| {
            connection
                .prepare_cached(
                    "select body from analysis where tenant_id = ?1 order by analysed_at desc limit 1",
                )?
                .query_row([&self.id], |row| row.get(0))
                .optional()
        })?;
        body.ok_or(Error::NotFound("analysis"))
    }

    /// A page of the breaches in the latest analysis, by the thresholds as they are now.
    pub fn breaches(&self, query: &Query) -> Result<Breaches, Error> {
        let (mut found, thresholds) = self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let thresholds = thresholds(&moment, &self.id)?;
            let latest = latest(&moment, &self.id)?;
            let found = latest.map(|latest| latest.breaches(&thresholds)).transpose()?;
            Ok((found.unwrap_or_default(), thresholds))
        })?;
        for word in query.get("search").unwrap_or_default().split_whitespace().map(fold) {
            found.retain(|breach| {
                fold(&format!("{} {}", breach.dimension.name(), breach.name)).contains(&word)
            });
        }
        let (page, total) = (query.page(), found.len());
        let items = found.drain(page.range(total)).collect();
        Ok(Breaches { listed: Listed { items, total: total as u64, page }, enabled: thresholds.enabled })
    }
}

fn register(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Register> {
    Ok(Register {
        providers: provider::all(connection, tenant_id)?,
        arrangements: arrangement::all(connection, tenant_id)?,
    })
}

pub(super) fn latest(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Option<Latest>> {
    let sql = "select id, analysed_at, shares, body ->> 'next_review_on' from analysis where tenant_id = ?1
       order by analysed_at desc limit 1";
    connection
        .prepare_cached(sql)?
        .query_row([tenant_id], |row| {
            Ok(Latest {
                id: row.get(0)?,
                analysed_at: row.get(1)?,
                shares: row.get(2)?,
                next_review_on: day(row, 3)?,
            })
        })
        .optional()
}

fn insert(desk: &Desk, analysis: &Analysis) -> Result<(), Error> {
    let sql = "insert into analysis (tenant_id, id, analysed_at, body, shares) values (?1, ?2, ?3, ?4, ?5)";
    let body = json!(analysis).to_string();
    let shares = json!(analysis.exact_shares()).to_string();
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| row.execute((desk.tenant_id, &analysis.id, analysis.analysed_at, body, shares)))
        .map(|_| ())
        .map_err(failed)
}

pub(super) fn thresholds(connection: &Connection, tenant_id: &str) -> rusqlite::Result<Thresholds> {
    let sql = "select provider_concentration_pct, sector_concentration_pct, regional_concentration_pct,
        technology_concentration_pct, review_frequency_days, enabled, updated_at
      from threshold where tenant_id = ?1";
    let set = connection
        .prepare_cached(sql)?
        .query_row([tenant_id], |row| {
            Ok(Thresholds {
                provider_concentration_pct: row.get(0)?,
                sector_concentration_pct: row.get(1)?,
                regional_concentration_pct: row.get(2)?,
                technology_concentration_pct: row.get(3)?,
                review_frequency_days: row.get(4)?,
                enabled: row.get(5)?,
                updated_at: row.get(6)?,
            })
        })
        .optional()?;
    Ok(set.unwrap_or_default())
}

pub(super) fn set_thresholds(desk: &Desk, thresholds: &Thresholds) -> Result<(), Error> {
    let before = self::thresholds(desk.connection, desk.tenant_id).map_err(failed)?;
    let sql =
        "insert or replace into threshold (tenant_id, provider_concentration_pct, sector_concentration_pct,
        regional_concentration_pct, technology_concentration_pct, review_frequency_days, enabled, updated_at)
      values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    desk.connection
        .prepare_cached(sql)
        .and_then(|mut row| {
            row.execute((
                desk.tenant_id,
                thresholds.provider_concentration_pct,
                thresholds.sector_concentration_pct,
                thresholds.regional_concentration_pct,
                thresholds.technology_concentration_pct,
                thresholds.review_frequency_days,
                thresholds.enabled,
                thresholds.updated_at.unwrap_or(desk.now_ms),
            ))
        })
        .map_err(failed)?;
    audit::note(desk, Event::ThresholdsChanged, None, None)?;
    history::changed(desk, &before, thresholds)
}
