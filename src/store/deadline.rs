//! Near deadlines: found across tenants, told to each tenant once, and anew when they move.

use super::{Desk, Store, cra, event, failed, finding, test_case};
use crate::clock::rfc3339;
use crate::domain::cra::Stage;
use crate::domain::day::Day;
use crate::domain::deadline::{Leads, end_of, is_near};
use crate::domain::event::EventName;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// Rows that may have a near deadline. What they are due on is read again when it is told.
const CANDIDATES: &[&str] = &[
    "select tenant_id, id from finding
     where due_on is not null and status in ('open', 'in_progress', 'resolved') and due_on between ?1 and ?2",
    "select tenant_id, id from test_case
     where due_on is not null and status in ('planned', 'in_progress', 'blocked') and due_on between ?1 and ?2",
    "select tenant_id, id from cra_report
     where status in ('draft', 'early_warning_sent', 'notification_sent') and ?1 <= ?2",
    "select tenant.id, (select id from analysis where tenant_id = tenant.id order by id desc limit 1) as latest
     from tenant where latest is not null and ?1 <= ?2",
];

/// A deadline of an object, while it is near.
struct Near {
    kind: &'static str,
    due_at: i64,
    data: Value,
}

impl Store {
    /// Tells every tenant of deadlines that have come near; gives how many.
    pub fn tell_deadlines(&self, leads: Leads) -> Result<usize, Error> {
        let today = Day::of_ms(self.clock.now_ms());
        let days = i32::try_from(leads.work_ms / DAY_MS + 1).unwrap_or(i32::MAX);
        let (first, last) = (today.to_string(), today.plus_days(days).to_string());
        let mut candidates: BTreeMap<String, Vec<String>> = BTreeMap::new();
        self.read(|connection| {
            for sql in CANDIDATES {
                let mut rows = connection.prepare_cached(sql)?;
                let mut found = rows.query([&first, &last])?;
                while let Some(row) = found.next()? {
                    candidates.entry(row.get(0)?).or_default().push(row.get(1)?);
                }
            }
            Ok(())
        })?;
        let mut told = 0;
        for (tenant_id, ids) in candidates {
            let untold = self.untold(&tenant_id, ids, leads)?;
            if !untold.is_empty() {
                told += self.tenant(&tenant_id).write(move |desk| {
                    untold.iter().try_fold(0, |told, id| Ok(told + tell(desk, id, leads)?))
                })?;
            }
        }
        Ok(told)
    }

    /// Of the candidates those that have something to be told: looked at beside the writer.
    fn untold(&self, tenant_id: &str, ids: Vec<String>, leads: Leads) -> Result<Vec<String>, Error> {
        let now_ms = self.clock.now_ms();
        self.read(|connection| {
            let mut untold = Vec::new();
            for id in ids {
                let look = Look { connection, tenant_id, now_ms };
                for near in look.near(&id, leads)? {
                    if !look.is_told(&id, &near)? {
                        untold.push(id);
                        break;
                    }
                }
            }
            Ok(untold)
        })
    }
}

/// Tells of each near deadline of an object that was not told before.
fn tell(desk: &Desk, id: &str, leads: Leads) -> Result<usize, Error> {
    let mut told = 0;
    let look = Look { connection: desk.connection, tenant_id: desk.tenant_id, now_ms: desk.now_ms };
    for near in look.near(id, leads).map_err(failed)? {
        let is_new = desk
            .connection
            .prepare_cached(
                "insert or ignore into deadline_notice (tenant_id, object_id, kind, due_at, told_at)
                 values (?1, ?2, ?3, ?4, ?5)",
            )
            .and_then(|mut row| row.execute((desk.tenant_id, id, near.kind, near.due_at, desk.now_ms)))
            .map_err(failed)?;
        if is_new == 1 {
            let mut data = near.data;
            data["deadline"] = json!({
                "kind": near.kind,
                "due_at": rfc3339(near.due_at),
                "hours_left": (near.due_at - desk.now_ms) / HOUR_MS,
            });
            event::push(desk, EventName::DeadlineApproaching, &data)?;
            told += 1;
        }
    }
    Ok(told)
}

