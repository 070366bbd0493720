//! The rate limiter of the running service: one window per key and tier, in memory.
//!
//! Check and admission are one step under one lock, so that concurrent requests
//! cannot slip past each other. Only keys that exist have a window: junk uses no memory.

use crate::clock::Clock;
use crate::domain::limit::{Refusal, Rules, Verdict, WINDOW_MS, Window};
use crate::store::{LiveKey, SavedWindow};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks over which the keys are spread.
const SHARDS: usize = 16;
/// Keys with a window at the most, over all shards; beyond it a new key is refused, never waved through.
const KEYS_MAX: usize = 100_000;

/// The tiers that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitClass {
    /// All v1 routes together.
    V1,
    /// All v2 routes together.
    V2,
}

impl LimitClass {
    /// Its name in rows.
    pub fn name(self) -> &'static str {
        match self {
            LimitClass::V1 => "v1",
            LimitClass::V2 => "v2",
        }
    }
}

/// The numbers of both tiers.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// With burst and block.
    pub v1: Rules,
    /// Without.
    pub v2: Rules,
}

impl Limits {
    /// The rules of one tier.
    pub fn rules(&self, class: LimitClass) -> &Rules {
        match class {
            LimitClass::V1 => &self.v1,
            LimitClass::V2 => &self.v2,
        }
    }
}

/// Counts of all keys.
pub struct Limiter {
    limits: Option<Limits>,
    clock: Clock,
    hasher: RandomState,
    shards: [Mutex<HashMap<String, Counted>>; SHARDS],
}

/// What one key did.
#[derive(Default)]
struct Counted {
    tenant_id: String,
    v1: Window,
    v2: Window,
    /// Changed since it was last stored.
    dirty: bool,
}

impl Counted {
    fn window(&mut self, class: LimitClass) -> &mut Window {
        match class {
            LimitClass::V1 => &mut self.v1,
            LimitClass::V2 => &mut self.v2,
        }
    }
}

impl Limiter {
    /// A limiter; without limits it admits everything and counts nothing.
    pub fn new(limits: Option<Limits>, clock: Clock) -> Limiter {
        Limiter { limits, clock, hasher: RandomState::new(), shards: Default::default() }
    }

    /// The numbers in force.
    pub fn limits(&self) -> Option<&Limits> {
        self.limits.as_ref()
    }

    /// Takes up what was stored before a restart.
    pub fn revive(&self, saved: &[SavedWindow]) {
        let Some(limits) = &self.limits else { return };
        let (now, wall_ms) = (self.now(), self.clock.now_ms());
        for row in saved {
            let class = if row.tier == LimitClass::V1.name() { LimitClass::V1 } else { LimitClass::V2 };
            let window = row.revive(now, wall_ms, limits.rules(class).block_ms);
            let mut shard = self.shard(&row.key_id);
            let counted = shard.entry(row.key_id.clone()).or_default();
            counted.tenant_id.clone_from(&row.tenant_id);
            *counted.window(class) = window;
        }
    }

    /// Decides about one request. `None` when limits are off.
    pub fn admit(&self, key: &LiveKey, class: LimitClass) -> Option<Verdict> {
        let rules = self.limits.as_ref()?.rules(class);
        let mut shard = self.shard(&key.id);
        // Read under the lock: within a window time must not go back.
        let now = self.now();
        if let Some(counted) = shard.get_mut(&key.id) {
            counted.dirty = true;
            return Some(counted.window(class).admit(now, rules));
        }
        if shard.len() >= KEYS_MAX / SHARDS {
            return Some(Verdict::Refused(Refusal {
                limit: rules.standard,
                retry_after_seconds: WINDOW_MS / 1000,
                reset_seconds: WINDOW_MS / 1000,
                blocked: false,
                newly_blocked: false,
            }));
        }
        let mut counted = Counted { tenant_id: key.tenant_id.clone(), dirty: true, ..Counted::default() };
        let verdict = counted.window(class).admit(now, rules);
        shard.insert(key.id.clone(), counted);
        Some(verdict)
    }

    /// One key's windows, ready to be stored now: a block must not wait for the next round.
    pub fn saved_now(&self, key_id: &str) -> Vec<SavedWindow> {
        let mut shard = self.shard(key_id);
        shard.get_mut(key_id).map(|counted| self.saved(key_id, counted).into()).unwrap_or_default()
    }

    /// What was taken could not be stored: everything counts as changed again.
    pub fn save_all_again(&self) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.values_mut().for_each(|counted| counted.dirty = true);
        }
    }

    /// Every window that changed since it was last stored. Windows in which nothing is left are dropped.
    pub fn take_changes(&self) -> Vec<SavedWindow> {
        let now = self.now();
        let mut changes = Vec::new();
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.retain(|key_id, counted| {
                let idle = counted.v1.is_idle(now) && counted.v2.is_idle(now);
                if counted.dirty || idle {
                    counted.dirty = false;
                    changes.extend(self.saved(key_id, counted));
                }
                !idle
            });
        }
        changes
    }

    fn saved(&self, key_id: &str, counted: &mut Counted) -> [SavedWindow; 2] {
        let (now, wall_ms) = (self.now(), self.clock.now_ms());
        let tenant_id = counted.tenant_id.clone();
        [LimitClass::V1, LimitClass::V2].map(|class| {
            SavedWindow::of(counted.window(class), &tenant_id, key_id, class.name(), now, wall_ms)
        })
    }

    fn shard(&self, key_id: &str) -> MutexGuard<'_, HashMap<String, Counted>> {
        let position = self.hasher.hash_one(key_id) as usize % SHARDS;
        self.shards[position].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Monotonic time with room below it, so that ages from before the start can be told.
    fn now(&self) -> u64 {
        const ROOM_MS: u64 = 1_000_000;
        self.clock.elapsed_ms() + ROOM_MS
    }
}
