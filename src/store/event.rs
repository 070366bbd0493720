//! Events and their deliveries, stored in the transaction of the change that caused them.

use super::{Desk, delivery, failed};
use crate::clock::rfc3339;
use crate::domain::event::EventName;
use crate::domain::id::Kind;
use crate::error::Error;
use serde_json::{Value, json};

/// Stores an event and a delivery to each webhook that asked for it. `data` is the object as v1 shows it, with what the event adds.
pub fn push(desk: &Desk, name: EventName, data: &Value) -> Result<(), Error> {
    let id = desk.new_id(Kind::Event)?;
    let tenant_name: String = desk
        .connection
        .prepare_cached("select name from tenant where id = ?1")
        .and_then(|mut row| row.query_row([desk.tenant_id], |row| row.get(0)))
        .map_err(failed)?;
    let payload = json!({
        "id": id,
        "event": name.name(),
        "occurred_at": rfc3339(desk.now_ms),
        "tenant": { "id": desk.tenant_id, "name": tenant_name },
        "data": data,
    });
    desk.connection
        .prepare_cached(
            "insert into event (tenant_id, id, name, occurred_at, payload) values (?1, ?2, ?3, ?4, ?5)",
        )
        .and_then(|mut row| row.execute((desk.tenant_id, &id, name.name(), desk.now_ms, payload.to_string())))
        .map_err(failed)?;
    delivery::fan_out(desk, &id, name)
}