/// What deadlines are looked for in: one tenant's rows at one moment.
struct Look<'a> {
    connection: &'a Connection,
    tenant_id: &'a str,
    now_ms: i64,
}

impl Look<'_> {
    fn is_told(&self, id: &str, near: &Near) -> rusqlite::Result<bool> {
        self.connection
            .prepare_cached(
                "select exists (select 1 from deadline_notice
                 where tenant_id = ?1 and object_id = ?2 and kind = ?3 and due_at = ?4)",
            )?
            .query_row((self.tenant_id, id, near.kind, near.due_at), |row| row.get(0))
    }

    /// The near deadlines of an object, by the kind that its identifier tells.
    fn near(&self, id: &str, leads: Leads) -> rusqlite::Result<Vec<Near>> {
        let found = match id.split('_').next() {
            Some("fnd") => self.near_finding(id, leads)?,
            Some("tc") => self.near_test_case(id, leads)?,
            Some("cra") => return self.near_stages(id, leads),
            Some("anl") => self.near_review(id, leads)?,
            Some(_) | None => None,
        };
        Ok(found.into_iter().collect())
    }

    fn near_finding(&self, id: &str, leads: Leads) -> rusqlite::Result<Option<Near>> {
        let finding = finding::find(self.connection, self.tenant_id, id).optional()?;
        let finding = finding.filter(|finding| finding.status.is_open());
        Ok(finding.and_then(|finding| {
            let due_at = end_of(finding.due_on?);
            is_near(finding.created_at, due_at, leads.work_ms, self.now_ms).then(|| Near {
                kind: "finding",
                due_at,
                data: json!(finding),
            })
        }))
    }

    fn near_test_case(&self, id: &str, leads: Leads) -> rusqlite::Result<Option<Near>> {
        let case = test_case::find(self.connection, self.tenant_id, id).optional()?;
        let case = case.filter(|case| !case.status.is_finished());
        Ok(case.and_then(|case| {
            let due_at = end_of(case.due_on?);
            is_near(case.created_at, due_at, leads.work_ms, self.now_ms).then(|| Near {
                kind: "test_case",
                due_at,
                data: json!(case),
            })
        }))
    }

    /// Each stage that is not sent has a clock of its own.
    fn near_stages(&self, id: &str, leads: Leads) -> rusqlite::Result<Vec<Near>> {
        let Some(report) = cra::find(self.connection, self.tenant_id, id).optional()? else {
            return Ok(Vec::new());
        };
        if !report.status.is_running() {
            return Ok(Vec::new());
        }
        let open = Stage::ALL.into_iter().filter(|stage| report.sent_at(*stage).is_none());
        let near = open.filter_map(|stage| {
            let (start, due_at) = (report.starts_at(stage)?, report.due_at(stage)?);
            is_near(start, due_at, leads.stage_ms, self.now_ms).then(|| Near {
                kind: stage.name(),
                due_at,
                data: report.shown(self.now_ms),
            })
        });
        Ok(near.collect())
    }

    fn near_review(&self, id: &str, leads: Leads) -> rusqlite::Result<Option<Near>> {
        let sql = "select analysed_at, body,
            coalesce((select enabled from threshold where threshold.tenant_id = analysis.tenant_id), 1)
            from analysis where tenant_id = ?1 and id = ?2";
        let found: Option<(i64, String, bool)> = self
            .connection
            .prepare_cached(sql)?
            .query_row((self.tenant_id, id), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .optional()?;
        Ok(found.and_then(|(analysed_at, body, is_enabled)| {
            let data: Value = serde_json::from_str(&body).ok().filter(|_| is_enabled)?;
            let due_at = end_of(Day::parse(data["next_review_on"].as_str()?)?);
            is_near(analysed_at, due_at, leads.review_ms, self.now_ms).then_some(Near {
                kind: "review",
                due_at,
                data,
            })
        }))
    }
}
