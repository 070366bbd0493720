//! The courier: carries deliveries from the outbox to their receivers.
//!
//! One thread leases and settles in batches; each try has a thread of its own, since it mostly waits. A
//! webhook is a lane: it begins with one try at a time, earns more by success and loses them by a failure,
//! so that a destination that hangs or is dead holds up nobody but itself. Memory holds leases, never
//! messages: a hundred thousand waiting deliveries are rows.

use crate::domain::delivery::{Next, Outcome, Tried, next};
use crate::domain::message::Message;
use crate::egress::Parcel;
use crate::error::Error;
use crate::http::dispatch::House;
use crate::store::{Claim, Ended, Errand, Lane, Settled};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the outbox is looked at when nothing else happens.
const LOOK_EVERY: Duration = Duration::from_millis(200);
/// Tries under way in all.
const RUNNING_MAX: usize = 128;
/// Of these, for lanes that have not proven themselves: the rest is kept free for those that have.
const UNPROVEN_MAX: usize = 96;
/// Tries under way in one lane.
const LANE_MAX: usize = 4;
/// Leases that a proven lane holds ahead of its tries, so that one commit serves many.
const AHEAD_MAX: usize = 32;
/// Leases in all.
const HELD_MAX: usize = 1024;
/// A try needs little stack.
const STACK_BYTES: usize = 512 * 1024;
/// Ended tries wait so long for company before they are recorded,
const RECORD_WITHIN: Duration = Duration::from_millis(20);
/// and no longer than until there are so many.
const RECORD_AT: usize = 64;
/// While tries keep ending, the outbox is looked at after so many.
const LOOK_AFTER: usize = 16;
/// How long a stop waits for tries under way, in looks at which none had ended.
const STOP_LOOKS: u32 = 20;

/// The courier's thread.
pub struct Courier {
    tell: Sender<Told>,
    thread: JoinHandle<()>,
}

/// What the courier hears.
enum Told {
    Settled(Settled),
    Stop,
}

impl Courier {
    /// Frees what the last process had leased, and begins.
    pub fn start(house: Arc<House>) -> Result<Courier, Error> {
        house.app.store.revive_deliveries()?;
        let (tell, told) = channel();
        let round = Round {
            house,
            tell: tell.clone(),
            lanes: BTreeMap::new(),
            ended: Vec::new(),
            ended_since_look: 0,
            turn: 0,
        };
        let thread = std::thread::Builder::new()
            .name("courier".into())
            .spawn(move || round.run(&told))
            .map_err(|cause| Error::internal("starting the courier", cause))?;
        Ok(Courier { tell, thread })
    }

    /// Takes nothing more on. Tries under way go on.
    pub fn begin_stop(&self) {
        let _ = self.tell.send(Told::Stop);
    }

    /// Waits a while for tries under way; what is not settled then is sent after the next start.
    pub fn stop(self) {
        self.begin_stop();
        if self.thread.join().is_err() {
            log::error!("the courier panicked");
        }
    }
}

/// A webhook with leases.
struct Held {
    queue: VecDeque<Claim>,
    running: usize,
    /// Tries that it may have under way.
    slots: usize,
    is_proven: bool,
}

impl Held {
    fn new(is_proven: bool) -> Held {
        Held { queue: VecDeque::new(), running: 0, slots: 1, is_proven }
    }

    fn held(&self) -> usize {
        self.queue.len() + self.running
    }

    /// How many more leases it may take: one that has not proven itself only what it can send at once. One
    /// that has takes many when half of its last ones are gone, so that a commit is worth it.
    fn wanted(&self) -> usize {
        match self.is_proven {
            false => self.slots.saturating_sub(self.held()),
            true if self.held() > AHEAD_MAX / 2 => 0,
            true => AHEAD_MAX - self.held(),
        }
    }
}

/// The courier at work.
struct Round {
    house: Arc<House>,
    tell: Sender<Told>,
    lanes: BTreeMap<String, Held>,
    /// Ended and not recorded yet. A kill now makes them come twice.
    ended: Vec<Settled>,
    ended_since_look: usize,
    /// Where the next look begins, so that everybody is first at times.
    turn: usize,
}

