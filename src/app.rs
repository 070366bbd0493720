//! The running service's parts, in one struct.

use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::actor::Actor;
use crate::domain::timeline::Synced;
use crate::egress::Egress;
use crate::error::Error;
use crate::ledger::Ledger;
use crate::limiter::Limiter;
use crate::meter::Meter;
use crate::reference::Reference;
use crate::scanner;
use crate::store::{Purpose, Store};
use crate::turns::Turns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The version of the platform, as `/api/stats` and `--version` tell it.
pub const PLATFORM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Large files made at once; each takes up to 100 MiB.
const EXPORTS_AT_ONCE: usize = 2;
/// Those that wait for it: each holds a thread of the few that wait for writes too.
const EXPORTS_WAITING: usize = 8;

/// Everything a request may need.
pub struct App {
    /// The settings.
    pub config: Config,
    /// The address people use.
    pub base_url: String,
    /// Time.
    pub clock: Clock,
    /// Randomness.
    pub chance: Chance,
    /// Static data.
    pub reference: Reference,
    /// Rows.
    pub store: Store,
    /// The way out.
    pub egress: Egress,
    /// Rate limits.
    pub limiter: Arc<Limiter>,
    /// Counters per route.
    pub meter: Meter,
    /// What ran by itself, and how it ended.
    pub ledger: Ledger,
    /// Who makes a large file right now.
    pub exports: Turns,
    /// Set when a stop was asked for; health says so.
    pub stopping: AtomicBool,
}

impl App {
    /// Opens the database and puts the parts together. `routes` names the rows of the table.
    pub fn open(config: Config, clock: Clock, chance: Chance, routes: Vec<String>) -> Result<App, Error> {
        let store = Store::open(
            &config.db,
            Purpose::Serve,
            config.keys_max,
            Arc::clone(&config.allowlist),
            config.reserve.clone(),
            clock.clone(),
            chance.clone(),
        )?;
        let limiter = Arc::new(Limiter::new(config.limits, clock.clone()));
        limiter.revive(&store.load_windows()?);
        Ok(App {
            base_url: config.base_url(),
            reference: Reference::load()?,
            egress: Egress::new(config.outside())?,
            meter: Meter::new(routes),
            ledger: Ledger::default(),
            exports: Turns::new(EXPORTS_AT_ONCE, EXPORTS_WAITING),
            stopping: AtomicBool::new(false),
            config,
            clock,
            chance,
            store,
            limiter,
        })
    }

    /// Brings the timeline in line with this build's milestones and the operator's file.
    pub fn sync_timeline(&self, actor: Actor) -> Result<Synced, Error> {
        let wanted = self.reference.milestones_with(self.config.timeline_file.as_deref())?;
        self.store.sync_timeline(wanted, actor)
    }

    /// The same at start, where neither a faulty file nor a full disk is a reason to stay down: this build's
    /// milestones do, and those that are stored do until there is room.
    pub fn sync_timeline_at_start(&self) -> Result<(), Error> {
        let mut synced = self.sync_timeline(Actor::clock());
        if let Err(Error::Invalid(faults)) = &synced {
            log::warn!(
                "HOLDFAST_TIMELINE_FILE is left out, and this build's milestones are used alone: {faults}"
            );
            synced = self.store.sync_timeline(self.reference.milestones()?, Actor::clock());
        }
        match (synced, self.store.write_refusal()) {
            (Err(_), Some(reason)) if !self.store.tenants()?.is_empty() => {
                log::warn!("the timeline stays as it is: {reason}");
                Ok(())
            }
            (synced, _) => synced.map(|_| ()),
        }
    }

    /// Scans what this executable is made of and stores the outcome. A stop ends it, and nothing is stored.
    pub fn scan_self(&self) -> Result<(), Error> {
        let stop = || self.stopping.load(Ordering::SeqCst);
        match scanner::scan(self.config.advisories.as_deref(), &stop)? {
            Some(report) => self.store.keep_own_scan(report).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Stores what is only in memory: rate counts, the uses of keys, and refusals for the audit log.
    pub fn save_counts(&self) -> Result<(), Error> {
        let limiter = Arc::clone(&self.limiter);
        let saved = self.store.save_windows(move || limiter.take_changes());
        if saved.is_err() {
            self.limiter.save_all_again();
        }
        saved.and(self.store.save_key_uses()).and(self.store.save_refusals())
    }
}
