//! Auto-heal: rules that look for one fault each and mend it. A rule that finds
//! nothing changes nothing.

use super::SECOND_MS;
use crate::domain::upkeep::RuleState;
use crate::error::Error;
use crate::http::dispatch::House;
use crate::ledger::RuleEntry;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// With less room than this many reserves, old history goes.
const NEARLY_FULL_RESERVES: u64 = 2;
/// So much of the history stays even then.
const HISTORY_DAYS_MIN: i64 = 1;
/// A shorter log is emptied too, but that is no room worth telling.
const LOG_WORTH_BYTES: u64 = 1024 * 1024;
/// How often history is pruned while the disk stays nearly full.
const PRUNE_EVERY_MS: i64 = 60 * SECOND_MS as i64;

/// One rule.
pub struct Rule {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub description: &'static str,
    /// Looks and mends; true if there was something to mend.
    pub run: fn(&House) -> Result<bool, Error>,
}

/// Every rule.
pub static RULES: &[Rule] = &[
    Rule {
        name: "wal_over_limit",
        description: "A write-ahead log that outgrew its limit is folded into the database.",
        run: fold_log,
    },
    Rule {
        name: "reader_pool",
        description: "A pool of database readers that no longer answers is made anew.",
        run: rebuild_readers,
    },
    Rule {
        name: "stuck_deliveries",
        description: "Deliveries whose worker is gone are queued again.",
        run: |house| house.app.store.free_stuck_deliveries().map(|freed| freed > 0),
    },
    Rule {
        name: "missed_jobs",
        description: "A job that missed its time is run.",
        run: |house| Ok(house.app.ledger.take_missed() > 0),
    },
    Rule {
        name: "disk_nearly_full",
        description: "Old history is pruned and the log emptied; without room writes are refused until there is some.",
        run: make_room,
    },
];

/// The rules, as they are told before any has run.
pub fn entries(house: &House) -> Result<Vec<RuleEntry>, Error> {
    let heals = house.app.store.heals()?;
    let entry = |rule: &Rule| {
        let known = heals.iter().find(|heal| heal.rule == rule.name);
        RuleEntry {
            name: rule.name,
            description: rule.description,
            state: RuleState::Watching,
            last_run_at_ms: None,
            last_healed_at_ms: known.map(|heal| heal.last_healed_at_ms),
            heal_count: known.map_or(0, |heal| heal.heal_count),
        }
    };
    Ok(RULES.iter().map(entry).collect())
}

/// Runs every rule; the first error is the job's, after all have run.
pub fn look_after(house: &House) -> Result<(), Error> {
    let mut first = Ok(());
    for (position, rule) in RULES.iter().enumerate() {
        let healed = catch_unwind(AssertUnwindSafe(|| (rule.run)(house)))
            .unwrap_or_else(|_| Err(Error::Internal(format!("the rule `{}` panicked", rule.name))));
        note(house, position, rule, &healed);
        first = first.and(healed.map(|_| ()));
    }
    first
}

fn note(house: &House, position: usize, rule: &Rule, healed: &Result<bool, Error>) {
    let now_ms = house.app.clock.now_ms();
    house.app.ledger.rule(position, |entry| {
        entry.last_run_at_ms = Some(now_ms);
        entry.state = match healed {
            Ok(true) => RuleState::Healed,
            Ok(false) => RuleState::Watching,
            Err(_) => RuleState::Failing,
        };
        if let Ok(true) = healed {
            entry.last_healed_at_ms = Some(now_ms);
            entry.heal_count += 1;
        }
    });
    if let Ok(true) = healed {
        log::warn!("auto-heal: {}", rule.description);
        if let Err(error) = house.app.store.add_heal(rule.name) {
            log::warn!("auto-heal: {} was not recorded: {error}", rule.name);
        }
    }
}

fn fold_log(house: &House) -> Result<bool, Error> {
    let over = house.app.store.file_bytes().1 > house.app.config.wal_limit_bytes;
    // A reader may be in the way; then the next look tries again.
    Ok(over && house.app.store.checkpoint()?)
}

fn rebuild_readers(house: &House) -> Result<bool, Error> {
    if house.app.store.probe_reader().is_ok() {
        return Ok(false);
    }
    house.app.store.rebuild_readers()?;
    house.app.store.probe_reader().map(|()| true)
}

/// Counted as healed when something was there to go, so that a disk that stays full does not count for ever.
fn make_room(house: &House) -> Result<bool, Error> {
    let store = &house.app.store;
    let nearly_full = NEARLY_FULL_RESERVES * store.reserve_bytes();
    if store.space().is_none_or(|space| space.free_bytes >= nearly_full) {
        return Ok(false);
    }
    let long_log = store.file_bytes().1 > LOG_WORTH_BYTES;
    let now_ms = house.app.clock.now_ms();
    let last = house
        .app
        .ledger
        .rules()
        .iter()
        .find(|rule| rule.name == "disk_nearly_full")
        .and_then(|rule| rule.last_healed_at_ms);
    if last.is_some_and(|last| (0..PRUNE_EVERY_MS).contains(&now_ms.saturating_sub(last))) {
        return Ok(false);
    }
    let pruned = store.prune_history(HISTORY_DAYS_MIN)?;
    let emptied = store.checkpoint()? && long_log;
    Ok(pruned > 0 || emptied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::App;
    use crate::chance::Chance;
    use crate::clock::Clock;
    use crate::config::{Config, Flags};
    use crate::jobs::clockwork::Clockwork;
    use std::sync::Arc;

    #[test]
    fn readers_that_all_hang_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = Config::read(&Flags::default(), &|_| None).unwrap();
        config.db = folder.path().join("test.db");
        let app = App::open(config, Clock::standing_at(0), Chance::system(), Vec::new()).unwrap();
        let house = Arc::new(House::new(app, &[], &crate::pages::SITE).unwrap());
        let clockwork = Clockwork::start(Arc::clone(&house), &[]).unwrap();
        let hanging = house.app.store.seize_readers();
        assert!(hanging.len() > 1 && house.app.store.probe_reader().is_err());
        look_after(&house).unwrap();
        house.app.store.probe_reader().unwrap();
        let rules = house.app.ledger.rules();
        let rule = rules.iter().find(|rule| rule.name == "reader_pool").unwrap();
        assert_eq!((rule.heal_count, rule.state), (1, RuleState::Healed));
        look_after(&house).unwrap();
        assert_eq!(house.app.store.heals().unwrap().iter().map(|heal| heal.heal_count).sum::<u64>(), 1);
        drop(hanging);
        clockwork.stop();
    }
}