impl Round {
    fn run(mut self, told: &Receiver<Told>) {
        loop {
            let (ended, is_stopping) = listen(told, self.patience());
            let is_quiet = ended.is_empty();
            self.learn(ended);
            if is_stopping {
                return self.finish(told);
            }
            // First of all the next tries, from leases at hand: they go on while we record and look.
            self.send();
            if is_quiet || self.ended.len() >= RECORD_AT {
                self.record();
            }
            if is_quiet || self.ended_since_look >= LOOK_AFTER {
                self.look();
                self.send();
            }
        }
    }

    fn patience(&self) -> Duration {
        if self.ended.is_empty() { LOOK_EVERY } else { RECORD_WITHIN }
    }

    /// Gives back what was not begun and waits for what was.
    fn finish(mut self, told: &Receiver<Told>) {
        let unbegun = self.lanes.values_mut().flat_map(|lane| lane.queue.drain(..));
        self.ended.extend(unbegun.map(|claim| Settled { claim, ended: Ended::Released }));
        self.record();
        let mut quiet_looks = 0;
        while quiet_looks < STOP_LOOKS && self.lanes.values().any(|lane| lane.running > 0) {
            let (ended, _) = listen(told, LOOK_EVERY);
            quiet_looks += u32::from(ended.is_empty());
            self.learn(ended);
            self.record();
        }
    }

    /// What lanes learn from how their tries ended.
    fn learn(&mut self, ended: Vec<Settled>) {
        self.ended_since_look += ended.len();
        for settled in ended {
            if let Some(lane) = self.lanes.get_mut(&settled.claim.webhook_id) {
                lane.running = lane.running.saturating_sub(1);
                match settled.ended {
                    Ended::Released | Ended::Cancelled => {}
                    Ended::Tried { next: Next::Done, .. } => {
                        lane.slots = (lane.slots + 1).min(LANE_MAX);
                        lane.is_proven = true;
                    }
                    Ended::Tried { next: Next::RetryAfterMs(_) | Next::GiveUp, .. } => {
                        lane.slots = 1;
                        lane.is_proven = false;
                        let given_back = lane.queue.drain(..);
                        self.ended.extend(given_back.map(|claim| Settled { claim, ended: Ended::Released }));
                    }
                }
            }
            self.ended.push(settled);
        }
    }

    /// Records how tries ended, in one commit.
    fn record(&mut self) {
        self.lanes.retain(|_, lane| lane.held() > 0);
        let ended = std::mem::take(&mut self.ended);
        // A full disk must not lose an event: what cannot be recorded is sent again after its lease.
        if !ended.is_empty()
            && let Err(error) = self.house.app.store.settle_deliveries(ended)
        {
            log::error!("deliveries could not be recorded: {error}");
        }
    }

    fn look(&mut self) {
        self.ended_since_look = 0;
        match catch_unwind(AssertUnwindSafe(|| self.lease())) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => log::error!("deliveries: {error}"),
            Err(_) => log::error!("the look into the outbox panicked"),
        }
    }

    /// Leases what is due, as far as its lane and all lanes together may hold.
    fn lease(&mut self) -> Result<(), Error> {
        let mut room = HELD_MAX.saturating_sub(self.lanes.values().map(Held::held).sum());
        let mut due = self.house.app.store.due_lanes()?;
        if due.is_empty() || room == 0 {
            return Ok(());
        }
        self.turn = self.turn.wrapping_add(1);
        let begin = self.turn % due.len();
        due.rotate_left(begin);
        let mut wanted: Vec<(Lane, usize)> = Vec::new();
        for lane in due {
            let most = match self.lanes.get(&lane.webhook_id) {
                Some(held) => held.wanted(),
                None => Held::new(lane.is_proven).wanted(),
            };
            let most = most.min(room);
            room -= most;
            if most > 0 {
                wanted.push((lane, most));
            }
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let proven: Vec<(String, bool)> =
            wanted.iter().map(|(lane, _)| (lane.webhook_id.clone(), lane.is_proven)).collect();
        let claims = self.house.app.store.claim_deliveries(wanted)?;
        for (webhook_id, is_proven) in proven {
            self.lanes.entry(webhook_id).or_insert_with(|| Held::new(is_proven));
        }
        for claim in claims {
            if let Some(lane) = self.lanes.get_mut(&claim.webhook_id) {
                lane.queue.push_back(claim);
            }
        }
        Ok(())
    }

    /// Begins tries: first one for every lane, then a second for those that may, and so on.
    fn send(&mut self) {
        let mut running: usize = self.lanes.values().map(|lane| lane.running).sum();
        let mut unproven: usize =
            self.lanes.values().filter(|lane| !lane.is_proven).map(|lane| lane.running).sum();
        for at_once in 1..=LANE_MAX {
            for lane in self.lanes.values_mut() {
                let has_room = running < RUNNING_MAX && (lane.is_proven || unproven < UNPROVEN_MAX);
                if lane.running >= at_once.min(lane.slots) || !has_room {
                    continue;
                }
                let Some(claim) = lane.queue.pop_front() else { continue };
                if let Err(claim) = begin(&self.house, &self.tell, claim) {
                    // No thread to be had: the next look tries again.
                    lane.queue.push_front(claim);
                    return;
                }
                lane.running += 1;
                running += 1;
                unproven += usize::from(!lane.is_proven);
            }
        }
    }
}

