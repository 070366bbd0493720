//! Many findings moved in one act.

use super::{Tenant, failed, finding, history};
use crate::domain::bulk::{BULK_MAX, Plan, plan, try_move};
use crate::domain::finding::Finding;
use crate::domain::form::Values;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension};

impl Tenant<'_> {
    /// What a move would do to these findings; nothing is changed. `values` passed the form `BULK_MOVE`.
    pub fn plan_move(&self, ids: &[String], values: &Values) -> Result<Plan, Error> {
        check_number(ids)?;
        let now_ms = self.now_ms();
        self.read(|connection| {
            let moment = connection.unchecked_transaction()?;
            let (found, unknown) = look_up(&moment, &self.id, ids)?;
            Ok(plan(&found, unknown, values, now_ms))
        })
    }

    /// Moves every finding that can move, in one act; gives the plan that was carried out.
    pub fn move_findings(&self, ids: &[String], values: Values) -> Result<Plan, Error> {
        check_number(ids)?;
        let ids = ids.to_vec();
        self.write(move |desk| {
            let (found, unknown) = look_up(desk.connection, desk.tenant_id, &ids).map_err(failed)?;
            for before in &found {
                if let Ok(moved) = try_move(before, &values, desk.now_ms) {
                    finding::update(desk, &moved)?;
                    history::remark(desk, &moved.id, &values)?;
                    finding::tell_moved(desk, &moved, before.status)?;
                }
            }
            Ok(plan(&found, unknown, &values, desk.now_ms))
        })
    }
}

fn check_number(ids: &[String]) -> Result<(), Error> {
    match ids.len() {
        0 => Err(Error::field("ids", "choose at least one finding")),
        1..=BULK_MAX => Ok(()),
        more => {
            Err(Error::field("ids", format!("{more} findings are too many; at most {BULK_MAX} move at once")))
        }
    }
}

/// The findings in the order asked for, each once, and the ids that name none.
fn look_up(
    connection: &Connection,
    tenant_id: &str,
    ids: &[String],
) -> rusqlite::Result<(Vec<Finding>, Vec<String>)> {
    let (mut found, mut unknown) = (Vec::new(), Vec::new());
    for (position, id) in ids.iter().enumerate() {
        if ids[..position].contains(id) {
            continue;
        }
        match finding::find(connection, tenant_id, id).optional()? {
            Some(finding) => found.push(finding),
            None => unknown.push(id.clone()),
        }
    }
    Ok((found, unknown))
}
