//! Jobs that look after the service itself: samples, sizes, checks, retention, the nightly backup.

use crate::domain::actor::Actor;
use crate::domain::audit::Event;
use crate::domain::day::Day;
use crate::error::Error;
use crate::health;
use crate::http::dispatch::House;
use crate::ledger::Tables;
use crate::store::{self, Sample};

/// How long history is kept.
pub const HISTORY_DAYS: i64 = 7;
const MINUTE_MS: i64 = 60_000;

/// Stores how the service is, under the minute it is in.
pub fn sample(house: &House) -> Result<(), Error> {
    let report = health::look(&house.app);
    let at_ms = house.app.clock.now_ms().div_euclid(MINUTE_MS) * MINUTE_MS;
    let checks = serde_json::Value::Object(report.verdicts()).to_string();
    let stored = house.app.store.add_sample(Sample { at_ms, status: report.status, checks });
    house.app.ledger.forget_history();
    stored
}

/// Takes the sizes of all tables.
pub fn measure(house: &House) -> Result<(), Error> {
    let tables = house.app.store.table_figures()?;
    house.app.ledger.keep_tables(Tables { as_of_ms: house.app.clock.now_ms(), tables });
    Ok(())
}

/// Looks through the file. Damage stops all writes; the log says what to restore.
pub fn verify(house: &House, quick: bool) -> Result<(), Error> {
    let verified = house.app.store.verify(quick);
    if verified.is_err()
        && let Some(newest) = house.app.config.backup_dir.as_deref().and_then(store::newest)
    {
        log::error!("the newest nightly backup is {newest}");
    }
    verified
}

/// Deletes history that is older than it need be.
pub fn retain(house: &House) -> Result<(), Error> {
    house.app.store.prune_history(HISTORY_DAYS).map(|_| ())
}

/// The verified copy of the night, and the oldest ones away.
pub fn back_up(house: &House) -> Result<(), Error> {
    let config = &house.app.config;
    let Some(folder) = &config.backup_dir else { return Ok(()) };
    let name = store::nightly_name(Day::of_ms(house.app.clock.now_ms()));
    let chance = crate::chance::Chance::system();
    let made = store::backup(&config.db, &folder.join(name), &config.reserve.disk, &chance)?;
    let detail = format!("nightly: {} bytes, {} rows", made.bytes, made.rows);
    store::rotate(folder)?;
    house.app.store.note_act(Event::BackedUp, Actor::clock(), Some(detail))
}