/// Waits for word, then takes all there is: what ended together is recorded together.
fn listen(told: &Receiver<Told>, patience: Duration) -> (Vec<Settled>, bool) {
    let mut settled = Vec::new();
    let mut is_stopping = false;
    let mut hear = |told: Told| match told {
        Told::Settled(one) => settled.push(one),
        Told::Stop => is_stopping = true,
    };
    match told.recv_timeout(patience) {
        Ok(first) => hear(first),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
    }
    told.try_iter().for_each(&mut hear);
    (settled, is_stopping)
}

/// Starts the thread of one try; gives the claim back if there is none to be had.
fn begin(house: &Arc<House>, tell: &Sender<Told>, claim: Claim) -> Result<(), Claim> {
    let (house, tell, errand) = (Arc::clone(house), tell.clone(), claim.clone());
    let thread = std::thread::Builder::new().name("delivery".into()).stack_size(STACK_BYTES);
    let begun = thread.spawn(move || {
        let ended = catch_unwind(AssertUnwindSafe(|| carry(&house, &errand)));
        let ended = ended.unwrap_or_else(|_| {
            log::error!("delivery {} panicked", errand.delivery_id);
            fault(&house, &errand)
        });
        // Freed before the courier hears of it, so that a stop finds the house free.
        drop(house);
        let _ = tell.send(Told::Settled(Settled { claim: errand, ended }));
    });
    begun.map(|_| ()).map_err(|_| claim)
}

/// A try that ended by a fault of our own.
fn fault(house: &House, claim: &Claim) -> Ended {
    let tried = Tried::without_answer(Outcome::Unreachable);
    tried_now(house, claim, tried, house.app.clock.now_ms(), 0)
}

/// One try.
fn carry(house: &House, claim: &Claim) -> Ended {
    let app = &house.app;
    let errand = match app.store.errand(claim) {
        Ok(Some(errand)) => errand,
        Ok(None) => return Ended::Cancelled,
        Err(error) => {
            log::error!("delivery {}: {error}", claim.delivery_id);
            return fault(house, claim);
        }
    };
    let Errand { webhook, payload, tenant } = errand;
    let payload: Option<serde_json::Value> = payload.and_then(|text| serde_json::from_str(&text).ok());
    if !webhook.active && payload.is_some() {
        return Ended::Cancelled;
    }
    let (message, event) = match &payload {
        Some(payload) => {
            (Message::of_event(payload, &app.base_url), payload["event"].as_str().unwrap_or_default())
        }
        None => (Message::of_test(&webhook.name, &tenant, &app.base_url), "test"),
    };
    let parcel = Parcel {
        channel: webhook.channel,
        url: &webhook.url,
        delivery_id: &claim.delivery_id,
        event,
        message: &message,
    };
    let (at_ms, began_ms) = (app.clock.now_ms(), app.clock.elapsed_ms());
    let tried = app.egress.send(&parcel, at_ms);
    let duration_ms = i64::try_from(app.clock.elapsed_ms() - began_ms).unwrap_or(0);
    log::info!(
        "delivery {} to webhook {} by {}: {} in {duration_ms} ms",
        claim.delivery_id,
        claim.webhook_id,
        webhook.channel.name(),
        tried.outcome.name()
    );
    tried_now(house, claim, tried, at_ms, duration_ms)
}

fn tried_now(house: &House, claim: &Claim, tried: Tried, at_ms: i64, duration_ms: i64) -> Ended {
    let next = next(&tried, claim.attempts + 1, house.app.chance.share());
    Ended::Tried { tried, at_ms, duration_ms, next }
}
