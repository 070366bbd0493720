//! The running service's parts, in one struct.

use crate::chance::Chance;
use crate::clock::Clock;
use crate::config::Config;
use crate::error::Error;
use crate::limiter::Limiter;
use crate::meter::Meter;
use crate::reference::Reference;
use crate::store::{Purpose, Store};
use std::sync::atomic::AtomicBool;

/// The version of the platform, as `/api/stats` and `--version` tell it.
pub const PLATFORM_VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything a request may need.
pub struct App {
    /// The settings.
    pub config: Config,
    /// The address people use.
    pub base_url: String,
    /// Time.
    pub clock: Clock,
    /// Static data.
    pub reference: Reference,
    /// Rows.
    pub store: Store,
    /// Rate limits.
    pub limiter: Limiter,
    /// Counters per route.
    pub meter: Meter,
    /// Set when a stop was asked for: health says so, and new work is not begun.
    pub stopping: AtomicBool,
}

impl App {
    /// Opens the database and puts the parts together. `routes` is how many rows the table has.
    pub fn open(config: Config, clock: Clock, chance: Chance, routes: usize) -> Result<App, Error> {
        let store = Store::open(&config.db, Purpose::Serve, config.keys_max, clock.clone(), chance)?;
        let limiter = Limiter::new(config.limits, clock.clone());
        limiter.revive(&store.load_windows()?);
        Ok(App {
            base_url: config.base_url(),
            reference: Reference::load()?,
            meter: Meter::new(routes),
            stopping: AtomicBool::new(false),
            config,
            clock,
            store,
            limiter,
        })
    }

    /// Stores what is only in memory: rate counts and the uses of keys.
    pub fn save_counts(&self) -> Result<(), Error> {
        self.store.save_windows(self.limiter.take_changes())?;
        self.store.save_key_uses()
    }
}
